//! A session's episode: its question, its steps and its grade.
//!
//! Pure: it reads no clock, runs no query and sends nothing. The caller begins a
//! step ([`Environment::begin`]), runs its tool, and passes the result to
//! [`Environment::finish`], so that it holds no lock while a query runs.

mod environment;
mod order;
mod outcome;

pub use environment::{Environment, EpisodeRules, StepStart};
pub use order::QuestionOrder;
pub use outcome::{EpisodeState, Observation, StepError, StepOutcome, TaskError};
