//! `summary.json`: what a run comes to, made from its journal.

use std::collections::BTreeMap;
use std::path::Path;

use rust_decimal::Decimal;
use serde::Serialize;

use crate::dataset::Outcome;
use crate::run::{Agreement, CriticEffect, Journal, Row, RunMeta};
use crate::score::{EpochCard, Rule, Scorecard, ScoredRow};

use super::folder::{SinkError, write_atomic};

/// What a run comes to: the scorecard's rates lie flat beside it, from 0 to 1.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The version of this layout.
    pub format: u32,
    /// The run.
    pub run: RunMeta,
    /// Whether every question of the plan has an outcome.
    pub complete: bool,
    /// The scores, every rule by its name.
    #[serde(flatten)]
    pub scores: Scorecard,
    /// The passes compared, by numeric match and FE, if there are several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<EpochCard>,
    /// What the critic did.
    pub critic: CriticEffect,
    /// What agreement with the second opinion is worth; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_opinion: Option<Agreement>,
    /// Rounds, calls, tokens and money.
    pub spent: Spent,
}

/// What a run took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Spent {
    /// Rounds in all.
    pub rounds: usize,
    /// Model calls.
    pub calls: usize,
    /// HTTP requests, retries included.
    pub requests: u64,
    /// Calls, requests and tokens by the node that asked.
    pub nodes: BTreeMap<String, NodeSpent>,
    /// US dollars; absent if a price is unknown.
    pub cost_usd: Option<Decimal>,
}

/// What one node's calls took.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NodeSpent {
    /// Model calls.
    pub calls: usize,
    /// HTTP requests, retries included.
    pub requests: u64,
    /// Tokens in.
    pub input_tokens: u64,
    /// Tokens out.
    pub output_tokens: u64,
}

impl Summary {
    /// Questions without an answer.
    #[must_use]
    pub fn unanswered(&self) -> usize {
        let answered = Outcome::Answered.name();
        let others = self
            .scores
            .outcomes
            .iter()
            .filter(|count| count.name != answered);
        others.map(|count| count.count).sum()
    }
}

/// Sums a run up, row by row.
#[derive(Debug)]
pub struct Tally {
    rows: Vec<ScoredRow>,
    critic: CriticEffect,
    agreement: Agreement,
    spent: Spent,
}

impl Default for Tally {
    fn default() -> Self {
        Self {
            rows: Vec::new(),
            critic: CriticEffect::default(),
            agreement: Agreement::default(),
            spent: Spent {
                cost_usd: Some(Decimal::ZERO),
                ..Spent::default()
            },
        }
    }
}

impl Tally {
    /// Counts a row.
    pub fn add(&mut self, row: &Row) {
        self.critic.add(row);
        self.agreement.add(row);
        self.spent.add(row);
        self.rows.push(row.as_scored());
    }

    /// What the rows of this run come to.
    #[must_use]
    pub fn finish(self, run: RunMeta) -> Summary {
        let rows = self.rows;
        Summary {
            format: 1,
            complete: rows.len() == run.total,
            run,
            scores: Scorecard::of(&rows),
            epochs: [Rule::NumericalMatch, Rule::FinancialEquivalence]
                .into_iter()
                .filter_map(|rule| EpochCard::of(rule, &rows))
                .collect(),
            critic: self.critic.finish(),
            second_opinion: self.agreement.finish(),
            spent: self.spent,
        }
    }
}

/// Sums a journal up.
///
/// # Errors
/// [`SinkError`] if it cannot be read.
pub fn summarise(journal: &Journal) -> Result<Summary, SinkError> {
    let mut tally = Tally::default();
    journal.for_each_row(|row| tally.add(&row))?;
    Ok(tally.finish(journal.meta()?))
}

impl Spent {
    fn add(&mut self, row: &Row) {
        self.rounds += row.settled.rounds.len();
        self.cost_usd = self.cost_usd.zip(row.cost).map(|(sum, cost)| sum + cost);
        for call in &row.settled.calls {
            self.calls += 1;
            self.requests += u64::from(call.attempts);
            let node = self.nodes.entry(call.node.clone()).or_default();
            node.calls += 1;
            node.requests += u64::from(call.attempts);
            if let Some(usage) = call.reply.as_ref().and_then(|reply| reply.usage.as_ref()) {
                node.input_tokens += usage.input_tokens;
                node.output_tokens += usage.output_tokens;
            }
        }
    }
}

/// Writes `summary.json`.
///
/// # Errors
/// [`SinkError`] if it cannot be written.
pub fn write_summary(path: &Path, summary: &Summary) -> Result<(), SinkError> {
    write_atomic(path, |file| {
        serde_json::to_writer_pretty(&mut *file, summary)
            .map_err(std::io::Error::from)
            .and_then(|()| file.write_all(b"\n"))
            .map_err(|source| SinkError::Write {
                path: path.to_owned(),
                source,
            })
    })
}

/// Writes `config.toml`: the settings, and the hashes of what they refer to as
/// comments, so that the file can be used as a settings file as it is.
///
/// # Errors
/// [`SinkError`] if it cannot be written.
pub fn write_config(path: &Path, meta: &RunMeta) -> Result<(), SinkError> {
    let RunMeta {
        id,
        started,
        version,
        identity,
        data,
        settings,
        ..
    } = meta;
    let text = format!(
        "# Run {id}, started {started}, convfinqa {version}\n\
         # model   {}\n# critic  {}\n# data    {data} (blake3 {})\n# prompts blake3 {}\n# plan    blake3 {}\n\n{settings}",
        identity.model, identity.critic, identity.data, identity.prompts, identity.plan
    );
    write_atomic(path, |file| {
        file.write_all(text.as_bytes())
            .map_err(|source| SinkError::Write {
                path: path.to_owned(),
                source,
            })
    })
}
