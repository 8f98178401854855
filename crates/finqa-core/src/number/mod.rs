//! Reads and prints financial numbers, and defines the value of a program or an answer.
//!
//! The module knows nothing about questions, tables or models.
//!
//! There are two readers for two kinds of text. [`literal()`] is the official evaluator's reader of
//! programs, as strict and as odd as the original. The other reader is for text by people and
//! models. Reading order: `fold` (makes similar characters equal), `words` (scales, currencies,
//! percents), `read` (the grammar of one number), `answer` (chooses the number that an answer
//! means).

mod answer;
mod currency;
mod digits;
mod fold;
mod literal;
mod near;
mod print;
pub mod python;
mod read;
mod reading;
mod unit;
mod value;
mod words;

pub use answer::{answer, yes_or_no};
pub use currency::{currency_in, currency_of_label};
pub use fold::{fold, plain};
pub use literal::{literal, python_float};
pub use near::{
    NEAR, PercentReading, half_unit, last_digit, percent_forms, rounds_to, same, truncates_to,
    within,
};
pub use print::{print, print_percent};
pub use read::{read, readings, whole};
pub use reading::{NotRead, NumberReading};
pub use unit::{Scale, Unit, UnitKind};
pub use value::{Value, round5};
pub(crate) use words::{CODES, COUNTRIES, MARKS};
pub use words::{
    MONTHS, asks_for_a_loss, asks_for_basis_points, is_currency, scale_of_word, year_of,
};
