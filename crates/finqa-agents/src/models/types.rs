//! The provider-neutral request and reply, and the trait that joins them.
//!
//! Nothing here is a wire format: `openai` turns these into JSON and back, so
//! that a renamed field of a provider never reaches an agent.

use std::fmt;
use std::ops::AddAssign;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::error::ModelError;

/// How work is stopped from outside.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    /// Nothing new begins: no question, and no further attempt of a request that
    /// failed. Requests in flight are waited for.
    pub drain: CancellationToken,
    /// Requests in flight are given up too.
    pub abort: CancellationToken,
}

/// Something that answers chat requests: a provider, or a wrapper around one.
///
/// One call is one answer as far as the caller sees: retries, the correction of
/// a refused parameter and the step down from JSON schema happen inside, and
/// [`ChatReply::attempts`] counts the HTTP requests they took.
pub trait ChatModel: Send + Sync {
    /// The model (on Azure the deployment) as the user named it.
    fn name(&self) -> &str;

    /// Whether the model takes `feature`, as far as is known before asking it.
    fn supports(&self, feature: Feature) -> Support;

    /// Asks once, retries included.
    ///
    /// # Errors
    /// [`ModelError`]; a content filter that stopped the *answer* is not an error
    /// but [`FinishReason::ContentFilter`], and a refusal is
    /// [`ChatReply::refusal`]. `stop.drain` ends a wait between two attempts at
    /// once, `stop.abort` a request too, with
    /// [`ErrorKind::Cancelled`](super::ErrorKind::Cancelled).
    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>>;
}

impl<M: ChatModel + ?Sized> ChatModel for Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn supports(&self, feature: Feature) -> Support {
        (**self).supports(feature)
    }

    fn chat<'a>(
        &'a self,
        request: &'a ChatRequest,
        stop: &'a Stop,
    ) -> BoxFuture<'a, Result<ChatReply, ModelError>> {
        (**self).chat(request, stop)
    }
}

/// What a model may or may not take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Feature {
    /// `response_format` with a JSON schema.
    JsonSchema,
    /// `response_format` with any JSON object.
    JsonObject,
    /// Function tools.
    Tools,
    /// A temperature other than the default.
    Temperature,
    /// A sampling seed.
    Seed,
}

/// What is known about a [`Feature`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Support {
    /// The capability table, or an answer in this process, says so.
    Yes,
    /// The capability table, or a refusal in this process, says so.
    No,
    /// Not known: it is tried, and given up once when refused.
    Unknown,
}

/// One chat request.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// Who asks, e.g. `analyst`: for usage by node. Not sent.
    pub node: String,
    /// The conversation, oldest first.
    pub messages: Vec<ChatMessage>,
    /// Sampling temperature; left out where the model takes none.
    pub temperature: Option<f64>,
    /// Upper bound of the answer in tokens, reasoning included.
    pub max_output_tokens: Option<u32>,
    /// Sampling seed; left out where the model takes none.
    pub seed: Option<u64>,
    /// The shape asked of the answer.
    pub format: ReplyFormat,
    /// Functions the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it may, must or must not call them; sent only with tools.
    pub tool_choice: ToolChoice,
}

impl ChatRequest {
    /// A plain text request of `node` with these messages.
    #[must_use]
    pub fn new(node: impl Into<String>, messages: Vec<ChatMessage>) -> Self {
        Self {
            node: node.into(),
            messages,
            ..Self::default()
        }
    }
}

/// Who speaks in a [`ChatMessage`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions (sent as `developer` to models that want it so).
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
    /// The result of a tool call.
    Tool,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: Role,
    /// The text; empty for an assistant message that only calls tools.
    pub content: String,
    /// The calls an assistant message made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// For [`Role::Tool`]: the call that this is the result of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
}

impl ChatMessage {
    /// A message without tool calls.
    #[must_use]
    pub fn new(role: Role, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
            tool_calls: Vec::new(),
            tool_call_id: None,
        }
    }

    /// Instructions to the model.
    #[must_use]
    pub fn system(content: impl Into<String>) -> Self {
        Self::new(Role::System, content)
    }

    /// What the user says.
    #[must_use]
    pub fn user(content: impl Into<String>) -> Self {
        Self::new(Role::User, content)
    }

    /// What the model said before.
    #[must_use]
    pub fn assistant(content: impl Into<String>) -> Self {
        Self::new(Role::Assistant, content)
    }

    /// The result of the tool call `id`.
    #[must_use]
    pub fn tool(id: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            tool_call_id: Some(id.into()),
            ..Self::new(Role::Tool, content)
        }
    }
}

