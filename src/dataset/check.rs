//! Finds gold that does not hold. It only reports; nothing is changed or left out.

use std::collections::BTreeMap;

use super::{Case, Dataset, Gold};
use finqa_core::number::{self, Value, round5};
use finqa_core::program::Program;

/// An oddity of a question's gold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RecordDefect {
    /// A question without program, value and answer: it can be asked, not scored.
    NoGold,
    /// A question with an answer and without a program or its value: execution
    /// accuracy is undefined for it.
    NoProgram,
    /// A gold program that cannot be read.
    ProgramUnreadable,
    /// A gold program that cannot be executed over its table.
    ProgramFails,
    /// A gold program whose value differs from `exe_ans`.
    ValueDiffers,
    /// A typed-in answer that differs from its program's value, at the answer's precision.
    AnswerDiffers,
}

impl RecordDefect {
    /// A short description.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::NoGold => "question without gold",
            Self::NoProgram => "question without program or value",
            Self::ProgramUnreadable => "gold program cannot be read",
            Self::ProgramFails => "gold program cannot be executed",
            Self::ValueDiffers => "gold program does not equal exe_ans",
            Self::AnswerDiffers => "answer string differs from the program's value",
        }
    }

    /// True if the gold program itself does not hold.
    pub(crate) fn is_of_program(self) -> bool {
        matches!(
            self,
            Self::ProgramUnreadable | Self::ProgramFails | Self::ValueDiffers
        )
    }
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

/// The findings of [`check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetReport {
    /// Gold programs that were executed and equal their `exe_ans`.
    pub programs_confirmed: usize,
    /// The oddities in file order.
    pub findings: Vec<DatasetFinding>,
}

impl DatasetReport {
    /// The number of findings of each kind.
    pub fn counts(&self) -> BTreeMap<RecordDefect, usize> {
        let mut counts = BTreeMap::new();
        for finding in &self.findings {
            *counts.entry(finding.defect).or_default() += 1;
        }
        counts
    }
}

/// Executes every gold program and compares its value with the gold.
pub fn check(dataset: &Dataset) -> DatasetReport {
    let mut report = DatasetReport::default();
    for case in dataset.records.iter().flat_map(|record| record.cases()) {
        let (defect, detail) = match confirm(case) {
            Ok(value) => {
                report.programs_confirmed += 1;
                let answer = case.gold.answer.as_ref();
                let Some(answer) = answer.filter(|answer| !is_rounding(answer, &value)) else {
                    continue;
                };
                let detail = format!("the program's value is {value}, the answer is {answer}");
                (RecordDefect::AnswerDiffers, detail)
            }
            Err(found) => found,
        };
        report.findings.push(DatasetFinding {
            defect,
            id: case.question.key.id.clone(),
            part: case.question.key.part.clone(),
            detail,
        });
    }
    report
}

/// The value of the program if it equals `exe_ans`; else what is missing or
/// wrong.
fn confirm(case: &Case) -> Result<Value, (RecordDefect, String)> {
    let Gold {
        program, exe_ans, ..
    } = &case.gold;
    if case.gold.is_empty() {
        return Err((RecordDefect::NoGold, String::new()));
    }
    let (Some(program), Some(expected)) = (program, exe_ans) else {
        return Err((RecordDefect::NoProgram, String::new()));
    };
    let parsed = Program::parse(program).map_err(|error| {
        (
            RecordDefect::ProgramUnreadable,
            format!("{program}: {error}"),
        )
    })?;
    let value = parsed
        .execute(&case.question.document.table)
        .map_err(|error| (RecordDefect::ProgramFails, format!("{program}: {error}")))?;
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
