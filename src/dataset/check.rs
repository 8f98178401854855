//! Finds gold that does not hold. It only reports; nothing is changed or left out.

use super::{Case, Dataset};
use finqa_core::number::{self, Value, round5};
use finqa_core::program::Program;

/// An oddity of a question's gold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::Display)]
pub enum RecordDefect {
    /// Without one of both, execution accuracy is undefined.
    #[strum(to_string = "question without program or value")]
    NoProgram,
    #[strum(to_string = "gold program cannot be executed")]
    ProgramFails,
    #[strum(to_string = "gold program does not equal exe_ans")]
    ValueDiffers,
    /// At the answer's precision.
    #[strum(to_string = "answer string differs from the program's value")]
    AnswerDiffers,
}

/// One oddity and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetFinding {
    pub defect: RecordDefect,
    pub id: String,
    /// The question: `qa_0`, `2`.
    pub part: String,
    /// The particulars, e.g. both values that differ; may be blank.
    pub detail: String,
}

/// Executes every gold program and compares its value with the gold. Gives how many programs
/// equal their `exe_ans`, and the oddities in file order.
pub fn check(dataset: &Dataset) -> (usize, Vec<DatasetFinding>) {
    let (mut confirmed, mut findings) = (0, Vec::new());
    for case in dataset.records.iter().flat_map(|record| record.cases()) {
        let found = confirm(case).and_then(|value| {
            confirmed += 1;
            match &case.gold.answer {
                Some(answer) if !is_rounding(answer, &value) => {
                    let detail = format!("the program's value is {value}, the answer is {answer}");
                    Err((RecordDefect::AnswerDiffers, detail))
                }
                _ => Ok(()),
            }
        });
        if let Err((defect, detail)) = found {
            let key = &case.question.key;
            findings.push(DatasetFinding {
                defect,
                id: key.id.clone(),
                part: key.part.clone(),
                detail,
            });
        }
    }
    (confirmed, findings)
}

/// The value of the program if it equals `exe_ans`; else what is missing or wrong.
fn confirm(case: &Case) -> Result<Value, (RecordDefect, String)> {
    let (Some(program), Some(expected)) = (&case.gold.program, &case.gold.exe_ans) else {
        return Err((RecordDefect::NoProgram, String::new()));
    };
    let fails = |error: String| (RecordDefect::ProgramFails, format!("{program}: {error}"));
    let parsed = Program::parse(program).map_err(|error| fails(error.to_string()))?;
    let value = parsed.execute(&case.question.document.table);
    let value = value.map_err(|error| fails(error.to_string()))?;
    if !same(&value, expected) {
        let detail = format!("{program} equals {value}, exe_ans is {expected}");
        return Err((RecordDefect::ValueDiffers, detail));
    }
    Ok(value)
}

/// Equality of the official evaluator: at 5 decimals.
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

/// True if the typed answer is the value, rounded to the answer's digits: `14.1%` for
/// 0.14136, and for 14.136 if the program multiplied by 100.
fn is_rounding(answer: &str, value: &Value) -> bool {
    let Value::Number(value) = value else {
        return Value::Text(answer.to_owned()).yes_no() == value.yes_no();
    };
    let Some(reading) = number::read(answer) else {
        return false;
    };
    let unit = number::last_digit(reading.decimals);
    let near = |value: f64| number::rounds_to(value, reading.value, unit);
    near(*value) || (reading.percent && near(value * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_says_its_value_at_its_own_precision() {
        let number = Value::Number;
        for (answer, value) in [
            ("14.1%", number(0.14136)),
            ("14.1%", number(14.136)),
            ("14%", number(0.14136)),
            ("$ 1,234", number(1234.4)),
            ("-3.5", number(-3.5)),
            ("no", Value::Text("no".into())),
        ] {
            assert!(is_rounding(answer, &value), "{answer} {value}");
        }
        for (answer, value) in [
            ("14.2%", number(0.14136)),
            ("14.1", number(0.14136)),
            ("3.5", number(-3.5)),
            ("yes", Value::Text("no".into())),
            ("about a third", number(0.33333)),
        ] {
            assert!(!is_rounding(answer, &value), "{answer} {value}");
        }
    }
}
