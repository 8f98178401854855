//! Answers a question with two agents. An analyst drafts an answer, deterministic checks and a
//! critic review it, and a graph connects the two. The code here cannot use gold.
//!
//! Reading order: `wiring` (the graph, and the way of a question through it), `analyst` and
//! `critic` (its nodes), `question_state` (the state that they share), `from_analysis` (turns a
//! reply into an answer), `verify` (the checks), `withhold` (chooses the returned answer) and
//! `solution` (the result). `calls` records and recalls model calls, and `opinion` compares a
//! model's answer with the embedded analyst's.

mod analyst;
mod answer;
mod arbitration;
mod calls;
mod critic;
mod embedded;
mod episode;
mod failure;
mod from_analysis;
mod opinion;
mod percent;
mod question_state;
mod settings;
mod solution;
mod solver;
mod stated;
pub mod trace;
pub mod verify;
mod vote;
mod wiring;
mod withhold;

pub use crate::parse::CriticVerdict;
pub use answer::{Answer, answer_history};
pub use arbitration::AgreementCount;
pub use calls::{ANALYST, CRITIC, Call, CallMemory, RecordedCalls, order_samples, total_seconds};
pub use embedded::EmbeddedAgent;
pub use episode::{EpisodeEnd, EpisodeRecord, ToolStep};
pub use failure::{Fault, Interruption, RunFailure};
pub use opinion::{Arbitration, OpinionUse, SecondOpinion};
pub use question_state::Route;
pub use settings::{AgentSettings, Backend, CriticMode, PairOptions, Sampling};
pub use solution::{Round, Solution, StopReason, Vote, VoteTally};
pub use solver::Solver;
pub use stated::printed_value;
pub use wiring::TwoAgentSolver;
