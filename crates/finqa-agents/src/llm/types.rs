//! The request and the reply, which are the same for all providers, and the trait that connects
//! them.
//!
//! None of these types is a wire format. `protocol` converts them to JSON and back, so that agents
//! do not depend on the field names of a provider.

use std::fmt;
use std::ops::AddAssign;
use std::time::Duration;

use async_trait::async_trait;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::error::ModelError;
use super::failures::{FinishMeaning, finish_meaning};

/// The tokens with which a caller stops work.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Once it is cancelled, no new question and no further attempt of a failed request begins.
    /// Requests in flight are finished.
    pub drain: CancellationToken,
    /// Once it is cancelled, requests in flight are cancelled too.
    pub abort: CancellationToken,
}

/// A model that answers chat requests: a provider's model, or a wrapper around another model.
///
/// A call returns one answer. Retries, the correction of a refused parameter and the change from a
/// JSON schema to a weaker format happen inside the call, and [`ChatReply::attempts`] counts their
/// HTTP requests.
#[async_trait]
pub trait ChatModel: Send + Sync {
    /// The user's name for the model (on Azure, for the deployment).
    fn name(&self) -> &str;

    /// The cost of a reply's tokens in US dollars; `None` if it is unknown. Lost requests of the
    /// call are not included.
    fn cost(&self, _: &ChatReply) -> Option<Decimal> {
        None
    }

    /// True if requests wait for each other, so that they are sent in one batch.
    fn sends_batches(&self) -> bool {
        false
    }

    /// Sends one request, with retries.
    ///
    /// # Errors
    /// [`ModelError`]. If a content filter stopped the *answer*, this is not an error but
    /// [`FinishReason::ContentFilter`], and a refusal is [`ChatReply::refusal`]. `stop.drain` ends
    /// a wait between two attempts, and `stop.abort` also ends a request in flight. Both end it at
    /// once, with [`ErrorKind::Cancelled`](super::ErrorKind::Cancelled).
    async fn chat(&self, request: &ChatRequest, stop: &Stop) -> Result<ChatReply, ModelError>;
}

/// A request for one reply.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The node that asks, such as `analyst`. Usage is counted by node. Not sent.
    pub node: String,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// The sampling temperature; not sent if the model does not accept it.
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the answer, including reasoning.
    pub max_output_tokens: Option<u32>,
    /// The sampling seed; not sent if the model does not accept it.
    pub seed: Option<u64>,
    pub format: ReplyFormat,
    pub tools: Vec<ToolSpec>,
    pub tool_choice: ToolChoice,
    /// The call to which the request belongs. Not sent, and not part of its key in the journal.
    #[serde(skip)]
    pub origin: RequestOrigin,
}

/// The call of a run to which a request belongs. It distinguishes equal requests, so that each gets
/// its own reply.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RequestOrigin {
    /// The question, as `ID#part`.
    pub question: String,
    /// The epoch, from 0.
    pub epoch: u32,
    /// The number of equal requests of the same node that were answered before.
    pub repeat: u32,
}

impl ChatRequest {
    /// A request of `node` for plain text.
    pub fn new(node: impl Into<String>, messages: Vec<ChatMessage>) -> Self {
        Self {
            node: node.into(),
            messages,
            ..Self::default()
        }
    }
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions. They are sent as `developer` if the model requires it.
    System,
    User,
    Assistant,
    Tool,
}

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    pub role: Role,
    /// The text; empty for an assistant message that only calls tools.
    pub content: String,
    /// The calls of an assistant message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call whose result this message is; only for [`Role::Tool`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The number of bytes at the beginning of the text that later requests repeat. If a provider
    /// caches prompts only on request, it is asked to cache them. 0 means none. Not stored.
    #[serde(skip)]
    pub stable_bytes: usize,
}

impl ChatMessage {
    /// A message without tool calls.
    pub(crate) fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
            stable_bytes: 0,
        }
    }

    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    pub fn tool(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(id.into()),
            ..Self::new(Role::Tool, content)
        }
    }
}

/// The requested format of an answer. A provider without it is asked for the next weaker format:
/// schema, object, text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum ReplyFormat {
    /// Free text.
    #[default]
    Text,
    JsonSchema {
        /// The name: letters, digits, `_` and `-`, at most 64.
        name: String,
        schema: Value,
        /// True if the provider must enforce the schema token by token.
        strict: bool,
        /// True if a provider without schemas is asked for text and not for an object, because some
        /// replies that are allowed in text are not objects.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        or_text: bool,
    },
}

/// A tool that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    /// The description that the model reads.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A mode that is always `auto`: the model may call a tool, but does not have to. The field exists
/// because it is part of the keys of stored replies and of the journal's calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    #[default]
    Auto,
}

/// A tool call by a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result of the call must quote.
    pub id: String,
    /// The tool; empty if the reply names none.
    pub name: String,
    /// The arguments as the model wrote them. They are JSON, unless the model made a mistake.
    pub arguments: String,
}

/// The reason why a reply ended.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FinishReason {
    #[default]
    Stop,
    /// The answer reached its token limit and was cut off.
    Length,
    ContentFilter,
    ToolCalls,
    /// An unknown reason or a failure of the provider, in the provider's word; empty if there is
    /// none.
    Other(String),
}

