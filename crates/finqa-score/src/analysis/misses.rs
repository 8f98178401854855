//! Lists every miss of a run with its cause, and counts the causes.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use strum::VariantArray;

use crate::dataset::{Gold, Outcome, QuestionKey};
use crate::score::{
    FeContext, Quantity, Row, Rule, contradicting_value, financial_equivalence, name_hash, suspect,
};
use finqa_core::number::Value;

use super::answers::Answers;
use super::cause::{Cause, CauseFound};
use super::explain::{EarlierAnswer, MissEvidence, explain};
use super::places::PageNumbers;
use super::target::TargetNumber;

/// The misses of a run by one rule.
#[derive(Clone, Debug, Serialize)]
pub struct MissAnalysis {
    /// The file of the answers.
    pub path: PathBuf,
    /// The records that were read; without them there are no pages to find numbers on.
    pub dataset: Option<String>,
    /// The rule that says what a miss is.
    pub rule: Rule,
    /// The number of answers that the rule can judge.
    pub questions: usize,
    /// The number of answers that it cannot judge.
    pub without_gold: usize,
    /// The causes, the most frequent first.
    pub causes: Vec<CauseCount>,
    /// The misses, in the order of the answers.
    pub misses: Vec<Miss>,
}

/// The frequency of a cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CauseCount {
    pub cause: Cause,
    pub count: usize,
    /// The share of all misses, from 0 to 1.
    pub share: f64,
}

/// A wrong answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Miss {
    #[serde(flatten)]
    pub key: QuestionKey,
    /// Number of the repetition.
    pub epoch: String,
    pub question: String,
    /// The gold answer, as written.
    pub gold: String,
    /// The answer, or the outcome without one.
    pub answer: String,
    pub cause: Cause,
    pub detail: String,
    /// Further causes that fit. For a suspect gold, how the answer differs from it.
    pub also: Vec<CauseFound>,
    pub program: Option<String>,
    pub gold_program: Option<String>,
    /// The kind of defect if gold is in the list of suspect golds, or `own_program` if gold
    /// contradicts its own program.
    pub suspect: Option<String>,
}

/// Finds the cause of every miss.
pub fn analyze(answers: &Answers, rule: Rule) -> MissAnalysis {
    let mut search = Searcher::of(answers);
    let judged = |row: &&Row| rule.mark(row).is_some();
    let questions = answers.rows.iter().filter(judged).count();
    let missed = answers.rows.iter();
    let missed = missed.filter(|row| rule.mark(row) == Some(false));
    let misses: Vec<Miss> = missed
        .map(|row| search.explain(row, answers.turns_of(row)))
        .collect();
    MissAnalysis {
        path: answers.path.clone(),
        dataset: answers.dataset.clone(),
        rule,
        questions,
        without_gold: answers.rows.len() - questions,
        causes: counted(&misses),
        misses,
    }
}

fn counted(misses: &[Miss]) -> Vec<CauseCount> {
    let share = |count: usize| count as f64 / misses.len().max(1) as f64;
    let mut counts: Vec<CauseCount> = Cause::VARIANTS
        .iter()
        .map(|&cause| {
            let count = misses.iter().filter(|miss| miss.cause == cause).count();
            CauseCount {
                cause,
                count,
                share: share(count),
            }
        })
        .filter(|count| count.count > 0)
        .collect();
    // The sort is stable, so equal counts stay in the order of `Cause`.
    counts.sort_by_key(|count| std::cmp::Reverse(count.count));
    counts
}

/// Explains misses with the answers to earlier questions and the numbers of the page. Only the last
/// page is kept: rows about one page follow each other, and keeping every page would take memory
/// for each record.
#[derive(Default)]
pub(super) struct Searcher {
    /// The answers, by record and epoch.
    noted: HashMap<(u64, u32), Vec<EarlierAnswer>>,
    places: Option<(String, Arc<PageNumbers>)>,
}

