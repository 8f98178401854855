//! Consecutive failures of the provider, over the calls of all questions.

use std::collections::HashMap;

use parking_lot::Mutex;

/// Failed calls of an agent in a row, across questions and with none answered
/// in between, after which the run stops. Each call has used up its
/// retries by then, so that twenty of them are not a passing problem.
const GIVE_UP_AFTER: u32 = 20;

/// Counts consecutive failed calls per agent.
#[derive(Debug, Default)]
pub(super) struct FailureStreaks {
    state: Mutex<StreakState>,
}

#[derive(Debug, Default)]
struct StreakState {
    /// By agent: the critic's model may be down alone.
    failed_in_a_row: HashMap<String, u32>,
    last_failure: Option<String>,
}

impl FailureStreaks {
    /// A call of `node` was answered.
    pub(super) fn record_answer(&self, node: &str) {
        self.state.lock().failed_in_a_row.remove(agent(node));
    }

    /// A call of `node` failed finally; gives the message to stop with once
    /// there were too many.
    pub(super) fn record_failure(&self, node: &str, reason: &str) -> Option<String> {
        let mut state = self.state.lock();
        state.last_failure = Some(reason.to_owned());
        let failed = state
            .failed_in_a_row
            .entry(agent(node).to_owned())
            .or_default();
        *failed += 1;
        (*failed >= GIVE_UP_AFTER)
            .then(|| format!("{failed} calls in a row failed, the last one: {reason}"))
    }

    /// The reason of the last failed call of this process.
    pub(super) fn last_failure(&self) -> Option<String> {
        self.state.lock().last_failure.clone()
    }
}

/// The agent of a node: `analyst` of `analyst_reask` and `analyst#2`.
pub(super) fn agent(node: &str) -> &str {
    node.split(['_', '#']).next().unwrap_or(node)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_failures_in_a_row_of_one_agent_end_a_run() {
        let failures = FailureStreaks::default();
        for _ in 1..GIVE_UP_AFTER {
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
