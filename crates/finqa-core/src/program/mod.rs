//! The dataset's program language: parse, execute, compare, with the
//! semantics of FinQA `evaluate.py` and ConvFinQA `general_utils.py`, the odd
//! ones included (`docs/scoring.md` lists them).
//!
//! A program is a list of steps, `subtract(206588, 181001), divide(#0, 181001)`,
//! where `#k` is the result of an earlier step; in ConvFinQA it may also be a
//! single number. [`Program`] is the typed form, which refuses whatever has no
//! meaning; [`official::evaluate`] gives what the official code gives, for
//! anything. Both read with [`tokens`](tokens::tokenise) and compute with one
//! machine. [`equal()`] is the official program equality.
//!
//! It knows nothing about questions or gold: a table is rows of cell strings.

mod equal;
mod error;
mod expression;
mod machine;
pub mod official;
mod parse;
pub mod tokens;
mod types;

pub use equal::equal;
pub use error::ProgramError;
pub use expression::{Expression, Leaf};
pub use types::{Argument, Op, Program, ProgramStep, joined};
