//! The errors of programs.

use thiserror::Error;

/// The errors of reading and executing programs. Steps are counted from 0, as `#0` does.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// Nothing but white space.
    #[error("empty program")]
    Empty,
    /// A single token that is not a number.
    #[error("`{0}` is neither a number nor a step")]
    NotANumber(String),
    /// The token where an operation is due is not one.
    #[error("step {step}: unknown operation `{name}`")]
    UnknownOperation { step: usize, name: String },
    /// A step does not have the form `operation(argument, argument)`, with a
    /// comma and a space between the arguments.
    #[error("step {step}: not of the form `operation(argument, argument)`")]
    Malformed { step: usize },
    /// An argument is neither a literal number nor a reference.
    #[error("step {step}: `{text}` is not a number")]
    BadLiteral { step: usize, text: String },
    /// `#k` does not point at an earlier step.
    #[error("step {step}: `{text}` does not refer to an earlier step")]
    BadReference { step: usize, text: String },
    /// No row of the table has this label.
    #[error("step {step}: the table has no row `{label}`")]
    NoSuchRow { step: usize, label: String },
    /// A cell of the row is not a number, or the row has no cells.
    #[error("step {step}: row `{label}` has cells that are not numbers")]
    NotNumericRow {
        step: usize,
        /// The row label.
        label: String,
    },
    #[error("step {step}: division by zero")]
    DivisionByZero { step: usize },
    /// The result is too large for a double.
    #[error("step {step}: the result is too large")]
    Overflow { step: usize },
    /// The result is a complex number.
    #[error("step {step}: the root of a negative number")]
    Complex { step: usize },
    /// Arithmetic on the `yes` or `no` of an earlier `greater`.
    #[error("step {step}: arithmetic on yes or no")]
    WordInArithmetic { step: usize },
}
