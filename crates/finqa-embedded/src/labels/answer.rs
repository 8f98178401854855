//! What the labels of a table say to a question.

use crate::expr::Expr;
use finqa_core::number::UnitKind;

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

pub(super) type Reading<T> = Result<T, NoReading>;

pub(super) fn missing<T>(why: impl Into<String>) -> Reading<T> {
    Err(NoReading::Missing(why.into()))
}
