//! The effect of the critic: how many answers it fixed, broke or left unchanged, comparing each
//! question's first draft with its final answer. The score of the first drafts is what the run
//! would have scored without a critic.

use serde::{Serialize, Serializer};

use finqa_agents::llm::Cost;
use finqa_agents::pair::Round;
use finqa_agents::parse::CriticVerdict;
use finqa_core::stats::{Rate, RateTally};

use finqa_score::score::Row;

use super::critic_worth::{CriticKind, CriticWorth, WorthTally};

/// The changes that the critic caused. Answers are right or wrong by financial equivalence. The
/// counts of right and wrong answers leave out questions without gold.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CriticEffect {
    /// Questions with an answer that an LLM reviewed.
    pub reviewed: usize,
    /// Answers for which the critic was called, but gave no review.
    pub not_reviewed: usize,
    /// The reason why the first of the unreviewed answers has no review.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not_reviewed: Option<String>,
    /// Questions whose answer was sent back at least once.
    pub sent_back: usize,
    /// Of these, the questions whose last revision failed or could not be read. An earlier answer
    /// counts for them.
    pub without_revision: usize,
    /// Questions with a wrong first draft and a right final answer.
    pub fixed: usize,
    /// Questions with a right first draft and a wrong final answer.
    pub broken: usize,
    /// Questions sent back whose first draft and final answer are both right or both wrong.
    pub unchanged: usize,
    /// Questions whose answer was never sent back.
    pub unneeded: usize,
    /// First drafts that are right.
    pub first_draft_hits: usize,
    /// Questions with gold and a first draft.
    pub first_draft_n: usize,
    /// The rate of right first drafts, which is the score without a critic. Its interval is
    /// clustered by page.
    pub first_drafts: Option<Rate>,
    /// US dollars for verdicts and revisions, which is the cost without the first drafts. `null` in
    /// files if a price is unknown.
    #[serde(rename = "cost_usd", serialize_with = "dollars")]
    pub cost: Cost,
    /// The gain from each critic that changed an answer, and from the critic's model if it
    /// reviewed any.
    pub worth: Vec<CriticWorth>,
    #[serde(skip)]
    drafts: RateTally,
    #[serde(skip)]
    checks: WorthTally,
    #[serde(skip)]
    model: WorthTally,
    #[serde(skip)]
    opinion: WorthTally,
}

impl CriticEffect {
    /// Counts a row. Without gold, only its reviews, objections and cost are counted.
    pub fn add(&mut self, row: &Row) {
        // Without a first draft, there was nothing to review.
        let Some(first) = row.solution.rounds.first() else {
            return;
        };
        let rounds = &row.solution.rounds;
        let reviewed = rounds.iter().any(|round| round.critic_reply.is_some());
        self.reviewed += usize::from(reviewed);
        let chosen = row.solution.chosen_round;
        let chosen = rounds.iter().find(|round| Some(round.number) == chosen);
        if let Some(why) = chosen.and_then(Round::not_reviewed) {
            self.not_reviewed += 1;
            self.why_not_reviewed.get_or_insert_with(|| why.to_owned());
        }
        let costs = row.cost.zip(row.draft_cost);
        self.cost += Cost::of_request(costs.map(|(all, draft)| all - draft));
        let sent_back = row.solution.sent_back();
        self.sent_back += usize::from(!sent_back.is_empty());
        self.without_revision += usize::from(sent_back.len() == rounds.len());
        let before = row.right_with(&first.answer);
        let (Some(before), Some(after)) = (before, row.right_after_review()) else {
            return;
        };
        self.drafts.add(row.group(), before);
        self.first_draft_n += 1;
        self.first_draft_hits += usize::from(before);
        let (page, _) = row.group();
        let by_model = |round: &Round| {
            matches!(round.verdict, CriticVerdict::Revise { .. }) && round.critic_reply.is_some()
        };
        let by_checks = |round: &Round| round.objections() > 0;
        let is_by_checks = sent_back.iter().any(by_checks);
        let is_by_model = sent_back.iter().any(by_model);
        self.checks.add(page, is_by_checks, before, after);
        self.model.add(page, is_by_model, before, after);
        let opinion = row.solution.opinion.as_ref();
        let choice = opinion.and_then(|other| other.arbitration);
        let is_taken = choice.is_some_and(|choice| choice.taken);
        // The change from the model's own answer to the row's, which arbitration may replace.
        let last = row.accepted().unwrap_or(after);
        self.opinion.add(page, is_taken, after, last);
        match (sent_back.is_empty(), before, after) {
            (true, _, _) => self.unneeded += 1,
            (false, false, true) => self.fixed += 1,
            (false, true, false) => self.broken += 1,
            (false, _, _) => self.unchanged += 1,
        }
    }

    /// Computes the rate over all rows that were counted.
    #[must_use]
    pub fn finish(mut self) -> Self {
        self.first_drafts = self.drafts.rate();
        let worth = [
            self.checks.finish(CriticKind::Checks, false),
            self.model.finish(CriticKind::Model, self.reviewed > 0),
            self.opinion.finish(CriticKind::Opinion, false),
        ];
        self.worth = worth.into_iter().flatten().collect();
        self
    }
}

fn dollars<S: Serializer>(cost: &Cost, serializer: S) -> Result<S::Ok, S::Error> {
    cost.total().serialize(serializer)
}
