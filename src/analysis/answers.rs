//! Answers to analyse: a file of predictions or a run's journal.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use rust_decimal::Decimal;
use serde::Serialize;

use crate::dataset::{Case, Dataset, Gold, Record};
use crate::run::{Journal, Row, RunMeta};
use crate::score::files::{PredictionRow, read_predictions, rescore};
use crate::score::{ScoredRow, score};
use finqa_core::files;

use super::AnalysisError;

/// One answered question, and what a run records of it besides its scores.
#[derive(Clone, Debug)]
pub struct AnsweredQuestion {
    /// The question, its gold, its answer, scored.
    pub row: ScoredRow,
    /// Rounds of analyst and critic, if known.
    pub rounds: Option<usize>,
    /// US dollars, if known.
    pub cost: Option<Decimal>,
    /// Its position in the run's plan, for answers of a run.
    pub index: Option<usize>,
}

impl AnsweredQuestion {
    /// The answer of a run's row.
    #[must_use]
    pub fn of(row: &Row) -> Self {
        Self {
            row: row.as_scored(),
            rounds: Some(row.settled.rounds.len()),
            cost: row.cost,
            index: Some(row.index),
        }
    }
}

/// Where answers were read from.
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
    /// What it is.
    pub origin: AnswersOrigin,
    /// The model that answered, where a run says it.
    pub model: Option<String>,
    /// The records they were scored by, as shown to people; `None` if only
    /// what the file itself holds is known.
    pub dataset: Option<String>,
    /// Why the records of a run cannot be read, in one line.
    pub no_records: Option<String>,
    /// The answers.
    pub rows: Vec<AnsweredQuestion>,
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
    ///
    /// # Errors
    /// [`AnalysisError`] naming the file, line or question at fault.
    pub fn open(path: &Path, dataset: Option<&Dataset>) -> Result<Self, AnalysisError> {
        if path.is_dir() {
            let journal = path.join("journal.sqlite");
            let csv = path.join("output.csv");
            return if journal.is_file() {
                Self::of_run(path, &journal, dataset)
            } else if csv.is_file() {
                Self::open(&csv, dataset)
            } else {
                Err(AnalysisError::NoRun {
                    path: path.to_owned(),
                })
            };
        }
        let Some(journal) = run_behind(path) else {
            return Self::of_file(path, dataset);
        };
        let of_run = Self::of_run(path, &journal, dataset)?;
        // A CSV beside its journal may have been edited since.
        if of_run.says_what(&read_predictions(path)?) {
            return Ok(of_run);
        }
        match records_behind(path) {
            _ if dataset.is_some() => Self::of_file(path, dataset),
            Some(Err(reason)) => Ok(Self {
                no_records: Some(reason),
                ..Self::of_file(path, None)?
            }),
            own => Self::of_file(path, own.and_then(Result::ok).as_ref()),
        }
    }

    /// Whether these rows hold the same answers to the same questions.
    fn says_what(&self, rows: &[PredictionRow]) -> bool {
        let same = |(own, row): (&AnsweredQuestion, &PredictionRow)| {
            let item = &own.row.item;
            let gold = item.ground_truth.clone().unwrap_or_default();
            item.key.id == row.id
                && Some(&item.key.part) == row.part.as_ref()
                && item.prediction == row.prediction
                && item.program == row.program
                && gold == row.ground_truth.clone().unwrap_or_default()
        };
        self.rows.len() == rows.len() && self.rows.iter().zip(rows).all(same)
    }

    fn of_file(path: &Path, dataset: Option<&Dataset>) -> Result<Self, AnalysisError> {
        let predictions = read_predictions(path)?;
        let spent: Vec<_> = predictions
            .iter()
            .map(|row| (row.rounds, row.cost))
            .collect();
        let rows = rescore(predictions, dataset)?;
        let turns = dataset.map(|data| turns_of(data, &rows));
        Ok(Self {
            path: path.to_owned(),
            origin: AnswersOrigin::File,
            model: None,
            dataset: dataset.map(|data| data.source.clone()),
            no_records: None,
            turns: turns.unwrap_or_default(),
            rows: rows
                .into_iter()
                .zip(spent)
                .map(|(row, (rounds, cost))| AnsweredQuestion {
                    row,
                    rounds,
                    cost,
                    index: None,
                })
                .collect(),
        })
    }

    fn of_run(
        path: &Path,
        journal: &Path,
        dataset: Option<&Dataset>,
    ) -> Result<Self, AnalysisError> {
        let journal = Journal::read(journal)?;
        let meta = journal.meta()?;
        let mut rows = Vec::new();
        journal.for_each_row(|row| rows.push(AnsweredQuestion::of(&row)))?;
        if dataset.is_some() {
            return Self::of_rows(path, &meta, rows, dataset);
        }
        match meta.records() {
            Ok(own) => Self::of_rows(path, &meta, rows, Some(&own)),
            Err(reason) => Ok(Self {
                no_records: Some(reason),
                ..Self::of_rows(path, &meta, rows, None)?
            }),
        }
    }

    /// The answers of a run, from its rows. Gold and pages come from
    /// `dataset`, or from the rows alone without one.
    ///
    /// # Errors
    /// [`AnalysisError`] without rows, and for a row that `dataset` does not have.
    pub fn of_rows(
        path: &Path,
        meta: &RunMeta,
        rows: Vec<AnsweredQuestion>,
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
        let records: HashMap<&str, &Record> = dataset
            .records
            .iter()
            .map(|record| (record.id(), record))
            .collect();
        for answered in &mut self.rows {
            let item = &mut answered.row.item;
            let found = records.get(item.key.id.as_str()).and_then(|record| {
                let case = record.cases().find(|case| case.question.key == item.key)?;
                Some((*record, case))
            });
            let Some((record, Case { gold, .. })) = found else {
                return Err(AnalysisError::UnknownQuestion {
                    path: self.path.clone(),
                    key: item.key.clone(),
                    dataset: dataset.source.clone(),
                });
            };
            item.document = Some(record.document.clone());
            item.turns = item.turn().map(|_| record.turns.len());
            if !gold.is_empty() && *gold != item.gold {
                item.gold = gold.clone();
                item.ground_truth = match item.turn() {
                    Some(_) => gold.exe_ans.as_ref().map(ToString::to_string),
                    None => gold.answer.clone(),
                };
            }
            answered.row.scores = score(item);
        }
        self.turns = turns_of(dataset, self.rows.iter().map(|answered| &answered.row));
        self.dataset = Some(dataset.source.clone());
        Ok(())
    }
}

