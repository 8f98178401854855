//! Decides when failures of a provider end the run: after too many failed calls in a row, or after
//! too many prompts refused in the same words before any is answered.

use std::collections::{HashMap, HashSet};

use parking_lot::Mutex;

use finqa_agents::llm::constant_words;
use finqa_journal::run::agent;
use finqa_score::dataset::Outcome;

/// Number of consecutive failed calls of one agent, over all questions, after which the run stops.
/// Each of these calls has already used up its retries, so 20 in a row (set by hand) are not a
/// passing problem.
const MOST_FAILED_IN_A_ROW: u32 = 20;

/// Number of questions refused in the same words after which the run stops, if no question has been
/// answered. A single refusal must not end a run, because it may be due to its prompt. Set by hand.
const REFUSED_ALIKE: usize = 5;

/// Counts the consecutive failed calls of each agent, and the refusals before the first answer. All
/// tasks of a run share it.
#[derive(Debug, Default)]
pub(super) struct FailureStreaks {
    state: Mutex<StreakState>,
}

#[derive(Debug, Default)]
struct StreakState {
    /// Consecutive failed calls by agent, because only one agent's model may be down.
    failed_in_a_row: HashMap<String, u32>,
    last_failure: Option<String>,
    /// True if a question has an outcome other than a refusal.
    is_answered: bool,
    /// The refused questions, by the words of the refusal without numbers and ids. A set, because a
    /// question that is asked twice counts only once.
    refused: HashMap<String, HashSet<usize>>,
}

impl FailureStreaks {
    /// Records that a call of `node` was answered, which ends the streak of its agent.
    pub(super) fn record_answer(&self, node: &str) {
        self.state.lock().failed_in_a_row.remove(agent(node));
    }

    /// Records that a call of `node` failed after its retries. If too many have failed in a row,
    /// returns the message with which the run must stop. Otherwise `None`.
    pub(super) fn record_failure(&self, node: &str, reason: &str) -> Option<String> {
        let mut state = self.state.lock();
        state.last_failure = Some(reason.to_owned());
        let failed = state
            .failed_in_a_row
            .entry(agent(node).to_owned())
            .or_default();
        *failed += 1;
        (*failed >= MOST_FAILED_IN_A_ROW)
            .then(|| format!("{failed} calls in a row failed, the last one: {reason}"))
    }

    /// Records the outcome of a question. If nothing has been answered and [`REFUSED_ALIKE`]
    /// questions were refused in the words of `reason`, returns the message with which the run must
    /// stop. Otherwise `None`.
    pub(super) fn record_outcome(
        &self,
        question: usize,
        outcome: Outcome,
        reason: &str,
    ) -> Option<String> {
        let mut state = self.state.lock();
        state.is_answered |= !matches!(outcome, Outcome::ContentFilter | Outcome::ProviderError);
        if state.is_answered {
            return None;
        }
        state.last_failure = Some(reason.to_owned());
        let alike = state.refused.entry(constant_words(reason)).or_default();
        alike.insert(question);
        (alike.len() >= REFUSED_ALIKE).then(|| {
            format!("the first {REFUSED_ALIKE} prompts were refused alike, the last one: {reason}")
        })
    }

    /// The reason of this process's last failed call.
    pub(super) fn last_failure(&self) -> Option<String> {
        self.state.lock().last_failure.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_refusals_alike_before_any_answer_end_a_run() {
        let refused = |failures: &FailureStreaks, question: usize, reason: &str| {
            failures.record_outcome(question, Outcome::ContentFilter, reason)
        };
        let failures = FailureStreaks::default();
        for question in 1..REFUSED_ALIKE {
            assert_eq!(refused(&failures, question, "flagged (id 1f2)"), None);
            // The same question again, and other questions refused in other words.
            assert_eq!(refused(&failures, question, "flagged (id 7c)"), None);
            assert_eq!(refused(&failures, question + 10, "no such thing"), None);
        }
        let ended = refused(&failures, REFUSED_ALIKE, "flagged (id 99a)").unwrap();
        assert!(ended.contains("first 5 prompts") && ended.ends_with("flagged (id 99a)"));
        failures.record_outcome(20, Outcome::Answered, "");
        assert_eq!(refused(&failures, 21, "flagged (id 0)"), None);
    }

    #[test]
    fn only_failures_in_a_row_of_one_agent_end_a_run() {
        let failures = FailureStreaks::default();
        for _ in 1..MOST_FAILED_IN_A_ROW {
            assert_eq!(failures.record_failure("analyst", "down"), None);
            assert_eq!(failures.record_failure("critic", "down"), None);
        }
        failures.record_answer("analyst_reask");
        assert_eq!(failures.record_failure("analyst#2", "down"), None);
        assert_eq!(
            failures.record_failure("critic", "bad gateway").as_deref(),
            Some("20 calls in a row failed, the last one: bad gateway")
        );
        assert_eq!(failures.last_failure().as_deref(), Some("bad gateway"));
    }
}
