//! Solvers. The input is a question with the calls that an interrupted run already made for it. The
//! output is a solved answer with its calls. There are two solvers: the pair of analyst and critic
//! in `pair`, and the agent in this module, which uses an environment's tools.
//!
//! Reading order: `environment` (the traits of an environment), `tool_agent` (the solver),
//! `episode_loop` (one episode), and `text_tool_calls` (calls that a model writes as text).

mod environment;
mod episode_loop;
mod options;
mod text_tool_calls;
mod tool_agent;
mod trace;

pub use environment::{
    EnvironmentError, EpisodeQuestion, EpisodeSession, StartedEpisode, StepReply, ToolEnvironment,
};
pub use options::{SHOWN_CHARS, ToolAgentOptions, instructions_hash};
pub use tool_agent::ToolAgent;
