//! Computes what a question asks for from the figures of its operands: `operation` starts, and each
//! other file has one kind of operation or one reason to doubt its result.

pub(super) mod counts;
pub(super) mod direct_answer;
pub(super) mod doubts;
pub(super) mod lines;
pub(super) mod operation;
pub(super) mod pairs;
pub(super) mod ranked;
pub(super) mod series;
pub(super) mod spelled;
pub(super) mod spent;
pub(super) mod unmet;