impl FinishReason {
    /// True if the provider reports that it failed.
    pub fn is_failure(&self) -> bool {
        finish_meaning(self.as_str()) == Some(FinishMeaning::Failed)
    }

    /// True if the provider refused its model's output.
    pub(super) fn is_bad_generation(&self) -> bool {
        finish_meaning(self.as_str()) == Some(FinishMeaning::BadGeneration)
    }

    /// True if this reason explains why a reply has no content.
    pub(crate) fn explains_silence(&self) -> bool {
        !matches!(self, Self::Stop | Self::ToolCalls) && !self.as_str().is_empty()
    }

    /// The name in the protocol.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ContentFilter => "content_filter",
            Self::ToolCalls => "tool_calls",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for FinishReason {
    fn from(word: String) -> Self {
        match finish_meaning(&word) {
            Some(FinishMeaning::Stop) => Self::Stop,
            Some(FinishMeaning::Length) => Self::Length,
            Some(FinishMeaning::ContentFilter) => Self::ContentFilter,
            Some(FinishMeaning::ToolCalls) => Self::ToolCalls,
            Some(FinishMeaning::BadGeneration | FinishMeaning::Failed) | None => Self::Other(word),
        }
    }
}

impl From<FinishReason> for String {
    fn from(reason: FinishReason) -> Self {
        reason.as_str().to_owned()
    }
}

/// The tokens of one answer, or the sum for several answers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, including cached tokens.
    pub input_tokens: u64,
    /// Tokens written, including reasoning.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    #[serde(default)]
    pub cached_input_tokens: u64,
    /// The part of `input_tokens` that was written to the provider's cache, if it is billed
    /// separately.
    #[serde(default, skip_serializing_if = "super::usage::is_zero")]
    pub cache_write_tokens: u64,
    /// The part of `output_tokens` that was hidden reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Usage {
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

/// Saturates, because a server may state any count.
impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_input_tokens = self
            .cached_input_tokens
            .saturating_add(other.cached_input_tokens);
        self.cache_write_tokens = self
            .cache_write_tokens
            .saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

/// A model's reply to a request, with its tokens, time and number of requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text; empty if the model only called tools, refused, or wrote nothing.
    pub content: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    pub finish: FinishReason,
    /// The model's refusal, if the provider marks it as a refusal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// The reason why the reply is not an answer although its status is a success: the message of
    /// an error inside it, or a fault of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The tokens; `None` if the server did not state them, which does not mean zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// True if the server's counts contradict each other. `usage` then has the lowest counts that
    /// fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_usage_doubtful: bool,
    /// The service tier, in the provider's word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service_tier: Option<String>,
    /// The server's name for the model that answered, often a dated snapshot.
    pub model: String,
    /// The requested model, if the server names a different one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_model: Option<String>,
    /// The provider's id of the answered request, which its support may ask for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The number of HTTP requests for this answer: at least 1 over a network, 0 for a model inside
    /// this process or a stored answer.
    pub attempts: u32,
    /// The number of these requests that got no answer but may have been billed.
    #[serde(default)]
    pub lost: u32,
    /// True if an earlier call stored the reply and paid for its tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// The batch from which the reply came, at half the price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    /// The sampling settings that were not sent because the model does not accept them:
    /// `temperature`, `seed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Time from the first request to the complete answer, including retries and the waits between
    /// them, but not the waits for a slot, a batch or the budget.
    pub latency: Duration,
}

impl ChatReply {
    /// A complete text answer without usage, for models inside the process and for tests.
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }

    /// The tokens that this call used; `None` if they are unknown or the reply was stored.
    pub(crate) fn known_tokens(&self) -> Option<Usage> {
        self.usage.filter(|_| !self.cached)
    }

    /// True if the list price of its tokens is only a lower bound of its cost.
    pub(crate) fn costs_at_least(&self) -> bool {
        self.is_usage_doubtful || self.unlisted_tier().is_some()
    }

    /// The service tier, if the price lists do not cover it. `None` also if the server states no
    /// tier.
    pub fn unlisted_tier(&self) -> Option<&str> {
        // Names of the tier to which list prices apply.
        const LISTED: [&str; 5] = ["", "default", "standard", "auto", "on_demand"];
        let batch = self.batch.as_ref().map(|_| "batch");
        let mut listed = LISTED.into_iter().chain(batch);
        let tier = self.service_tier.as_deref();
        tier.filter(|tier| !listed.any(|name| tier.eq_ignore_ascii_case(name)))
    }

    /// True if a provider's filter or the model itself withheld the answer.
    pub fn is_withheld(&self) -> bool {
        self.finish == FinishReason::ContentFilter || self.refusal.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_finish_reason_survives_a_round_trip() {
        let reason: FinishReason = serde_json::from_str("\"model_overloaded\"").unwrap();
        assert_eq!(reason, FinishReason::Other("model_overloaded".into()));
        assert_eq!(
            serde_json::to_string(&reason).unwrap(),
            "\"model_overloaded\""
        );
    }
}
