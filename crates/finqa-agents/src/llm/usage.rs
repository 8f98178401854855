//! Sums up calls, tokens and money by node, for a run, a conversation or a question.

use std::collections::BTreeMap;
use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::types::{ChatReply, Usage};

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The calls of one node, with their tokens and their cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeUsage {
    /// All calls, including failed ones.
    pub calls: u64,
    pub failed: u64,
    /// The number of HTTP requests, including retries.
    pub requests: u64,
    /// The number of requests without an answer that may have been billed. `tokens` and `cost` do
    /// not include them.
    pub lost: u64,
    /// The tokens of the answers that report them.
    #[serde(flatten)]
    pub tokens: Usage,
    /// The number of answers whose tokens are not fully known, so that `tokens` is too low.
    pub without_usage: u64,
    /// Calls that were answered by stored replies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_calls: u64,
    /// The tokens, read and written, that calls answered by stored replies would have used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub saved_tokens: u64,
    #[serde(default)]
    pub cost: Cost,
}

impl NodeUsage {
    /// The usage of an answered call.
    pub(crate) fn of_reply(reply: &ChatReply, cost: Cost) -> Self {
        Self {
            calls: 1,
            failed: 0,
            requests: u64::from(reply.attempts),
            lost: u64::from(reply.lost),
            tokens: reply.known_tokens().unwrap_or_default(),
            // A model inside this process has no tokens to report.
            without_usage: u64::from(
                (reply.usage.is_none() || reply.is_usage_doubtful) && reply.attempts > 0,
            ),
            cached_calls: u64::from(reply.cached),
            saved_tokens: match reply.usage.filter(|_| reply.cached) {
                Some(usage) => usage.total(),
                None => 0,
            },
            cost,
        }
    }

    /// The usage of a call without an answer.
    pub(crate) fn of_failure(attempts: u32, cost: Cost) -> Self {
        Self {
            calls: 1,
            failed: 1,
            requests: u64::from(attempts),
            // A failed call has no reply whose price could be unknown, so all requests of unknown
            // cost are lost ones.
            lost: cost.unpriced,
            cost,
            ..Self::default()
        }
    }
}

impl AddAssign for NodeUsage {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.requests += other.requests;
        self.lost += other.lost;
        self.tokens += other.tokens;
        self.without_usage += other.without_usage;
        self.cached_calls += other.cached_calls;
        self.saved_tokens += other.saved_tokens;
        self.cost += other.cost;
    }
}

impl Sum for NodeUsage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), |mut sum, usage| {
            sum += usage;
            sum
        })
    }
}

/// The usage of each node, by its name.
pub type UsageByNode = BTreeMap<String, NodeUsage>;

#[cfg(test)]
mod tests {
    use super::*;
    use rust_decimal::Decimal;

    #[test]
    fn usage_is_summed_over_the_known_tokens() {
        let reply = ChatReply {
            usage: Some(Usage {
                input_tokens: 10,
                output_tokens: 2,
                ..Usage::default()
            }),
            attempts: 2,
            lost: 1,
            ..ChatReply::text("42")
        };
        let without_usage = ChatReply {
            attempts: 1,
            ..ChatReply::text("ALL_OK")
        };
        let answered = NodeUsage::of_reply(&reply, Cost::of_reply(&reply, Some(Decimal::ONE)));
        let cost = Cost::of_reply(&without_usage, None);
        let unpriced = NodeUsage::of_reply(&without_usage, cost);
        let failed = NodeUsage::of_failure(3, Cost::default());
        let total: NodeUsage = [answered, unpriced, failed].repeat(2).into_iter().sum();
        assert_eq!((total.calls, total.failed, total.requests), (6, 2, 12));
        assert_eq!(total.tokens.total(), 24);
        assert_eq!((total.without_usage, total.lost), (2, 2));
        assert_eq!(total.cost.total(), None);
        assert_eq!(total.cost.known, Decimal::TWO);
    }
}
