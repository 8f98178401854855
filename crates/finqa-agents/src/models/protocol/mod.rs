//! The protocols that servers speak: what a request looks like on the wire, and what a
//! success body says. Sending, retries and errors are `http_model`'s.

mod chat_completions;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::types::{ChatRequest, FinishReason, ToolCall, Usage};

pub(super) use chat_completions::BodyMessage;

/// How requests are written and replies are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    ChatCompletions,
}

impl Protocol {
    /// The path below the base address.
    pub fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/chat/completions",
        }
    }

    /// The request as it is sent.
    pub fn encode(
        self,
        model: &str,
        request: &ChatRequest,
        dialect: ApiDialect,
    ) -> Result<EncodedRequest, serde_json::Error> {
        match self {
            Self::ChatCompletions => EncodedRequest::new(
                &chat_completions::ChatBody::new(model, request, dialect),
                request.max_output_tokens,
            ),
        }
    }

    /// What a success body says, or what it lacks.
    pub fn decode(self, body: &Value) -> Result<ReplyBody, &'static str> {
        match self {
            Self::ChatCompletions => chat_completions::read_answer(body),
        }
    }
}

/// A request as it is sent: its body, whose bytes bound the tokens read, and the limit of
/// the tokens written.
#[derive(Debug)]
pub(super) struct EncodedRequest {
    pub json: Box<RawValue>,
    pub max_output_tokens: Option<u32>,
}

impl EncodedRequest {
    fn new(
        body: &impl Serialize,
        max_output_tokens: Option<u32>,
    ) -> Result<Self, serde_json::Error> {
        Ok(Self {
            json: to_raw_value(body)?,
            max_output_tokens,
        })
    }
}

/// The strictest answer format that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FormatLevel {
    /// No `response_format`.
    Text,
    /// `json_object`.
    JsonObject,
    /// `json_schema`.
    JsonSchema,
}

/// Which parameter limits the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TokenLimit {
    /// `max_tokens`: compatible servers and older models.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's current models.
    MaxCompletionTokens,
}

/// Which role instructions are sent with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SystemRole {
    System,
    /// `developer`: OpenAI's reasoning models.
    Developer,
    /// `user`: models without instructions of their own.
    User,
}

/// Which parts of a request are sent to this model, and under which names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiDialect {
    pub(crate) token_limit: TokenLimit,
    pub(crate) system_role: SystemRole,
    pub temperature: bool,
    pub seed: bool,
    pub format: FormatLevel,
}

impl ApiDialect {
    pub fn left_out(self, request: &ChatRequest) -> Vec<String> {
        let parts = [
            (
                "temperature",
                request.temperature.is_some() && !self.temperature,
            ),
            ("seed", request.seed.is_some() && !self.seed),
        ];
        let left_out = parts.into_iter().filter(|(_, left_out)| *left_out);
        left_out.map(|(name, _)| name.to_owned()).collect()
    }

    /// Adopts what changed from `before` to `after`, and nothing else.
    pub(crate) fn adopt(&mut self, before: Self, after: Self) {
        if before.token_limit != after.token_limit {
            self.token_limit = after.token_limit;
        }
        if before.system_role != after.system_role {
            self.system_role = after.system_role;
        }
        self.temperature &= after.temperature;
        self.seed &= after.seed;
        self.format = self.format.min(after.format);
    }
}

/// The contents of a success body.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ReplyBody {
    pub content: String,
    pub tool_calls: Vec<ToolCall>,
    pub finish: FinishReason,
    pub refusal: Option<String>,
    pub usage: Option<Usage>,
    pub partial_usage: Option<Usage>,
    pub model: Option<String>,
    pub id: Option<String>,
}
