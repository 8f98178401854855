//! Episodes: the question that a session asks, the steps that it takes, and the reward of its
//! answer.
//!
//! Nothing here reads a clock, runs a query or sends anything. The caller begins a step with
//! [`Environment::begin`], runs the tool, and passes the result to [`Environment::finish`]. Because
//! the tool runs between the two calls, the session is not locked during a query.

mod environment;
mod order;
mod outcome;

pub use environment::{Environment, EpisodeRules, StepStart};
pub use order::QuestionOrder;
pub use outcome::{EpisodeState, Observation, StepError, StepOutcome, TaskError};
