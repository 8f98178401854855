//! The scores as tables for a terminal of 80 columns and more.

use comfy_table::{Attribute, Cell, CellAlignment, Table};

use crate::score::{Count, Rule, RuleRates, Scorecard};
use finqa_core::stats::Rate;
use finqa_core::text::counted;

use super::style::TerminalStyle;

/// The scores of a run, or of a file.
pub fn scorecard_tables(scores: &Scorecard, style: TerminalStyle) -> String {
    let is_scored = scores.rates.iter().next().is_some();
    let mut lines = vec![match (is_scored, scores.questions) {
        (true, _) => rules(scores, style),
        (false, 0) => "No question was answered, so nothing is scored".to_owned(),
        (false, n) => {
            let questions = counted(n, "question");
            style.wrap(&format!("No gold for {questions}, so nothing is scored"))
        }
    }];
    lines.extend(outcome_line(scores, style));
    let accepted: usize = scores.reasons.iter().map(|count| count.count).sum();
    let counts = [
        (format!("Accepted by FE ({accepted})"), &scores.reasons),
        (
            "Rejected by FE, recognized error".to_owned(),
            &scores.diagnostics,
        ),
    ];
    for (title, counts) in counts.iter().filter(|(_, counts)| !counts.is_empty()) {
        lines.push(style.wrap(&format!("{title}: {}", listed(counts.iter()))));
    }
    lines.extend(conversation_lines(scores, style));
    lines.extend(latency_line(scores, style));
    lines.join("\n")
}

fn rules(scores: &Scorecard, style: TerminalStyle) -> String {
    let mut table = style.table(&["rule", "right", "of", "%", "95 % CI", "note"]);
    for (rule, rate) in scores.rates.iter() {
        let cells = rate_row(rule_title(rule), &rate, floor_of(rule, &scores.rates));
        let headline = rule == Rule::FinancialEquivalence;
        table.add_row(cells.into_iter().map(|cell| match headline {
            true => Cell::new(cell).add_attribute(Attribute::Bold),
            false => Cell::new(cell),
        }));
    }
    if let Some(without) = &scores.without_suspects {
        for (rule, short) in [
            (Rule::NumericalMatch, "NM"),
            (Rule::FinancialEquivalence, "FE"),
        ] {
            let note = match floor_of(rule, &without.rates) {
                floor if floor.is_empty() => format!("{} left out", without.suspects),
                floor => floor,
            };
            let title = format!("{short}, suspect golds out");
            let rate = without.rates.get(rule);
            table.add_rows(rate.map(|rate| rate_row(&title, &rate, note)));
        }
    }
    align(&mut table, &[1, 2, 3]);
    table.to_string()
}

/// `3 rounded, 1 percent as fraction`
fn listed<'c>(counts: impl Iterator<Item = &'c Count>) -> String {
    let counts = counts.map(|count| format!("{} {}", count.count, count.name.replace('_', " ")));
    counts.collect::<Vec<_>>().join(", ")
}

pub(super) fn align(table: &mut Table, right: &[usize]) {
    for index in right {
        if let Some(column) = table.column_mut(*index) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// A rule's name for people.
pub(crate) fn rule_title(rule: Rule) -> &'static str {
    match rule {
        Rule::ExactMatch => "exact match",
        Rule::NumericalMatch => "numeric match (NM)",
        Rule::ExecutionAccuracy => "execution accuracy",
        Rule::ProgramExecution => "program execution",
        Rule::ProgramAccuracy => "program accuracy",
        Rule::FinancialEquivalence => "financial equiv. (FE)",
    }
}

/// NM is never quoted without what a constant answer gets.
fn floor_of(rule: Rule, rates: &RuleRates) -> String {
    match (rule, rates.floor()) {
        (Rule::NumericalMatch, Some(floor)) => format!("floor {:.1} %", 100.0 * floor.rate),
        _ => String::new(),
    }
}

/// `[69.1, 83.9]`
pub(super) fn interval(rate: &Rate) -> String {
    format!("[{:.1}, {:.1}]", 100.0 * rate.low, 100.0 * rate.high)
}

/// `77.4 % [69.1, 83.9]`
pub(super) fn with_interval(rate: &Rate) -> String {
    format!("{:.1} % {}", 100.0 * rate.rate, interval(rate))
}

fn rate_row(title: &str, rate: &Rate, note: String) -> Vec<String> {
    vec![
        title.to_owned(),
        rate.hits.to_string(),
        rate.n.to_string(),
        format!("{:.1}", 100.0 * rate.rate),
        format!("{:.1} – {:.1}", 100.0 * rate.low, 100.0 * rate.high),
        note,
    ]
}

pub(super) fn outcome_line(scores: &Scorecard, style: TerminalStyle) -> Option<String> {
    let outcomes = scores.outcomes.iter();
    let others = listed(outcomes.filter(|count| count.name != "answered"));
    let answered = scores.answered.get(Rule::FinancialEquivalence);
    (!others.is_empty()).then(|| {
        let of_answered = answered
            .map(|rate| format!("; of the {} answered, FE {}", rate.n, with_interval(&rate)))
            .unwrap_or_default();
        style.wrap(&format!(
            "Without an answer (counted as wrong): {others}{of_answered}"
        ))
    })
}

/// How whole conversations go, and whether one error causes the next, by each rule.
fn conversation_lines(scores: &Scorecard, style: TerminalStyle) -> Vec<String> {
    let lines = scores.conversations.iter().map(|card| {
        let whole = card.whole;
        let whole = whole.map(|rate| format!("{} (n {})", with_interval(&rate), rate.n));
        let incomplete = match card.incomplete {
            0 => String::new(),
            n => format!(", {n} of them without all their turns"),
        };
        style.wrap(&format!(
            "{}{incomplete}, by {}: right as a whole {}; {} of {} follow an error",
            counted(card.conversations, "conversation"),
            rule_title(card.rule),
            whole.as_deref().unwrap_or("–"),
            card.errors_after_an_error,
            counted(card.errors, "error")
        ))
    });
    lines.collect()
}

fn latency_line(scores: &Scorecard, style: TerminalStyle) -> Option<String> {
    let latency = scores.latency.as_ref()?;
    // The embedded analyst takes less than a hundredth of a second.
    let (unit, of_second, digits) = match latency.max < 1.0 {
        true => ("ms", 1000.0, 0),
        false => ("s", 1.0, 1),
    };
    let [median, p95] = [latency.p50, latency.p95].map(|seconds| of_second * seconds);
    Some(style.wrap(&format!(
        "Latency: median {median:.digits$} {unit}, P95 {p95:.digits$} {unit}"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_answered_nothing_does_not_speak_of_gold() {
        let text = scorecard_tables(&Scorecard::of(&[]), TerminalStyle::default());
        assert_eq!(text, "No question was answered, so nothing is scored");
    }
}
