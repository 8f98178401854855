//! Analyses answers: finds the cause of every miss, and compares two runs. It takes rows, returns
//! plain data and asks no model.
//!
//! [`Answers`] are the answers of a file or a run. [`analyze`] finds the cause of each miss, and
//! [`MissFinder`] does so while rows are read. `compare` pairs two runs question by question. The
//! package `score` decides which answers are right, and `output` prints the results.
//! `docs/scoring.md` says how each cause is found.

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
mod several;
mod target;
mod verdict;

pub use answers::{AnsweringRun, Answers, InputDifference, RecordsById, RunInput, letters};
pub use by_rule::{ENOUGH_PAGES, RuleComparison};
pub use cause::{Cause, CauseFound};
pub use compare::{Amounts, AnswerPair, Comparison, RunLetter, RunSide, compare};
pub use error::AnalysisError;
pub use miss_finder::MissFinder;
pub use misses::{Miss, MissAnalysis, analyze};
pub use several::{ComparedRun, InputValues, SeveralRuns, compare_several};
pub use verdict::{Shown, Verdict, two_digits};
