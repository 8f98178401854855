//! The reasons why a program cannot be read or executed.

use thiserror::Error;

/// The reason why a program cannot be read or executed. Steps are counted from 0, like `#0`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ProgramError {
    /// The text is blank.
    #[error("empty program")]
    Empty,
    /// The program is a single token, which is not a number.
    #[error("`{0}` is neither a number nor a step")]
    NotANumber(String),
    /// The token in the position of an operation is not an operation.
    #[error("step {step}: unknown operation `{name}`")]
    UnknownOperation { step: usize, name: String },
    /// A step does not have the form `operation(argument, argument)` with a comma and a space
    /// between the arguments.
    #[error("step {step}: not of the form `operation(argument, argument)`")]
    Malformed { step: usize },
    /// A comma without a space after it does not separate two arguments or two steps.
    #[error(
        "step {step}: not of the form `operation(argument, argument)`: a space is missing after a comma"
    )]
    NoSpace { step: usize },
    /// An argument is neither a literal number nor a reference.
    #[error("step {step}: `{text}` is not a number")]
    BadLiteral { step: usize, text: String },
    /// `#k` does not refer to an earlier step.
    #[error("step {step}: `{text}` does not refer to an earlier step")]
    BadReference { step: usize, text: String },
    /// No row of the table has this label.
    #[error("step {step}: the table has no row `{label}`")]
    NoSuchRow { step: usize, label: String },
    /// A cell of the row is not a number, the row has only a label, or a row of the table is empty.
    #[error("step {step}: row `{label}` has cells that are not numbers")]
    NotNumericRow {
        step: usize,
        /// The first cell of the row.
        label: String,
    },
    #[error("step {step}: division by zero")]
    DivisionByZero { step: usize },
    /// A power is too large for a double. Python raises `OverflowError` for it. A product that is
    /// too large is infinite instead and not an error.
    #[error("step {step}: the result is too large")]
    Overflow { step: usize },
    /// The result of the program is a complex number, or a step compares a complex number.
    #[error("step {step}: the root of a negative number")]
    Complex { step: usize },
    /// The step computes with the `yes` or `no` that an earlier `greater` returned.
    #[error("step {step}: arithmetic on yes or no")]
    WordInArithmetic { step: usize },
}
