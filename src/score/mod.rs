//! Every scoring rule, by its name.

mod diagnostic;
mod equivalence;
mod error;
mod floor;
mod quantity;
mod rules;

pub use diagnostic::Diagnostic;
pub use equivalence::{Context, FeReason, Verdict, financial_equivalence};
pub use error::ScoreError;
pub use floor::{Floor, floor};
pub use quantity::{Quantity, Written};
pub use rules::{
    exact_match, execution_accuracy, numeric_match, numeric_value, plain_answer, program_accuracy,
    program_execution,
};
