//! Chat models: requests, replies, and how a call fails.
//!
//! The rest of the program uses [`ChatModel`]. [`HttpModel`] implements it for
//! OpenAI, Azure and compatible servers. A new protocol is a file in `protocol`;
//! `docs/extending.md` lists the other places. This module reads no environment variable and prints nothing.

mod address;
mod cache;
pub mod capabilities;
mod cassette;
mod chat_json;
mod classify;
mod difference;
pub mod error;
mod hint;
pub mod http;
pub mod http_model;
pub mod limits;
pub mod price;
mod protocol;
mod resolve;
pub mod retry;
pub mod settings;
pub mod trace;
mod transport;
pub mod types;
pub mod usage;

pub use cache::{CacheError, CacheKey, CacheLookup, CacheStats, CacheWarning, ResponseCache};
pub use capabilities::Correction;
pub use cassette::{Cassette, CassetteError, CassetteRecorder, CassetteReplay, RecordedRow};
pub use chat_json::{messages_json, tools_json};
pub use difference::FieldDifference;
pub use error::{ErrorKind, ModelError, Scope};
pub use http::{client as http_client, download_client, install_crypto, upgrade_client};
pub use http_model::{CallEvent, HttpModel, Observer};
pub use limits::{LimitOptions, LimitStatus, Limiter, Limits};
pub use price::{Cost, PriceList, PriceOf};
pub use retry::RetryOptions;
pub use settings::{
    Endpoint, ModelConnection, ModelSettings, OPENAI_BASE_URL, OpenAiApi, Provider, SettingsError,
};
pub use types::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, Feature, FinishReason, ReplyFormat,
    RequestOrigin, Role, Stop, Support, ToolCall, ToolChoice, ToolSpec, Usage,
};
pub use usage::{NodeUsage, UsageByNode};
