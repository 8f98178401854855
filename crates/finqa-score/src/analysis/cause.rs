//! Names the causes of misses.

use serde::Serialize;
use strum::{IntoStaticStr, VariantArray};

/// The cause of a wrong answer. Causes with equal counts are listed in this order.
/// `docs/scoring.md` defines each.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, IntoStaticStr, VariantArray,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Cause {
    /// The provider's filter or the model refused to answer.
    Filtered,
    /// The reply could not be read as an answer.
    ParseFailure,
    /// No answer for another reason: abstained, cut off, provider, budget.
    NoAnswer,
    /// The question cannot be decided from the page, or does not ask for what gold answers.
    IllPosed,
    /// Gold is wrong, and the answer differs from it for that reason.
    SuspectGold,
    /// The answer repeats that of an earlier turn, or of the record's first question.
    StaleAnswer,
    /// The answer would be right if the answers to earlier turns were.
    CarriedOver,
    /// Yes or no instead of a number, a number instead of yes or no, or the wrong one of the two.
    YesNo,
    /// The evidence was not found: the answer is words or 0 instead of a number, or uses a number
    /// that is not on the page.
    MissingEvidence,
    /// Only the sign differs.
    Sign,
    /// Off by a power of 1,000.
    Scale,
    /// Off by a power of 1,000, with the wrong sign.
    ScaleAndSign,
    /// Off by a factor of 100.
    PercentDecimal,
    /// Only truncation or rounding of gold or of the answer differs.
    Truncation,
    /// An amount instead of a share or a relative change, or the reverse.
    AbsoluteForRelative,
    /// 1 - x instead of x.
    Complement,
    /// A dash of the report, which is `2014` or `2013` in the dataset, read as a number.
    DashAsNumber,
    /// The right numbers and operations, but some of the numbers have swapped places.
    SwappedOperands,
    /// A relative change or a share with the wrong divisor.
    WrongBase,
    /// A number from the right row, but from another column or period.
    WrongColumn,
    /// A number from another row, or from another sentence.
    WrongRow,
    /// A different number, and no page on which it could be located.
    WrongCell,
    /// The right numbers with other operations.
    Operator,
    /// The answer stops before gold's last step, or continues after it.
    Steps,
    /// The right program with a wrong result.
    Arithmetic,
    /// No cause was found.
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
