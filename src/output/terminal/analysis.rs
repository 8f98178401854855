//! Misses by cause, as tables.

use crate::analysis::{Cause, Miss, MissAnalysis};
use finqa_core::text::{counted, cut, single_spaced};

use super::scores::{align, rule_title};
use super::style::{TerminalStyle, broken, harmless};

/// Characters that are shown of an answer, which may be a page of text.
const SHOWN: usize = 40;

/// The analysis as tables for a terminal of 80 columns and more, with this
/// many examples of each cause.
pub(crate) fn analysis_tables(
    analysis: &MissAnalysis,
    examples: usize,
    style: TerminalStyle,
) -> String {
    let rule = rule_title(analysis.rule);
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
    for count in &analysis.causes {
        parts.extend(shown(analysis, count.cause, examples, style));
    }
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
    cause.name().replace('_', " ")
}

fn shown(
    analysis: &MissAnalysis,
    cause: Cause,
    examples: usize,
    style: TerminalStyle,
) -> Option<String> {
    if examples == 0 {
        return None;
    }
    let misses = analysis.misses.iter();
    let misses: Vec<&Miss> = misses.filter(|miss| miss.cause == cause).collect();
    let mut lines = vec![format!("\n{} ({})", title(cause), misses.len())];
    for miss in misses.iter().take(examples) {
        let epoch = match miss.epoch.as_str() {
            "0" => String::new(),
            epoch => format!(", epoch {epoch}"),
        };
        lines.push(style.wrap(&format!("  {} ({}{epoch})", miss.key.id, miss.key.part)));
        let detail = match miss.detail.as_str() {
            "" => String::new(),
            detail => format!(" · {detail}"),
        };
        let values = format!(
            "gold {} · answer {}{detail}",
            cut(&single_spaced(&miss.gold), SHOWN, "…"),
            cut(&single_spaced(&miss.answer), SHOWN, "…")
        );
        lines.push(format!("    {}", broken(&single_spaced(&values), 4, 4, 80)));
    }
    Some(harmless(&lines.join("\n")).into_owned())
}
