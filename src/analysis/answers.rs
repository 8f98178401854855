//! Answers to analyse: a file of predictions or a run's journal.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::dataset::{Case, Dataset, Gold, Record};
use crate::run::{Journal, RunFolder, RunMeta};
use crate::score::files::{read_predictions, rescore_by};
use crate::score::{Row, same_gold, score};
use finqa_core::text::counted;

use super::AnalysisError;

/// The answers of a file or a run, in their order.
#[derive(Clone, Debug)]
pub struct Answers {
    /// The file or folder, as it was given.
    pub path: PathBuf,
    /// The id of the run whose journal was read; `None` for a file.
    pub run: Option<String>,
    /// The run that answered, also that of a file that is a run's CSV.
    pub meta: Option<RunMeta>,
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

impl Answers {
    /// Opens a file of predictions (our CSV, the LangGraph baseline's, JSONL), a run's
    /// folder, or a folder that holds an `output.csv`.
    ///
    /// With a dataset, gold and pages come from it, whatever gold the answers were scored by.
    /// Without one, a run's own
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
        let rows = read_predictions(path)?;
        let own: Vec<_> = rows.iter().map(|row| row.ground_truth.clone()).collect();
        let rows = rescore_by(rows, dataset, true).map_err(|error| AnalysisError::Row {
            path: path.to_owned(),
            error: Box::new(error),
        })?;
        let meta = run_of(path);
        let planned = meta.as_ref().map(|meta| meta.total);
        let planned = planned.or_else(|| Some(asked_of(dataset?, &rows)));
        let turns = dataset.map(|data| turns_of(data, &rows));
        Ok(Self {
            path: path.to_owned(),
            run: None,
            meta,
            dataset: dataset.map(|data| data.source.clone()),
            no_records: None,
            gold_notes: gold_notes(path, dataset, &own, &rows, dataset),
            not_asked: planned.unwrap_or_default().saturating_sub(rows.len()),
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
        let given = dataset;
        let own = given.is_none().then(|| meta.records()).transpose();
        let (own, no_records) = match own {
            Ok(own) => {
                let note = own.iter().find_map(|own| own.notes.first().cloned());
                (own, note)
            }
            Err(reason) => {
                let fix = "pass --data-path FILE for its pages and gold programs";
                (None, Some(format!("{reason}; {fix}")))
            }
        };
        let dataset = dataset.or(own.as_ref());
        let records = dataset.map(RecordsById::of);
        let truth = |row: &Row| row.ground_truth().map(Cow::into_owned);
        let own_golds: Vec<_> = rows.iter().map(truth).collect();
        for row in &mut rows {
            let Some(records) = &records else { break };
            let found = records.attach(row);
            if found.is_none_or(|(_, case)| given.is_some() && !asks_the_same(case, row)) {
                return Err(AnalysisError::UnknownQuestion {
                    path: path.to_owned(),
                    key: row.key.clone(),
                    dataset: dataset.map(|data| data.source.clone()).unwrap_or_default(),
                });
            }
            if let Some((_, case)) = found.filter(|_| given.is_some()) {
                // Where the named records have no gold, an older one would pass for theirs.
                row.gold = case.gold.clone();
            }
            row.scores = score(row);
        }
        let turns = dataset.map(|data| turns_of(data, &rows));
        Ok(Self {
            path: path.to_owned(),
            run: Some(meta.id.clone()),
            dataset: dataset.map(|data| data.source.clone()),
            no_records,
            gold_notes: gold_notes(path, dataset, &own_golds, &rows, given),
            not_asked: meta.total.saturating_sub(rows.len()),
            meta: Some(meta),
            turns: turns.unwrap_or_default(),
            rows,
        })
    }

    /// The questions without a row, in one line, if there are any.
    pub fn missing_line(&self) -> Option<String> {
        let total = self.rows.len() + self.not_asked;
        let source = match (&self.meta, &self.dataset) {
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

/// The records of a dataset by their ids.
pub(super) struct RecordsById<'d>(HashMap<&'d str, &'d Record>);

impl<'d> RecordsById<'d> {
    pub(super) fn of(dataset: &'d Dataset) -> Self {
        let records = dataset.records.iter();
        Self(records.map(|record| (record.id(), record)).collect())
    }

    /// The question of a row, and its record.
    fn case(&self, row: &Row) -> Option<(&'d Record, &'d Case)> {
        let record = *self.0.get(row.key.id.as_str())?;
        let case = record.cases().find(|case| case.question.key == row.key)?;
        Some((record, case))
    }

    /// Takes a row's page and gold, if it has one, from its record; `None` if the dataset does
    /// not have the question.
    pub(super) fn attach(&self, row: &mut Row) -> Option<(&'d Record, &'d Case)> {
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

/// True unless the record has another text under the id of a row's question, as another file may.
fn asks_the_same(case: &Case, row: &Row) -> bool {
    row.question.is_empty() || letters(&case.question.text) == letters(&row.question)
}

/// A text without what loaders and spreadsheets change.
pub(super) fn letters(text: &str) -> String {
    let text = text.replace("\\n", "").to_lowercase();
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// The golds that differ from the answers' `own` ones, and those that `given` records lack, in
/// a line each.
fn gold_notes(
    path: &Path,
    dataset: Option<&Dataset>,
    own: &[Option<String>],
    rows: &[Row],
    given: Option<&Dataset>,
) -> Vec<String> {
    let others = dataset.and_then(|data| other_golds(path, data, own, rows));
    let lacking = given.and_then(|data| lacking_golds(data, rows));
    others.into_iter().chain(lacking).collect()
}

/// The number of questions that have no gold in these records. A file's own golds count for them.
fn lacking_golds(dataset: &Dataset, rows: &[Row]) -> Option<String> {
    let records = RecordsById::of(dataset);
    let lacks = |row: &&Row| {
        records
            .case(row)
            .is_some_and(|(_, case)| case.gold.is_empty())
    };
    let lacking: Vec<&Row> = rows.iter().filter(lacks).collect();
    let first = lacking.first()?;
    let has = if lacking.len() == 1 { "has" } else { "have" };
    let own = match lacking.iter().any(|row| !row.gold.is_empty()) {
        true => "; the file's own gold is used",
        false => "",
    };
    let (count, all, source) = (lacking.len(), rows.len(), &dataset.source);
    Some(format!(
        "{count} of {all} {has} no gold in {source}, such as {}{own}",
        first.key
    ))
}

fn other_golds(
    path: &Path,
    dataset: &Dataset,
    own: &[Option<String>],
    rows: &[Row],
) -> Option<String> {
    let pairs = own.iter().zip(rows).filter_map(|(own, row)| {
        let (own, now) = (own.as_deref()?, row.ground_truth()?);
        (!same_gold(own, &now)).then_some((own, now, &row.key))
    });
    let changed: Vec<_> = pairs.collect();
    let (own, now, key) = changed.first()?;
    let (path, dataset) = (path.display(), &dataset.source);
    let golds = counted(changed.len(), "gold");
    Some(format!(
        "{golds} of {path} replaced by {dataset}: {key} had `{own}`, and has `{now}`"
    ))
}

/// The run of this CSV, if the file is in a run's folder or is a copy of the CSV of a run.
fn run_of(csv: &Path) -> Option<RunMeta> {
    let folder = csv.parent()?;
    let mut journal = folder.join(RunFolder::JOURNAL);
    if !journal.is_file() {
        let size = |path: &Path| Some(std::fs::metadata(path).ok()?.len());
        let is_copy = |run: &RunFolder| {
            let own = run.file(RunFolder::CSV);
            size(csv) == size(&own) && std::fs::read(csv).ok() == std::fs::read(own).ok()
        };
        let mut newest_first = RunFolder::all(folder).into_iter().rev();
        journal = newest_first.find(is_copy)?.journal();
    }
    Journal::read(&journal).ok()?.meta().ok()
}

/// The number of the dataset's questions of the kinds that the rows answer, in each of their
/// passes.
fn asked_of(dataset: &Dataset, rows: &[Row]) -> usize {
    let kinds: HashSet<bool> = rows.iter().map(|row| row.turn().is_some()).collect();
    let passes: HashSet<u32> = rows.iter().map(|row| row.epoch).collect();
    let cases = dataset.records.iter().flat_map(Record::cases);
    let asked =
        cases.filter(|case| kinds.contains(&case.question.key.part.parse::<usize>().is_ok()));
    asked.count() * passes.len()
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
