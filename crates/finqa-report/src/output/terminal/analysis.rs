//! Shows the misses of an analysis by cause (`analyze`).

use crate::output::names::in_words;
use finqa_core::text::{counted, cut, single_spaced};
use finqa_score::analysis::{Cause, Miss, MissAnalysis};

use super::scores::align;
use super::style::{TerminalStyle, broken, harmless};

/// Maximum number of characters shown of an answer, because an answer may be a page of text. Set
/// by hand.
const SHOWN: usize = 40;

/// The analysis as tables for a terminal of at least 80 columns. Each cause has up to `examples`
/// misses.
pub fn analysis_tables(analysis: &MissAnalysis, examples: usize, style: TerminalStyle) -> String {
    let rule = analysis.rule.title();
    let by = match &analysis.dataset {
        Some(dataset) => format!("records: {dataset}"),
        None => "no records, so no cause is searched for on the page (--data-path gives them)"
            .to_owned(),
    };
    let mut parts = vec![style.wrap(&format!(
        "{}: {} of {} by {rule}; {by}",
        analysis.path.display(),
        counted(analysis.misses.len(), "miss"),
        counted(analysis.questions, "question")
    ))];
    if analysis.without_gold > 0 {
        parts.push(format!(
            "Left out: {} without gold for this rule.",
            counted(analysis.without_gold, "question")
        ));
    }
    if !analysis.misses.is_empty() {
        parts.push(causes(analysis, style));
    }
    let shown = analysis.causes.iter().filter(|_| examples > 0);
    parts.extend(shown.map(|count| examples_of(analysis, count.cause, examples)));
    parts.join("\n")
}

fn causes(analysis: &MissAnalysis, style: TerminalStyle) -> String {
    let mut table = style.table(&["cause", "misses", "% of misses"]);
    for count in &analysis.causes {
        table.add_row([
            title(count.cause),
            count.count.to_string(),
            format!("{:.1}", 100.0 * count.share),
        ]);
    }
    align(&mut table, &[1, 2]);
    table.to_string()
}

pub(super) fn title(cause: Cause) -> String {
    in_words(cause.name())
}

/// A heading with the number of misses by this cause, and at most `examples` of them.
fn examples_of(analysis: &MissAnalysis, cause: Cause, examples: usize) -> String {
    let misses = analysis.misses.iter();
    let misses: Vec<&Miss> = misses.filter(|miss| miss.cause == cause).collect();
    let mut lines = vec![format!("\n{} ({})", title(cause), misses.len())];
    for miss in misses.iter().take(examples) {
        let question = match miss.epoch.as_str() {
            "0" => miss.key.to_string(),
            epoch => format!("{}, epoch {epoch}", miss.key),
        };
        let values = [("gold", &miss.gold), ("answer", &miss.answer)];
        lines.push(question_lines(&question, &values, &miss.detail));
    }
    lines.join("\n")
}

/// A question's id on a line of its own, so that it can be copied, and values and a remark below
/// it.
pub(super) fn question_lines(question: &str, values: &[(&str, &String)], remark: &str) -> String {
    let values = values
        .iter()
        .map(|(name, text)| format!("{name} {}", cut(&single_spaced(text), SHOWN, "…")));
    let remark = Some(single_spaced(remark)).filter(|remark| !remark.is_empty());
    let parts: Vec<String> = values.chain(remark).collect();
    let text = format!("  {question}\n    {}", broken(&parts.join(" · "), 4, 4, 80));
    harmless(&text).into_owned()
}
