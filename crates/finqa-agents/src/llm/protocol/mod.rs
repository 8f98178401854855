//! Writes requests and reads success bodies in the protocols of servers. `http_model` sends,
//! retries and reads errors. Each protocol has a file, which uses `parts` and `counts`.
//! `accepted_parameters` describes what a model's server accepts.

mod accepted_parameters;
mod chat_completions;
mod counts;
mod messages;
mod parts;
mod responses;

use std::sync::Arc;

use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::reply_check::is_complete;
use super::types::{ChatReply, ChatRequest, FinishReason};
use crate::parse::after_object;

pub(super) use accepted_parameters::{AcceptedParameters, FormatLevel, SystemRole, TokenLimit};
pub use chat_completions::{messages_json, tools_json};

/// The format of requests and replies on the wire.
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

    /// The name of the parameter for the reply format.
    pub(crate) fn format_parameter(self) -> &'static str {
        match self {
            Self::ChatCompletions => "response_format",
            Self::Responses => "text.format",
            Self::Messages => "tool_choice",
        }
    }

    /// Writes the body of a request.
    pub(crate) fn encode(
        self,
        model: &str,
        request: &ChatRequest,
        dialect: AcceptedParameters,
    ) -> Result<EncodedRequest, serde_json::Error> {
        let write = match self {
            Self::ChatCompletions => chat_completions::body,
            Self::Responses => responses::body,
            Self::Messages => messages::body,
        };
        Ok(EncodedRequest {
            json: to_raw_value(&write(model, request, dialect))?.into(),
            max_output_tokens: dialect.max_tokens(request),
        })
    }

    /// Reads the reply to `request` in a success body. Its `model` is empty if the body does not
    /// name the model. The error says what is missing in the body.
    pub(crate) fn decode(
        self,
        body: &Value,
        request: &ChatRequest,
    ) -> Result<ChatReply, &'static str> {
        let mut reply = match self {
            Self::ChatCompletions => chat_completions::read_answer(body)?,
            Self::Responses => responses::read_answer(body)?,
            Self::Messages => messages::read_answer(body, request)?,
        };
        take_answer(&mut reply, request);
        if !is_complete(request, &reply) {
            // An error next to a complete answer arrived too late to matter.
            for place in ["/error", "/choices/0/message/error"] {
                parts::note_error(&mut reply, body.pointer(place));
            }
        }
        counts::read(&mut reply, body, self);
        let tier = [
            body.get("service_tier"),
            body.pointer("/usage/service_tier"),
        ];
        let tier = tier.into_iter().flatten().find(|tier| !tier.is_null());
        reply.service_tier = tier.map(|tier| parts::text(Some(tier)).unwrap_or(tier.to_string()));
        reply.model = parts::text(body.get("model")).unwrap_or_default();
        Ok(reply)
    }
}

/// If no tool was offered, uses the arguments of a tool call as the answer.
fn take_answer(reply: &mut ChatReply, request: &ChatRequest) {
    if let [call] = reply.tool_calls.as_slice()
        && request.tools.is_empty()
        && reply.content.trim().is_empty()
        && after_object(&call.arguments).is_some()
    {
        reply.content.clone_from(&call.arguments);
        reply.tool_calls.clear();
        if reply.finish == FinishReason::ToolCalls {
            reply.finish = FinishReason::Stop;
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
    /// An upper bound of the tokens that a server can read in the request. A token is at least one
    /// byte, and a chat template may add some tokens.
    pub(super) fn most_input_tokens(&self) -> u64 {
        // Set by hand.
        const TEMPLATE_TOKENS: u64 = 1024;
        (self.json.get().len() as u64).saturating_add(TEMPLATE_TOKENS)
    }
}
