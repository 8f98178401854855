//! The analyst, the critic, the deterministic checks, and their wiring on the
//! graph. Nothing here may name gold.

mod analyst;
mod answer;
mod best;
mod critic;
mod exchange;
mod offline;
mod settings;
pub mod trace;
pub mod verify;
mod vote;
mod wiring;

pub use answer::{
    Answer, AnswerFrom, CriticVerdict, Round, Settled, StopReason, own_history, printed_value,
};
pub use exchange::{Call, CallMemory, Exchange, Failure};
pub use settings::{Backend, CriticMode, PairOptions, Sampling};
pub use wiring::{Interruption, Pair, Route};
