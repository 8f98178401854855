//! The protocols that servers speak: what a request looks like on the wire, and what a
//! success body says. Sending, retries and errors are `http_model`'s.

mod chat_completions;
mod messages;
mod responses;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::types::{ChatRequest, FinishReason, ReplyFormat, ToolCall, ToolChoice, ToolSpec, Usage};

pub(super) use chat_completions::{message, tool};

/// The format of requests and replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Protocol {
    /// OpenAI's chat completions, which most servers speak.
    ChatCompletions,
    /// OpenAI's Responses.
    Responses,
    /// Anthropic's Messages.
    Messages,
}

impl Protocol {
    /// The path below the base address.
    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::ChatCompletions => "/chat/completions",
            Self::Responses => "/responses",
            Self::Messages => "/v1/messages",
        }
    }

    /// The parameter that asks for a format.
    pub(crate) fn format_parameter(self) -> &'static str {
        match self {
            Self::ChatCompletions => "response_format",
            Self::Responses => "text.format",
            Self::Messages => "tool_choice",
        }
    }

    /// The request's body.
    pub(crate) fn encode(
        self,
        model: &str,
        request: &ChatRequest,
        dialect: ApiDialect,
    ) -> Result<EncodedRequest, serde_json::Error> {
        let write = match self {
            Self::ChatCompletions => chat_completions::body,
            Self::Responses => responses::body,
            Self::Messages => messages::body,
        };
        Ok(EncodedRequest {
            json: to_raw_value(&write(model, request, dialect))?.into(),
            max_output_tokens: match self {
                Self::ChatCompletions | Self::Responses => request.max_output_tokens,
                Self::Messages => Some(messages::max_tokens(request)),
            },
        })
    }

    /// The reply in a success body to `request`, or the error about what it lacks.
    pub(crate) fn decode(
        self,
        body: &Value,
        request: &ChatRequest,
    ) -> Result<ReplyBody, &'static str> {
        match self {
            Self::ChatCompletions => chat_completions::read_answer(body),
            Self::Responses => responses::read_answer(body),
            Self::Messages => messages::read_answer(body, request),
        }
    }
}

/// An encoded request: its body, and the limit of output tokens.
#[derive(Debug)]
pub(super) struct EncodedRequest {
    pub json: Arc<RawValue>,
    pub(crate) max_output_tokens: Option<u32>,
}

impl EncodedRequest {
    /// The most tokens that a server can read in it: a token is a byte or more, and a chat
    /// template may add some.
    pub(super) fn most_input_tokens(&self) -> u64 {
        const TEMPLATE_TOKENS: u64 = 1024;
        (self.json.get().len() as u64).saturating_add(TEMPLATE_TOKENS)
    }
}

/// The strictest answer format that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FormatLevel {
    /// No format.
    Text,
    /// `json_object`.
    JsonObject,
    /// `json_schema`, or a tool with the schema that the model must call.
    JsonSchema,
}

impl FormatLevel {
    /// The level to request from a server that accepts this much.
    pub(super) fn for_format(self, format: &ReplyFormat) -> Self {
        match format {
            ReplyFormat::Text => Self::Text,
            ReplyFormat::JsonObject => self.min(Self::JsonObject),
            ReplyFormat::JsonSchema { or_text: true, .. } if self < Self::JsonSchema => Self::Text,
            ReplyFormat::JsonSchema { .. } => self,
        }
    }
}

/// The parameter that limits the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum TokenLimit {
    /// `max_tokens`: compatible servers and older models.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's current models.
    MaxCompletionTokens,
}

/// The role that instructions are sent with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum SystemRole {
    #[default]
    System,
    /// `developer`: OpenAI's reasoning models.
    Developer,
    /// `user`: for models without an instruction role.
    User,
}

/// The parts of a request that this model accepts, and their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ApiDialect {
    pub(crate) token_limit: TokenLimit,
    pub(crate) system_role: SystemRole,
    pub temperature: bool,
    pub seed: bool,
    pub format: FormatLevel,
    /// Mark parts of the prompt for the provider's cache.
    #[serde(default)]
    pub(crate) cache_marks: bool,
}

