//! Answers to analyse: a file of predictions or a run's journal.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::dataset::{Case, Dataset, Gold, Record};
use crate::run::{Journal, RunFolder, RunMeta};
use crate::score::files::{PredictionRow, read_predictions, rescore};
use crate::score::{Row, score};

use super::AnalysisError;

/// The source of a set of answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswersOrigin {
    /// A CSV, JSONL or JSON file.
    File,
    /// A run's journal, by the run's id.
    Run(String),
}

/// The answers of a file or a run, in their order.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The file or folder, as it was given.
    pub path: PathBuf,
    pub origin: AnswersOrigin,
    /// The model that answered, where a run says it.
    pub model: Option<String>,
    /// The records they were scored by, as shown to people; `None` if only
    /// what the file itself holds is known.
    pub dataset: Option<String>,
    /// The reason why the records of a run cannot be read, in one line.
    pub no_records: Option<String>,
    pub rows: Vec<Row>,
    /// The golds of each record's turns, in order, where the records are available.
    pub turns: HashMap<String, Vec<Gold>>,
}

impl Answers {
    /// Opens a file of predictions (our CSV, the LangGraph baseline's, JSONL), a run's
    /// folder, or a folder that holds an `output.csv`.
    ///
    /// With a dataset, gold and pages come from it. Without one, a run's own
    /// data file is used if it still exists unchanged; and
    /// an `output.csv` that is the copy of its last run is read as that run.
    pub fn open(path: &Path, dataset: Option<&Dataset>) -> Result<Self, AnalysisError> {
        if path.is_dir() {
            let journal = path.join(RunFolder::JOURNAL);
            let csv = path.join(RunFolder::CSV);
            return if journal.is_file() {
                Self::from_run(path, &journal, dataset)
            } else if csv.is_file() {
                Self::open(&csv, dataset)
            } else {
                Err(AnalysisError::NoRun {
                    path: path.to_owned(),
                })
            };
        }
        let Some(journal) = RunFolder::journal_behind(path) else {
            return Self::from_file(path, dataset);
        };
        let of_run = Self::from_run(path, &journal, dataset)?;
        // A CSV next to its journal may have been edited since.
        if of_run.has_same_answers(&read_predictions(path)?) {
            return Ok(of_run);
        }
        match records_behind(path) {
            _ if dataset.is_some() => Self::from_file(path, dataset),
            Some(Err(reason)) => Ok(Self {
                no_records: Some(reason),
                ..Self::from_file(path, None)?
            }),
            own => Self::from_file(path, own.and_then(Result::ok).as_ref()),
        }
    }

    /// True if these rows hold the same answers to the same questions.
    fn has_same_answers(&self, rows: &[PredictionRow]) -> bool {
        let same = |(own, row): (&Row, &PredictionRow)| {
            own.key.id == row.id
                && Some(&own.key.part) == row.part.as_ref()
                && own.prediction() == row.prediction
                && own.program() == row.program.as_deref()
                && own.ground_truth().as_deref().unwrap_or_default()
                    == row.ground_truth.as_deref().unwrap_or_default()
        };
        self.rows.len() == rows.len() && self.rows.iter().zip(rows).all(same)
    }

    fn from_file(path: &Path, dataset: Option<&Dataset>) -> Result<Self, AnalysisError> {
        let rows = rescore(read_predictions(path)?, dataset)?;
        let turns = dataset.map(|data| turns_of(data, &rows));
        Ok(Self {
            path: path.to_owned(),
            origin: AnswersOrigin::File,
            model: None,
            dataset: dataset.map(|data| data.source.clone()),
            no_records: None,
            turns: turns.unwrap_or_default(),
            rows,
        })
    }

