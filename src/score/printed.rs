//! Compares the printed answers of a dataset with their values.

use crate::dataset::{Dataset, QuestionKey};
use finqa_core::number::Value;
use finqa_core::program::Program;

use super::equivalence::financial_equivalence;
use super::matching::FeContext;
use super::quantity::Quantity;

/// A printed answer that is another one than its value.
#[derive(Clone, Debug, PartialEq)]
pub struct PrintedDefect {
    pub key: QuestionKey,
    /// The answer as the dataset prints it.
    pub printed: String,
    /// `exe_ans`, or the value of the program where that is missing.
    pub value: Value,
    /// The slip between the two, by FE's names, or `other`.
    pub kind: &'static str,
}

/// Compares each printed answer with its `exe_ans` or, where that is missing, with the value of
/// its program. They differ if FE would call the value wrong, so percent form, rounding and
/// truncation are no difference. Gives how many agree, and the others in file order.
pub fn check_printed(dataset: &Dataset) -> (usize, Vec<PrintedDefect>) {
    let (mut agree, mut defects) = (0, Vec::new());
    for case in dataset.records.iter().flat_map(|record| record.cases()) {
        let (question, gold) = (&case.question, &case.gold);
        let table = &question.document.table;
        let program = gold.program.as_deref();
        let computed = || Program::parse(program?).ok()?.execute(table).ok();
        let Some(printed) = &gold.answer else {
            continue;
        };
        let Some(value) = gold.exe_ans.clone().or_else(computed) else {
            continue;
        };
        let context = FeContext {
            question: &question.text,
            gold_program: program,
            table,
        };
        let (of_print, of_value) = (Quantity::parse(printed), Quantity::of(&value));
        let verdict = financial_equivalence(&of_print, &of_value, &context);
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
