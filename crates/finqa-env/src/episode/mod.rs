//! Episodes: which question a session asks, which steps it takes, and what its answer earns.
//!
//! Nothing here reads a clock, runs a query or sends anything. The caller begins a step with
//! [`Environment::begin`], runs the tool, and passes the result to [`Environment::finish`]. The
//! tool runs between the two calls so that nobody has to lock the session during a query.

mod environment;
mod order;
mod outcome;

pub use environment::{Environment, EpisodeRules, StepStart};
pub use order::QuestionOrder;
pub use outcome::{EpisodeState, Observation, StepError, StepOutcome, TaskError};
