//! Pairs rows with the dataset's questions and scores them.

use std::collections::HashMap;

use crate::dataset::{
    Case, Dataset, Gold, Mode, Outcome, QuestionKey, Record, RecordKind, filename_in_id,
};
use crate::score::{PredictionCells, Row, ScoreError, Scores, same_gold};
use finqa_agents::pair::{Answer, Solution, StopReason};
use finqa_core::number::{Value, round5, within};
use finqa_core::program::Program;

use super::read::{PredictionRow, value_of};

/// Scores rows of a file again, in their order.
///
/// With a dataset, gold, page and question come from it; the file's gold is used only if the
/// dataset has none. A row is paired by id and part. If the row has no part, its id may end in one,
/// as in the official prediction file. Otherwise the row is paired by id and normalised question.
///
/// A row without an outcome counts as answered if it has an answer or a program. Otherwise it
/// counts as a reply that could not be read, which no rule accepts. If a row has only a program,
/// the program's value is its answer.
///
/// # Errors
/// A question occurs twice. With a dataset, also an id or a part that the dataset does not have,
/// and a gold that differs from the dataset's.
pub fn rescore(
    rows: Vec<PredictionRow>,
    dataset: Option<&Dataset>,
) -> Result<Vec<Row>, ScoreError> {
    rescore_by(rows, dataset, false)
}

/// Like [`rescore`], but if `overrules` is true, a row's gold may differ from the dataset's, and
/// the dataset's is used, because it may have been corrected in the meantime. A different gold is
/// still an error if the row's question has a different text.
pub fn rescore_by(
    rows: Vec<PredictionRow>,
    dataset: Option<&Dataset>,
    overrules: bool,
) -> Result<Vec<Row>, ScoreError> {
    let keyed = match dataset {
        Some(dataset) => with_cases(rows, dataset, overrules)?,
        None => with_parts(rows),
    };
    refuse_duplicates(&keyed)?;
    Ok(keyed
        .into_iter()
        .enumerate()
        .map(|(index, (row, part, found))| scored_row(index, row, part, found))
        .collect())
}

/// A question of the dataset and its record.
type KnownCase<'d> = (&'d Record, &'d Case);
/// A row, its part, and its question in the dataset, if the dataset has it.
type KeyedPrediction<'d> = (PredictionRow, String, Option<KnownCase<'d>>);

