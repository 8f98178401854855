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
        None => "no records".to_owned(),
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
    parts.extend(blind(analysis, style));
    parts.join("\n")
}

fn causes(analysis: &MissAnalysis, style: TerminalStyle) -> String {
    let mut table = style.table(&["cause", "misses", "% of misses", "also fits"]);
    for count in &analysis.causes {
        let mut also: Vec<(Cause, usize)> = Vec::new();
        let misses = analysis
            .misses
            .iter()
            .filter(|miss| miss.cause == count.cause);
        for found in misses.flat_map(|miss| &miss.also) {
            match also.iter_mut().find(|(cause, _)| *cause == found.cause) {
                Some((_, times)) => *times += 1,
                None => also.push((found.cause, 1)),
            }
        }
        let also: Vec<String> = also
            .iter()
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

fn blind(analysis: &MissAnalysis, style: TerminalStyle) -> Vec<String> {
    let lines = analysis.not_looked_for.iter().map(|blind| {
        let causes: Vec<String> = blind.causes.iter().map(|cause| title(*cause)).collect();
        let hint = match analysis.dataset {
            None => " (--data-path gives it)",
            Some(_) => "",
        };
        let missing = match blind.missing {
            "page" => format!("no page{hint}"),
            "gold_program" => format!("no gold program{hint}"),
            _ => "no program of the answer".to_owned(),
        };
        style.wrap(&format!(
            "For {} of the misses there is {missing}: {} could not be searched for, or only by the numbers.",
            blind.misses,
            causes.join(", ")
        ))
    });
    let mut lines: Vec<String> = lines.collect();
    if let Some(first) = lines.first_mut() {
        first.insert(0, '\n');
    }
    lines
}
