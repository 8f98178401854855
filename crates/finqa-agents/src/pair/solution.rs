//! The records of a result: the rounds, the votes of the samples, and the reason why the agents
//! stopped.

use serde::{Deserialize, Serialize};

use crate::parse::CriticVerdict;
use finqa_core::number::Value;
use finqa_core::outcome::Outcome;

use super::answer::Answer;
use super::calls::Call;
use super::episode::EpisodeRecord;
use super::opinion::SecondOpinion;
use super::verify::Finding;

/// An answer of the analyst, with its review.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The number of the round, from 1.
    pub number: u32,
    /// The analyst's reply as received.
    pub reply: String,
    pub answer: Answer,
    /// True if the reply is the second attempt after a reply that could not be read.
    pub reasked: bool,
    pub findings: Vec<Finding>,
    /// The critic's reply as received; absent if no LLM was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub critic_reply: Option<String>,
    pub verdict: CriticVerdict,
    /// The error of the LLM critic's call, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) critic_error: Option<String>,
}

impl Round {
    /// A round before its review.
    pub(super) fn new(number: u32, reply: String, answer: Answer) -> Self {
        Self {
            number,
            reply,
            answer,
            reasked: false,
            findings: Vec::new(),
            critic_reply: None,
            verdict: CriticVerdict::Skipped,
            critic_error: None,
        }
    }

    /// The number of findings of the checks that send the answer back.
    pub fn objections(&self) -> usize {
        self.findings
            .iter()
            .filter(|finding| finding.kind.sends_back())
            .count()
    }

    /// The reason why no critic reviewed the answer, although one was asked: its reply could not be
    /// read, or its call failed. Otherwise `None`.
    pub fn not_reviewed(&self) -> Option<&str> {
        match &self.verdict {
            CriticVerdict::Unparsable { reason } => Some(reason),
            _ => self.critic_error.as_deref(),
        }
    }

    fn is_accepted(&self) -> bool {
        self.verdict == CriticVerdict::Ok && self.objections() == 0
    }

    /// The criticism that is sent to the analyst, one entry per finding: first the findings of the
    /// checks, then the critic's.
    pub(crate) fn criticism(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.findings.iter().map(ToString::to_string).collect();
        if let CriticVerdict::Revise { findings } = &self.verdict {
            lines.extend(findings.iter().map(ToString::to_string));
        }
        lines
    }
}

/// The reason why the two agents stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// No check objects, and the critic says ALL_OK.
    Accepted,
    /// The round limit is reached, and the best round's answer is returned.
    RoundLimit,
    /// The analyst repeated an answer, or has no other answer.
    NoNewAnswer,
    /// The critic is off, or its reply could not be read or obtained.
    NoVerdict,
    /// A call failed, or its reply could not be read; the outcome says more.
    Failed,
    /// The embedded analyst's answer was returned instead of the model's, or because the model had
    /// none.
    Arbitrated,
}

/// The result of one question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Solution {
    pub outcome: Outcome,
    pub stop: StopReason,
    /// The answer that is returned; absent unless the outcome is `answered`.
    pub answer: Option<Answer>,
    /// The number of the round with the returned answer. Absent if there is no answer, or if the
    /// embedded analyst's answer was chosen.
    pub chosen_round: Option<u32>,
    /// The error in one line, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The votes of the samples of the first draft, if there were several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub votes: Option<VoteTally>,
    /// The embedded analyst's answer to the same question, if a chat model answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub opinion: Option<SecondOpinion>,
    /// The episode, if the question was played in an environment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episode: Option<Box<EpisodeRecord>>,
    /// The probability that the answer is right, computed by a calibration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// The answer that a calibration's limit, or a doubt of `ask`, withheld.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub withheld: Option<Box<Answer>>,
    /// All rounds, oldest first.
    pub rounds: Vec<Round>,
    /// Every model call, in order. Calls are not part of the row's JSON, because the journal stores
    /// them as separate entries before the row.
    #[serde(skip)]
    pub calls: Vec<Call>,
}

