//! Answers to analyse: a file of predictions or a run's journal.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::dataset::{Case, Dataset, Gold, Record};
use crate::run::{Journal, RunFolder};
use crate::score::files::{read_predictions, rescore};
use crate::score::{Row, score};

use super::AnalysisError;

/// The answers of a file or a run, in their order.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The file or folder, as it was given.
    pub path: PathBuf,
    /// The id of the run whose journal was read; `None` for a file.
    pub run: Option<String>,
    /// The model that answered, where a run says it.
    pub model: Option<String>,
    /// The records they were scored by, as shown to people; `None` if only
    /// what the file itself holds is known.
    pub dataset: Option<String>,
    /// The reason why the records of a run cannot be read, in one line.
    pub no_records: Option<String>,
    pub rows: Vec<Row>,
    /// Questions of the run that have no row yet.
    pub not_asked: usize,
    /// The golds of each record's turns, in order, where the records are available.
    pub turns: HashMap<String, Vec<Gold>>,
}

impl Answers {
    /// Opens a file of predictions (our CSV, the LangGraph baseline's, JSONL), a run's
    /// folder, or a folder that holds an `output.csv`.
    ///
    /// With a dataset, gold and pages come from it. Without one, a run's own
    /// data file is used if it still exists unchanged.
    pub fn open(path: &Path, dataset: Option<&Dataset>) -> Result<Self, AnalysisError> {
        if path.is_dir() {
            let journal = path.join(RunFolder::JOURNAL);
            let csv = path.join(RunFolder::CSV);
            return if journal.is_file() {
                Self::from_run(path, &journal, dataset)
            } else if csv.is_file() {
                Self::from_file(&csv, dataset)
            } else {
                Err(AnalysisError::NoRun {
                    path: path.to_owned(),
                })
            };
        }
        Self::from_file(path, dataset)
    }

    fn from_file(path: &Path, dataset: Option<&Dataset>) -> Result<Self, AnalysisError> {
        let rows = rescore(read_predictions(path)?, dataset)?;
        let turns = dataset.map(|data| turns_of(data, &rows));
        Ok(Self {
            path: path.to_owned(),
            run: None,
            model: None,
            dataset: dataset.map(|data| data.source.clone()),
            no_records: None,
            not_asked: 0,
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
        if rows.is_empty() {
            return Err(AnalysisError::NoAnswers {
                path: path.to_owned(),
            });
        }
        let own = dataset.is_none().then(|| meta.records()).transpose();
        let (own, no_records) = match own {
            Ok(own) => (own, None),
            Err(reason) => (None, Some(reason)),
        };
        let dataset = dataset.or(own.as_ref());
        let records = dataset.map(RecordsById::of);
        for row in &mut rows {
            let Some(records) = &records else { break };
            if records.attach(row).is_none() {
                return Err(AnalysisError::UnknownQuestion {
                    path: path.to_owned(),
                    key: row.key.clone(),
                    dataset: dataset.map(|data| data.source.clone()).unwrap_or_default(),
                });
            }
            row.scores = score(row);
        }
        let turns = dataset.map(|data| turns_of(data, &rows));
        Ok(Self {
            path: path.to_owned(),
            run: Some(meta.id.clone()),
            model: Some(meta.model().to_owned()),
            dataset: dataset.map(|data| data.source.clone()),
            no_records,
            not_asked: meta.total.saturating_sub(rows.len()),
            turns: turns.unwrap_or_default(),
            rows,
        })
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
