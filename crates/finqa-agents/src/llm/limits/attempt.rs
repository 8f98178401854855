//! The amounts that an HTTP attempt takes of the limits, and the report of its end.

use super::{AttemptEnd, LimitVerdict, Slot, TokenBound, reported_quotas};
use crate::llm::error::ErrorKind;
use crate::llm::protocol::{EncodedRequest, ReplyBody};
use crate::llm::retry::FailedAttempt;
use crate::llm::transport::Attempt;
use crate::llm::types::DEFAULT_MAX_TOKENS;

/// An upper bound of tokens, until the reply corrects the count. An answer without a limit
/// is rarely longer than this.
pub(in crate::llm) fn token_bound(request: &EncodedRequest) -> TokenBound {
    TokenBound {
        input: request.most_input_tokens(),
        output: u64::from(request.max_output_tokens.unwrap_or(DEFAULT_MAX_TOKENS)),
    }
}

/// Reports the end of an attempt to the limits.
pub(in crate::llm) fn end_slot(
    slot: Slot,
    attempt: &Attempt,
    judged: &Result<ReplyBody, FailedAttempt>,
) {
    let (verdict, tokens) = match judged {
        Ok(answer) => (LimitVerdict::Answered, answer.usage.map(|it| it.total())),
        Err(failed) if failed.error.kind == ErrorKind::RateLimited => {
            (LimitVerdict::RateLimited, Some(0))
        }
        Err(_) => (LimitVerdict::Unrelated, None),
    };
    slot.end(&AttemptEnd {
        verdict,
        tokens,
        quotas: reported_quotas(&attempt.exchange.headers),
    });
}