impl Solution {
    /// A solution that has only an outcome and a reason to stop.
    pub fn new(outcome: Outcome, stop: StopReason) -> Self {
        Self {
            outcome,
            stop,
            answer: None,
            chosen_round: None,
            error: None,
            votes: None,
            opinion: None,
            episode: None,
            probability: None,
            withheld: None,
            rounds: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The answer of the best round, even if the embedded analyst's answer was returned.
    pub fn model_answer(&self) -> Option<&Answer> {
        best_round(&self.rounds).map(|round| &round.answer)
    }

    /// The rounds that were sent back to the analyst. The last round is one of them if its revision
    /// failed, for example because the reply was cut off.
    pub fn sent_back(&self) -> &[Round] {
        let failed = match self.stop {
            StopReason::Failed => true,
            // The reason to stop was replaced, but the error of a failed revision is kept.
            StopReason::Arbitrated => self.error.is_some(),
            _ => false,
        };
        match self.rounds.split_last() {
            Some((_, earlier)) if !failed => earlier,
            _ => &self.rounds,
        }
    }

    /// The answer, even if it was withheld. Later turns of the conversation see it, so that their
    /// answers are comparable with those on which a calibration was fitted.
    pub fn answer_or_withheld(&self) -> Option<&Answer> {
        self.answer.as_ref().or(self.withheld.as_deref())
    }

    /// Withholds the answer. `reason` becomes the error; it replaces an earlier reason, while the
    /// answer that was withheld for that stays.
    #[must_use]
    pub fn withhold(mut self, reason: String) -> Self {
        self.withheld = self.answer.take().map(Box::new).or(self.withheld);
        self.without_answer(reason)
    }

    /// Removes the answer without keeping it in `withheld`. `reason` becomes the error.
    pub(super) fn without_answer(self, reason: String) -> Self {
        Self {
            outcome: Outcome::Abstained,
            answer: None,
            chosen_round: None,
            error: Some(reason),
            ..self
        }
    }

    /// The number of calls that stored replies answered.
    pub fn cached_calls(&self) -> usize {
        let replies = self.calls.iter().filter_map(|call| call.reply.as_ref());
        replies.filter(|reply| reply.cached).count()
    }

    /// The tokens read and written by all calls that report tokens.
    pub fn tokens(&self) -> (u64, u64) {
        let usages = self
            .calls
            .iter()
            .filter_map(|call| call.reply.as_ref()?.known_tokens());
        usages.fold((0, 0), |(input, output), usage| {
            (input + usage.input_tokens, output + usage.output_tokens)
        })
    }
}

/// Returns an accepted round. If there is none, returns the round with the fewest objections of the
/// checks. On a tie, the latest round wins, because it answered the most criticism. A revision that
/// adds an objection is therefore dropped.
pub(super) fn best_round(rounds: &[Round]) -> Option<&Round> {
    let newest_first = || rounds.iter().rev();
    newest_first()
        .find(|round| round.is_accepted())
        .or_else(|| newest_first().min_by_key(|round| round.objections()))
}

/// The votes of several drafts of one answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct VoteTally {
    /// The sampled values, in the order of their first samples.
    pub votes: Vec<Vote>,
    /// The number of samples without a draft, because they were refused, filtered, or unreadable.
    pub failed: usize,
}

/// A value, and the number of samples that have it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Vote {
    /// Rounded to 5 decimals; absent for drafts without a value.
    pub value: Option<Value>,
    pub count: usize,
}

/// Writes votes such as `0.14136:2 0.2:1`. `none` counts drafts without a value, and `failed`
/// counts samples without a draft.
impl std::fmt::Display for VoteTally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let failed = (self.failed > 0).then(|| format!("failed:{}", self.failed));
        let votes = self.votes.iter().map(|vote| match &vote.value {
            Some(value) => format!("{value}:{}", vote.count),
            None => format!("none:{}", vote.count),
        });
        f.write_str(&votes.chain(failed).collect::<Vec<_>>().join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_withheld_for_a_second_reason_is_kept() {
        let solution = Solution {
            answer: Some(Answer::default()),
            ..Solution::new(Outcome::Answered, StopReason::Accepted)
        };
        let withheld = solution.withhold("weak".to_owned());
        let withheld = withheld.withhold("no balance sheet".to_owned());
        assert_eq!(withheld.error.as_deref(), Some("no balance sheet"));
        assert_eq!(withheld.answer_or_withheld(), Some(&Answer::default()));
    }
}