    fn from_run(
        path: &Path,
        journal: &Path,
        dataset: Option<&Dataset>,
    ) -> Result<Self, AnalysisError> {
        let journal = Journal::read(journal)?;
        let meta = journal.meta()?;
        let mut rows = Vec::new();
        journal.for_each_row(|row| rows.push(row.without_exchange()))?;
        if dataset.is_some() {
            return Self::from_rows(path, &meta, rows, dataset);
        }
        match meta.records() {
            Ok(own) => Self::from_rows(path, &meta, rows, Some(&own)),
            Err(reason) => Ok(Self {
                no_records: Some(reason),
                ..Self::from_rows(path, &meta, rows, None)?
            }),
        }
    }

    /// The answers of a run, from its rows. Gold and pages come from
    /// `dataset`, or from the rows alone without one.
    pub(crate) fn from_rows(
        path: &Path,
        meta: &RunMeta,
        rows: Vec<Row>,
        dataset: Option<&Dataset>,
    ) -> Result<Self, AnalysisError> {
        if rows.is_empty() {
            return Err(AnalysisError::NoAnswers {
                path: path.to_owned(),
            });
        }
        let mut answers = Self {
            path: path.to_owned(),
            origin: AnswersOrigin::Run(meta.id.clone()),
            model: Some(meta.model().to_owned()),
            dataset: None,
            no_records: None,
            rows,
            turns: HashMap::new(),
        };
        if let Some(dataset) = dataset {
            answers.score_by(dataset)?;
        }
        Ok(answers)
    }

    /// Takes gold and pages from `dataset`, and scores again.
    fn score_by(&mut self, dataset: &Dataset) -> Result<(), AnalysisError> {
        let records = RecordsById::of(dataset);
        for row in &mut self.rows {
            if records.score(row).is_none() {
                return Err(AnalysisError::UnknownQuestion {
                    path: self.path.clone(),
                    key: row.key.clone(),
                    dataset: dataset.source.clone(),
                });
            }
        }
        self.turns = turns_of(dataset, &self.rows);
        self.dataset = Some(dataset.source.clone());
        Ok(())
    }

    /// The golds of the turns of a row's record.
    pub(super) fn turns_of(&self, row: &Row) -> &[Gold] {
        let turns = self.turns.get(&row.key.id);
        turns.map_or(&[], Vec::as_slice)
    }
}

/// The records of a dataset by their ids.
pub(super) struct RecordsById<'d>(HashMap<&'d str, &'d Record>);

impl<'d> RecordsById<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Self {
        let records = dataset.records.iter();
        Self(records.map(|record| (record.id(), record)).collect())
    }

    /// Scores a row again by its record; `None` if the dataset does not have the question.
    fn score(&self, row: &mut Row) -> Option<&'d Record> {
        let record = self.attach(row)?;
        row.scores = score(row);
        Some(record)
    }

    /// Takes a row's gold and page from its record; `None` if the dataset does not have the
    /// question.
    pub(super) fn attach(&self, row: &mut Row) -> Option<&'d Record> {
        let record = *self.0.get(row.key.id.as_str())?;
        let Case { gold, .. } = record.cases().find(|case| case.question.key == row.key)?;
        row.document = Some(record.document.clone());
        row.turns = row.turn().map(|_| record.turns.len());
        if !gold.is_empty() && *gold != row.gold {
            row.gold = gold.clone();
        }
        Some(record)
    }
}

fn turns_of(dataset: &Dataset, rows: &[Row]) -> HashMap<String, Vec<Gold>> {
    let asked: HashSet<&str> = rows.iter().map(|row| row.key.id.as_str()).collect();
    let records = dataset.records.iter();
    records
        .filter(|record| asked.contains(record.id()))
        .map(|record| {
            let golds = record.turns.iter().map(|case| case.gold.clone());
            (record.id().to_owned(), golds.collect())
        })
        .collect()
}

/// The records that the run behind a CSV asked, or why they cannot be read: the
/// CSV is a run's own `output.csv`, or the copy of it that the last run left.
/// `None` if there is no such run.
pub fn records_behind(csv: &Path) -> Option<Result<Dataset, String>> {
    let journal = Journal::read(&RunFolder::journal_behind(csv)?).ok()?;
    Some(journal.meta().ok()?.records())
}
