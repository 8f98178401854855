//! Computes what a question asks for from the figures of its operands.

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
pub(super) mod text_answer;
pub(super) mod unmet;
