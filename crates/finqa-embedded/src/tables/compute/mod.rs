//! Computes what a question asks for from the figures of its operands.
//!
//! - `operation`: applies the operation of the question (`compute`), and joins the doubts.
//! - `direct_answer`: the type of an answer, and how its figures are shown.
//! - `spelled`: a formula that the question spells out.
//! - `pairs`: the two figures of a share or a ratio.
//! - `several`: figures that a question lists.
//! - `series`: figures of several periods.
//! - `lines`: figures of all rows or columns of a single table.
//! - `best_part`: the best part of a whole, the largest of a series, the larger of two.
//! - `unmet`: the doubt that the figures lack something that the question asks for.
//! - `count_doubt`: the doubt that a row counts things, to which the scale of its table does not
//!   apply.
//! - `doubts`: the doubts that the words of the question raise, whichever figure answers it.

pub(super) mod best_part;
pub(super) mod count_doubt;
pub(super) mod direct_answer;
pub(super) mod doubts;
mod lines;
pub(super) mod operation;
pub(super) mod pairs;
pub(super) mod series;
pub(super) mod several;
pub(super) mod spelled;
pub(super) mod unmet;
