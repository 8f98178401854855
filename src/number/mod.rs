//! Reading and printing financial numbers, and the plain value that a program
//! or an answer comes to. Used by `program`, `agents`, `score`, `offline`, `env`.
//!
//! It knows nothing of questions, tables or models.

mod unit;
mod value;

pub use unit::{Scale, Unit, UnitKind};
pub use value::{Value, round5};
