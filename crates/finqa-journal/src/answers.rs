//! Opens answers for analysis or comparison, from a file of predictions or from a run's journal.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use finqa_core::text::counted;
use finqa_score::analysis::{AnsweringRun, Answers, RecordsById, letters};
use finqa_score::dataset::{Case, Dataset, Gold, QuestionKey, Record};
use finqa_score::score::files::{PredictionRow, read_predictions, rescore_by};
use finqa_score::score::{Row, ScoreError, same_gold, score};
use thiserror::Error;

use crate::run::{Journal, JournalError, RunFolder, RunMeta};
use finqa_core::error::{Kind, Kinded};

#[derive(Debug, Error)]
pub enum AnswersError {
    #[error(transparent)]
    Score(#[from] ScoreError),
    /// A wrong row of a file. `error` names the line.
    #[error("{}, {error}", path.display())]
    Row {
        path: PathBuf,
        error: Box<ScoreError>,
    },
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(
        "{}: neither a run's folder (journal.sqlite) nor a folder with an output.csv; \
         name a file of answers or a folder of OUTPUT/runs", path.display()
    )]
    NoRun { path: PathBuf },
    #[error("{}: no question of this run has an outcome yet; resume it first", path.display())]
    NoAnswers { path: PathBuf },
    #[error("{}: {key} is not in {dataset}, or is another question there", path.display())]
    UnknownQuestion {
        path: PathBuf,
        key: QuestionKey,
        dataset: String,
    },
}

impl Kinded for AnswersError {
    fn kind(&self) -> Kind {
        Kind::Data
    }
}

/// Opens a file of predictions (our CSV, the LangGraph baseline's, JSONL), a run's folder, or a
/// folder with an `output.csv`.
///
/// With a dataset, its pages and golds are used, even if the answers were scored by another gold.
/// Without one, a run's own data file is used if it still exists unchanged.
pub fn open_answers(path: &Path, dataset: Option<&Dataset>) -> Result<Answers, AnswersError> {
    if path.is_dir() {
        let journal = path.join(RunFolder::JOURNAL);
        let csv = path.join(RunFolder::CSV);
        return if journal.is_file() {
            from_run(path, &journal, dataset)
        } else if csv.is_file() {
            from_file(&csv, dataset)
        } else {
            Err(AnswersError::NoRun {
                path: path.to_owned(),
            })
        };
    }
    from_file(path, dataset)
}

/// Reads a file of predictions. With a dataset, it scores them again by the dataset's golds and
/// counts the questions that the file lacks.
fn from_file(path: &Path, dataset: Option<&Dataset>) -> Result<Answers, AnswersError> {
    let rows = read_predictions(path)?;
    let own: Vec<_> = rows.iter().map(|row| row.ground_truth.clone()).collect();
    let named_like_golds = named_like_golds(&rows);
    // `true`: the dataset's golds replace those of the file.
    let rows = rescore_by(rows, dataset, true).map_err(|error| AnswersError::Row {
        path: path.to_owned(),
        error: Box::new(error),
    })?;
    let meta = run_of(path);
    let planned = meta.as_ref().map(|meta| meta.total);
    let planned = planned.or_else(|| Some(asked_of(dataset?, &rows)));
    let turns = dataset.map(|data| turns_of(data, &rows));
    let mut gold_notes = gold_notes(path, dataset, &own, &rows, dataset);
    gold_notes.extend(named_like_golds);
    Ok(Answers {
        path: path.to_owned(),
        run: None,
        given_by: meta.as_ref().map(RunMeta::as_answering),
        dataset: dataset.map(|data| data.source.clone()),
        no_records: None,
        gold_notes,
        // If neither a run nor a dataset lists the questions, none counts as missing.
        not_asked: planned.unwrap_or_default().saturating_sub(rows.len()),
        turns: turns.unwrap_or_default(),
        rows,
    })
}

/// The answers of a run, scored by the dataset, otherwise by the run's own records, otherwise as
/// they were. An error if no question has an outcome, or if one is not in these records.
fn from_run(
    path: &Path,
    journal: &Path,
    dataset: Option<&Dataset>,
) -> Result<Answers, AnswersError> {
    let journal = Journal::read(journal)?;
    let meta = journal.meta()?;
    let (mut rows, mut served) = (Vec::new(), BTreeSet::new());
    journal.for_each_row(|row| {
        let replies = row
            .solution
            .calls
            .iter()
            .filter_map(|call| call.reply.as_ref());
        served.extend(replies.map(|reply| reply.model.clone()));
        rows.push(row.without_exchange());
    })?;
    if rows.is_empty() {
        return Err(AnswersError::NoAnswers {
            path: path.to_owned(),
        });
    }
    let given = dataset;
    let (own, no_records) = match given {
        Some(_) => (None, None),
        None => own_records(&meta),
    };
    let dataset = dataset.or(own.as_ref());
    let truth = |row: &Row| row.ground_truth().map(Cow::into_owned);
    let own_golds: Vec<_> = rows.iter().map(truth).collect();
    if let Some(dataset) = dataset {
        score_by(dataset, &mut rows, given.is_some(), path)?;
    }
    let turns = dataset.map(|data| turns_of(data, &rows));
    Ok(Answers {
        path: path.to_owned(),
        run: Some(meta.id.clone()),
        dataset: dataset.map(|data| data.source.clone()),
        no_records,
        gold_notes: gold_notes(path, dataset, &own_golds, &rows, given),
        not_asked: meta.total.saturating_sub(rows.len()),
        given_by: Some(AnsweringRun {
            served: served
                .into_iter()
                .filter(|model| !model.is_empty())
                .collect(),
            ..meta.as_answering()
        }),
        turns: turns.unwrap_or_default(),
        rows,
    })
}