fn turns_of<'r>(
    dataset: &Dataset,
    rows: impl IntoIterator<Item = &'r ScoredRow>,
) -> HashMap<String, Vec<Gold>> {
    let asked: HashSet<&str> = rows
        .into_iter()
        .map(|row| row.item.key.id.as_str())
        .collect();
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
#[must_use]
pub fn records_behind(csv: &Path) -> Option<Result<Dataset, String>> {
    let journal = Journal::read(&run_behind(csv)?).ok()?;
    Some(journal.meta().ok()?.records())
}

/// The journal of the run that left this CSV: `OUTPUT/output.csv` is a copy of
/// `OUTPUT/runs/<last run>/output.csv`. `None` if it is not, byte for byte.
fn run_behind(csv: &Path) -> Option<PathBuf> {
    if csv.file_name()? != "output.csv" {
        return None;
    }
    let beside = csv.with_file_name("journal.sqlite");
    if beside.is_file() {
        return Some(beside);
    }
    let bytes = files::read(csv).ok()?;
    let runs = csv.parent()?.join("runs");
    let mut folders: Vec<PathBuf> = std::fs::read_dir(runs)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    // Their names sort by time; the last run's copy is the likely one.
    folders.sort();
    folders.into_iter().rev().find_map(|folder| {
        let copy = folder.join("output.csv");
        let size = std::fs::metadata(&copy).ok()?.len();
        let same = size == bytes.len() as u64 && files::read(&copy).ok()? == bytes;
        let journal = folder.join("journal.sqlite");
        (same && journal.is_file()).then_some(journal)
    })
}
