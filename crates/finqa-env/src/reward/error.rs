//! The errors of grading.

/// An answer and a truth on which OpenEnv's `finqa_env` raises an exception. The messages are those
/// of the exceptions.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewardError {
    /// A fraction is too large for a double. Python raises `OverflowError`.
    #[error("integer division result too large for a float")]
    FractionTooLarge,
    /// A value of the truth has no year, but every value of the answer has one: Python's
    /// `KeyError(None)`.
    #[error("None")]
    MissingYear,
}
