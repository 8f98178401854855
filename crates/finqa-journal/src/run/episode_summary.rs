//! Sums up the episodes of a run: their rewards, ends and tool calls.

use std::collections::BTreeMap;

use serde::Serialize;

use finqa_agents::pair::{EpisodeEnd, EpisodeRecord, printed_value};
use finqa_core::stats::RateTally;

use finqa_score::dataset::Gold;
use finqa_score::score::Row;

/// The mean reward over the episodes that have one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RewardSummary {
    /// Number of episodes with a reward. Only failed episodes have none.
    pub n: usize,
    pub mean: f64,
    /// Lower end of the 95 % interval, clustered by report page or company. `None` if a reward is
    /// neither 0 nor 1, because the interval is that of a rate.
    pub low: Option<f64>,
    /// Upper end of the interval; `None` as for `low`.
    pub high: Option<f64>,
}

/// The results of the episodes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct EpisodeSummary {
    /// Episodes that have ended.
    pub played: usize,
    /// `null` if no episode has a reward.
    pub reward: Option<RewardSummary>,
    /// Number of episodes by how they ended.
    pub outcomes: BTreeMap<&'static str, usize>,
    /// Episodes that ended without a submission, not counting failed ones.
    pub without_submission: usize,
    /// Episodes without a reward because the provider refused a request.
    pub failed: usize,
    /// Mean number of tool calls per episode, not counting failed ones.
    pub mean_steps: Option<f64>,
    /// Calls that did not reach a tool.
    pub invalid_calls: usize,
    /// Replies without a tool call.
    pub text_replies: u64,
    /// Tool calls that were written as text.
    pub calls_from_text: u64,
    /// Episodes whose answer was taken from a reply without a tool call.
    pub answers_from_text: usize,
    #[serde(skip)]
    steps: usize,
    #[serde(skip)]
    rewards: usize,
    #[serde(skip)]
    sum: f64,
    /// Rewards that are neither 0 nor 1.
    #[serde(skip)]
    partial: usize,
    #[serde(skip)]
    won: RateTally,
}

impl EpisodeSummary {
    /// Counts the row of an episode. Other rows are left out.
    pub(super) fn add(&mut self, row: &Row) {
        let Some(episode) = &row.solution.episode else {
            return;
        };
        let EpisodeRecord {
            end,
            reward,
            steps,
            text_replies,
            calls_from_text,
            answer_from_text,
            ..
        } = &**episode;
        self.played += 1;
        *self.outcomes.entry(end.name()).or_default() += 1;
        match end {
            EpisodeEnd::Failed => self.failed += 1,
            EpisodeEnd::Submitted => self.steps += steps.len(),
            _ => {
                self.without_submission += 1;
                self.steps += steps.len();
            }
        }
        self.invalid_calls += episode.invalid_calls();
        self.text_replies += u64::from(*text_replies);
        self.calls_from_text += u64::from(*calls_from_text);
        self.answers_from_text += usize::from(*answer_from_text);
        if let Some(reward) = reward {
            let plain = [0.0, 1.0].iter().any(|x| reward.total_cmp(x).is_eq());
            self.rewards += 1;
            self.sum += reward;
            self.partial += usize::from(!plain);
            // This rate is used only if every reward is 0 or 1, so any bound between them would do.
            self.won.add(row.group(), *reward > 0.5);
        }
    }

    /// Computes the means over all rows that were counted; `None` if none was an episode.
    pub(super) fn finish(mut self) -> Option<Self> {
        if self.played == 0 {
            return None;
        }
        let graded = self.played - self.failed;
        self.mean_steps = (graded > 0).then(|| self.steps as f64 / graded as f64);
        self.reward = self.reward();
        Some(self)
    }

    /// `None` if no episode has a reward.
    fn reward(&self) -> Option<RewardSummary> {
        let n = self.rewards;
        let rate = self.won.rate().filter(|_| self.partial == 0);
        (n > 0).then(|| RewardSummary {
            n,
            mean: self.sum / n as f64,
            low: rate.map(|rate| rate.low),
            high: rate.map(|rate| rate.high),
        })
    }
}

/// The gold of an episode, from the ground truth that the environment shows at its end. It becomes
/// the executed value, because that is what `env build` usually writes. It never becomes the
/// dataset's printed answer, which is rounded.
pub fn gold_of_truth(truth: Option<&str>) -> Gold {
    Gold {
        exe_ans: truth.and_then(|truth| printed_value(&unboxed(truth))),
        ..Gold::default()
    }
}

/// Removes the LaTeX box around a ground truth: `\boxed{14.136\%}` becomes `14.136%`.
fn unboxed(truth: &str) -> String {
    let inside = truth
        .trim()
        .strip_prefix("\\boxed{")
        .and_then(|rest| rest.strip_suffix('}'));
    inside.unwrap_or(truth.trim()).replace("\\%", "%")
}

#[cfg(test)]
mod tests {
    use super::unboxed;

    #[test]
    fn a_truth_loses_its_box() {
        assert_eq!(unboxed(r"\boxed{14.136\%}"), "14.136%");
        assert_eq!(unboxed(r" \boxed{yes} "), "yes");
        assert_eq!(unboxed("6.1"), "6.1");
    }
}
