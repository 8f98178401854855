//! The summary of a run in a few lines: the model and data, the scores, the effect of critic and
//! second opinion, and the cost. With `--verbose`, the scores by all rules are a table.

use std::path::Path;

use crate::output::numbers::signed;
use finqa_agents::llm::settings::OFFLINE;
use finqa_agents::llm::{Cost, NodeUsage};
use finqa_agents::pair::EpisodeEnd;
use finqa_core::stats::Rate;
use finqa_core::text::counted;
use finqa_journal::run::{CriticKind, CriticWorth, EpisodeSummary, RunMeta, Summary};
use finqa_score::score::{EpochCard, Rule, Scorecard};

use super::scores::{interval, judged_note, outcome_line, scorecard_tables, with_interval};
use super::style::{TerminalStyle, unbroken};

/// Minimum number of questions for showing the score of the best constant answer. For a single
/// question, a constant is always right. Set by hand.
const ENOUGH: usize = 10;

/// The summary of a run. `output` is the folder with the runs, for the command that continues the
/// run; `None` if no command can.
pub fn summary_text(
    summary: &Summary,
    output: Option<&Path>,
    verbose: bool,
    style: TerminalStyle,
) -> String {
    let mut parts = vec![style.wrap(&headline(summary))];
    if let Some(episodes) = &summary.episodes {
        parts.push(style.wrap(&episode_line(episodes)));
    }
    if verbose {
        parts.push(scorecard_tables(&summary.scores, style));
    } else {
        parts.extend(other_rules(&summary.scores).map(|line| style.wrap(&line)));
        parts.extend(outcome_line(&summary.scores, style));
    }
    parts.extend(failure_lines(summary).map(|line| style.wrap(&line)));
    let mut lines: Vec<String> = summary.epochs.iter().flat_map(epoch_lines).collect();
    lines.extend(critic_line(summary));
    lines.extend(summary.critic.worth.iter().map(worth_line));
    lines.extend(opinion_line(summary));
    lines.extend(spent_line(summary));
    lines.extend(unfinished_line(summary, output));
    lines.extend(summary.notes.iter().map(|line| format!("Warning: {line}.")));
    let changes = summary.run.change_lines().into_iter();
    lines.extend(changes.map(|line| format!("Note: {line}.")));
    if summary.run.invented {
        let line = "The built-in sample is fictional: its companies do not exist, and its score says \
                    nothing about ConvFinQA (convfinqa data download fetches the real data).";
        lines.push(line.to_owned());
    }
    parts.extend(lines.iter().map(|line| style.wrap(line)));
    parts.join("\n")
}

/// The model, the data and the score by financial equivalence. The score is not broken into two
/// lines.
fn headline(summary: &Summary) -> String {
    let score = match summary.scores.rates.get(Rule::FinancialEquivalence) {
        Some(rate) => format!(
            "financial equivalence (FE) {:.1} %, 95 % interval {}",
            100.0 * rate.rate,
            interval(&rate)
        ),
        None if summary.scores.questions == 0 => "no question was answered".to_owned(),
        None => "no question has a gold answer, so nothing is scored".to_owned(),
    };
    let scores = &summary.scores;
    let mut questions = counted(scores.questions, "question");
    if let Some(line) = scores.gold_line() {
        let scored = counted(scores.questions - scores.without_gold, "question");
        questions = format!("{scored} scored ({line})");
    } else if summary.episodes.is_none() {
        // The number of pages is shown because `--n` counts records: two records may share a page,
        // and most records have several questions.
        questions.push_str(&format!(" on {}", counted(scores.pages, "page")));
    }
    let score = unbroken(&score);
    let reward = summary.episodes.as_ref().and_then(reward_words);
    let reward = reward.map_or_else(String::new, |reward| format!("{}; ", unbroken(&reward)));
    format!("{}, {questions}: {reward}{score}", measured(&summary.run))
}

/// The model with its server, the data, and the way in which the questions were asked.
fn measured(run: &RunMeta) -> String {
    let model = match run.model() {
        OFFLINE => "Embedded analyst".to_owned(),
        // The model in the identity is provider, address and name.
        model => match run.identity.model.split(' ').nth(1) {
            Some(address) => format!("{model} at {address}"),
            None => model.to_owned(),
        },
    };
    let setting = |key: &str| run.settings.get(key).and_then(toml::Value::as_str);
    let fictional = if run.invented { " (fictional)" } else { "" };
    let mode = match (setting("mode"), setting("history")) {
        (Some("conversations"), Some("gold")) => ", conversations with gold history",
        (Some("conversations"), _) => ", conversations",
        _ => "",
    };
    format!("{model}, {}{fictional}{mode}", run.data)
}

