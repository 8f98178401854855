//! What a calibration was fitted on, and how many answers it allows to be given.

use comfy_table::{ContentArrangement, Table, presets};

use crate::calibration::{Calibration, GivenWithin};
use finqa_core::text::counted;

use super::style::harmless;

/// The calibration in two lines, and a table of the answers that each `--max-error` gives.
pub(crate) fn calibration_table(calibration: &Calibration, within: &[GivenWithin]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(["--max-error", "given", "wrong", "at most (95 %)", ""]);
    for line in within {
        let point = calibration.curve.within(line.max_error);
        let measured = point.and_then(|point| point.measured);
        let percent = |share: Option<f64>| {
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.1} %", 100.0 * share))
        };
        table.add_row([
            format!("{}%", 100.0 * line.max_error),
            format!("{} ({:.0} %)", line.n, 100.0 * line.share),
            percent(measured.map(|it| it.rate())),
            percent(measured.map(|it| it.bound)),
            line.needs.clone().unwrap_or_default(),
        ]);
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let wrong = calibration.errors as f64 / calibration.n.max(1) as f64;
    let text = format!(
        "Fitted on {} on {}; {:.1} % of them are wrong by financial equivalence.\n\
         On pages that it was not fitted on, the probability is off by {:.1} points on average.\n\
         {}",
        counted(calibration.n, "answer"),
        counted(calibration.pages, "page"),
        100.0 * wrong,
        100.0 * calibration.calibration_error,
        table.trim_fmt()
    );
    harmless(&text).into_owned()
}
