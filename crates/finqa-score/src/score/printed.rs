//! Compares the printed answers of a dataset with the values of their programs.

use crate::dataset::{Dataset, Gold, QuestionKey};
use finqa_core::number::Value;
use finqa_core::program::Program;

use super::diagnostic::Diagnostic;
use super::equivalence::{FeVerdict, financial_equivalence};
use super::matching::FeContext;
use super::quantity::Quantity;
use super::row::Row;

/// A printed answer that differs from its value.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedDefect {
    pub key: QuestionKey,
    /// The answer as the dataset prints it.
    pub printed: String,
    /// `exe_ans`, or the value of the program if `exe_ans` is missing.
    pub value: Value,
    /// How the two differ: the name of a `Diagnostic`, or `other`.
    pub kind: &'static str,
}

/// Compares each printed answer with its `exe_ans` or, if that is missing, with the value of its
/// program. FE decides whether they agree, so percent form, rounding and truncation do not matter.
/// Returns how many agree, and the others in file order.
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
        });
    }
    (agree, defects)
}

/// The value of gold's own program, if FE says that it differs from the printed answer or from the
/// recorded value; otherwise `None`. Without a program, the recorded value is compared with the
/// printed answer. A power of 1,000 is not a contradiction, because it may come from the page's
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
