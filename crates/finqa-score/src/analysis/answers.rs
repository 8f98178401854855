//! What is analysed: the answers of a file or a run, and a description of the run that gave them.

use std::collections::HashMap;
use std::path::PathBuf;

use serde::Serialize;

use crate::dataset::{Case, Dataset, Gold, Record};
use crate::score::Row;
use finqa_core::text::counted;

/// The answers of a file or a run, in their order.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The file or folder, as it was given.
    pub path: PathBuf,
    /// The id of the run whose journal was read; `None` for a file.
    pub run: Option<String>,
    /// The run that answered. Known for a file too if it is the CSV of a run.
    pub given_by: Option<AnsweringRun>,
    /// The records that the answers are scored by, as shown to people; `None` if the answers' own
    /// gold is all there is.
    pub dataset: Option<String>,
    /// Why the records of a run cannot be read, and what to do or which golds count instead, in one
    /// line.
    pub no_records: Option<String>,
    /// Notes of one line each: golds of the answers that the records replaced, and questions for
    /// which the records have no gold.
    pub gold_notes: Vec<String>,
    pub rows: Vec<Row>,
    /// The number of questions without a row: of the run's plan if the run is known, otherwise of
    /// the records that a file is scored by.
    pub not_asked: usize,
    /// The golds of all turns of each record, by record id; empty without records.
    pub turns: HashMap<String, Vec<Gold>>,
}

/// What a comparison shows of the run that gave the answers.
#[derive(Clone, Debug)]
pub struct AnsweringRun {
    /// The model, as shown to people.
    pub model: String,
    /// The models that the servers say they answered with; empty if the replies are not known.
    pub served: Vec<String>,
    /// The inputs that may change answers, except the choice of questions. Every run has the same
    /// ones in the same order, so that two runs can be compared in pairs.
    pub inputs: Vec<RunInput>,
}

/// A setting or an input of a run.
#[derive(Clone, Debug)]
pub struct RunInput {
    /// An option, or the input in words.
    pub name: String,
    pub value: String,
    /// A hash of the input, if it may have several names. Inputs with one hash do not differ,
    /// whatever their values say.
    pub identity: Option<String>,
}

/// A setting or an input with another value in each of two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputDifference {
    /// An option, or the input in words.
    pub name: String,
    pub a: String,
    pub b: String,
}

impl Answers {
    /// How many questions have no row, in one line; `None` if all have one.
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

    /// Gives a row the page of its record and, if the record has gold, that gold. Returns `None`
    /// if the dataset does not have the question.
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

/// The letters and digits of a text, in lower case. Loaders and spreadsheets change the rest.
pub fn letters(text: &str) -> String {
    let text = text.replace("\\n", "").to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
