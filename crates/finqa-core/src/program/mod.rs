//! The dataset's program language: parsing, execution, comparison. It follows FinQA's `evaluate.py`
//! and ConvFinQA's `general_utils.py`, including their oddities (listed in `docs/scoring.md`).
//!
//! A program is a list of steps such as `subtract(206588, 181001), divide(#0, 181001)`, where `#k`
//! is the result of an earlier step. In ConvFinQA, a program may also be a single number.
//! [`Program`] is the typed form and refuses every text without a clear meaning.
//! [`official::evaluate`] accepts any text and returns the result of the official code. Both use
//! the same tokens ([`tokens`](tokens::tokenise)) and the same executor. [`equal()`] compares two
//! programs by the official rule.
//!
//! The module knows nothing about questions or gold. A table is a list of rows of cell strings.

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
