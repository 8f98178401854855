//! The content of `summary.json`: a run's scores and costs, computed from its journal.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rust_decimal::Decimal;
use serde::Serialize;

use finqa_agents::llm::{Cost, NodeUsage, UsageByNode, constant_words};
use finqa_agents::pair::Call;
use finqa_score::calibration::{RiskSummary, ScoredAnswer};
use finqa_score::dataset::Outcome;
use finqa_score::score::{EpochCard, Row, ScoreTally, Scorecard};

use super::agreement::Agreement;
use super::critic_effect::CriticEffect;
use super::episode_summary::EpisodeSummary;
use super::journal::{Journal, JournalError};
use super::reply_notes::ReplyNotes;
use super::run_meta::{RunKind, RunMeta};

/// The results of a run, with the scorecard's rates, from 0 to 1, at the top level.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The version of this layout.
    pub format: u32,
    pub run: RunMeta,
    /// True if every question of the plan has an outcome.
    pub complete: bool,
    /// The score by each rule, under the rule's name.
    #[serde(flatten)]
    pub scores: Scorecard,
    /// The scores of the epochs, by numeric match and financial equivalence; absent for a single
    /// epoch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<EpochCard>,
    pub critic: CriticEffect,
    /// The answers compared with the second opinions; absent without second opinions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_opinion: Option<Agreement>,
    /// How many of the most probable answers are wrong; absent without probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<RiskSummary>,
    /// The results of the episodes, if the questions were played.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub episodes: Option<EpisodeSummary>,
    /// The failures that left questions without an answer, in the providers' words. The most
    /// frequent one is first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureCount>,
    /// Sampling settings that were not sent because a model does not support them: `temperature`,
    /// `seed`.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub left_out: BTreeSet<String>,
    /// Notes about the replies for the user, one line each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Models that answered a call and have no price.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub unpriced_models: BTreeSet<String>,
    /// The number of batches and of requests in them; absent if no batch was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batches: Option<BatchUsage>,
    pub spent: ResourceUsage,
}

/// A failure that is the outcome of questions.
#[derive(Clone, Debug, Serialize)]
pub struct FailureCount {
    pub outcome: Outcome,
    pub count: usize,
    /// The words of the first failure. The words of the others differ only in numbers and ids.
    pub reason: String,
}

/// The number of batches of a run, and of requests in them.
#[derive(Clone, Debug, Serialize)]
pub struct BatchUsage {
    pub batches: usize,
    pub requests: usize,
}

impl BatchUsage {
    /// Counts the submitted batches; `None` if there are none.
    fn of(journal: &Journal) -> Result<Option<Self>, JournalError> {
        let mut batches = journal.batches()?;
        // An entry without an id was planned, but not submitted.
        batches.retain(|it| it.batch.is_some());
        Ok((!batches.is_empty()).then(|| Self {
            batches: batches.len(),
            requests: batches.iter().map(|it| it.count).sum(),
        }))
    }
}

/// The resources that a run has used, including those for unanswered questions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ResourceUsage {
    /// Number of rounds over the questions that have an outcome.
    pub rounds: usize,
    pub calls: u64,
    /// Number of HTTP requests, including retries.
    pub requests: u64,
    /// Calls, requests and tokens for each node of the state machine.
    pub nodes: UsageByNode,
    /// US dollars; absent if the cost of a request is unknown.
    pub cost_usd: Option<Decimal>,
    /// The known cost, and the number of requests of unknown cost.
    pub cost: Cost,
}

impl Summary {
    /// The number of questions without an answer. Among episodes, only failed ones are counted,
    /// because the others have a reward.
    pub fn unanswered(&self) -> usize {
        if let Some(episodes) = &self.episodes {
            return episodes.failed;
        }
        self.scores.questions - self.scores.count_of(Outcome::Answered)
    }

    /// True if this run's CSV may replace that of the last run: the run is complete, or it has an
    /// answer.
    pub fn has_result(&self) -> bool {
        self.complete || self.scores.count_of(Outcome::Answered) > 0
    }

    /// True if no question has an outcome and nothing was paid. The folder of such a new run is
    /// removed after a fatal failure. Always false for episodes, so their folders are kept.
    pub fn is_empty(&self) -> bool {
        let is_answered = self.scores.questions > 0 || self.run.kind() == RunKind::Episodes;
        !is_answered && self.spent.cost == Cost::default()
    }

    /// The number of questions without an outcome.
    pub fn left(&self) -> usize {
        self.run.total.saturating_sub(self.scores.questions)
    }

    /// A short reason why the run is not complete, and the command that continues it in the folder
    /// `output`. `None` for a complete run.
    pub fn unfinished(&self, output: &Path) -> Option<(String, String)> {
        let run = &self.run;
        let command = match run.shard {
            Some(_) => run.continuation(output),
            None => run.resume_command(output),
        };
        (!self.complete).then(|| match run.paused {
            None => ("Not complete".to_owned(), command),
            Some(limit) => {
                let state = format!("Paused at {}", limit.option());
                (state, format!("{command}{}", limit.more()))
            }
        })
    }

    /// A line about the missing questions of a merged run; `None` if none are missing.
    pub fn missing_line(&self) -> Option<String> {
        self.run.merged.as_ref()?.missing_line()
    }

