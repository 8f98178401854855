//! The table of a run's episodes.

use crate::run::EpisodeSummary;
use finqa_agents::pair::EpisodeEnd;

use super::scores::align;
use super::style::TerminalStyle;

/// The rewards, and how the episodes ended.
pub(super) fn episode_table(episodes: &EpisodeSummary, style: TerminalStyle) -> String {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "–".to_owned(), |x| format!("{x:.digits$}"))
    };
    let reward = episodes.reward;
    let interval = reward.and_then(|reward| Some((reward.low?, reward.high?)));
    let mut table = style.table(&[
        "reward", "95 % interval", "of", "steps", "invalid", "no answer", "failed",
    ]);
    table.add_row([
        number(reward.map(|reward| reward.mean), 3),
        interval.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{low:.3} – {high:.3}"),
        ),
        reward.map_or(0, |reward| reward.n).to_string(),
        number(episodes.mean_steps, 1),
        episodes.invalid_calls.to_string(),
        episodes.without_submission.to_string(),
        episodes.failed.to_string(),
    ]);
    align(&mut table, &[0, 2, 3, 4, 5, 6]);
    let mut parts = vec![table.to_string()];
    parts.extend(endings_line(episodes, style));
    parts.join("\n")
}

fn endings_line(episodes: &EpisodeSummary, style: TerminalStyle) -> Option<String> {
    let ends = episodes.outcomes.iter();
    let mut parts: Vec<String> = ends
        .filter(|(name, _)| **name != EpisodeEnd::Submitted.name())
        .map(|(name, count)| format!("{} {count}", name.replace('_', " ")))
        .collect();
    if episodes.text_replies > 0 {
        parts.push(format!(
            "replies without a tool call {}, of these taken as the answer {}",
            episodes.text_replies, episodes.answers_from_text
        ));
    }
    if episodes.calls_from_text > 0 {
        parts.push(format!(
            "tool calls written as text {}",
            episodes.calls_from_text
        ));
    }
    (!parts.is_empty()).then(|| style.wrap(&format!("Also: {}", parts.join(" · "))))
}
