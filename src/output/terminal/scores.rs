//! The scores as tables for a terminal of 80 columns and more.

use comfy_table::{Attribute, Cell, CellAlignment, Table};

use crate::score::{ConversationCard, Count, Rule, RuleRates, Scorecard};
use finqa_core::stats::Rate;
use finqa_core::text::counted;

use super::style::TerminalStyle;

/// The scores of a run, or of a file.
pub fn scorecard_tables(scores: &Scorecard, style: TerminalStyle) -> String {
    if scores.rates.iter().next().is_none() {
        let why = match scores.questions {
            0 => "No question was answered, so nothing is scored".to_owned(),
            n => format!(
                "No gold for {}, so nothing is scored",
                counted(n, "question")
            ),
        };
        let mut lines = vec![style.wrap(&why)];
        lines.extend(outcome_line(scores, style));
        lines.extend(latency_line(scores, style));
        return lines.join("\n");
    }
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
        for (rule, rate) in without.rates.iter() {
            let short = match rule {
                Rule::NumericalMatch => "NM",
                Rule::FinancialEquivalence => "FE",
                _ => continue,
            };
            let note = match floor_of(rule, &without.rates) {
                floor if floor.is_empty() => format!("{} left out", without.suspects),
                floor => floor,
            };
            table.add_row(rate_row(
                &format!("{short}, suspect golds out"),
                &rate,
                note,
            ));
        }
    }
    align(&mut table, &[1, 2, 3]);
    let mut lines = vec![table.to_string()];
    lines.extend(outcome_line(scores, style));
    lines.extend(reasons_lines(scores, style));
    lines.extend(conversation_table(scores, style));
    lines.extend(latency_line(scores, style));
    lines.join("\n")
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
    let others: Vec<String> = scores
        .outcomes
        .iter()
        .filter(|count| count.name != "answered")
        .map(|count| format!("{} {}", count.count, count.name.replace('_', " ")))
        .collect();
    let answered = scores.answered.get(Rule::FinancialEquivalence);
    (!others.is_empty()).then(|| {
        let of_answered = answered
            .map(|rate| format!("; of the {} answered, FE {}", rate.n, with_interval(&rate)))
            .unwrap_or_default();
        style.wrap(&format!(
            "Without an answer (counted as wrong): {}{of_answered}",
            others.join(", ")
        ))
    })
}

fn reasons_lines(scores: &Scorecard, style: TerminalStyle) -> Vec<String> {
    let line = |title: &str, counts: &[Count]| {
        let named = counts.iter().map(|count| {
            let name = match count.name {
                "exact" => "equal",
                "rounding" => "after rounding",
                "truncation" => "after truncation",
                "near" => "within 0.5 % or 0.0001",
                "percent_decimal" => "as a percentage or fraction",
                "yes_no" => "yes or no",
                "sign" => "wrong sign",
                "scale" => "wrong scale",
                "scale_and_sign" => "wrong scale and sign",
                "abs_vs_rel" => "absolute change instead of relative (or the reverse)",
                "complement" => "complement (1 - x)",
                "inverse" => "inverse (1 / x)",
                "growth_factor" => "growth factor (1 + x)",
                name => name,
            };
            format!("{} {name}", count.count)
        });
        let named = named.collect::<Vec<_>>().join(", ");
        (!named.is_empty()).then(|| style.wrap(&format!("{title}: {named}")))
    };
    let accepted: usize = scores.reasons.iter().map(|count| count.count).sum();
    let lines = [
        line(&format!("Accepted by FE ({accepted})"), &scores.reasons),
        line("Rejected by FE, recognized error", &scores.diagnostics),
    ];
    lines.into_iter().flatten().collect()
}

/// Accuracy by turn and by what turns take, a column for each rule, each rate
/// with its n and its interval.
fn conversation_table(scores: &Scorecard, style: TerminalStyle) -> Vec<String> {
    let Some(first) = scores.conversations.first() else {
        return Vec::new();
    };
    let cards = &scores.conversations;
    let mut header = vec!["of turns".to_owned()];
    for card in cards {
        let rule = match card.rule {
            Rule::FinancialEquivalence => "FE",
            _ => "exec.",
        };
        header.extend(["n".to_owned(), format!("{rule} % [95 % CI]")]);
    }
    let names: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = style.table(&names);
    let groups: Vec<Vec<(String, Rate)>> = cards.iter().map(slices).collect();
    // The first rule's slices are in order; a slice that only a later rule has follows.
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in groups.iter().flatten() {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for name in names {
        let mut cells = vec![name.to_owned()];
        for slices in &groups {
            match slices.iter().find(|(own, _)| own == name) {
                Some((_, rate)) => {
                    let (percent, interval) = (100.0 * rate.rate, interval(rate));
                    cells.extend([rate.n.to_string(), format!("{percent:.1} {interval}")]);
                }
                None => cells.extend([String::new(), "–".to_owned()]),
            }
        }
        table.add_row(cells);
    }
    let right: Vec<usize> = (1..header.len()).collect();
    align(&mut table, &right);
    let incomplete = match first.incomplete {
        0 => String::new(),
        n => format!(", {n} of them without all their turns, which do not count as whole"),
    };
    let mut lines = vec![
        style.wrap(&format!(
            "{}{incomplete}",
            counted(first.conversations, "conversation")
        )),
        table.to_string(),
    ];
    lines.extend(cards.iter().map(|card| {
        style.wrap(&format!(
            "By {}: {} of {} follow an error",
            rule_title(card.rule),
            card.errors_after_an_error,
            counted(card.errors, "error")
        ))
    }));
    lines
}

/// Every rate of the card with its name.
fn slices(card: &ConversationCard) -> Vec<(String, Rate)> {
    let named = |name: &str, rate: Option<Rate>| rate.map(|rate| (name.to_owned(), rate));
    let turns = card
        .by_turn
        .iter()
        .map(|slice| (format!("turn {}", slice.name), slice.rate));
    let kinds = card.by_effort.iter().chain(&card.by_kind);
    named("whole", card.whole)
        .into_iter()
        .chain(turns)
        .chain(kinds.map(|slice| (slice.name.replace('_', " "), slice.rate)))
        .chain(named("right after right", card.right_after_right))
        .chain(named("right after wrong", card.right_after_wrong))
        .collect()
}

fn latency_line(scores: &Scorecard, style: TerminalStyle) -> Option<String> {
    let latency = scores.latency.as_ref()?;
    // The embedded analyst takes less than a hundredth of a second.
    let (unit, of_second, digits) = if latency.max < 1.0 {
        ("ms", 1000.0, 0)
    } else {
        ("s", 1.0, 1)
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
