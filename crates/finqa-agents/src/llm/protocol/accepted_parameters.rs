//! The dialect of one model's server: the parts of a request that it accepts, and their names.

use serde::Deserialize;

use crate::llm::types::{ChatRequest, ReplyFormat};

/// The strictest reply format that a server accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::llm) enum FormatLevel {
    /// No format, plain text.
    Text,
    /// `json_object`.
    JsonObject,
    /// `json_schema`, or a tool with the schema that the model is forced to call.
    JsonSchema,
}

impl FormatLevel {
    /// The level to request for a format, if the server accepts this level.
    pub(in crate::llm) fn for_format(self, format: &ReplyFormat) -> Self {
        match format {
            ReplyFormat::Text => Self::Text,
            ReplyFormat::JsonSchema { or_text: true, .. } if self < Self::JsonSchema => Self::Text,
            ReplyFormat::JsonSchema { .. } => self,
        }
    }
}

/// The parameter that limits the length of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm) enum TokenLimit {
    /// `max_tokens`: compatible servers and older models.
    MaxTokens,
    /// `max_completion_tokens`: OpenAI's current models.
    MaxCompletionTokens,
}

/// The role of messages with instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::llm) enum SystemRole {
    #[default]
    System,
    /// `developer`: OpenAI's reasoning models.
    Developer,
    /// `user`: for models without an instruction role.
    User,
}

/// The parts of a request that this model accepts, and their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::llm) struct AcceptedParameters {
    pub(crate) token_limit: TokenLimit,
    pub(crate) system_role: SystemRole,
    pub temperature: bool,
    pub seed: bool,
    pub format: FormatLevel,
    /// True if parts of the prompt are marked for the provider's cache.
    pub(crate) cache_marks: bool,
    /// The output limit of a request that does not set one. It is needed because a model may repeat
    /// itself without end.
    pub(crate) reply_limit: Option<u32>,
}

impl AcceptedParameters {
    /// The output limit of a request; `None` if it has none.
    pub(crate) fn max_tokens(self, request: &ChatRequest) -> Option<u32> {
        request.max_output_tokens.or(self.reply_limit)
    }

    /// The names of the request's sampling settings that this dialect leaves out.
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
}
