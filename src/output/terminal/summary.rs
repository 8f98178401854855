//! The summary of a run in a few lines: what was measured and its scores, what the critic and
//! the second opinion did, what it cost. `--verbose` shows all rules and what is behind them.

use std::path::Path;

use crate::run::{RunMeta, Summary};
use crate::score::{Rule, Scorecard};
use finqa_agents::llm::NodeUsage;
use finqa_agents::llm::settings::OFFLINE;
use finqa_core::stats::Rate;
use finqa_core::text::counted;

use super::episodes::episode_lines;
use super::scores::{outcome_line, scorecard_tables, with_interval};
use super::style::TerminalStyle;

/// The summary of a run in `output`.
pub(crate) fn summary_text(
    summary: &Summary,
    output: &Path,
    verbose: bool,
    style: TerminalStyle,
) -> String {
    let mut parts = vec![style.wrap(&headline(summary))];
    if let Some(episodes) = &summary.episodes {
        parts.push(episode_lines(episodes, style));
    }
    match verbose {
        true => parts.push(scorecard_tables(&summary.scores, style)),
        false => {
            parts.extend(other_rules(&summary.scores).map(|line| style.wrap(&line)));
            parts.extend(outcome_line(&summary.scores, style));
        }
    }
    parts.push(epoch_lines(summary, style));
    parts.extend(critic_line(summary, verbose).map(|line| style.wrap(&line)));
    parts.extend(opinion_line(summary).map(|line| style.wrap(&line)));
    parts.extend(spent_line(summary).map(|line| style.wrap(&line)));
    parts.extend(unfinished_line(summary, output).map(|line| style.wrap(&line)));
    let left_out = summary.left_out_line();
    parts.extend(left_out.map(|line| style.wrap(&format!("Note: {line}."))));
    if summary.run.invented {
        parts.push(style.wrap(
            "The built-in sample is fictional: its companies do not exist, and its score says \
             nothing about ConvFinQA (convfinqa data download fetches the real data).",
        ));
    }
    parts.retain(|part| !part.is_empty());
    parts.join("\n")
}

/// What was measured, and the score that is quoted first.
fn headline(summary: &Summary) -> String {
    let score = match summary.scores.rates.get(Rule::FinancialEquivalence) {
        Some(rate) => format!(
            "financial equivalence (FE) {:.1} %, 95 % interval {:.1} to {:.1}",
            100.0 * rate.rate,
            100.0 * rate.low,
            100.0 * rate.high
        ),
        None if summary.scores.questions == 0 => "no question was answered".to_owned(),
        None => "no question has a gold answer, so nothing is scored".to_owned(),
    };
    let questions = counted(summary.scores.questions, "question");
    format!("{}, {questions}: {score}", measured(&summary.run))
}

/// The model and its server, the data, and how questions were asked.
fn measured(run: &RunMeta) -> String {
    let model = match run.model() {
        OFFLINE => "Embedded analyst".to_owned(),
        // Provider, address and model.
        model => match run.identity.model.split(' ').nth(1) {
            Some(address) => format!("{model} at {address}"),
            None => model.to_owned(),
        },
    };
    let setting = |key: &str| run.settings.get(key).and_then(toml::Value::as_str);
    let fictional = match run.invented {
        true => " (fictional)",
        false => "",
    };
    let mode = match (setting("mode"), setting("history")) {
        (Some("conversations"), Some("gold")) => ", conversations with gold history",
        (Some("conversations"), _) => ", conversations",
        _ => "",
    };
    format!("{model}, {}{fictional}{mode}", run.data)
}