/// The scores by the rules of the LangGraph baseline. Numeric match comes with the score of the
/// best constant answer. `None` if exact match can judge no answer.
fn other_rules(scores: &Scorecard) -> Option<String> {
    let percent = |rate: f64| format!("{:.1} %", 100.0 * rate);
    let judged = |rate: &Rate| match judged_note(scores, rate) {
        Some(note) => format!("{} ({note})", percent(rate.rate)),
        None => percent(rate.rate),
    };
    let exact = scores.rates.get(Rule::ExactMatch)?;
    let mut line = format!("Exact match (EM) {}", judged(&exact));
    if let Some(rate) = scores.rates.get(Rule::NumericalMatch) {
        line.push_str(&format!(", numeric match (NM) {}", judged(&rate)));
    }
    if let Some(floor) = scores.rates.floor().filter(|floor| floor.n >= ENOUGH) {
        let floor = percent(floor.rate);
        line.push_str(&format!("; the best constant answer gets {floor} by NM"));
    }
    Some(line)
}

/// The mean reward, which episodes are played for. `None` if no episode has a reward.
fn reward_words(episodes: &EpisodeSummary) -> Option<String> {
    let reward = episodes.reward?;
    let interval = reward.low.zip(reward.high);
    let interval = interval.map(|(low, high)| format!(", 95 % interval [{low:.3}, {high:.3}]"));
    Some(format!(
        "mean reward {:.3}{}",
        reward.mean,
        interval.unwrap_or_default()
    ))
}

/// The number of episodes with a reward, the mean number of steps, the calls and episodes that
/// failed, and the number of episodes for each end other than a submission.
fn episode_line(episodes: &EpisodeSummary) -> String {
    let rewarded = episodes.reward.map_or(0, |reward| reward.n);
    let mut parts = vec![format!("{rewarded} with a reward")];
    let steps = episodes.mean_steps;
    parts.extend(steps.map(|steps| format!("{steps:.1} steps each")));
    let counts = [
        (episodes.invalid_calls, "calls that reached no tool"),
        (episodes.without_submission, "without a submission"),
        (episodes.failed, "failed"),
    ];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    parts.extend(counts.map(|(count, what)| format!("{count} {what}")));
    let ends = episodes.outcomes.iter();
    let ends = ends.filter(|(name, _)| **name != EpisodeEnd::Submitted.name());
    parts.extend(ends.map(|(name, count)| format!("{} {count}", name.replace('_', " "))));
    format!("Episodes: {}", parts.join("; "))
}

/// Compares the passes of a run by one rule. The number of answers that vary between passes is
/// shown only for financial equivalence.
pub(super) fn epoch_lines(card: &EpochCard) -> Vec<String> {
    let is_nm = card.rule == Rule::NumericalMatch.name();
    let name = if is_nm { "NM" } else { "FE" };
    let k = card.k;
    let floor = card.floor.map(|floor| 100.0 * floor.rate);
    let floor = floor.map(|floor| format!(", floor {floor:.1} %"));
    let mut lines = vec![format!(
        "{k} passes by {name}: mean {}, right in any (pass@{k}) {}, in all (pass^{k}) {} (n {}{})",
        with_interval(&card.mean),
        with_interval(&card.pass_at_k),
        with_interval(&card.pass_hat_k),
        card.n,
        floor.unwrap_or_default()
    )];
    if !is_nm {
        lines.push(format!(
            "Not answered the same in every pass: {} of {}; wrong in all passes (systematic): {}, \
             in some (flaky): {}",
            card.varying,
            counted(card.n, "question"),
            card.systematic,
            card.flaky
        ));
    }
    lines
}

/// The three most frequent failures (set by hand), in the provider's words. `summary.json` has all.
fn failure_lines(summary: &Summary) -> impl Iterator<Item = String> {
    const SHOWN: usize = 3;
    summary.failures.iter().take(SHOWN).map(|failure| {
        let name: &str = failure.outcome.into();
        let name = name.replace('_', " ");
        format!("  {} {name}: {}", failure.count, failure.reason)
    })
}

/// The effect of the critic: how many answers it reviewed, sent back, fixed and broke. `None` if
/// there is nothing to report.
fn critic_line(summary: &Summary) -> Option<String> {
    let critic = &summary.critic;
    let answered = critic.first_draft_n;
    let not_reviewed = critic.why_not_reviewed.as_ref().map(|why| {
        let answers = counted(critic.not_reviewed, "answer");
        format!("{answers} not reviewed: {why}")
    });
    let reviewed = match critic.reviewed {
        n if 0 < n && n < answered => format!("reviewed {n} and "),
        _ if critic.sent_back == 0 => return Some(format!("Critic: {}", not_reviewed?)),
        _ => String::new(),
    };
    let not_reviewed = not_reviewed.map(|words| format!("; {words}"));
    let unrevised = match critic.without_revision {
        0 => String::new(),
        n => format!(" ({n} without a readable revision)"),
    };
    Some(format!(
        "Critic: {reviewed}sent back {} of {}{unrevised}; {} became right, {} became wrong{}",
        critic.sent_back,
        counted(answered, "answer"),
        critic.fixed,
        critic.broken,
        not_reviewed.unwrap_or_default()
    ))
}

