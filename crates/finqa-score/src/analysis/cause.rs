//! The causes of misses, by name.

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

/// The cause of a wrong answer; causes of equal counts are listed in this order.
/// `docs/scoring.md` defines each.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cause {
    /// The provider's filter, or the model, refused.
    Filtered,
    /// A reply that could not be read as an answer.
    ParseFailure,
    /// No answer for another reason: abstained, cut off, provider, budget.
    NoAnswer,
    /// The question cannot be decided from the page, or asks for another thing than gold.
    IllPosed,
    /// Gold itself is wrong, and what the answer differs in is gold's fault.
    SuspectGold,
    /// The answer is that of an earlier turn, or of the record's first question.
    StaleAnswer,
    /// Would be right if the earlier turn that it builds on had been.
    CarriedOver,
    /// Yes or no instead of a number, a number instead of yes or no, or the wrong one of the two.
    YesNo,
    /// The evidence was not found: words or 0 instead of a number, numbers that are not on the page.
    MissingEvidence,
    /// Only the sign differs.
    Sign,
    /// A power of a thousand.
    Scale,
    /// Both.
    ScaleAndSign,
    /// A factor of 100.
    PercentDecimal,
    /// Gold or the answer is cut or rounded; nothing else differs.
    Truncation,
    /// An amount instead of a share or a relative change, or the reverse.
    AbsoluteForRelative,
    /// 1 - x.
    Complement,
    /// A dash of the report, 2014 or 2013 in the dataset, read as a number.
    DashAsNumber,
    /// The right operations in the right places, on exchanged operands.
    SwappedOperands,
    /// A relative change or share over another base.
    WrongBase,
    /// Right line, another column or period.
    WrongColumn,
    /// Another line of the table, or another sentence.
    WrongRow,
    /// Another number, without a page to say which.
    WrongCell,
    /// The right numbers, other operations.
    Operator,
    /// Stops before the last step, or continues after it.
    Steps,
    /// The right program, miscalculated.
    Arithmetic,
    /// No cause could be shown.
    Unexplained,
}

impl Cause {
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A cause with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CauseFound {
    pub cause: Cause,
    /// The evidence, in one line: cells, numbers, operations.
    pub detail: String,
}

impl CauseFound {
    pub(super) fn new(cause: Cause, detail: impl Into<String>) -> Self {
        Self {
            cause,
            detail: detail.into(),
        }
    }
}
