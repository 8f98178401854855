//! Questions about a table of the user's own, read by its labels alone: an answer counts only
//! if every word of the question is of a label, a period, or an operation. All other questions
//! are left to the ranked candidates.
//!
//! In the order of reading: `table` and its `label`s; `question` and its `phrases`; `asked`, the
//! operation as data; `find`, from an operand to a figure, with `periods`; `compute`;
//! `follow_up`.
//!
//! The dataset's pages are not read this way: their questions name rows loosely, and the
//! weights learn what they mean.

mod asked;
mod compute;
mod find;
mod follow_up;
mod label;
mod periods;
pub(crate) mod phrases;
mod question;
mod table;
pub(crate) mod words;

use crate::expr::Expr;
use crate::reading::facts::Facts;
use finqa_core::number::UnitKind;
use question::Token;
use table::LabelledTable;

/// An answer from labels.
#[derive(Clone, Debug)]
pub(crate) struct DirectAnswer {
    /// The operation, for people.
    pub(crate) name: &'static str,
    pub(crate) expr: Expr,
    pub(crate) kind: UnitKind,
    /// The label that answers, where no number does.
    pub(crate) label: Option<String>,
}

/// Why a question is not answered from the labels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum NoReading {
    /// It is not understood in full.
    Open,
    /// The page lacks what it asks for, or has it several times.
    Missing(String),
    /// The text may have what the table lacks.
    InText(String),
}

type Reading<T> = Result<T, NoReading>;

fn missing<T>(why: impl Into<String>) -> Reading<T> {
    Err(NoReading::Missing(why.into()))
}

/// Answers a question about a page by the labels of its table; `None` if it can be understood
/// only with earlier ones, and does not change a part of the last.
pub(crate) fn answer(
    facts: &Facts,
    question: &str,
    earlier: &[&str],
) -> Option<Reading<DirectAnswer>> {
    let table = LabelledTable::read(facts);
    // In full, if it changes a part of the one before.
    let mut tokens: Option<Vec<Token>> = None;
    for text in earlier.iter().chain([&question]) {
        let read = question::read(&table, text);
        let complete = earlier.is_empty() || follow_up::is_complete(&table, &read);
        tokens = match tokens {
            _ if complete => Some(read),
            Some(before) => follow_up::completed(&table, &before, &read),
            None => None,
        };
    }
    let asked = asked::read(&tokens?).ok_or(NoReading::Open);
    Some(match table.cells.is_empty() {
        true => Err(NoReading::InText(
            "the page has no table with figures".to_owned(),
        )),
        false => asked.and_then(|asked| table.answer(&asked)),
    })
}