impl Searcher {
    /// Adds all rows of `answers`.
    pub(crate) fn of(answers: &Answers) -> Self {
        let mut search = Self::default();
        answers.rows.iter().for_each(|row| search.add(row));
        search
    }

    pub(super) fn add(&mut self, row: &Row) {
        let key = (name_hash(&row.key.id), row.epoch);
        self.noted.entry(key).or_default().push(EarlierAnswer {
            part: row.key.part.clone(),
            own: TargetNumber::of(row).map(|target| target.value),
            gold: row.gold.exe_ans.as_ref().and_then(Value::number),
        });
    }

    /// Forgets the answers about other records and epochs.
    pub(super) fn forget_others(&mut self, row: &Row) {
        let own = (name_hash(&row.key.id), row.epoch);
        self.noted.retain(|key, _| *key == own);
    }

    /// Explains the miss of a row that was added. `turns` are the golds of all turns of its record.
    pub(crate) fn explain(&mut self, row: &Row, turns: &[Gold]) -> Miss {
        let gold_program = gold_program(row, turns);
        let places = row.document.as_ref().map(|page| {
            let id = &row.key.id;
            let known = self.places.take().filter(|(of, _)| of == id);
            let read = || (id.clone(), Arc::new(PageNumbers::of(page)));
            let (id, places) = known.unwrap_or_else(read);
            self.places = Some((id, Arc::clone(&places)));
            places
        });
        let found = explain(&MissEvidence {
            row,
            gold_program: gold_program.as_deref(),
            earlier: &self.earlier(row),
            places: places.as_deref(),
        });
        let mut found = found.into_iter();
        let first = found
            .next()
            .unwrap_or_else(|| CauseFound::new(Cause::Unexplained, ""));
        Miss {
            key: row.key.clone(),
            epoch: row.epoch.to_string(),
            question: row.question.clone(),
            gold: row.ground_truth().unwrap_or_default().into_owned(),
            answer: answer_text(row),
            cause: first.cause,
            detail: first.detail,
            also: found.collect(),
            program: row.program().map(str::to_owned),
            gold_program,
            suspect: match suspect(&row.key) {
                Some(suspect) => Some(suspect.rule.clone()),
                None => contradicting_value(row).map(|_| "own_program".to_owned()),
            },
        }
    }

    /// The answers to earlier turns, or to the first of two stand-alone questions of the record.
    fn earlier(&self, row: &Row) -> Vec<&EarlierAnswer> {
        let key = (name_hash(&row.key.id), row.epoch);
        let others = self.noted.get(&key).into_iter().flatten();
        let is_before = |other: &&EarlierAnswer| match (other.turn(), row.turn()) {
            (Some(theirs), Some(own)) => theirs < own,
            (None, None) => other.part < row.key.part,
            _ => false,
        };
        others.filter(is_before).collect()
    }
}

/// The answer, or the outcome in brackets without one.
pub(super) fn answer_text(row: &Row) -> String {
    if row.outcome() == Outcome::Answered {
        row.prediction().trim().to_owned()
    } else {
        format!("({})", row.outcome().name().replace('_', " "))
    }
}

/// Gold's program. The stand-alone questions of a Double record have none, but a turn of the
/// conversation has: the last one with a computed value that is the question's answer.
fn gold_program(row: &Row, turns: &[Gold]) -> Option<String> {
    if row.gold.program.is_some() {
        return row.gold.program.clone();
    }
    let printed = Quantity::parse(row.gold.answer.as_deref()?);
    let comes_to_it = turns.iter().rev().filter_map(|turn| {
        let program = turn.program.as_deref()?;
        let context = FeContext {
            question: &row.question,
            gold_program: Some(program),
            table: row.table(),
        };
        let value = Quantity::of(turn.exe_ans.as_ref()?);
        let same = financial_equivalence(&printed, &value, &context).accepted;
        (same && program.contains('(')).then(|| program.to_owned())
    });
    comes_to_it.into_iter().next()
}
