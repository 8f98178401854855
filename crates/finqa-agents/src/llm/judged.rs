//! Whether a reply is an answer, whatever its server says of how it ended.

use serde::de::IgnoredAny;

use super::error::{ErrorKind, ModelError};
use super::types::{ChatReply, ChatRequest, FinishReason, ReplyFormat, ToolCall};
use crate::parse::{self, CriticVerdict};

/// The answer in a reply. A reply that the provider gave up, or that ended in an unknown way and
/// is empty or cut, is a failure of the provider.
///
/// # Errors
/// [`ErrorKind::GatewayFailed`].
pub(crate) fn judged(
    request: &ChatRequest,
    reply: ChatReply,
) -> Result<ChatReply, Box<ModelError>> {
    let why = match (&reply.failure, &reply.finish) {
        _ if reply.is_withheld() => None,
        (Some(words), _) => Some(words.clone()),
        (None, word) if word.is_failure() => Some(format!("its finish_reason is `{word}`")),
        (None, word @ (FinishReason::Other(_) | FinishReason::ToolCalls)) => {
            let why = format!("its reply is not complete, and its finish_reason is `{word}`");
            (!is_complete(request, &reply)).then_some(why)
        }
        _ => None,
    };
    let Some(why) = why else { return Ok(reply) };
    Err(Box::new(ModelError {
        request_id: reply.request_id,
        attempts: reply.attempts,
        lost: reply.lost,
        latency: reply.latency,
        ..ModelError::new(ErrorKind::GatewayFailed, why)
    }))
}

/// True if a reply has everything, whatever its server says of how it ended.
pub(super) fn is_complete(request: &ChatRequest, reply: &ChatReply) -> bool {
    let text = reply.content.trim();
    let is_last = |rest: &str| !rest.contains('{');
    let has_verdict = || !matches!(parse::verdict(text), CriticVerdict::Unparsable { .. });
    if !reply.tool_calls.is_empty() {
        // A model that says that it ended its calls is told what is wrong with one.
        let ended = reply.finish == FinishReason::ToolCalls;
        return ended || reply.tool_calls.iter().all(is_whole);
    }
    text.ends_with("</tool_call>")
        || parse::after_object(text).is_some_and(is_last)
        || match &request.format {
            // Nothing in a text shows where it ends.
            ReplyFormat::Text => !text.is_empty() && !reply.finish.explains_silence(),
            ReplyFormat::JsonSchema { or_text, .. } => *or_text && has_verdict(),
        }
}

/// True if the arguments of a call do not end too early. Wrong ones are its model's mistake.
fn is_whole(call: &ToolCall) -> bool {
    let arguments = call.arguments.trim();
    let read = serde_json::from_str::<IgnoredAny>(arguments);
    arguments.is_empty() || !read.is_err_and(|error| error.is_eof())
}