/// The records of the run's own data file, with a note. Without them, the note says why.
fn own_records(meta: &RunMeta) -> (Option<Dataset>, Option<String>) {
    match meta.records() {
        Ok(own) => {
            let note = own.notes.first().cloned();
            (Some(own), note)
        }
        Err(reason) => {
            let fix = "pass --data-path FILE for its pages and gold programs";
            (None, Some(format!("{reason}; {fix}")))
        }
    }
}

/// Scores the rows of a run again, each with its record in the dataset. If the user gave the
/// dataset (`is_given`), its golds replace those of the rows.
fn score_by(
    dataset: &Dataset,
    rows: &mut [Row],
    is_given: bool,
    path: &Path,
) -> Result<(), AnswersError> {
    let records = RecordsById::of(dataset);
    for row in rows {
        let found = records.attach(row);
        // Only given records may be about other questions. The run's own have the hash of its file.
        let found = found.filter(|(_, case)| !is_given || asks_the_same(case, row));
        let Some((_, case)) = found else {
            return Err(AnswersError::UnknownQuestion {
                path: path.to_owned(),
                key: row.key.clone(),
                dataset: dataset.source.clone(),
            });
        };
        if is_given {
            // Even an empty gold replaces the row's earlier one. Otherwise the row would still be
            // scored by a gold that is not in these records.
            row.gold = case.gold.clone();
        }
        row.scores = score(row);
    }
    Ok(())
}

/// Returns false if the record's question has another text than the row's, because two files may
/// use one id for different questions. Returns true for a row without a text.
fn asks_the_same(case: &Case, row: &Row) -> bool {
    row.question.is_empty() || letters(&case.question.text) == letters(&row.question)
}

/// Notes of one line each: a note about golds of the answers (`own`) that `dataset` replaced, and a
/// note about questions without a gold in the `given` records.
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

/// A note about predictions in a field that the dataset's records use for golds: the scores of such
/// a file of golds would be perfect. `None` if another field shows which of the two they are.
fn named_like_golds(rows: &[PredictionRow]) -> Option<String> {
    // A single row is enough, because others may lack one of the two golds.
    let is_alike = |row: &PredictionRow| row.answer.is_some() && row.exe_ans.is_some();
    let is_clear = |row: &PredictionRow| row.ground_truth.is_some() || row.outcome.is_some();
    let note = "`answer` is read as the model's answers; if these are golds, rename it to \
                `ground_truth`, and add a column `prediction`";
    let is_unclear = rows.iter().any(is_alike) && !rows.iter().any(is_clear);
    is_unclear.then(|| note.to_owned())
}

/// A note about the questions that have no gold in these records. If the answers come with their
/// own golds for them, the note says that those are used. `None` if none lacks it.
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
    let own = if lacking.iter().any(|row| !row.gold.is_empty()) {
        "; the file's own gold is used"
    } else {
        ""
    };
    let (count, all, source) = (lacking.len(), rows.len(), &dataset.source);
    Some(format!(
        "{count} of {all} {has} no gold in {source}, such as {}{own}",
        first.key
    ))
}

/// A note about the golds that `dataset` replaced, with the first one; `None` if none changed. Rows
/// without a gold before or now are left out.
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

/// The run that wrote this CSV. It is the run in whose folder the file is. A copy such as
/// `OUTPUT/output.csv` belongs to the newest run in the folder `runs` next to it whose CSV has the
/// same content. `None` if there is no such run or its journal cannot be read.
fn run_of(csv: &Path) -> Option<RunMeta> {
    let folder = csv.parent()?;
    let mut journal = folder.join(RunFolder::JOURNAL);
    if !journal.is_file() {
        let size = |path: &Path| Some(std::fs::metadata(path).ok()?.len());
        let is_copy = |run: &RunFolder| {
            let own = run.file(RunFolder::CSV);
            // The sizes come first, so that few files are read.
            size(csv) == size(&own) && std::fs::read(csv).ok() == std::fs::read(own).ok()
        };
        let mut newest_first = RunFolder::all(folder).into_iter().rev();
        journal = newest_first.find(is_copy)?.journal();
    }
    Journal::read(&journal).ok()?.meta().ok()
}

/// The number of rows in a complete file: the dataset's questions of the kinds that the rows answer
/// (stand-alone questions, turns), times the number of passes in the file.
fn asked_of(dataset: &Dataset, rows: &[Row]) -> usize {
    let kinds: HashSet<bool> = rows.iter().map(|row| row.turn().is_some()).collect();
    let passes: HashSet<u32> = rows.iter().map(|row| row.epoch).collect();
    let cases = dataset.records.iter().flat_map(Record::cases);
    let asked =
        // The part of a turn is its number; other parts are words.
        cases.filter(|case| kinds.contains(&case.question.key.part.parse::<usize>().is_ok()));
    asked.count() * passes.len()
}

/// The golds of all turns of the records that have a row, by record id.
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
