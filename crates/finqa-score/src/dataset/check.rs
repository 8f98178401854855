//! Finds gold programs that fail or whose value is not `exe_ans`. The defects are only reported;
//! the dataset is not changed.

use super::{Dataset, QuestionKey};
use finqa_core::number::{Value, round5};
use finqa_core::program::Program;

/// The fault of a gold program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramDefect {
    #[error("gold program cannot be executed: {program}: {reason}")]
    Fails { program: String, reason: String },
    #[error("gold program does not equal exe_ans: {program} equals {value}, exe_ans is {expected}")]
    ValueDiffers {
        program: String,
        value: String,
        expected: String,
    },
}

/// Executes every gold program, except those from which a missing `exe_ans` was computed. Returns
/// how many have the value `exe_ans`, and the defective ones in file order. A program without an
/// `exe_ans` only has to execute.
pub fn check(dataset: &Dataset) -> (usize, Vec<(QuestionKey, ProgramDefect)>) {
    let (mut agree, mut defects) = (0, Vec::new());
    for case in dataset.records.iter().flat_map(|record| record.cases()) {
        let Some(program) = &case.gold.program else {
            continue;
        };
        if dataset.computed.contains(&case.question.key) {
            continue;
        }
        let expected = case.gold.exe_ans.as_ref();
        match confirm(program, expected, &case.question.document.table) {
            Ok(()) => agree += usize::from(expected.is_some()),
            Err(defect) => defects.push((case.question.key.clone(), defect)),
        }
    }
    (agree, defects)
}

/// Checks that a program has the expected value. If no value is expected, checks only that it
/// executes.
fn confirm(
    program: &str,
    expected: Option<&Value>,
    table: &[Vec<String>],
) -> Result<(), ProgramDefect> {
    let fails = |reason: String| ProgramDefect::Fails {
        program: program.to_owned(),
        reason,
    };
    let parsed = Program::parse(program).map_err(|error| fails(error.to_string()))?;
    let value = parsed.execute(table);
    let value = value.map_err(|error| fails(error.to_string()))?;
    let Some(expected) = expected.filter(|expected| !same(&value, expected)) else {
        return Ok(());
    };
    Err(ProgramDefect::ValueDiffers {
        program: program.to_owned(),
        value: value.to_string(),
        expected: expected.to_string(),
    })
}

/// True if the values are equal as the official evaluator defines it: at 5 decimals.
#[allow(
    clippy::float_cmp,
    reason = "both sides are rounded to the same 5 decimals"
)]
fn same(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Number(a), Value::Number(b)) => round5(*a) == round5(*b),
        _ => value.yes_no().is_some() && value.yes_no() == expected.yes_no(),
    }
}
