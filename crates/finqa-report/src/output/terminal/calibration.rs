//! Shows a fitted calibration (`calibrate`): its data, and how many answers a run would give with
//! each `--max-error`.

use finqa_core::text::counted;
use finqa_score::calibration::{Calibration, GivenWithin};

use super::style::{TerminalStyle, harmless};

/// The calibration as text: two sentences about its data, a table of the answers that a run would
/// give with each `--max-error`, and for each limit with which it would give none, what would be
/// needed to give some.
pub fn calibration_text(
    calibration: &Calibration,
    within: &[GivenWithin],
    style: TerminalStyle,
) -> String {
    let mut table = style.table(&["--max-error", "given", "wrong", "at most (95 %)"]);
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
        ]);
    }
    // `max` prevents a division by zero.
    let wrong = calibration.errors as f64 / calibration.n.max(1) as f64;
    let mut lines = vec![
        style.wrap(&format!(
            "Fitted on {} on {}; {:.1} % are wrong by financial equivalence.",
            counted(calibration.n, "answer"),
            counted(calibration.pages, "page"),
            100.0 * wrong
        )),
        style.wrap(&format!(
            "On other pages, the probability is off by {:.1} points on average.",
            100.0 * calibration.calibration_error
        )),
        table.to_string(),
    ];
    lines.extend(within.iter().filter_map(|line| {
        let needs = line.needs.as_ref()?;
        Some(style.wrap(&format!("{}%: {needs}.", 100.0 * line.max_error)))
    }));
    harmless(&lines.join("\n")).into_owned()
}
