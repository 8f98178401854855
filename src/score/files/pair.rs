//! Pairing rows with the dataset's questions, and scoring them.

use std::collections::HashMap;

use crate::dataset::{Case, Dataset, Gold, Kind, Outcome, QuestionKey, Record};
use crate::number::Value;
use crate::score::{Item, ScoreError, ScoredRow};

use super::fields::filename_of;
use super::read::{PredictionRow, value_of};

/// Scores rows of a file again, in their order.
///
/// With a dataset, gold, page and question come from it, and the file's gold
/// is only used where the dataset has none. A row is paired by (id, part);
/// without a part by id and normalised question, then by order of appearance
/// among the record's questions that are left.
///
/// A row without an outcome is answered if it holds an answer, else it counts
/// as a reply that could not be read, right by no rule.
///
/// # Errors
/// A question that stands twice; with a dataset, an id or part it does not have.
pub fn rescore(
    rows: Vec<PredictionRow>,
    dataset: Option<&Dataset>,
) -> Result<Vec<ScoredRow>, ScoreError> {
    let keyed = match dataset {
        Some(dataset) => with_cases(rows, dataset)?,
        None => with_parts(rows),
    };
    refuse_duplicates(&keyed)?;
    Ok(keyed
        .into_iter()
        .map(|(row, part, found)| ScoredRow::score(item(row, part, found)))
        .collect())
}

/// A dataset's question, and the record it belongs to.
type Found<'d> = (&'d Record, &'d Case);
/// A row, its part, and its question in the dataset.
type Keyed<'d> = (PredictionRow, String, Option<Found<'d>>);

fn refuse_duplicates(keyed: &[Keyed<'_>]) -> Result<(), ScoreError> {
    let mut seen: HashMap<(&str, &str, Option<&str>), usize> = HashMap::new();
    for (row, part, _) in keyed {
        let key = (row.id.as_str(), part.as_str(), row.epoch.as_deref());
        if let Some(first) = seen.insert(key, row.line) {
            return Err(ScoreError::Duplicate {
                line: row.line,
                first,
                id: row.id.clone(),
                part: part.clone(),
            });
        }
    }
    Ok(())
}

/// Without a dataset a row that does not say its part is its record's next
/// one: `qa`, or `qa_0` and `qa_1` of a record that stands twice.
fn with_parts(rows: Vec<PredictionRow>) -> Vec<Keyed<'static>> {
    let mut total: HashMap<String, usize> = HashMap::new();
    for row in &rows {
        *total.entry(row.id.clone()).or_default() += 1;
    }
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut written: HashMap<String, String> = HashMap::new();
    rows.into_iter()
        .map(|row| {
            let part = row.part.clone().unwrap_or_else(|| {
                let gold = row.ground_truth.as_deref();
                let all = format!(
                    "{:?}",
                    (&row.id, &row.question, &row.prediction, gold, row.latency)
                );
                let next = seen.entry(row.id.clone()).or_default();
                let of = total.get(&row.id).copied().unwrap_or(1);
                let part = match (of, *next) {
                    (1, _) => "qa".to_owned(),
                    (2, at) => format!("qa_{at}"),
                    (_, at) => at.to_string(),
                };
                *next += 1;
                // What is the same in every cell is the same row again.
                written.entry(all).or_insert(part).clone()
            });
            (row, part, None)
        })
        .collect()
}

fn with_cases(rows: Vec<PredictionRow>, dataset: &Dataset) -> Result<Vec<Keyed<'_>>, ScoreError> {
    let records: HashMap<&str, &Record> = dataset
        .records
        .iter()
        .map(|record| (record.document.id.as_str(), record))
        .collect();
    let mut left: HashMap<&str, Vec<&Case>> = HashMap::new();
    let mut keyed = Vec::with_capacity(rows.len());
    for row in rows {
        let Some(record) = records.get(row.id.as_str()).copied() else {
            return Err(ScoreError::UnknownRecord {
                line: row.line,
                id: row.id,
                dataset: dataset.source.clone(),
            });
        };
        let case = match &row.part {
            Some(part) => cases(record).find(|case| case.question.key.part == *part),
            None => {
                let left = left
                    .entry(record.document.id.as_str())
                    .or_insert_with(|| cases(record).collect());
                take(left, &normalised(&row.question))
            }
        };
        let Some(case) = case else {
            return Err(ScoreError::UnknownPart {
                line: row.line,
                part: row.part.unwrap_or_else(|| "this row".to_owned()),
                id: row.id,
                dataset: dataset.source.clone(),
            });
        };
        keyed.push((row, case.question.key.part.clone(), Some((record, case))));
    }
    Ok(keyed)
}

/// Stand-alone questions first: a file without parts is in questions mode.
fn cases(record: &Record) -> impl Iterator<Item = &Case> {
    record.questions.iter().chain(&record.turns)
}

/// The question with this text, or else the first that is left.
fn take<'d>(left: &mut Vec<&'d Case>, question: &str) -> Option<&'d Case> {
    let at = left
        .iter()
        .position(|case| normalised(&case.question.text) == question)
        .unwrap_or(0);
    (at < left.len()).then(|| left.remove(at))
}

/// Lower case, single spaces, no literal `\n`, no closing question mark:
/// spreadsheets and loaders differ in these.
fn normalised(question: &str) -> String {
    let question = question.replace("\\n", " ").to_lowercase();
    let words: Vec<&str> = question.split_whitespace().collect();
    words.join(" ").trim_end_matches(['?', ' ']).to_owned()
}

fn item(row: PredictionRow, part: String, found: Option<Found<'_>>) -> Item {
    let is_turn = part.parse::<usize>().is_ok();
    let own = Gold {
        answer: row.ground_truth.clone().filter(|_| !is_turn),
        program: row.gold_program,
        exe_ans: row.exe_ans.or_else(|| {
            let turn_gold = row.ground_truth.clone().filter(|_| is_turn);
            turn_gold.map(value_of)
        }),
        split: None,
    };
    let gold = match found {
        Some((_, case)) if !case.gold.is_empty() => case.gold.clone(),
        _ => own,
    };
    let of_dataset = if is_turn {
        gold.exe_ans.as_ref().map(Value::to_string)
    } else {
        gold.answer.clone()
    };
    let answered = !row.prediction.trim().is_empty() || row.program.is_some();
    Item {
        filename: match found {
            Some((record, _)) => record.document.filename.clone(),
            None => {
                let own = row.filename.as_deref();
                own.unwrap_or_else(|| filename_of(&row.id)).to_owned()
            }
        },
        kind: found
            .map(|(record, _)| record.kind)
            .or_else(|| kind_of(&row.id)),
        question: match found {
            Some((_, case)) if row.question.is_empty() => case.question.text.clone(),
            _ => row.question,
        },
        // EM and NM compare what the file holds, as the reference did.
        ground_truth: row.ground_truth.or(of_dataset),
        document: found.map(|(record, _)| record.document.clone()),
        answer: row.answer.unwrap_or_default(),
        outcome: row.outcome.unwrap_or(if answered {
            Outcome::Answered
        } else {
            Outcome::ParseFailure
        }),
        key: QuestionKey { id: row.id, part },
        gold,
        prediction: row.prediction,
        value: row.value,
        program: row.program,
        latency: row.latency,
    }
}

fn kind_of(id: &str) -> Option<Kind> {
    match id {
        _ if id.starts_with("Single_") => Some(Kind::Single),
        _ if id.starts_with("Double_") => Some(Kind::Double),
        _ => None,
    }
}