    /// Names the models without a price, for the end of a line about the cost.
    pub fn unpriced_note(&self) -> String {
        let models = self.unpriced_models.iter();
        let models: Vec<_> = models.map(|model| format!("`{model}`")).collect();
        match models.len() {
            0 => String::new(),
            _ => format!(
                ": no price of {}; --prices FILE adds one",
                models.join(" and ")
            ),
        }
    }
}

/// Builds a summary row by row.
#[derive(Debug, Default)]
pub struct SummaryBuilder {
    scores: ScoreTally,
    critic: CriticEffect,
    agreement: Agreement,
    scored: Vec<ScoredAnswer>,
    episodes: EpisodeSummary,
    rounds: usize,
    nodes: UsageByNode,
    cost: Cost,
    /// Number of requests that were, or may have been, billed.
    billed: u64,
    left_out: BTreeSet<String>,
    /// The key is the outcome and its reason. Numbers and ids are removed from the reason, because
    /// they differ each time.
    failures: BTreeMap<(Outcome, String), FailureCount>,
    notes: ReplyNotes,
    /// Models that replied with token counts, but whose cost is unknown.
    unpriced: BTreeSet<String>,
}

impl SummaryBuilder {
    pub fn add(&mut self, row: &Row) {
        self.critic.add(row);
        self.agreement.add(row);
        self.scored.extend(row.scored());
        self.episodes.add(row);
        if let (outcome @ (Outcome::ContentFilter | Outcome::ProviderError), Some(reason)) =
            (row.solution.outcome, &row.solution.error)
        {
            let failure = self.failures.entry((outcome, constant_words(reason)));
            let first = || FailureCount {
                outcome,
                count: 0,
                reason: reason.clone(),
            };
            failure.or_insert_with(first).count += 1;
        }
        self.rounds += row.solution.rounds.len();
        self.cost += row.spent();
        row.solution.calls.iter().for_each(|call| self.call(call));
        self.scores.add(row);
    }

    fn call(&mut self, call: &Call) {
        *self.nodes.entry(call.node.clone()).or_default() += call.usage();
        self.billed += billed(call);
        self.notes.add(call);
        if let Some(reply) = &call.reply {
            self.left_out.extend(reply.left_out.iter().cloned());
            // A lost request has no known cost even if its model has a price.
            let is_unpriced = call.cost.unpriced > u64::from(reply.lost);
            if reply.usage.is_some() && is_unpriced && call.cost.known.is_zero() {
                self.unpriced.insert(reply.model.clone());
            }
        }
    }

    /// Builds the summary of the rows that were added. Adds the calls of questions without a row
    /// from the journal, because they were paid for too.
    pub fn finish(mut self, journal: &Journal) -> Result<Summary, JournalError> {
        let run = journal.meta()?;
        for call in journal.open_calls()?.values().flatten() {
            self.call(call);
            self.cost += call.cost;
        }
        let batches = BatchUsage::of(journal)?;
        // A killed process did not record the calls of its requests in flight.
        let unrecorded = match &run.merged {
            Some(shards) => shards.unrecorded,
            None => unrecorded(journal, self.billed)?,
        };
        self.cost += Cost::unknown(unrecorded);
        let (scores, epochs) = self.scores.finish();
        let mut failures: Vec<FailureCount> = self.failures.into_values().collect();
        // On a tie, the order of the map remains, so the file is the same each time.
        failures.sort_by_key(|failure| Reverse(failure.count));
        let prices = run.prices.clone().unwrap_or_default();
        self.unpriced.retain(|model| prices.lacks(model));
        let used: NodeUsage = self.nodes.values().copied().sum();
        Ok(Summary {
            format: 1,
            complete: run.total == scores.questions,
            run,
            scores,
            epochs,
            critic: self.critic.finish(),
            second_opinion: self.agreement.finish(),
            risk: RiskSummary::of(self.scored),
            episodes: self.episodes.finish(),
            failures,
            left_out: self.left_out,
            notes: self.notes.lines(),
            unpriced_models: self.unpriced,
            batches,
            spent: ResourceUsage {
                rounds: self.rounds,
                calls: used.calls,
                requests: used.requests,
                nodes: self.nodes,
                cost_usd: self.cost.total(),
                cost: self.cost,
            },
        })
    }
}

/// The number of a call's requests that were, or may have been, billed.
pub(super) fn billed(call: &Call) -> u64 {
    match call.attempts {
        // No request was sent, as for a reply from the cache.
        0 => 0,
        _ => call.cost.priced + call.cost.unpriced,
    }
}

/// The number of requests that may have been billed, but are in no recorded call. `billed` is the
/// number of those in recorded calls.
pub(super) fn unrecorded(journal: &Journal, billed: u64) -> Result<u64, JournalError> {
    // The requests of batches are found again through the journal, so that a killed process leaves
    // none unrecorded.
    if !journal.batches()?.is_empty() {
        return Ok(0);
    }
    Ok(journal.billed_requests()?.saturating_sub(billed))
}

pub fn summarise(journal: &Journal) -> Result<Summary, JournalError> {
    let mut tally = SummaryBuilder::default();
    journal.for_each_row(|row| tally.add(&row))?;
    tally.finish(journal)
}
