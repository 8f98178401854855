//! The leaderboard's file: each question's predicted program, as tokens that the official evaluator
//! can execute.

use std::path::Path;

use serde::Serialize;

use finqa_core::number::{Value, round5};
use finqa_core::program::official::{Evaluator, evaluate};
use finqa_core::program::tokens::tokenise;
use finqa_score::dataset::{Mode, Outcome};
use finqa_score::score::{Row, plain_answer};

use super::staged::{OutputError, write_json};

#[derive(Serialize)]
struct Prediction {
    id: String,
    predicted: Vec<String>,
}

/// Writes the predictions of the first pass over the questions, in the order of the rows.
pub fn write_leaderboard(path: &Path, rows: &[Row]) -> Result<(), OutputError> {
    // The leaderboard takes one prediction per question. Other programs may number their passes
    // from 1, so the first pass is the one with the smallest number.
    let epoch = rows.iter().map(|row| row.epoch).min();
    let first = rows.iter().filter(|row| Some(row.epoch) == epoch);
    let predictions = first.map(|row| {
        let table = row.document.as_ref().map_or(&[][..], |page| &page.table);
        Prediction {
            id: id(row),
            predicted: tokenise(&predicted(row, table)),
        }
    });
    write_json(path, &predictions.collect::<Vec<_>>())
}

/// The id of a question. A turn has the conversation's id followed by the turn, as in the published
/// turn files. The two questions of a Double have the record's id followed by the part.
fn id(row: &Row) -> String {
    match (row.mode, row.key.part.as_str()) {
        (Mode::Questions, "qa") => row.key.id.clone(),
        (_, part) => format!("{}_{part}", row.key.id),
    }
}

/// The program to export for a row; empty for a question without an answer.
fn predicted(row: &Row, table: &[Vec<String>]) -> String {
    if row.solution.outcome != Outcome::Answered {
        return String::new();
    }
    let evaluator = match row.mode {
        Mode::Questions => Evaluator::FinQa,
        Mode::Conversations => Evaluator::ConvFinQa,
    };
    // A file of another program may have only a printed prediction.
    let answer = row.solution.answer.as_ref();
    let value = answer.and_then(|answer| answer.value.clone());
    executable(
        answer.and_then(|answer| answer.program.as_deref()),
        value.or_else(|| plain_answer(&row.prediction())).as_ref(),
        table,
        evaluator,
    )
}

/// The program if the official evaluator can execute it, otherwise a program that returns `value`
/// (`docs/scoring.md`, "Execution accuracy"). Empty without both.
fn executable(
    program: Option<&str>,
    value: Option<&Value>,
    table: &[Vec<String>],
    evaluator: Evaluator,
) -> String {
    let usable = |program: &&str| {
        let (valid, result) = evaluate(program, table, evaluator);
        valid
            && result.is_some_and(|result| match &result {
                Value::Number(number) => number.is_finite(),
                Value::Text(_) => result.yes_no().is_some(),
            })
    };
    if let Some(program) = program.map(str::trim).filter(usable) {
        return program.to_owned();
    }
    match value {
        Some(Value::Number(number)) if number.is_finite() => format!("add({}, 0)", round5(*number)),
        Some(word) => match word.yes_no() {
            Some(true) => "greater(1, 0)".to_owned(),
            Some(false) => "greater(0, 1)".to_owned(),
            None => String::new(),
        },
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The export once contained `["yes", "EOF"]`, programs that cannot be executed and, for FinQA,
    /// bare numbers. The official evaluator can execute none of these.
    #[test]
    fn what_is_exported_executes_to_the_answer() {
        let table = [vec!["sales".to_owned(), "$ 40".to_owned()]];
        let number = |x| Some(Value::Number(x));
        let word = |text: &str| Some(Value::Text(text.to_owned()));
        for (program, value, expected) in [
            (Some("add(1, 2)"), number(3.0), "add(1, 2)"),
            (Some(" add(1, 2) "), number(3.0), "add(1, 2)"),
            (
                Some("table_max(sales, none)"),
                number(40.0),
                "table_max(sales, none)",
            ),
            (Some("table_max(costs, none)"), number(7.0), "add(7, 0)"),
            (Some("add(1,2)"), number(3.0), "add(3, 0)"),
            (Some("divide(1, 0)"), number(-0.141_364), "add(-0.14136, 0)"),
            (Some("add(1, 2"), None, ""),
            (None, number(1e-9), "add(0, 0)"),
            (None, word("yes"), "greater(1, 0)"),
            (Some("yes"), word("No"), "greater(0, 1)"),
            (None, word("about five"), ""),
            (None, number(f64::INFINITY), ""),
            (None, None, ""),
        ] {
            for evaluator in [Evaluator::FinQa, Evaluator::ConvFinQa] {
                let exported = executable(program, value.as_ref(), &table, evaluator);
                assert_eq!(exported, expected, "{program:?} {value:?}");
                let (valid, _) = evaluate(&exported, &table, evaluator);
                assert!(valid || exported.is_empty(), "{exported}");
            }
        }
        let plain =
            |evaluator| executable(Some("60.94"), number(60.94).as_ref(), &table, evaluator);
        assert_eq!(plain(Evaluator::ConvFinQa), "60.94");
        assert_eq!(plain(Evaluator::FinQa), "add(60.94, 0)");
    }
}
