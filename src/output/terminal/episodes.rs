//! A run's episodes in a few lines.

use crate::run::EpisodeSummary;
use finqa_agents::pair::EpisodeEnd;
use finqa_core::text::counted;

use super::style::TerminalStyle;

/// The rewards, and how the episodes ended.
pub(super) fn episode_lines(episodes: &EpisodeSummary, style: TerminalStyle) -> String {
    let mut parts = Vec::new();
    if let Some(reward) = episodes.reward {
        let interval = reward.low.zip(reward.high);
        let interval = interval.map(|(low, high)| format!(", 95 % interval {low:.3} to {high:.3}"));
        parts.push(format!(
            "mean reward {:.3} of {}{}",
            reward.mean,
            counted(reward.n, "episode"),
            interval.unwrap_or_default()
        ));
    }
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
    style.wrap(&format!("Episodes: {}", parts.join("; ")))
}
