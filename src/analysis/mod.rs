//! What a run's answers tell once they are there: comparison of two runs.
//! Offline: files and journals in, plain data out.
//!
//! [`Answers::open`] reads a CSV, JSONL or a run's folder; [`compare`] pairs two
//! of them question by question. It scores nothing by rules of its own (that is
//! `score`) and prints nothing (that is `sinks`).

mod answers;
mod compare;
mod error;

pub use answers::{Answered, Answers, Origin};
pub use compare::{Amounts, Comparison, Flip, Paired, RuleComparison, Side, Spending, compare};
pub use error::AnalysisError;
