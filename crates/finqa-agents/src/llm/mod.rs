//! Chat models: requests, replies, and the ways in which a call can fail.
//!
//! The rest of the program uses [`ChatModel`]. [`HttpModel`] implements it for OpenAI, Azure,
//! Anthropic and compatible servers. This module reads no environment variable and prints nothing.
//!
//! Reading order:
//! - `types` (request, reply and the trait between them), `error` and `failures` (the meaning of a
//!   failure);
//! - `settings`, `resolve` and `provider` (the choice of server and key);
//! - `http_model` (one call), with `protocol` (the JSON of each API), `capabilities` (the features
//!   of a model), `transport` and `classify` (one HTTP exchange), and `retry`;
//! - `limits` and `outage` (when a request may be sent), `budget`, `price` and `cost` (how much it
//!   may spend);
//! - `replies` (stored replies) and `batch` (the batch APIs), which replace live requests.
//!
//! A new protocol is a file in `protocol`; `CONTRIBUTING.md` lists the other places.

mod address;
mod batch;
mod body;
mod budget;
mod capabilities;
mod classify;
mod cost;
mod difference;
pub mod error;
mod error_details;
mod event;
mod failures;
pub mod http;
pub mod http_model;
pub mod limits;
mod model_name;
mod open_calls;
mod outage;
mod output_limit;
mod price;
mod protocol;
mod provider;
mod replies;
mod reply_check;
mod resolve;
pub mod retry;
pub mod settings;
pub mod trace;
mod transport;
pub mod types;
pub mod usage;

pub use batch::{BatchPlace, BatchQueue, BatchRecord, BatchRecorder, BatchStage, RunBatches};
pub use budget::{Budget, BudgetLimit, BudgetLimits};
pub use capabilities::reply_limit;
pub use cost::{Cost, in_dollars};
pub use error::{ErrorKind, ModelError, Scope, constant_words};
pub use event::{CallEvent, Observer};
pub use http::{client as http_client, download_client, install_crypto, upgrade_client};
pub use http_model::HttpModel;
pub use limits::{LimitOptions, LimitStatus, Limiter, Limits};
pub use open_calls::OpenCall;
pub use price::{Dollars, PriceError, PriceList};
pub use protocol::{messages_json, tools_json};
pub use provider::{Endpoint, OPENAI_BASE_URL, Provider};
pub use replies::{RepliesError, StoredReplies};
pub(crate) use reply_check::usable_reply;
pub use retry::RetryOptions;
pub use settings::{ModelConnection, ModelSettings, OpenAiApi, SettingsError};
pub use types::{
    ChatMessage, ChatModel, ChatReply, ChatRequest, FinishReason, ReplyFormat, RequestOrigin, Role,
    Stop, ToolCall, ToolChoice, ToolSpec, Usage,
};
pub use usage::{NodeUsage, UsageByNode};