/// The rules of the LangGraph baseline; NM is never quoted without what a constant gets.
fn other_rules(scores: &Scorecard) -> Option<String> {
    let percent = |rate: Rate| format!("{:.1} %", 100.0 * rate.rate);
    let exact = scores.rates.get(Rule::ExactMatch)?;
    let mut line = format!("Exact match (EM) {}", percent(exact));
    if let Some(rate) = scores.rates.get(Rule::NumericalMatch) {
        line.push_str(&format!(", numeric match (NM) {}", percent(rate)));
    }
    if let Some(floor) = scores.rates.floor() {
        let floor = 100.0 * floor.rate;
        line.push_str(&format!(
            "; the best constant answer gets {floor:.1} % by NM"
        ));
    }
    Some(line)
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

/// What the critic changed; with `--verbose` also what that cost.
fn critic_line(summary: &Summary, verbose: bool) -> Option<String> {
    let critic = &summary.critic;
    let answered = critic.first_draft_n;
    let reviewed = match critic.reviewed {
        n if 0 < n && n < answered => format!("reviewed {n} and "),
        _ => String::new(),
    };
    if critic.sent_back == 0 && reviewed.is_empty() {
        return None;
    }
    let mut line = format!(
        "Critic: {reviewed}sent back {} of {}; {} became right, {} became wrong",
        critic.sent_back,
        counted(answered, "answer"),
        critic.fixed,
        critic.broken
    );
    if let Some(rate) = critic.first_drafts.filter(|_| verbose) {
        line.push_str(&format!("; first drafts alone FE {}", with_interval(&rate)));
    }
    match critic.cost.total() {
        Some(cost) if verbose && !cost.is_zero() => {
            line.push_str(&format!("; reviews and revisions cost ${cost:.4}"));
        }
        _ => {}
    }
    Some(line)
}

/// How far agreement with the embedded analyst tells right answers from wrong ones.
fn opinion_line(summary: &Summary) -> Option<String> {
    let agreement = summary.second_opinion.as_ref()?;
    let part = |rate: Option<Rate>, which: &str| {
        rate.map(|rate| {
            let (n, percent) = (rate.n, 100.0 * rate.rate);
            format!(
                "{which} for {} ({percent:.1} % right)",
                counted(n, "question")
            )
        })
    };
    let arbitration = agreement.arbitration.map(|effect| {
        format!(
            "it replaced {} of {}, of which {} became right and {} wrong",
            effect.taken,
            counted(effect.weighed, "answer"),
            effect.fixed,
            effect.broken
        )
    });
    let parts = [
        part(agreement.agreed, "the same answer"),
        part(agreement.differed, "another answer"),
        arbitration,
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| {
        format!(
            "Second opinion of the embedded analyst: {}",
            parts.join(", ")
        )
    })
}

fn unfinished_line(summary: &Summary, output: &Path) -> Option<String> {
    if let Some(line) = summary.missing_line() {
        return Some(format!("Not complete: {line}."));
    }
    let (state, command) = summary.unfinished(output)?;
    let (left, total) = (summary.left(), summary.run.total);
    Some(format!(
        "{state}: {left} of {total} questions have no outcome yet; {command} asks them."
    ))
}

/// Calls, tokens and cost in one line.
fn spent_line(summary: &Summary) -> Option<String> {
    let spent = &summary.spent;
    let used = spent.nodes.total();
    (spent.calls > 0).then(|| {
        format!(
            "{} · tokens in {} · tokens out {}{}",
            counted(spent.calls, "call"),
            tokens(&used, used.tokens.input_tokens),
            tokens(&used, used.tokens.output_tokens),
            cost_text(summary)
        )
    })
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

/// What caches saved, and the cost.
fn cost_text(summary: &Summary) -> String {
    let used = summary.spent.nodes.total();
    let cached = used.tokens.cached_input_tokens as f64 / used.tokens.input_tokens.max(1) as f64;
    let share = match cached {
        0.0 => String::new(),
        _ => format!(
            " · {:.1} % of the tokens in from the provider's cache",
            100.0 * cached
        ),
    };
    let hits = match used.cached_calls {
        0 => String::new(),
        calls => format!(
            " · {} from --cache, {} tokens saved",
            counted(calls, "call"),
            used.saved_tokens
        ),
    };
    format!("{share}{hits} · cost {}", summary.spent.cost)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
