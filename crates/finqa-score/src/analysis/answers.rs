//! The answers of a file or a run, and the run that gave them.

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
    /// The run that answered, also that of a file that is a run's CSV.
    pub given_by: Option<AnsweringRun>,
    /// The records they were scored by, as shown to people; `None` if only
    /// what the file itself holds is known.
    pub dataset: Option<String>,
    /// The records of a run that cannot be read, and what to do or what counts, in one line.
    pub no_records: Option<String>,
    /// The golds that the records overrule, and those that the named records lack, one line each.
    pub gold_notes: Vec<String>,
    pub rows: Vec<Row>,
    /// Questions without a row: of the run, or else of the records that a file is scored by.
    pub not_asked: usize,
    /// The golds of each record's turns, in order, where the records are available.
    pub turns: HashMap<String, Vec<Gold>>,
}

/// What a comparison shows of the run that gave the answers.
#[derive(Clone, Debug)]
pub struct AnsweringRun {
    /// The model, as shown to people.
    pub model: String,
    /// The inputs that may change answers, but for the choice of questions; the same ones in the
    /// same order for every run.
    pub inputs: Vec<RunInput>,
}

/// A setting or an input of a run.
#[derive(Clone, Debug)]
pub struct RunInput {
    /// An option, or the input in words.
    pub name: String,
    pub value: String,
    /// What stays the same under another name: two inputs with one identity do not differ.
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
    /// The questions without a row, in one line, if there are any.
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

    /// The golds of the turns of a row's record.
    pub(super) fn turns_of(&self, row: &Row) -> &[Gold] {
        let turns = self.turns.get(&row.key.id);
        turns.map_or(&[], Vec::as_slice)
    }
}

impl AnsweringRun {
    /// The inputs that differ in `other`.
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

    /// The question of a row, and its record.
    pub fn case(&self, row: &Row) -> Option<(&'d Record, &'d Case)> {
        let record = *self.0.get(row.key.id.as_str())?;
        let case = record.cases().find(|case| case.question.key == row.key)?;
        Some((record, case))
    }

    /// Takes a row's page and gold, if it has one, from its record; `None` if the dataset does
    /// not have the question.
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

/// A text without what loaders and spreadsheets change.
pub fn letters(text: &str) -> String {
    let text = text.replace("\\n", "").to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}
