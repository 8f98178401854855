//! Analysis of answers: the cause of every miss, and two runs side by side.
//! Offline: files and journals in, plain data out.
//!
//! [`Answers::open`] reads a CSV, JSONL or a run's folder; [`analyze`] finds
//! why each wrong answer is wrong; [`compare`] pairs two runs question by
//! question. It has no rule of its own for what is right (that is `score`) and
//! prints nothing (that is `output`). `docs/analysis.md` says how each cause is found.

mod answers;
mod by_rule;
mod cause;
mod compare;
mod error;
mod explain;
mod expression;
mod misses;
mod places;
mod programs;
mod search;
mod target;

pub use answers::{Answers, AnswersOrigin, records_behind};
pub use by_rule::RuleComparison;
pub use cause::{Cause, CauseFound};
pub use compare::{
    Amounts, CauseChange, Comparison, Flip, MatchedQuestion, RunSide, Spending, WhichRun, compare,
};
pub use error::AnalysisError;
pub use misses::{CauseCount, Miss, MissAnalysis, UncheckedCauses, analyze};
