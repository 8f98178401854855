//! Calls, tokens and money by node: what a run, a conversation or a question used.

use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::time::Duration;

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::price::Cost;
use super::types::{ChatReply, Usage};

/// What one node used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeUsage {
    /// Calls that brought an answer.
    pub answered: u64,
    /// Calls that brought none.
    pub failed: u64,
    /// HTTP requests sent for both.
    pub requests: u64,
    /// Tokens of the answers that told them.
    pub tokens: Usage,
    /// Answers that told no tokens: `tokens` is too small by theirs.
    pub without_usage: u64,
    /// Their cost. A failed call that sent something counts as unpriced, unless
    /// the provider refused it.
    pub cost: Cost,
    /// Time of the answered calls, retries included.
    pub time: Duration,
}

impl AddAssign for NodeUsage {
    fn add_assign(&mut self, other: Self) {
        self.answered += other.answered;
        self.failed += other.failed;
        self.requests += other.requests;
        self.tokens += other.tokens;
        self.without_usage += other.without_usage;
        self.cost += other.cost;
        self.time += other.time;
    }
}

/// What each node used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct UsageByNode {
    nodes: BTreeMap<String, NodeUsage>,
}

impl UsageByNode {
    /// Adds an answer to `node`; `dollars` is `None` where the cost is not known.
    pub fn add_reply(&mut self, node: &str, reply: &ChatReply, dollars: Option<Decimal>) {
        *self.node(node) += NodeUsage {
            answered: 1,
            requests: u64::from(reply.attempts),
            tokens: reply.usage.unwrap_or_default(),
            without_usage: u64::from(reply.usage.is_none()),
            cost: Cost::of_call(dollars),
            time: reply.latency,
            ..NodeUsage::default()
        };
    }

    /// Adds a call of `node` that failed.
    pub fn add_error(&mut self, node: &str, error: &ModelError) {
        *self.node(node) += NodeUsage {
            failed: 1,
            requests: u64::from(error.attempts),
            cost: if error.may_have_been_billed() {
                Cost::of_call(None)
            } else {
                Cost::default()
            },
            ..NodeUsage::default()
        };
    }

    /// Adds what somebody else used.
    pub fn merge(&mut self, other: &Self) {
        for (node, usage) in &other.nodes {
            *self.node(node) += *usage;
        }
    }

    /// What each node used, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &NodeUsage)> {
        self.nodes
            .iter()
            .map(|(node, usage)| (node.as_str(), usage))
    }

    /// What all used together.
    #[must_use]
    pub fn total(&self) -> NodeUsage {
        let mut total = NodeUsage::default();
        for usage in self.nodes.values() {
            total += *usage;
        }
        total
    }

    fn node(&mut self, name: &str) -> &mut NodeUsage {
        self.nodes.entry(name.to_owned()).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::models::ErrorKind;

    #[test]
    fn nodes_are_kept_apart_and_summed() {
        let mut usage = UsageByNode::default();
        let reply = ChatReply {
            usage: Some(Usage {
                input_tokens: 10,
                output_tokens: 2,
                ..Usage::default()
            }),
            attempts: 2,
            latency: Duration::from_millis(30),
            ..ChatReply::text("42")
        };
        usage.add_reply("analyst", &reply, Some(Decimal::ONE));
        usage.add_reply("critic", &ChatReply::text("ALL_OK"), None);
        let refused = ModelError {
            attempts: 1,
            ..ModelError::new(ErrorKind::ContentFilter, "")
        };
        usage.add_error("critic", &refused);
        let names: Vec<&str> = usage.iter().map(|(node, _)| node).collect();
        assert_eq!(names, ["analyst", "critic"]);

        let mut twice = usage.clone();
        twice.merge(&usage);
        let total = twice.total();
        assert_eq!((total.answered, total.failed, total.requests), (4, 2, 6));
        assert_eq!(total.tokens.total(), 24);
        assert_eq!(total.without_usage, 2);
        assert_eq!(total.cost.total(), None);
        assert_eq!(total.cost.known, Decimal::TWO);
        assert_eq!(total.time, Duration::from_millis(60));
    }

    #[test]
    fn only_a_failure_after_an_answer_began_may_have_been_billed() {
        let cost = |kind, attempts| {
            let mut usage = UsageByNode::default();
            let error = ModelError {
                attempts,
                ..ModelError::new(kind, "")
            };
            usage.add_error("analyst", &error);
            usage.total().cost.total()
        };
        assert_eq!(cost(ErrorKind::RateLimited, 6), Some(Decimal::ZERO));
        assert_eq!(cost(ErrorKind::Connect, 0), Some(Decimal::ZERO));
        assert_eq!(cost(ErrorKind::Timeout, 6), None);
        assert_eq!(cost(ErrorKind::CutOff, 6), None);
        assert_eq!(cost(ErrorKind::Cancelled, 0), Some(Decimal::ZERO));
        assert_eq!(cost(ErrorKind::Cancelled, 1), None);
    }
}
