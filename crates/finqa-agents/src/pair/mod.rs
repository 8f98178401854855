//! The analyst, the critic, the deterministic checks, and their graph. Nothing here may
//! name gold.

mod analyst;
mod answer;
mod arbitration;
mod best;
mod calls;
mod critic;
mod embedded;
mod episode;
mod exchange;
mod opinion;
mod percent;
mod settings;
mod stated;
pub mod trace;
pub mod verify;
mod vote;
mod wiring;

pub use answer::{Answer, AnswerFrom, CriticVerdict, Round, Solution, StopReason, answer_history};
pub use arbitration::{AgreementCount, Arbitration};
pub use calls::RecordedCalls;
pub use calls::{Call, CallMemory, order_samples, total_seconds};
pub use embedded::EmbeddedAgent;
pub use episode::{EpisodeEnd, EpisodeRecord, ToolStep};
pub use opinion::{OpinionUse, SecondOpinion};
pub use settings::{AgentSettings, Backend, CriticMode, PairOptions, Sampling};
pub use stated::printed_value;
pub use vote::VoteTally;
pub use wiring::{Fault, Interruption, Pair, Route, RunFailure};
