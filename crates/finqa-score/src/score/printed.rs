//! Compares the printed answers of a dataset with the values of their programs.

use crate::dataset::{Dataset, Gold, QuestionKey};
use finqa_core::number::Value;
use finqa_core::program::Program;

use super::diagnostic::Diagnostic;
use super::equivalence::{FeVerdict, financial_equivalence};
use super::matching::FeContext;
use super::quantity::Quantity;
use super::row::Row;

/// A printed answer that differs from the value of its program.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedDefect {
    pub key: QuestionKey,
    /// The answer as the dataset prints it.
    pub printed: String,
    /// `exe_ans`, or the value of the program if `exe_ans` is missing.
    pub value: Value,
    /// The kind of difference between the two: the name of a `Diagnostic`, or `other`.
    pub kind: &'static str,
    /// True if the two are different figures even after changes of scale and sign, so that the gold
    /// is suspect.
    pub is_suspect: bool,
}

/// Compares each printed answer with its `exe_ans` or, if that is missing, with the value of its
/// program. Financial equivalence (FE) decides whether they agree, so percent form, rounding and
/// truncation do not count as differences. Returns how many agree, and the others in file order.
pub fn check_printed(dataset: &Dataset) -> (usize, Vec<PrintedDefect>) {
    let (mut agree, mut defects) = (0, Vec::new());
    for case in dataset.records.iter().flat_map(|record| record.cases()) {
        let (question, gold) = (&case.question, &case.gold);
        let table = &question.document.table;
        let Some(printed) = &gold.answer else {
            continue;
        };
        let Some(value) = gold.exe_ans.clone().or_else(|| computed(gold, table)) else {
            continue;
        };
        let verdict = printed_verdict(printed, &value, &question.text, gold, table);
        if verdict.accepted {
            agree += 1;
            continue;
        }
        let slip = verdict.diagnostics.first();
        defects.push(PrintedDefect {
            key: question.key.clone(),
            printed: printed.clone(),
            value,
            kind: slip.map_or("other", |slip| slip.name()),
            is_suspect: contradicts_itself(gold, &question.text, table),
        });
    }
    (agree, defects)
}

/// The value of gold's own program, if FE says that it differs from the printed answer or from the
/// recorded value; otherwise `None`. If there is no program, the recorded value is compared with
/// the printed answer. A power of 1,000 is not a contradiction, because it may come from the page's
/// caption.
pub fn contradicting_value(row: &Row) -> Option<Value> {
    let (gold, table) = (&row.gold, row.table());
    let value = computed(gold, table).or_else(|| gold.exe_ans.clone())?;
    let recorded = gold.exe_ans.as_ref().map(Value::to_string);
    let stated = gold.answer.clone().into_iter().chain(recorded);
    let mut stated = stated.filter(|stated| !stated.trim().is_empty());
    let contradicts = stated.any(|stated| {
        let verdict = printed_verdict(&stated, &value, &row.question, gold, table);
        !verdict.accepted && !verdict.diagnostics.contains(&Diagnostic::Scale)
    });
    contradicts.then_some(value)
}

/// Factors by which a printed answer may differ from its value although both are right: between a
/// percentage and its fraction, and by the scale in a caption.
const SCALES: [f64; 9] = [1.0, 1e2, 1e-2, 1e3, 1e-3, 1e6, 1e-6, 1e9, 1e-9];

/// True if a gold's printed answer and its value are different figures, so that at least one of the
/// two is wrong. Differences in rounding, percent form, scale and sign do not count, because the
/// published files often have them in right golds. False if the gold has only one of the two.
///
/// The value is `exe_ans` and not computed from the program if both exist, because the page that a
/// program reads is not always available.
pub(super) fn contradicts_itself(gold: &Gold, question: &str, table: &[Vec<String>]) -> bool {
    let Some(printed) = &gold.answer else {
        return false;
    };
    let Some(value) = gold.exe_ans.clone().or_else(|| computed(gold, table)) else {
        return false;
    };
    let agrees = |value: &Value| printed_verdict(printed, value, question, gold, table).accepted;
    let Some(number) = value.number() else {
        return !agrees(&value);
    };
    let same_figure = SCALES.iter().any(|scale| {
        let scaled = number * scale;
        agrees(&Value::Number(scaled)) || agrees(&Value::Number(-scaled))
    });
    !same_figure
}

/// The value of gold's program; `None` if there is none or it cannot be executed.
fn computed(gold: &Gold, table: &[Vec<String>]) -> Option<Value> {
    Program::parse(gold.program.as_deref()?)
        .ok()?
        .execute(table)
        .ok()
}

/// FE's verdict on a value, with the printed answer as gold.
fn printed_verdict(
    printed: &str,
    value: &Value,
    question: &str,
    gold: &Gold,
    table: &[Vec<String>],
) -> FeVerdict {
    let context = FeContext {
        question,
        gold_program: gold.program.as_deref(),
        table,
    };
    financial_equivalence(&Quantity::parse(printed), &Quantity::of(value), &context)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gold_contradicts_itself_only_by_another_figure() {
        for (printed, value, is_suspect) in [
            ("14%", 0.141, false),
            ("14.1", 0.141, false),
            ("-5.2", 5.2, false),
            ("$ 380 million", 380_000_000.0, false),
            ("0.38", 380.0, false),
            ("9.7%", 0.079, true),
            ("120", 150.0, true),
        ] {
            let gold = Gold {
                answer: Some(printed.to_owned()),
                exe_ans: Some(Value::Number(value)),
                ..Gold::default()
            };
            let found = contradicts_itself(&gold, "what is it?", &[]);
            assert_eq!(found, is_suspect, "{printed} for {value}");
        }
        let yes_for_no = Gold {
            answer: Some("yes".to_owned()),
            exe_ans: Some(Value::Text("no".to_owned())),
            ..Gold::default()
        };
        assert!(contradicts_itself(&yes_for_no, "is it?", &[]));
        let printed_only = Gold {
            answer: Some("5".to_owned()),
            ..Gold::default()
        };
        assert!(!contradicts_itself(&printed_only, "what is it?", &[]));
    }
}
