//! Decides whether a reply is an answer. The server's own statement about how the reply ended may
//! be wrong.

use serde::de::IgnoredAny;

use super::error::{ErrorKind, ModelError};
use super::types::{ChatReply, ChatRequest, FinishReason, ReplyFormat, ToolCall};
use crate::parse::{self, CriticVerdict};

/// Returns the reply if it is an answer. It is a failure of the provider if the provider gave up
/// the reply, or if the reply ended in an unknown way and is empty or cut off.
///
/// # Errors
/// [`ErrorKind::GatewayFailed`].
pub(crate) fn usable_reply(
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
        // A known end, for example at the limit of output tokens, is no failure here; the caller
        // decides what it means.
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

/// True if the reply is complete, even if its server says otherwise.
pub(super) fn is_complete(request: &ChatRequest, reply: &ChatReply) -> bool {
    let text = reply.content.trim();
    // Another object after the first may be cut off.
    let is_last = |rest: &str| !rest.contains('{');
    let has_verdict = || !matches!(parse::verdict(text), CriticVerdict::Unparsable { .. });
    if !reply.tool_calls.is_empty() {
        // If the server says that the reply ended with calls, a broken call is the model's mistake,
        // and the model is told what is wrong with it.
        let ended = reply.finish == FinishReason::ToolCalls;
        return ended || reply.tool_calls.iter().all(is_whole);
    }
    // The end mark of a call that the model wrote as text (`solve::text_tool_calls`).
    text.ends_with("</tool_call>")
        || parse::after_object(text).is_some_and(is_last)
        || match &request.format {
            // The end of a plain text cannot be recognised by the text itself.
            ReplyFormat::Text => !text.is_empty() && !reply.finish.explains_silence(),
            ReplyFormat::JsonSchema { or_text, .. } => *or_text && has_verdict(),
        }
}

/// True if the arguments of a call are not cut off. Other faults in the arguments are the model's
/// mistake.
fn is_whole(call: &ToolCall) -> bool {
    let arguments = call.arguments.trim();
    let read = serde_json::from_str::<IgnoredAny>(arguments);
    arguments.is_empty() || !read.is_err_and(|error| error.is_eof())
}
