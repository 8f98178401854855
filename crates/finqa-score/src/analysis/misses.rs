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
use super::places::PageFigures;
use super::target::TargetNumber;

/// The misses of a run, judged by one rule.
#[derive(Clone, Debug, Serialize)]
pub struct MissAnalysis {
    /// The file of the answers.
    pub path: PathBuf,
    /// The records that were read. Without records there are no pages on which to locate numbers.
    pub dataset: Option<String>,
    /// The rule that says what a miss is.
    pub rule: Rule,
    /// The number of answers that the rule can judge.
    pub questions: usize,
    /// The number of answers that the rule cannot judge.
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
    /// The epoch, from 0.
    pub epoch: String,
    pub question: String,
    /// The gold answer, as written.
    pub gold: String,
    /// The answer; if there is none, the outcome in brackets.
    pub answer: String,
    pub cause: Cause,
    pub detail: String,
    /// Further causes that fit. For a suspect gold, they say how the answer differs from it.
    pub also: Vec<CauseFound>,
    pub program: Option<String>,
    pub gold_program: Option<String>,
    /// The kind of defect if gold is in the list of suspect golds, or `own_program` if gold
    /// contradicts its own program.
    pub suspect: Option<String>,
}

/// Finds the cause of every miss.
pub fn analyze(answers: &Answers, rule: Rule) -> MissAnalysis {
    let mut search = MissExplainer::of(answers);
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

/// The number of misses by each cause and its share of all misses, the most frequent first.
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

/// Explains misses with the answers to earlier questions and with the numbers of the page. It keeps
/// the numbers of the last page only: the rows of a page follow each other, and keeping all pages
/// would need memory for each record.
#[derive(Default)]
pub(super) struct MissExplainer {
    /// The answers by the hash of the record's id and the epoch.
    noted: HashMap<(u64, u32), Vec<EarlierAnswer>>,
    places: Option<(String, Arc<PageFigures>)>,
}

impl MissExplainer {
    /// An explainer to which all rows of `answers` were added.
    pub(crate) fn of(answers: &Answers) -> Self {
        let mut search = Self::default();
        answers.rows.iter().for_each(|row| search.add(row));
        search
    }

    /// Notes the answer and the gold of a row, with which later turns are explained.
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

    /// Explains the miss of a row that was added before. `turns` are the golds of all turns of its
    /// record.
    pub(crate) fn explain(&mut self, row: &Row, turns: &[Gold]) -> Miss {
        let gold_program = gold_program(row, turns);
        let places = row.document.as_ref().map(|page| {
            let id = &row.key.id;
            let known = self.places.take().filter(|(of, _)| of == id);
            let read = || (id.clone(), Arc::new(PageFigures::of(page)));
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
            // Empty for a stand-alone question whose gold has a value but no printed answer.
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

    /// The answers to earlier turns; for the second of two stand-alone questions, the answer to the
    /// first.
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

/// The answer; if there is none, the outcome in brackets.
pub(super) fn answer_text(row: &Row) -> String {
    if row.outcome() == Outcome::Answered {
        row.prediction().trim().to_owned()
    } else {
        format!("({})", row.outcome().name().replace('_', " "))
    }
}

/// Gold's program. The stand-alone questions of a Double record have none, so the program of a turn
/// is used: that of the last turn that computes the question's answer.
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
        // A program without an operation computes nothing.
        (same && program.contains('(')).then(|| program.to_owned())
    });
    comes_to_it.into_iter().next()
}