impl ApiDialect {
    pub(crate) fn left_out(self, request: &ChatRequest) -> Vec<String> {
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
        self.cache_marks &= after.cache_marks;
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
    pub(crate) partial_usage: Option<Usage>,
    pub model: Option<String>,
    pub id: Option<String>,
    /// The server accepted a request for a format and ignored it.
    pub(crate) ignored_format: bool,
}

impl ReplyBody {
    /// Sets the tokens: all, or the known part where those read or those written are missing.
    fn set_usage(&mut self, input: Option<u64>, output: Option<u64>, parts: Usage) {
        let known = Usage {
            input_tokens: input.unwrap_or(0),
            output_tokens: output.unwrap_or(0),
            ..parts
        };
        match (input, output) {
            (Some(_), Some(_)) => self.usage = Some(known),
            (None, None) => {}
            _ => self.partial_usage = Some(known),
        }
    }
}

/// A JSON object of those fields that have a value, in this order.
fn object<const N: usize>(fields: [(&str, Option<Value>); N]) -> Value {
    let fields = fields.into_iter();
    fields
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

fn temperature(request: &ChatRequest, dialect: ApiDialect) -> Option<Value> {
    let temperature = request.temperature.filter(|_| dialect.temperature);
    temperature.map(Value::from)
}

/// The tools of a request that has some.
fn tools(request: &ChatRequest, tool: fn(&ToolSpec) -> Value) -> Option<Value> {
    (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect())
}

/// The format by one of OpenAI's APIs, which differ in where they have the schema.
fn openai_format(
    request: &ChatRequest,
    dialect: ApiDialect,
    with_schema: impl Fn(&str, bool, &Value) -> Value,
) -> Option<Value> {
    match (&request.format, dialect.format.for_format(&request.format)) {
        (_, FormatLevel::Text) => None,
        (
            ReplyFormat::JsonSchema {
                name,
                schema,
                strict,
                ..
            },
            FormatLevel::JsonSchema,
        ) => Some(with_schema(name, *strict, schema)),
        _ => Some(json!({"type": "json_object"})),
    }
}

/// The choice of a tool by one of OpenAI's APIs, which differ in how they name a function.
fn openai_tool_choice(request: &ChatRequest, function: impl Fn(&str) -> Value) -> Option<Value> {
    match &request.tool_choice {
        _ if request.tools.is_empty() => None,
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Function(name) => Some(function(name)),
    }
}

/// A text that is there and not empty.
fn text(value: Option<&Value>) -> Option<String> {
    let text = value.and_then(Value::as_str)?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn count(body: &Value, path: &str) -> Option<u64> {
    body.pointer(path).and_then(Value::as_u64)
}

/// A call's arguments: the JSON that the model wrote, though some servers send an object.
fn arguments(value: Option<&Value>) -> String {
    match value {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Null) | None => String::new(),
        Some(object) => object.to_string(),
    }
}

/// A call's id, which its result must quote: made up if the server sent none.
fn call_id(value: Option<&Value>, index: usize) -> String {
    text(value).unwrap_or_else(|| format!("call_{index}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_adopts_what_two_calls_have_learnt_at_the_same_time() {
        let known = ApiDialect {
            token_limit: TokenLimit::MaxCompletionTokens,
            system_role: SystemRole::System,
            temperature: true,
            seed: true,
            format: FormatLevel::JsonSchema,
            cache_marks: true,
        };
        let mut shared = known;
        for learnt in [
            ApiDialect {
                temperature: false,
                format: FormatLevel::JsonObject,
                ..known
            },
            ApiDialect {
                token_limit: TokenLimit::MaxTokens,
                system_role: SystemRole::Developer,
                seed: false,
                cache_marks: false,
                ..known
            },
        ] {
            shared.adopt(known, learnt);
        }
        let both = ApiDialect {
            token_limit: TokenLimit::MaxTokens,
            system_role: SystemRole::Developer,
            temperature: false,
            seed: false,
            format: FormatLevel::JsonObject,
            cache_marks: false,
        };
        assert_eq!(shared, both);
    }
}
