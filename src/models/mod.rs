//! Chat models: what is asked of them, what they answer, and how a call fails.
//!
//! Everything above speaks to [`ChatModel`]; the providers behind it (OpenAI,
//! Azure, any compatible server) and the wrappers around it (limits, cache,
//! recording) implement it. This room knows no finance, no dataset and no gold,
//! reads no environment variable, and prints nothing.

pub mod error;
pub mod types;

pub use error::{ErrorKind, ModelError};
pub use types::{
    ChatModel, ChatReply, ChatRequest, Feature, FinishReason, Format, Message, Role, Support,
    ToolCall, ToolChoice, ToolSpec, Usage,
};
