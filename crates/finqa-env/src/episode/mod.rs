//! One session's episode: which question, how many steps, graded or not.
//!
//! Pure: it reads no clock, runs no query and sends nothing. A step is begun
//! ([`Environment::begin`]), its tool is run by the caller, and its result is
//! handed back ([`Environment::finish`]), so that no lock is held while a query
//! runs; [`Environment::step`] does all three in place.

mod environment;
mod order;
mod outcome;

pub use environment::{Environment, Rules, StepStart};
pub use order::QuestionOrder;
pub use outcome::{EpisodeState, Observation, ResetOutcome, StepError, StepOutcome};
