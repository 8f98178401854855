//! The input of an analysis: the answers of a file or a run, and a description of the run that
//! produced them.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::dataset::{Case, Dataset, Gold, Record};
use crate::score::Row;
use finqa_core::text::counted;

/// The answers of a file or a run, in the order in which they were read.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The file or folder, as the user named it.
    pub path: PathBuf,
    /// The id of the run whose journal was read; `None` for a file.
    pub run: Option<String>,
    /// The run that produced the answers. It is also known for a file that is the CSV of a run.
    pub given_by: Option<AnsweringRun>,
    /// The records that the answers are scored by, as shown to people; `None` if the answers are
    /// scored by their own gold.
    pub dataset: Option<String>,
    /// One line for people if the records of a run cannot be read: the reason, and either what to
    /// do or which golds count instead.
    pub no_records: Option<String>,
    /// One-line notes about golds that were replaced by those of the records, and about questions
    /// for which the records have no gold.
    pub gold_notes: Vec<String>,
    pub rows: Vec<Row>,
    /// The number of questions without a row. They are counted against the run's plan if the run is
    /// known, otherwise against the records that a file is scored by.
    pub not_asked: usize,
    /// The golds of all turns of each record, by record id; empty without records.
    pub turns: HashMap<String, Vec<Gold>>,
}

/// The run behind the answers, as a comparison describes it.
#[derive(Clone, Debug)]
pub struct AnsweringRun {
    /// The model, as shown to people.
    pub model: String,
    /// The models that the servers reported in their replies; empty if the replies are not known.
    pub served: Vec<String>,
    /// The inputs that may change answers, except the choice of questions. Every run lists the same
    /// inputs in the same order, so that two runs can be compared item by item.
    pub inputs: Vec<RunInput>,
}

/// A setting or an input of a run.
#[derive(Clone, Debug)]
pub struct RunInput {
    /// The name of an option, or the input in words.
    pub name: String,
    pub value: String,
    /// A hash of the input's content, set if the same content can have several names. Inputs with
    /// equal hashes do not differ, even if their values do.
    pub identity: Option<String>,
}

/// A setting or an input whose value differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// The name of an option, or the input in words.
    pub name: String,
    pub a: String,
    pub b: String,
}

impl Answers {
    /// Says in one line how many questions have no row; `None` if all have one.
    pub fn missing_line(&self) -> Option<String> {
        let total = self.rows.len() + self.not_asked;
        let source = match (&self.given_by, &self.dataset) {
            (None, Some(dataset)) => format!(" in {dataset}"),
            _ => String::new(),
        };
        (self.not_asked > 0).then(|| {
            let left = counted(self.not_asked, "question");
            format!("{left} not answered yet, of {total}{source}")
        })
    }

    /// The golds of all turns of a row's record.
    pub(super) fn turns_of(&self, row: &Row) -> &[Gold] {
        let turns = self.turns.get(&row.key.id);
        turns.map_or(&[], Vec::as_slice)
    }
}

impl AnsweringRun {
    /// The inputs that differ. They are paired by their place in the lists.
    pub(super) fn differences(&self, other: &Self) -> Vec<InputDifference> {
        let pairs = self.inputs.iter().zip(&other.inputs);
        let differ = pairs.filter(|(a, b)| {
            let is_same = a.identity.is_some() && a.identity == b.identity;
            !is_same && a.value != b.value
        });
        differ
            .map(|(a, b)| InputDifference {
                name: a.name.clone(),
                a: a.value.clone(),
                b: b.value.clone(),
            })
            .collect()
    }
}

/// The records of a dataset by their ids.
pub struct RecordsById<'d>(HashMap<&'d str, &'d Record>);

impl<'d> RecordsById<'d> {
    pub fn of(dataset: &'d Dataset) -> Self {
        let records = dataset.records.iter();
        Self(records.map(|record| (record.id(), record)).collect())
    }

    /// The record and the question that a row is about.
    pub fn case(&self, row: &Row) -> Option<(&'d Record, &'d Case)> {
        let record = *self.0.get(row.key.id.as_str())?;
        let case = record.cases().find(|case| case.question.key == row.key)?;
        Some((record, case))
    }

    /// Sets a row's page and the number of turns of its record, and, if the record has gold, the
    /// row's gold. Returns the record and the question; `None`, with the row unchanged, if the
    /// dataset does not have the question.
    pub fn attach(&self, row: &mut Row) -> Option<(&'d Record, &'d Case)> {
        let (record, case) = self.case(row)?;
        let gold = &case.gold;
        row.document = Some(record.document.clone());
        row.turns = row.turn().map(|_| record.turns.len());
        if !gold.is_empty() && *gold != row.gold {
            row.gold = gold.clone();
        }
        Some((record, case))
    }
}

/// The letters and digits of a text, in lower case. Questions are compared by these, because
/// loaders and spreadsheets change other characters.
pub fn letters(text: &str) -> String {
    let text = text.replace("\\n", "").to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
