//! Answers that are not graded.

/// An answer on which OpenEnv's `finqa_env` raises instead of grading.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewardError {
    /// A fraction does not fit a double.
    #[error("integer division result too large for a float")]
    FractionTooLarge,
    /// A value of the truth has no year, and every value of the answer has one.
    #[error("None")]
    MissingYear,
}
