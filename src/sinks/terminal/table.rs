//! The summary as tables for a terminal of 80 columns and more.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use crate::score::statistics::Rate;
use crate::score::{Rule, Scorecard};
use crate::sinks::Summary;

/// Columns of the narrowest terminal that the tables are laid out for.
const NARROWEST: u16 = 80;

/// The summary as tables: scores, what is behind them, what they took.
#[must_use]
pub fn summary_tables(summary: &Summary) -> String {
    let mut parts = vec![scorecard_tables(&summary.scores)];
    parts.push(epoch_lines(summary));
    parts.push(critic_lines(summary));
    parts.push(opinion_line(summary));
    parts.push(spent_table(summary));
    if summary.run.invented {
        parts.push(
            "The built-in sample is invented: its companies do not exist, and its score says\n\
             nothing of ConvFinQA (convfinqa data download fetches the real data)."
                .to_owned(),
        );
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The scores alone, as `score` prints them too.
#[must_use]
pub fn scorecard_tables(scores: &Scorecard) -> String {
    let mut table = table(&["rule", "right", "of", "%", "95 % interval", "beside it"]);
    for (rule, rate) in scores.rates.iter() {
        let beside = match rule {
            Rule::NumericalMatch => scores
                .numerical_match_floor
                .map(|floor| format!("floor {:.1} %", 100.0 * floor.rate)),
            _ => None,
        };
        table.add_row(rate_row(
            rule_title(rule),
            &rate,
            beside.unwrap_or_default(),
        ));
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
    lines.extend(outcome_line(scores));
    lines.extend(reasons_line(scores));
    lines.extend(conversation_lines(scores));
    lines.extend(latency_line(scores));
    lines.join("\n")
}

pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_FULL_CONDENSED);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if table.width().is_none() {
        table.set_width(NARROWEST);
    }
    table.set_header(header.iter().copied());
    table
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

fn outcome_line(scores: &Scorecard) -> Option<String> {
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
        format!(
            "Without an answer (counted as wrong): {}{of_answered}",
            others.join(", ")
        )
    })
}

fn reasons_line(scores: &Scorecard) -> Option<String> {
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
        wrap(&format!("FE accepts: {}{misses}", list(&scores.reasons)))
    })
}

fn conversation_lines(scores: &Scorecard) -> Vec<String> {
    scores
        .conversations
        .iter()
        .map(|card| {
            let rate = |rate: Option<Rate>| {
                rate.map_or_else(|| "–".to_owned(), |rate| format!("{:.1} %", 100.0 * rate.rate))
            };
            let slices = |slices: &[crate::score::Slice]| {
                let shown = slices.iter().map(|slice| format!("{} {:.0} %", slice.name, 100.0 * slice.rate.rate));
                shown.collect::<Vec<_>>().join(", ")
            };
            wrap(&format!(
                "Conversations by {}: {} whole of {} · by turn {} · {} · {} · right after right {} · \
                 {} of {} errors follow an error",
                rule_title(card.rule),
                rate(card.whole),
                card.conversations,
                slices(&card.by_turn),
                slices(&card.by_effort),
                slices(&card.by_kind),
                rate(card.right_after_right),
                card.errors_after_an_error,
                card.errors
            ))
        })
        .collect()
}

fn latency_line(scores: &Scorecard) -> Option<String> {
    let latency = scores.latency.as_ref()?;
    Some(wrap(&format!(
        "Latency s: mean {:.2}, min {:.2}, max {:.2}, P25 {:.2}, P50 {:.2}, P75 {:.2}, P95 {:.2}, P99 {:.2} (n {})",
        latency.mean,
        latency.min,
        latency.max,
        latency.p25,
        latency.p50,
        latency.p75,
        latency.p95,
        latency.p99,
        latency.n
    )))
}

fn epoch_lines(summary: &Summary) -> String {
    let percent = |rate: &Rate| format!("{:.1} %", 100.0 * rate.rate);
    let lines = summary.epochs.iter().map(|card| {
        let name = if card.rule == Rule::NumericalMatch.name() {
            "NM"
        } else {
            "FE"
        };
        wrap(&format!(
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

fn critic_lines(summary: &Summary) -> String {
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
    wrap(&format!(
        "Critic: sent back {}, fixed {}, broke {}, unchanged {}, not needed {}{without}{cost}",
        critic.sent_back, critic.fixed, critic.broken, critic.unchanged, critic.unneeded
    ))
}

fn opinion_line(summary: &Summary) -> String {
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
    wrap(&format!("Second opinion: {}", parts.join(", ")))
}

fn spent_table(summary: &Summary) -> String {
    let spent = &summary.spent;
    if spent.calls == 0 {
        return String::new();
    }
    let mut table = table(&["node", "calls", "requests", "tokens in", "tokens out"]);
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

/// Breaks a line at spaces so that it fits the narrowest terminal.
pub(super) fn wrap(text: &str) -> String {
    let mut out = String::new();
    let mut width = 0;
    for word in text.split(' ') {
        let long = word.chars().count();
        if width > 0 && width + 1 + long > usize::from(NARROWEST) {
            out.push_str("\n  ");
            width = 2;
        } else if width > 0 {
            out.push(' ');
            width += 1;
        }
        out.push_str(word);
        width += long;
    }
    out
}
