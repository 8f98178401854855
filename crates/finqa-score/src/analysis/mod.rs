//! Analysis of answers: the cause of every miss, and two runs side by side.
//! Offline: rows in, plain data out.
//!
//! [`Answers`] are those of a file or a run; [`analyze`] finds why each wrong answer is wrong,
//! [`MissFinder`] while the rows are read; `compare` pairs two runs question by question. It has no rule of its own for what is right (that is `score`) and
//! prints nothing (that is `output`). `docs/scoring.md` says how each cause is found.

mod answers;
mod by_rule;
mod cause;
mod compare;
mod error;
mod explain;
mod expression;
mod miss_finder;
mod misses;
mod places;
mod programs;
mod search;
mod target;

pub use answers::{AnsweringRun, Answers, InputDifference, RecordsById, RunInput, letters};
pub use by_rule::{ENOUGH_PAGES, RuleComparison};
pub use cause::{Cause, CauseFound};
pub use compare::{Amounts, AnswerPair, Comparison, RunLetter, RunSide, compare};
pub use error::AnalysisError;
pub use miss_finder::MissFinder;
pub use misses::{Miss, MissAnalysis, analyze};
