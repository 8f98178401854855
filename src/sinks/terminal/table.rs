//! The summary as tables for a terminal of 80 columns and more.

use comfy_table::{Attribute, Cell, CellAlignment, Table};

use crate::score::statistics::Rate;
use crate::score::{ConversationCard, Rule, Scorecard, Slice};
use crate::sinks::Summary;

use super::look::Look;

/// The summary as tables: scores, what is behind them, what they took.
#[must_use]
pub fn summary_tables(summary: &Summary, look: Look) -> String {
    let mut parts = vec![scorecard_tables(&summary.scores, look)];
    parts.push(epoch_lines(summary, look));
    parts.push(critic_lines(summary, look));
    parts.push(opinion_line(summary, look));
    parts.push(spent_table(summary, look));
    if summary.run.invented {
        parts.push(look.wrap(
            "The built-in sample is invented: its companies do not exist, and its score says \
             nothing of ConvFinQA (convfinqa data download fetches the real data).",
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The scores alone, as `score` prints them too.
#[must_use]
pub fn scorecard_tables(scores: &Scorecard, look: Look) -> String {
    let mut table = look.table(&["rule", "right", "of", "%", "95 % CI", "beside it"]);
    for (rule, rate) in scores.rates.iter() {
        let beside = match rule {
            Rule::NumericalMatch => scores
                .numerical_match_floor
                .map(|floor| format!("floor {:.1} %", 100.0 * floor.rate)),
            _ => None,
        };
        let cells = rate_row(rule_title(rule), &rate, beside.unwrap_or_default());
        let headline = rule == Rule::FinancialEquivalence;
        table.add_row(cells.into_iter().map(|cell| match headline {
            true => Cell::new(cell).add_attribute(Attribute::Bold),
            false => Cell::new(cell),
        }));
    }
    if let Some(without) = &scores.without_suspects {
        for (rule, rate) in without.rates.iter() {
            if matches!(rule, Rule::NumericalMatch | Rule::FinancialEquivalence) {
                let beside = format!("less {} suspects", without.suspects);
                table.add_row(rate_row(rule_title(rule), &rate, beside));
            }
        }
    }
    align(&mut table, &[1, 2, 3]);
    let mut lines = vec![table.to_string()];
    lines.extend(outcome_line(scores, look));
    lines.extend(reasons_line(scores, look));
    lines.extend(conversation_table(scores, look));
    lines.extend(latency_line(scores, look));
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
#[must_use]
pub fn rule_title(rule: Rule) -> &'static str {
    match rule {
        Rule::ExactMatch => "exact match",
        Rule::NumericalMatch => "numeric match (NM)",
        Rule::ExecutionAccuracy => "execution accuracy",
        Rule::ProgramExecution => "program executed",
        Rule::ProgramAccuracy => "program accuracy",
        Rule::FinancialEquivalence => "financial equiv. (FE)",
    }
}

fn rate_row(title: &str, rate: &Rate, beside: String) -> Vec<String> {
    vec![
        title.to_owned(),
        rate.hits.to_string(),
        rate.n.to_string(),
        format!("{:.1}", 100.0 * rate.rate),
        format!("{:.1} – {:.1}", 100.0 * rate.low, 100.0 * rate.high),
        beside,
    ]
}

fn outcome_line(scores: &Scorecard, look: Look) -> Option<String> {
    let others: Vec<String> = scores
        .outcomes
        .iter()
        .filter(|count| count.name != "answered")
        .map(|count| format!("{} {}", count.count, count.name.replace('_', " ")))
        .collect();
    let answered = scores.answered.get(Rule::FinancialEquivalence);
    (!others.is_empty()).then(|| {
        let of_answered = answered
            .map(|rate| {
                format!(
                    "; of the {} answered, {:.1} % FE",
                    rate.n,
                    100.0 * rate.rate
                )
            })
            .unwrap_or_default();
        look.wrap(&format!(
            "Without an answer (counted as wrong): {}{of_answered}",
            others.join(", ")
        ))
    })
}

fn reasons_line(scores: &Scorecard, look: Look) -> Option<String> {
    let list = |counts: &[crate::score::Count]| {
        let named = counts
            .iter()
            .map(|count| format!("{} {}", count.name.replace('_', " "), count.count));
        named.collect::<Vec<_>>().join(", ")
    };
    (!scores.reasons.is_empty()).then(|| {
        let misses = list(&scores.diagnostics);
        let misses = if misses.is_empty() {
            misses
        } else {
            format!(" · misses that are only {misses}")
        };
        look.wrap(&format!("FE accepts: {}{misses}", list(&scores.reasons)))
    })
}

/// Turns that have a column of their own; the later ones share the last.
const TURNS: usize = 7;

/// Accuracy by turn, a row for each rule, and what else only turns can tell.
fn conversation_table(scores: &Scorecard, look: Look) -> Vec<String> {
    let Some(first) = scores.conversations.first() else {
        return Vec::new();
    };
    let percent = |rate: Rate| format!("{:.0}", 100.0 * rate.rate);
    let of = |rate: Option<Rate>| rate.map_or_else(|| "–".to_owned(), percent);
    let (apart, later) = first.by_turn.split_at(first.by_turn.len().min(TURNS));
    let mut header = vec!["% right".to_owned(), "whole".to_owned()];
    // Said once: "turn 0", then "1", "2".
    header.extend(apart.iter().enumerate().map(|(at, slice)| match at {
        0 => format!("turn {}", slice.name),
        _ => slice.name.clone(),
    }));
    header.extend(later.first().map(|slice| format!("{}+", slice.name)));
    let names: Vec<&str> = header.iter().map(String::as_str).collect();
    let mut table = look.table(&names);
    for card in &scores.conversations {
        let (apart, later) = card.by_turn.split_at(card.by_turn.len().min(TURNS));
        let mut cells = vec![rule_title(card.rule).to_owned(), of(card.whole)];
        cells.extend(apart.iter().map(|slice| percent(slice.rate)));
        if !later.is_empty() {
            cells.push(together(later));
        }
        table.add_row(cells);
    }
    let right: Vec<usize> = (1..header.len()).collect();
    align(&mut table, &right);
    let mut lines = vec![
        format!("{} conversations", first.conversations),
        table.to_string(),
    ];
    lines.extend(
        scores
            .conversations
            .iter()
            .map(|card| beside_turns(card, look)),
    );
    lines
}

/// The share right over several slices.
#[allow(clippy::cast_precision_loss, reason = "counts of questions")]
fn together(slices: &[Slice]) -> String {
    let hits: usize = slices.iter().map(|slice| slice.rate.hits).sum();
    let n: usize = slices.iter().map(|slice| slice.rate.n).sum();
    format!("{:.0}", 100.0 * hits as f64 / n.max(1) as f64)
}

fn beside_turns(card: &ConversationCard, look: Look) -> String {
    let slices = |slices: &[Slice]| {
        let shown = slices.iter().map(|slice| {
            let name = slice.name.replace('_', " ");
            format!("{name} {:.0} %", 100.0 * slice.rate.rate)
        });
        shown.collect::<Vec<_>>().join(", ")
    };
    let after = card.right_after_right;
    let after = after.map(|rate| format!("right after right {:.0} %", 100.0 * rate.rate));
    let errors = format!(
        "{} of {} errors follow an error",
        card.errors_after_an_error, card.errors
    );
    let parts = [
        slices(&card.by_effort),
        slices(&card.by_kind),
        after.unwrap_or_default(),
        errors,
    ];
    let told: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    look.wrap(&format!(
        "By {}: {}",
        rule_title(card.rule),
        told.join(" · ")
    ))
}

fn latency_line(scores: &Scorecard, look: Look) -> Option<String> {
    let latency = scores.latency.as_ref()?;
    // The embedded pair takes less than a hundredth of a second.
    let (unit, of_second) = if latency.max < 1.0 {
        ("ms", 1000.0)
    } else {
        ("s", 1.0)
    };
    let parts = [
        ("mean", latency.mean),
        ("min", latency.min),
        ("max", latency.max),
        ("P25", latency.p25),
        ("P50", latency.p50),
        ("P75", latency.p75),
        ("P95", latency.p95),
        ("P99", latency.p99),
    ]
    .map(|(name, seconds)| format!("{name} {:.2}", of_second * seconds));
    Some(look.wrap(&format!(
        "Latency {unit}: {} (n {})",
        parts.join(", "),
        latency.n
    )))
}

fn epoch_lines(summary: &Summary, look: Look) -> String {
    let percent = |rate: &Rate| format!("{:.1} %", 100.0 * rate.rate);
    let lines = summary.epochs.iter().map(|card| {
        let name = if card.rule == Rule::NumericalMatch.name() {
            "NM"
        } else {
            "FE"
        };
        look.wrap(&format!(
            "{} passes by {name}: mean {}, right in any (pass@{}) {}, in all (pass^{}) {} (n {})",
            card.k,
            percent(&card.mean),
            card.k,
            percent(&card.pass_at_k),
            card.k,
            percent(&card.pass_hat_k),
            card.n
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn critic_lines(summary: &Summary, look: Look) -> String {
    let critic = &summary.critic;
    if critic.sent_back == 0 {
        return String::new();
    }
    let without = critic.first_drafts.map_or_else(String::new, |rate| {
        format!(
            "; first drafts alone {:.1} % FE [{:.1}, {:.1}] of {}",
            100.0 * rate.rate,
            100.0 * rate.low,
            100.0 * rate.high,
            rate.n
        )
    });
    let cost = match (critic.cost_usd, critic.cost_per_net_fix_usd) {
        (Some(cost), Some(each)) if !cost.is_zero() => {
            format!("; after them ${cost:.4}, ${each:.4} a net fix")
        }
        (Some(cost), None) if !cost.is_zero() => format!("; after them ${cost:.4}, no net fix"),
        _ => String::new(),
    };
    look.wrap(&format!(
        "Critic: sent back {}, fixed {}, broke {}, unchanged {}, not needed {}{without}{cost}",
        critic.sent_back, critic.fixed, critic.broken, critic.unchanged, critic.unneeded
    ))
}

fn opinion_line(summary: &Summary, look: Look) -> String {
    let Some(agreement) = &summary.second_opinion else {
        return String::new();
    };
    let told = |rate: Option<Rate>, when: &str| {
        rate.map(|rate| {
            format!(
                "{when} {} of {} right ({:.1} % FE [{:.1}, {:.1}])",
                rate.hits,
                rate.n,
                100.0 * rate.rate,
                100.0 * rate.low,
                100.0 * rate.high
            )
        })
    };
    let parts = [
        told(agreement.agreed, "where it agrees"),
        told(agreement.differed, "where it differs"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    look.wrap(&format!("Second opinion: {}", parts.join(", ")))
}

fn spent_table(summary: &Summary, look: Look) -> String {
    let spent = &summary.spent;
    if spent.calls == 0 {
        return String::new();
    }
    let mut table = look.table(&["node", "calls", "requests", "tokens in", "tokens out"]);
    for (name, node) in &spent.nodes {
        table.add_row([
            name.clone(),
            node.calls.to_string(),
            node.requests.to_string(),
            node.input_tokens.to_string(),
            node.output_tokens.to_string(),
        ]);
    }
    align(&mut table, &[1, 2, 3, 4]);
    let cost = spent.cost_usd.map_or_else(
        || "unknown (no price listed)".to_owned(),
        |cost| format!("${cost:.4}"),
    );
    format!("{table}\nRounds {} · cost {cost}", spent.rounds)
}