/// The gain from one critic, in answers and in points.
fn worth_line(worth: &CriticWorth) -> String {
    let (whose, verb) = match worth.critic {
        CriticKind::Checks => ("the checks", "sent back"),
        CriticKind::Model => ("the critic's model", "sent back"),
        CriticKind::Opinion => ("the second opinion", "replaced"),
    };
    let points = |share: f64| signed(100.0 * share, 1);
    if worth.changed == 0 {
        let (gain, answers) = (points(worth.gain), counted(worth.n, "answer"));
        return format!("Worth of {whose}: {gain} points by FE (it {verb} none of {answers})");
    }
    let interval = worth.interval.map_or_else(String::new, |it| {
        format!(" [{},\u{a0}{}]", points(it.low), points(it.high))
    });
    format!(
        "Worth of {whose}: {}{interval} points by FE (of {} {verb}, {} fixed, {} broken, {} left; n {})",
        points(worth.gain),
        worth.changed,
        worth.fixed,
        worth.broken,
        worth.left,
        worth.n
    )
}

/// The scores of answers with which the embedded analyst agrees, and of those with which it does
/// not. `None` without a second opinion that can be judged.
fn opinion_line(summary: &Summary) -> Option<String> {
    let agreement = summary.second_opinion.as_ref()?;
    let part = |rate: Rate, which: &str| {
        let (questions, percent) = (counted(rate.n, "question"), 100.0 * rate.rate);
        format!("{which} for {questions} ({percent:.1} % right)")
    };
    let parts = [
        agreement.agreed.map(|rate| part(rate, "the same answer")),
        agreement.differed.map(|rate| part(rate, "another answer")),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let parts = Some(parts.join(", ")).filter(|parts| !parts.is_empty())?;
    Some(format!("Second opinion of the embedded analyst: {parts}"))
}

/// The number of questions left, and the command that asks them, if one can; `None` for a complete
/// run.
fn unfinished_line(summary: &Summary, output: Option<&Path>) -> Option<String> {
    if let Some(line) = summary.missing_line() {
        return Some(format!("Not complete: {line}."));
    }
    let (state, command) = summary.unfinished(output.unwrap_or(Path::new("")))?;
    let (left, all) = (summary.left(), counted(summary.run.total, "question"));
    let continues = match output {
        // Not broken into lines, so that users can copy it.
        Some(_) => format!("; {} continues", unbroken(&command)),
        None => String::new(),
    };
    Some(format!(
        "{state}: no outcome yet for {left} of {all}{continues}."
    ))
}

/// Calls, tokens and cost, on one line; `None` without calls.
fn spent_line(summary: &Summary) -> Option<String> {
    let spent = &summary.spent;
    let used: NodeUsage = spent.nodes.values().copied().sum();
    let hits = match used.cached_calls {
        0 => String::new(),
        calls => format!(
            " · {} from --cache, {} tokens saved",
            counted(calls, "call"),
            used.saved_tokens
        ),
    };
    // A call that is repeated after a failure consists of several requests.
    let requests = if spent.requests > spent.calls {
        format!(" in {}", counted(spent.requests, "request"))
    } else {
        String::new()
    };
    let limit = summary.run.reply_limit.iter();
    let limit: String = limit
        .map(|most| format!(" · at most {most} tokens a reply"))
        .collect();
    (spent.calls > 0).then(|| {
        format!(
            "{}{requests} · tokens in {} · tokens out {}{hits} · cost {}{}{limit}",
            counted(spent.calls, "call"),
            tokens(&used, used.tokens.input_tokens),
            tokens(&used, used.tokens.output_tokens),
            cost(&spent.cost, &used),
            summary.unpriced_note()
        )
    })
}

/// The cost in words. If it is unknown because no reply stated its tokens, the text says so,
/// because adding a price would not help.
fn cost(cost: &Cost, used: &NodeUsage) -> String {
    let is_unstated = cost.unpriced > 0 && cost.unpriced == used.without_usage;
    if cost.known.is_zero() && is_unstated && used.tokens.total() == 0 {
        "unknown (the server states no tokens)".to_owned()
    } else {
        cost.to_string()
    }
}

/// A number of tokens in words. It is a minimum if a server did not state its tokens or an answer
/// was lost, because the sum lacks these.
fn tokens(node: &NodeUsage, count: u64) -> String {
    if node.without_usage > 0 || node.lost > 0 {
        format!("{count} (at least)")
    } else {
        count.to_string()
    }
}

#[cfg(test)]
mod tests {
    use rust_decimal::Decimal;

    use super::*;

    /// Such a cost was once shown as "unknown", like that of a model without a price.
    #[test]
    fn a_cost_without_the_tokens_of_some_answers_is_at_least_and_without_all_says_why() {
        for (known, unpriced, without_usage, words) in [
            (2, 0, 0, "$2.0000"),
            (2, 1, 1, "at least $2.0000 (unknown for 1 request)"),
            (0, 2, 2, "unknown (the server states no tokens)"),
            (0, 2, 1, "unknown"),
            (0, 2, 0, "unknown"),
        ] {
            let spent = Cost {
                known: Decimal::from(known),
                priced: u64::from(known > 0),
                unpriced,
            };
            let used = NodeUsage {
                without_usage,
                ..NodeUsage::default()
            };
            assert_eq!(cost(&spent, &used), words);
        }
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
}
