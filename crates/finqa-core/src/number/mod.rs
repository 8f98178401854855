//! Reading and printing financial numbers, and the plain value that a program
//! or an answer has. Used by `program`, `agents`, `score`, `offline`, `env`.
//!
//! It knows nothing about questions, tables or models.
//!
//! There are two readers, because two things are read. [`literal`]
//! is the official evaluator's: what a program may contain, as strict and as
//! odd as the original. [`read`] is for text written by people and models:
//! currency, parentheses for negatives, scale words, percent signs.

mod literal;
mod near;
mod print;
pub mod python;
mod read;
mod unit;
mod value;

pub use literal::{literal, python_float};
pub use near::{NEAR, half_unit, last_digit, percent_forms, rounds_to, same, truncates_to, within};
pub use print::{print, print_percent};
pub use read::{NumberReading, read, readings};
pub use unit::{Scale, Unit, UnitKind};
pub use value::{Value, round5};
