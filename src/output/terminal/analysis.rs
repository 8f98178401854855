//! Misses by cause, as tables.

use std::collections::BTreeMap;

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
    let mut table = style.table(&["cause", "misses", "% of misses", "also fits"]);
    for count in &analysis.causes {
        let misses = analysis.misses.iter();
        let misses = misses.filter(|miss| miss.cause == count.cause);
        let mut also: BTreeMap<Cause, usize> = BTreeMap::new();
        for found in misses.flat_map(|miss| &miss.also) {
            *also.entry(found.cause).or_default() += 1;
        }
        let also = also.iter();
        let also: Vec<_> = also
            .map(|(cause, times)| format!("{} {times}", title(*cause)))
            .collect();
        table.add_row([
            title(count.cause),
            count.count.to_string(),
            format!("{:.1}", 100.0 * count.share),
            also.join(", "),
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
    let misses: Vec<&Miss> = analysis
        .misses
        .iter()
        .filter(|miss| miss.cause == cause)
        .collect();
    if examples == 0 {
        return None;
    }
    let mut lines = vec![format!("\n{} ({})", title(cause), misses.len())];
    for miss in misses.iter().take(examples) {
        let epoch = match miss.epoch.as_str() {
            "0" => String::new(),
            epoch => format!(", epoch {epoch}"),
        };
        lines.push(style.wrap(&format!("  {} ({}{epoch})", miss.key.id, miss.key.part)));
        let detail = if miss.detail.is_empty() {
            String::new()
        } else {
            format!(" · {}", miss.detail)
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