/// The shape asked of an answer. A provider that has no such mode gets the next
/// weaker one: schema, object, text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type")]
pub enum ReplyFormat {
    /// Free text.
    #[default]
    Text,
    /// Any JSON object.
    JsonObject,
    /// JSON of this schema.
    JsonSchema {
        /// Name of the schema: letters, digits, `_` and `-`, at most 64.
        name: String,
        /// The JSON schema.
        schema: Value,
        /// Whether the provider is to enforce it token by token.
        strict: bool,
    },
}

/// A function that a model may call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Name of the function.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// Whether a model may, must or must not call tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// No call.
    None,
    /// At least one call. Small local models do not honour it reliably.
    Required,
    /// A call of this function.
    Function(String),
}

/// A call that a model wants made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id, to be quoted by the result.
    pub id: String,
    /// The function.
    pub name: String,
    /// The arguments as the model wrote them: JSON if it kept to the rules.
    pub arguments: String,
}

/// Why a model stopped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum FinishReason {
    /// It was done.
    #[default]
    Stop,
    /// The answer hit its token limit and is cut.
    Length,
    /// The provider's filter cut the answer.
    ContentFilter,
    /// It wants tools called.
    ToolCalls,
    /// A reason unknown to us, as sent; empty if none was sent.
    Other(String),
}

impl FinishReason {
    /// The provider's word for it.
    #[must_use]
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
        match word.as_str() {
            // `eos` and `max_tokens` are what some compatible servers send.
            "stop" | "eos" | "end_turn" => Self::Stop,
            "length" | "max_tokens" => Self::Length,
            "content_filter" => Self::ContentFilter,
            "tool_calls" | "function_call" => Self::ToolCalls,
            _ => Self::Other(word),
        }
    }
}

impl From<FinishReason> for String {
    fn from(reason: FinishReason) -> Self {
        reason.as_str().to_owned()
    }
}

/// Tokens of one answer, or a sum of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub input_tokens: u64,
    /// Tokens written, reasoning included.
    pub output_tokens: u64,
    /// The part of `input_tokens` that came from the provider's cache.
    #[serde(default)]
    pub cached_input_tokens: u64,
    /// The part of `output_tokens` that was hidden reasoning.
    #[serde(default)]
    pub reasoning_tokens: u64,
}

impl Usage {
    /// Tokens read and written.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cached_input_tokens = self
            .cached_input_tokens
            .saturating_add(other.cached_input_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
    }
}

/// One answer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// The text; empty when the model only called tools, refused, or said nothing.
    pub content: String,
    /// The calls it wants made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Why it stopped.
    pub finish: FinishReason,
    /// The model's own refusal, where the provider marks it as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Tokens; `None` when the server did not say, which is not zero.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What is known of the tokens where the server gave only those read or only
    /// those written; the others are 0 here. `usage` is `None` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial_usage: Option<Usage>,
    /// The model that answered, as the server names it (a dated snapshot, often).
    pub model: String,
    /// The provider's id of the request that was answered, to quote to its support.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// HTTP requests sent for this answer: at least 1 over a network, 0 for a
    /// model inside this process or an answer that was kept from before.
    pub attempts: u32,
    /// Of these, requests that brought no answer but that a model may have worked
    /// on, and been paid for.
    #[serde(default)]
    pub lost: u32,
    /// Sampling settings of the request that this model does not take, and that
    /// the answer was made without: `temperature`, `seed`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// From the first request sent to the whole answer, retries and their
    /// waiting included; waiting for a slot is not.
    pub latency: Duration,
}

impl ChatReply {
    /// A finished text answer without usage: for models inside the process and tests.
    #[must_use]
    pub fn text(content: impl Into<String>) -> Self {
        Self {
            content: content.into(),
            ..Self::default()
        }
    }

    /// The tokens that the server gave, all or a part of them.
    #[must_use]
    pub fn known_tokens(&self) -> Option<Usage> {
        self.usage.or(self.partial_usage)
    }

    /// Whether a provider's filter or the model itself withheld the answer.
    #[must_use]
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

    #[test]
    fn a_request_survives_a_round_trip() {
        let mut request = ChatRequest::new("analyst", vec![ChatMessage::user("How much?")]);
        request.format = ReplyFormat::JsonSchema {
            name: "answer".into(),
            schema: serde_json::json!({"type": "object"}),
            strict: true,
        };
        request.tool_choice = ToolChoice::Function("lookup".into());
        let text = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<ChatRequest>(&text).unwrap(), request);
    }
}
