//! What an HTTP attempt takes of the limits, and what its end tells them.

use std::time::SystemTime;

use super::{AttemptEnd, LimitVerdict, Slot, TokenBound, reported_quotas};
use crate::models::error::ErrorKind;
use crate::models::protocol::{EncodedRequest, ReplyBody};
use crate::models::retry::FailedAttempt;
use crate::models::transport::Attempt;

/// At most these tokens: one is a byte or more, and an answer without a limit of its own is
/// rarely longer than this. The budget also counts what a chat template may add, because money
/// that is spent stays spent; here the reply corrects the count, and a larger one would allow
/// fewer requests below a small ceiling.
pub(in crate::models) fn token_bound(request: &EncodedRequest) -> TokenBound {
    const UNLIMITED_OUTPUT: u32 = 4096;
    TokenBound {
        input: request.json.get().len() as u64,
        output: u64::from(request.max_output_tokens.unwrap_or(UNLIMITED_OUTPUT)),
    }
}

/// Tells the limits how an attempt ended.
pub(in crate::models) fn end_slot(
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
        quotas: reported_quotas(&attempt.exchange.headers, SystemTime::now()),
    });
}
