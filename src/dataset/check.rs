//! Finds defects in the records of a file: gold that does not hold, tables that were
//! garbled. It only reports; nothing is changed or left out.

use std::collections::BTreeMap;

use super::{Case, Dataset, Document, Gold, Record, RecordKind};
use finqa_core::number::{self, Value, round5};
use finqa_core::page::{CellKind, Table};
use finqa_core::program::Program;

/// An oddity of a record or of its gold.
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
    /// A Double record whose turns do not say which half they belong to.
    NoSplit,
    /// A table without `table_ori`.
    NoOriginalTable,
    /// Column labels that were garbled and could be repaired from `table_ori`.
    HeaderRepaired,
    /// Duplicate column labels that could only be numbered.
    DuplicateLabels,
    /// A table whose first row holds values and no labels.
    NoHeader,
    /// A table with cells that lost a dash's escape (`2014`).
    LostDashes,
    /// A table with numbers written twice (`-2913 ( 2913 )`).
    DoubledNumbers,
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
            Self::NoSplit => "Double without qa_split",
            Self::NoOriginalTable => "table without table_ori",
            Self::HeaderRepaired => "column labels repaired from table_ori",
            Self::DuplicateLabels => "duplicate column labels",
            Self::NoHeader => "first row holds values, not labels",
            Self::LostDashes => "dashes stored as 2013 or 2014",
            Self::DoubledNumbers => "numbers written twice",
        }
    }
}

/// One oddity and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatasetFinding {
    pub defect: RecordDefect,
    pub id: String,
    /// The question (`qa_0`, `2`); `None` for the record as a whole.
    pub part: Option<String>,
    /// The particulars, e.g. both values that differ; may be blank.
    pub detail: String,
}

/// The findings of [`check`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DatasetReport {
    pub records: usize,
    /// Stand-alone questions.
    pub questions: usize,
    /// Turns of conversations.
    pub turns: usize,
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

/// Looks at every record, its table and its gold.
pub fn check(dataset: &Dataset) -> DatasetReport {
    let mut report = DatasetReport {
        records: dataset.records.len(),
        questions: dataset.question_count(),
        turns: dataset.turn_count(),
        ..DatasetReport::default()
    };
    for record in &dataset.records {
        check_record(record, &mut report);
    }
    report
}

fn check_record(record: &Record, report: &mut DatasetReport) {
    let mut add = |defect, part: Option<&str>, detail: String| {
        report.findings.push(DatasetFinding {
            defect,
            id: record.id().to_owned(),
            part: part.map(str::to_owned),
            detail,
        });
    };
    for (defect, detail) in of_table(&record.document) {
        add(defect, None, detail);
    }
    let split = record.turns.iter().all(|turn| turn.gold.split.is_some());
    let scored = record.turns.iter().any(|turn| !turn.gold.is_empty());
    if record.kind == RecordKind::Double && scored && !split {
        add(RecordDefect::NoSplit, None, String::new());
    }
    let mut confirmed = 0;
    for case in record.cases() {
        let part = Some(case.question.key.part.as_str());
        match confirm(case) {
            Ok(value) => {
                confirmed += 1;
                let answer = case.gold.answer.as_ref();
                if let Some(answer) = answer.filter(|answer| !is_rounding(answer, &value)) {
                    let detail = format!("the program's value is {value}, the answer is {answer}");
                    add(RecordDefect::AnswerDiffers, part, detail);
                }
            }
            Err((defect, detail)) => add(defect, part, detail),
        }
    }
    report.programs_confirmed += confirmed;
}

fn of_table(document: &Document) -> Vec<(RecordDefect, String)> {
    let table = &document.page().table;
    let mut found = Vec::new();
    if document.table_ori.is_none() {
        found.push((RecordDefect::NoOriginalTable, String::new()));
    }
    if table.header_from_original() {
        found.push((RecordDefect::HeaderRepaired, labels(table)));
    }
    if table.header_is_ambiguous() {
        found.push((RecordDefect::DuplicateLabels, labels(table)));
    }
    if table.is_headerless() {
        found.push((RecordDefect::NoHeader, String::new()));
    }
    let cells = || table.cells().iter().flatten();
    let dashes = cells()
        .filter(|cell| cell.kind == CellKind::Dash && cell.is_lost_dash())
        .count();
    if dashes > 0 {
        found.push((RecordDefect::LostDashes, format!("{dashes} cells")));
    }
    let doubled = cells()
        .filter(|cell| matches!(cell.kind, CellKind::Number { doubled: true, .. }))
        .count();
    if doubled > 0 {
        found.push((RecordDefect::DoubledNumbers, format!("{doubled} cells")));
    }
    found
}

fn labels(table: &Table) -> String {
    let labels: Vec<&str> = table.columns().iter().map(|c| c.label.as_str()).collect();
    labels.join(" | ")
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