/// Checks that no question is answered twice in one pass.
///
/// # Errors
/// [`ScoreError::Duplicate`] if two rows answer one question in the same pass.
fn refuse_duplicates(keyed: &[KeyedPrediction<'_>]) -> Result<(), ScoreError> {
    let mut seen: HashMap<(&str, &str, Option<u32>), usize> = HashMap::new();
    for (row, part, _) in keyed {
        let key = (row.id.as_str(), part.as_str(), row.epoch);
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

/// Assigns a part to each row that has none, for files without a dataset: `qa` for the only
/// question of a record, `qa_0` and `qa_1` for two questions, and numbers for more, as in the
/// dataset.
fn with_parts(rows: Vec<PredictionRow>) -> Vec<KeyedPrediction<'static>> {
    let mut questions: HashMap<String, Vec<String>> = HashMap::new();
    for row in &rows {
        let asked = questions.entry(row.id.clone()).or_default();
        if !asked.contains(&row.question) {
            asked.push(row.question.clone());
        }
    }
    let part = |row: &PredictionRow| {
        let asked = questions.get(&row.id).map_or(&[][..], Vec::as_slice);
        let at = asked.iter().position(|question| *question == row.question);
        // Always found, because `questions` was made from the same rows.
        match (asked.len(), at.unwrap_or_default()) {
            (1, _) => "qa".to_owned(),
            (2, at) => format!("qa_{at}"),
            (_, at) => at.to_string(),
        }
    };
    let keyed = rows.into_iter().map(|row| {
        let part = row.part.clone().unwrap_or_else(|| part(&row));
        (row, part, None)
    });
    keyed.collect()
}

/// Pairs each row with its question. If `overrules`, a gold of the row that differs is dropped.
fn with_cases(
    rows: Vec<PredictionRow>,
    dataset: &Dataset,
    overrules: bool,
) -> Result<Vec<KeyedPrediction<'_>>, ScoreError> {
    let records = dataset.records.iter();
    let records: HashMap<&str, &Record> = records.map(|it| (it.id(), it)).collect();
    let mut keyed = Vec::with_capacity(rows.len());
    for mut row in rows {
        take_part_of_id(&mut row, &records);
        let Some(record) = records.get(row.id.as_str()).copied() else {
            return Err(ScoreError::UnknownRecord {
                line: row.line,
                id: row.id,
                dataset: dataset.source.clone(),
            });
        };
        let text = normalised(&row.question);
        let case = record.cases().find(|case| match &row.part {
            Some(part) => case.question.key.part == *part,
            None => text.is_empty() || normalised(&case.question.text) == text,
        });
        let Some(case) = case else {
            return Err(ScoreError::UnknownPart {
                line: row.line,
                part: row.part.unwrap_or_else(|| format!("`{}`", row.question)),
                id: row.id,
                dataset: dataset.source.clone(),
            });
        };
        let is_same = text.is_empty() || normalised(&case.question.text) == text;
        let mut others = record.cases().filter(|_| !is_same);
        if let Some(other) = others.find(|case| normalised(&case.question.text) == text) {
            return Err(ScoreError::OtherPart {
                line: row.line,
                question: case.question.key.to_string(),
                other: other.question.key.part.clone(),
                dataset: dataset.source.clone(),
            });
        }
        match refuse_other_gold(&row, case, dataset) {
            Err(_) if overrules && is_same => (row.ground_truth, row.exe_ans) = (None, None),
            checked => checked?,
        }
        keyed.push((row, case.question.key.part.clone(), Some((record, case))));
    }
    Ok(keyed)
}

/// Splits an id that consists of a record's id and a part. `Double_A/1/page_2.pdf_3` is a turn, as
/// in the published files of turns, and `…_qa_0` is a stand-alone question, as
/// `--export-predictions` writes it.
fn take_part_of_id(row: &mut PredictionRow, records: &HashMap<&str, &Record>) {
    let Some((id, number)) = row.id.rsplit_once('_') else {
        return;
    };
    let (id, kind) = match id.strip_suffix("_qa") {
        Some(id) => (id, "qa_"),
        None => (id, ""),
    };
    let is_whole = row.part.is_some() || records.contains_key(row.id.as_str());
    if !is_whole && number.parse::<usize>().is_ok() && records.contains_key(id) {
        row.part = Some(format!("{kind}{number}"));
        row.id = id.to_owned();
    }
}

/// Refuses a row whose gold differs from the dataset's, because it is not clear by which of the two
/// to score.
fn refuse_other_gold(
    row: &PredictionRow,
    case: &Case,
    dataset: &Dataset,
) -> Result<(), ScoreError> {
    let is_turn = case.question.key.part.parse::<usize>().is_ok();
    let exe_ans = case.gold.exe_ans.as_ref().map(Value::to_string);
    let written = written_gold(&case.gold, is_turn);
    let of_row = row.exe_ans.as_ref().map(Value::to_string);
    // An environment's server may state the truth `14.1%` as 14.1 or as 0.141. They are equal but
    // for errors of the division.
    let percent = match (&row.exe_ans, &case.gold.exe_ans) {
        (Some(Value::Number(file)), Some(Value::Number(data))) => {
            [file * 100.0, file / 100.0].map(|x| within(x, *data, 1e-9))
        }
        _ => [false; 2],
    };
    let of_row = of_row.filter(|_| !percent.contains(&true));
    for (file, data) in [(row.ground_truth.clone(), written), (of_row, exe_ans)] {
        let (Some(file), Some(data)) = (file, data) else {
            continue;
        };
        if !data.trim().is_empty() && !same_gold(&file, &data) {
            return Err(ScoreError::DifferentGold {
                line: row.line,
                question: case.question.key.to_string(),
                file,
                data,
                dataset: dataset.source.clone(),
            });
        }
    }
    Ok(())
}

/// A question in lower case, with single spaces, without literal `\n` and without a final question
/// mark. Questions are compared in this form, because spreadsheets and loaders change these details.
fn normalised(question: &str) -> String {
    let question = question.replace("\\n", " ").to_lowercase();
    let words: Vec<&str> = question.split_whitespace().collect();
    words.join(" ").trim_end_matches(['?', ' ']).to_owned()
}

/// The gold that exact match (EM) and numeric match (NM) compare: the value of a turn, the printed
/// answer of a stand-alone question. `None` if the gold lacks it.
fn written_gold(gold: &Gold, is_turn: bool) -> Option<String> {
    if is_turn {
        gold.exe_ans.as_ref().map(Value::to_string)
    } else {
        gold.answer.clone()
    }
}

/// The gold of the dataset; if it has none, the gold of the file.
fn gold_of(row: &mut PredictionRow, is_turn: bool, found: Option<KnownCase<'_>>) -> Gold {
    match found {
        Some((_, case)) if !case.gold.is_empty() => case.gold.clone(),
        _ => Gold {
            answer: row.ground_truth.clone().filter(|_| !is_turn),
            program: row.gold_program.take(),
            exe_ans: row.exe_ans.take().or_else(|| {
                let turn_gold = row.ground_truth.clone().filter(|_| is_turn);
                turn_gold.map(value_of)
            }),
            split: None,
        },
    }
}

/// The unrounded value of a program on its record's table; `None` if it cannot be executed.
fn value_of_program(program: &str, record: Option<&Record>) -> Option<Value> {
    let table = record.map_or(&[][..], |record| &record.document.table);
    Program::parse(program).ok()?.execute_unrounded(table).ok()
}

/// Gives a row without an answer the value of its program as its answer.
fn answer_by_program(row: &mut PredictionRow, record: Option<&Record>, is_turn: bool) {
    let program = row.program.as_deref();
    row.value = program.and_then(|program| value_of_program(program, record));
    row.answer = row.value.as_ref().map(|value| match value {
        Value::Number(x) => round5(*x).to_string(),
        Value::Text(word) => word.clone(),
    });
    // For a turn, EM and NM compare the value. For a stand-alone question they compare the printed
    // answer, and a program alone has none.
    row.prediction = row.answer.clone().filter(|_| is_turn).unwrap_or_default();
}

/// Scores a prediction. Without `found`, the gold, the page's name and the kind of record come from
/// the prediction itself. A row without an outcome counts as answered if it has an answer or a
/// program.
fn scored_row(
    index: usize,
    mut row: PredictionRow,
    part: String,
    found: Option<KnownCase<'_>>,
) -> Row {
    let is_turn = part.parse::<usize>().is_ok();
    let gold = gold_of(&mut row, is_turn, found);
    let of_dataset = written_gold(&gold, is_turn);
    let answered = !row.prediction.trim().is_empty() || row.program.is_some();
    let record = found.map(|(record, _)| record);
    let outcome = row.outcome.unwrap_or(if answered {
        Outcome::Answered
    } else {
        Outcome::ParseFailure
    });
    if outcome == Outcome::Answered && row.prediction.trim().is_empty() && row.value.is_none() {
        answer_by_program(&mut row, record, is_turn);
    }
    let has_answer = row.answer.is_some() || row.value.is_some() || row.program.is_some();
    Row {
        index,
        epoch: row.epoch.unwrap_or_default(),
        turns: record.map(|it| it.turns.len()).filter(|_| is_turn),
        filename: match (record, row.filename) {
            (Some(record), _) => record.document.filename.clone(),
            (None, Some(filename)) => filename,
            (None, None) => filename_in_id(&row.id).to_owned(),
        },
        kind: record.map_or_else(|| RecordKind::in_id(&row.id), |record| Some(record.kind)),
        question: match found {
            Some((_, case)) if row.question.is_empty() => case.question.text.clone(),
            _ => row.question,
        },
        mode: if is_turn {
            Mode::Conversations
        } else {
            Mode::Questions
        },
        document: record.map(|record| record.document.clone()),
        solution: Solution {
            answer: has_answer.then(|| Answer {
                printed: row.answer.unwrap_or_default(),
                value: row.value,
                program: row.program,
                ..Answer::default()
            }),
            ..Solution::new(outcome, StopReason::NoVerdict)
        },
        cells: Some(PredictionCells {
            // EM and NM compare the cells of the file unchanged, as the LangGraph baseline did.
            ground_truth: row.ground_truth.or(of_dataset),
            prediction: row.prediction,
            rounds: row.rounds,
        }),
        key: QuestionKey { id: row.id, part },
        gold,
        scores: Scores::default(),
        latency: row.latency,
        cost: row.cost,
        draft_cost: None,
        stamp: None,
    }
    .with_scores()
}
