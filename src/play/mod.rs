//! An agent that plays episodes against any FinQA environment: this process's
//! own, or a server that speaks `OpenEnv`'s WebSocket protocol.
//!
//! A [`Player`] deals each question once to sessions side by side; a model (any
//! [`ChatModel`](finqa_agents::models::ChatModel), the offline [`Baseline`] among
//! them) plays it by tool calls; each [`Episode`] is appended to a [`Log`] as it
//! ends; [`PlaySummary`] says what they come to. It grades nothing and looks up
//! nothing: rewards and truths are what the environment says.

mod address;
mod agent;
mod baseline;
mod error;
mod game;
mod log;
mod player;
mod record;
mod remote;
mod session;
mod summary;
mod trace;
mod written;

pub use address::Address;
pub use agent::AgentOptions;
pub use baseline::Baseline;
pub use error::PlayError;
pub use log::Log;
pub use player::{Finish, PlayEvent, PlayOptions, Player, instructions_hash};
pub use record::{Ending, Episode, FORMAT, Identity, ModelCall, Played, Spent, Step};
pub use session::Target;
pub use summary::{PlaySummary, RewardSummary, latest};
