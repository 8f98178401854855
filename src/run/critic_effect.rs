//! The effect of the critic: answers fixed, broken and unchanged, by comparing each
//! question's first draft with its answer. The first drafts also give the score of the same run without a critic.

use rust_decimal::Decimal;
use serde::{Serialize, Serializer};

use finqa_agents::llm::Cost;
use finqa_core::stats::{Rate, RateTally};

use crate::score::Row;

/// Counts over the questions that have gold, by financial equivalence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CriticEffect {
    /// Questions whose answers an LLM reviewed.
    pub reviewed: usize,
    /// Questions sent back and revised at least once.
    pub sent_back: usize,
    /// Wrong at first, right in the end.
    pub fixed: usize,
    /// Right at first, wrong in the end.
    pub broken: usize,
    /// Revised, and right or wrong as before.
    pub unchanged: usize,
    /// Never revised.
    pub unneeded: usize,
    /// First drafts that are right: what the run scores without a critic.
    pub first_draft_hits: usize,
    /// Questions with gold and a first draft.
    pub first_draft_n: usize,
    /// The critic-off score with its interval, clustered by page.
    pub first_drafts: Option<Rate>,
    /// US dollars for everything but the first drafts: verdicts and revisions.
    /// `null` in files if a price is unknown.
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    pub cost: Cost,
    /// The cost per net fix (fixed minus broken); `None` if the critic did not fix more
    /// than it broke.
    pub cost_per_net_fix_usd: Option<Decimal>,
    #[serde(skip)]
    drafts: RateTally,
}

impl CriticEffect {
    /// Counts a row.
    pub fn add(&mut self, row: &Row) {
        let Some(first) = row.solution.rounds.first() else {
            return;
        };
        let rounds = &row.solution.rounds;
        let reviewed = rounds.iter().any(|round| round.critic_reply.is_some());
        self.reviewed += usize::from(reviewed);
        let costs = row.cost.zip(row.draft_cost);
        self.cost += Cost::of_request(costs.map(|(all, draft)| all - draft));
        let revised = rounds.len() > 1;
        self.sent_back += usize::from(revised);
        let before = row.right_with(&first.answer);
        let (Some(before), Some(after)) = (before, row.right_after_review()) else {
            return;
        };
        self.drafts.add(row.group(), before);
        self.first_draft_n += 1;
        self.first_draft_hits += usize::from(before);
        match (revised, before, after) {
            (false, _, _) => self.unneeded += 1,
            (true, false, true) => self.fixed += 1,
            (true, true, false) => self.broken += 1,
            (true, _, _) => self.unchanged += 1,
        }
    }

    /// The figures over all rows that were counted.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.first_drafts = self.drafts.rate();
        let net = self.fixed.checked_sub(self.broken).filter(|net| *net > 0);
        self.cost_per_net_fix_usd = self
            .cost
            .total()
            .zip(net)
            .map(|(cost, net)| cost / Decimal::from(net));
        self
    }
}

fn dollars<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    cost.total().serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_of_a_net_fix_needs_a_net_and_a_price() {
        let mut drafts = RateTally::default();
        drafts.add((1, 1), true);
        drafts.add((2, 2), false);
        let effect = |fixed, broken, unpriced| CriticEffect {
            fixed,
            broken,
            cost: Cost {
                known: Decimal::from(6),
                unpriced,
                ..Cost::default()
            },
            drafts: drafts.clone(),
            ..CriticEffect::default()
        };
        let done = effect(5, 2, 0).finish();
        assert_eq!(done.cost_per_net_fix_usd, Some(Decimal::from(2)));
        assert_eq!(
            done.first_drafts.map(|rate| (rate.hits, rate.n)),
            Some((1, 2))
        );
        assert_eq!(effect(2, 2, 0).finish().cost_per_net_fix_usd, None);
        assert_eq!(effect(2, 5, 0).finish().cost_per_net_fix_usd, None);
        let unknown = effect(5, 2, 1).finish();
        assert_eq!(
            (unknown.cost.total(), unknown.cost_per_net_fix_usd),
            (None, None)
        );
    }
}
