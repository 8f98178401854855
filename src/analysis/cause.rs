//! The causes of misses, by name.

use serde::{Serialize, Serializer};

/// Why an answer is wrong. What each means, and how it is found, is in
/// `docs/analysis.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// The answer is that of an earlier turn, question or row.
    StaleTurn,
    /// Would be right if the earlier turn that it builds on had been.
    CarriedOver,
    /// Yes or no for a number, a number for yes or no, or the wrong one of the two.
    YesNo,
    /// The evidence was not found: words or 0 for a number, numbers that the page does not hold.
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
    /// An amount for a share or a relative change, or the reverse.
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
    /// It stops before the last step, or continues after it.
    Steps,
    /// The right program, miscalculated.
    Arithmetic,
    /// None of the above could be shown.
    Unexplained,
}

impl Cause {
    /// Every cause, in the order of tables of equal counts.
    pub(crate) const ALL: [Self; 26] = [
        Self::Filtered,
        Self::ParseFailure,
        Self::NoAnswer,
        Self::IllPosed,
        Self::SuspectGold,
        Self::StaleTurn,
        Self::CarriedOver,
        Self::YesNo,
        Self::MissingEvidence,
        Self::Sign,
        Self::Scale,
        Self::ScaleAndSign,
        Self::PercentDecimal,
        Self::Truncation,
        Self::AbsoluteForRelative,
        Self::Complement,
        Self::DashAsNumber,
        Self::SwappedOperands,
        Self::WrongBase,
        Self::WrongColumn,
        Self::WrongRow,
        Self::WrongCell,
        Self::Operator,
        Self::Steps,
        Self::Arithmetic,
        Self::Unexplained,
    ];

    /// The name in files.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Filtered => "filtered",
            Self::ParseFailure => "parse_failure",
            Self::NoAnswer => "no_answer",
            Self::IllPosed => "ill_posed",
            Self::SuspectGold => "suspect_gold",
            Self::StaleTurn => "stale_turn",
            Self::CarriedOver => "carried_over",
            Self::YesNo => "yes_no",
            Self::MissingEvidence => "missing_evidence",
            Self::Sign => "sign",
            Self::Scale => "scale",
            Self::ScaleAndSign => "scale_and_sign",
            Self::PercentDecimal => "percent_decimal",
            Self::Truncation => "truncation",
            Self::AbsoluteForRelative => "absolute_for_relative",
            Self::Complement => "complement",
            Self::DashAsNumber => "dash_as_number",
            Self::SwappedOperands => "swapped_operands",
            Self::WrongBase => "wrong_base",
            Self::WrongColumn => "wrong_column",
            Self::WrongRow => "wrong_row",
            Self::WrongCell => "wrong_cell",
            Self::Operator => "operator",
            Self::Steps => "steps",
            Self::Arithmetic => "arithmetic",
            Self::Unexplained => "unexplained",
        }
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
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

#[cfg(test)]
mod tests {
    use super::Cause;

    #[test]
    fn every_cause_has_a_name_of_its_own() {
        let mut names: Vec<_> = Cause::ALL.iter().map(|cause| cause.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Cause::ALL.len());
    }
}
