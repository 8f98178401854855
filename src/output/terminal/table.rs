//! The summary as tables for a terminal of 80 columns and more.

use std::path::Path;

use comfy_table::{Attribute, Cell, CellAlignment, Table};

use crate::run::Summary;
use crate::score::{ConversationCard, Count, Rule, RuleRates, Scorecard};
use finqa_agents::llm::{NodeUsage, Usage};
use finqa_core::stats::Rate;
use finqa_core::text::counted;

use super::episodes::episode_table;
use super::style::TerminalStyle;

/// The summary of a run in `output` as tables: scores, what is behind them, what they took.
pub(crate) fn summary_tables(summary: &Summary, output: &Path, style: TerminalStyle) -> String {
    let mut parts = Vec::new();
    if let Some(episodes) = &summary.episodes {
        parts.push(episode_table(episodes, style));
    }
    parts.push(scorecard_tables(&summary.scores, style));
    parts.push(epoch_lines(summary, style));
    parts.push(critic_lines(summary, style));
    parts.push(sample_line(summary, style));
    parts.push(opinion_line(summary, style));
    parts.push(spent_table(summary, style));
    if let Some(line) = summary.missing_line() {
        parts.push(style.wrap(&format!("Not complete: {line}.")));
    } else if let Some((state, command)) = summary.unfinished(output) {
        let left = match summary.run.total {
            Some(total) => format!(
                "{} of {total} questions have no outcome yet",
                summary.left()
            ),
            None => "questions on the server were not asked".to_owned(),
        };
        parts.push(style.wrap(&format!("{state}: {left}; {command} asks them.")));
    }
    parts.extend(
        summary
            .left_out_line()
            .map(|line| style.wrap(&format!("Note: {line}."))),
    );
    if summary.run.invented {
        parts.push(style.wrap(
            "The built-in sample is fictional: its companies do not exist, and its score says \
             nothing about ConvFinQA (convfinqa data download fetches the real data).",
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// The scores alone, as `score` prints them too.
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
            let title = format!("{short} without {}", counted(without.suspects, "suspect"));
            table.add_row(rate_row(&title, &rate, floor_of(rule, &without.rates)));
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
fn interval(rate: &Rate) -> String {
    format!("[{:.1}, {:.1}]", 100.0 * rate.low, 100.0 * rate.high)
}

/// `77.4 % [69.1, 83.9]`
fn with_interval(rate: &Rate) -> String {
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

fn outcome_line(scores: &Scorecard, style: TerminalStyle) -> Option<String> {
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

fn epoch_lines(summary: &Summary, style: TerminalStyle) -> String {
    let lines = summary.epochs.iter().map(|card| {
        let name = if card.rule == Rule::NumericalMatch.name() {
            "NM"
        } else {
            "FE"
        };
        let floor = card
            .floor
            .map(|floor| format!(", floor {:.1} %", 100.0 * floor.rate));
        style.wrap(&format!(
            "{} passes by {name}: mean {}, right in any (pass@{}) {}, in all (pass^{}) {} (n {}{})",
            card.k,
            with_interval(&card.mean),
            card.k,
            with_interval(&card.pass_at_k),
            card.k,
            with_interval(&card.pass_hat_k),
            card.n,
            floor.unwrap_or_default()
        ))
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn critic_lines(summary: &Summary, style: TerminalStyle) -> String {
    let critic = &summary.critic;
    let answered = critic.first_draft_n;
    let reviewed = match critic.reviewed {
        n if 0 < n && n < answered => format!("reviewed {n} of {answered}, "),
        _ => String::new(),
    };
    if critic.sent_back == 0 && reviewed.is_empty() {
        return String::new();
    }
    let without = critic.first_drafts.map_or_else(String::new, |rate| {
        let interval = interval(&rate);
        let percent = 100.0 * rate.rate;
        format!(
            "; first drafts alone {percent:.1} % FE {interval} of {}",
            rate.n
        )
    });
    let cost = match (critic.cost.total(), critic.cost_per_net_fix_usd) {
        (Some(cost), Some(each)) if !cost.is_zero() => {
            format!("; after them ${cost:.4}, ${each:.4} per net fix")
        }
        (Some(cost), None) if !cost.is_zero() => format!("; after them ${cost:.4}, no net fix"),
        _ => String::new(),
    };
    style.wrap(&format!(
        "Critic: {reviewed}revised {}, fixed {}, broke {}, unchanged {}, not revised {}{without}{cost}",
        critic.sent_back, critic.fixed, critic.broken, critic.unchanged, critic.unneeded
    ))
}

fn sample_line(summary: &Summary, style: TerminalStyle) -> String {
    let Some(samples) = &summary.samples else {
        return String::new();
    };
    let cost = match samples.cost.total() {
        Some(cost) if !cost.is_zero() => format!("; ${cost:.4}"),
        _ => String::new(),
    };
    style.wrap(&format!(
        "Samples: {} more for {}, fixed {}, broke {}, unchanged {}{cost}",
        samples.further,
        counted(samples.sampled, "question"),
        samples.fixed,
        samples.broken,
        samples.unchanged
    ))
}

fn opinion_line(summary: &Summary, style: TerminalStyle) -> String {
    let Some(agreement) = &summary.second_opinion else {
        return String::new();
    };
    let part = |rate: Option<Rate>, when: &str| {
        rate.map(|rate| {
            let Rate { hits, n, .. } = rate;
            let (percent, interval) = (100.0 * rate.rate, interval(&rate));
            format!("{when} {hits} of {n} right ({percent:.1} % FE {interval})")
        })
    };
    let parts = [
        part(agreement.agreed, "where it agrees"),
        part(agreement.differed, "where it differs"),
    ];
    let arbitration = agreement.arbitration.map(|effect| {
        format!(
            "it replaced {} of {} answers (model accuracy {:.2}), fixed {}, broke {}",
            effect.taken, effect.weighed, effect.model_accuracy, effect.fixed, effect.broken
        )
    });
    let parts: Vec<String> = parts.into_iter().chain([arbitration]).flatten().collect();
    let mut lines = Vec::new();
    if !parts.is_empty() {
        lines.push(style.wrap(&format!("Second opinion: {}", parts.join(", "))));
    }
    if let Some((most, embedded)) = agreement.better_embedded() {
        lines.push(style.wrap(&format!(
            "Judging by their agreement, at most {:.0} % of the model's answers are right, and about \
             {:.0} % of the embedded analyst's; --second-opinion arbitrate --model-accuracy {most:.2} \
             returns the likelier answer.",
            100.0 * most,
            100.0 * embedded
        )));
    }
    lines.join("\n")
}

/// Tokens that a server did not give, or of an answer that was lost, are not in
/// the sum.
fn tokens(node: &NodeUsage, count: u64) -> String {
    if node.without_usage > 0 || node.lost > 0 {
        format!("{count} (at least)")
    } else {
        count.to_string()
    }
}

/// The share in percent of the tokens read that came from a provider's cache, where one
/// reports any.
fn cached_share(tokens: &Usage) -> Option<f64> {
    let [cached, all] = [tokens.cached_input_tokens, tokens.input_tokens].map(|count| count as f64);
    (cached > 0.0 && all > 0.0).then(|| 100.0 * cached / all)
}

fn spent_table(summary: &Summary, style: TerminalStyle) -> String {
    let spent = &summary.spent;
    if spent.calls == 0 {
        return String::new();
    }
    let mut table = style.table(&[
        "node", "calls", "requests", "tokens in", "tokens out", "cost",
    ]);
    for (name, node) in spent.nodes.iter() {
        table.add_row([
            name.to_owned(),
            node.calls.to_string(),
            node.requests.to_string(),
            tokens(node, node.tokens.input_tokens),
            tokens(node, node.tokens.output_tokens),
            node.cost.brief().unwrap_or_default(),
        ]);
    }
    align(&mut table, &[1, 2, 3, 4, 5]);
    let used = spent.nodes.total();
    let share = cached_share(&used.tokens).map_or_else(String::new, |share| {
        format!(" · {share:.1} % of the tokens in from the provider's cache")
    });
    let hits = match used.cached_calls {
        0 => String::new(),
        calls => format!(
            " · {} from --cache, {} tokens saved",
            counted(calls, "call"),
            used.saved_tokens
        ),
    };
    format!(
        "{table}\nRounds {}{share}{hits} · cost {}",
        spent.rounds, spent.cost
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cached_share_is_shown_only_where_a_provider_reports_one() {
        let share = |cached_input_tokens| {
            cached_share(&Usage {
                input_tokens: 200,
                cached_input_tokens,
                ..Usage::default()
            })
        };
        assert_eq!(share(0), None);
        assert_eq!(share(50), Some(25.0));
        assert_eq!(cached_share(&Usage::default()), None);
    }

    #[test]
    fn a_sum_without_some_tokens_is_shown_as_at_least() {
        let all = NodeUsage::default();
        assert_eq!(tokens(&all, 7), "7");
        let without_usage = NodeUsage {
            without_usage: 1,
            ..all
        };
        let lost = NodeUsage { lost: 1, ..all };
        for part in [without_usage, lost] {
            assert_eq!(tokens(&part, 7), "7 (at least)");
        }
    }

    #[test]
    fn a_run_that_answered_nothing_does_not_speak_of_gold() {
        let text = scorecard_tables(&Scorecard::of(&[]), TerminalStyle::default());
        assert_eq!(text, "No question was answered, so nothing is scored");
    }
}
