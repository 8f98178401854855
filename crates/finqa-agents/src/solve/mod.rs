//! Solvers: a question goes in with what an interrupted run remembers of it, a
//! solved answer with its calls comes out. Two exist: the pair of analyst and
//! critic, and the agent that uses an environment's tools.

mod environment;
mod episode_loop;
mod options;
mod tool_agent;
mod trace;
mod written;

pub use crate::pair::Solver;
pub use environment::{
    EnvironmentError, EpisodeQuestion, EpisodeSession, StartedEpisode, StepReply, ToolEnvironment,
};
pub use options::{SHOWN_CHARS, ToolAgentOptions, instructions_hash};
pub use tool_agent::ToolAgent;
