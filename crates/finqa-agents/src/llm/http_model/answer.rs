//! The result of an attempt, live or in a batch: its answer, or the meaning of its failure.

use std::sync::atomic::Ordering;

use serde_json::Value;

use finqa_core::secrets::{redact, redact_json};
use finqa_core::text;

use super::call::{HttpCall, unsendable};
use crate::llm::batch::{BatchReply, BatchSender};
use crate::llm::classify::{self, ErrorDetails};
use crate::llm::error::ErrorKind;
use crate::llm::protocol::{EncodedRequest, ReplyBody};
use crate::llm::retry::FailedAttempt;
use crate::llm::transport::{Attempt, HttpReply};

impl HttpCall<'_> {
    /// Sends a request in a batch, and reads its result like a reply.
    pub(super) async fn in_batch(
        &self,
        sender: &BatchSender,
        encoded: &EncodedRequest,
    ) -> Result<(ReplyBody, HttpReply), FailedAttempt> {
        let Self { model, request, .. } = self;
        let upper = model.budget.upper_bound(encoded, true)?;
        let sent = sender.send(request, encoded, upper, self.stop).await;
        let (answer, waited) =
            sent.map_err(|error| FailedAttempt::permanent(unsendable(error.to_string())))?;
        if let Some(limited) = &self.limited {
            limited.has_waited(waited);
        }
        let BatchReply {
            reply,
            reservation,
            is_lost,
        } = answer.ok_or_else(FailedAttempt::cancelled)?;
        let attempt = Attempt {
            exchange: reply,
            broken: None,
        };
        let judged = self.judge(&attempt);
        let failed = judged.as_ref().err();
        let is_lost = is_lost || failed.is_some_and(|failed| failed.error.lost_an_answer());
        self.transport.count(is_lost);
        if let Some(reservation) = reservation {
            let answer = judged.as_ref().ok();
            model
                .budget
                .record_actual(reservation, answer, is_lost, true);
        }
        judged.map(|answer| (answer, attempt.exchange))
    }

    /// The answer in an attempt, or what its failure means.
    pub(super) fn judge(&self, attempt: &Attempt) -> Result<ReplyBody, FailedAttempt> {
        let model = self.model;
        let secret = model.settings.key();
        let reached = if attempt.exchange.status == 0 {
            model.reached.load(Ordering::Relaxed)
        } else {
            model.reached.store(true, Ordering::Relaxed);
            true
        };
        let exchange = &attempt.exchange;
        if attempt.broken.is_some() || !(200..300).contains(&exchange.status) {
            return Err(classify::classify_attempt(attempt, secret, reached));
        }
        let mut body: Value = serde_json::from_slice(&exchange.body).map_err(|error| {
            let (kind, message) = if error.is_eof() {
                (
                    ErrorKind::CutOff,
                    "the JSON of the body ends early".to_owned(),
                )
            } else {
                (
                    ErrorKind::Malformed,
                    unreadable(&format!("the body is not JSON: {error}"), exchange, secret),
                )
            };
            classify::classify_refusal(kind, &message, exchange, secret)
        })?;
        // From here on, what is read is kept and shown.
        redact_json(&mut body, &[secret]);
        match model.protocol.decode(&body, self.request) {
            Ok(answer) => Ok(answer),
            // Some gateways return the failure of the server behind them as a success.
            Err(_) if body.get("error").is_some_and(|error| !error.is_null()) => {
                let words = ErrorDetails::read(&exchange.body);
                let status = words
                    .code
                    .parse()
                    .ok()
                    .filter(|status| (400..600).contains(status))
                    .unwrap_or(500);
                let kind = classify::kind_of(status, &words);
                Err(classify::classify_refusal(
                    kind, &words.message, exchange, secret,
                ))
            }
            Err(missing) => Err(classify::classify_refusal(
                ErrorKind::Malformed,
                &unreadable(missing, exchange, secret),
                exchange,
                secret,
            )),
        }
    }
}

/// Why a reply cannot be read, with its beginning. A secret is struck out before it is cut.
fn unreadable(reason: &str, exchange: &HttpReply, secret: &str) -> String {
    const QUOTED: usize = 80;
    let body = String::from_utf8_lossy(&exchange.body);
    let begins = text::one_line(&redact(&body, &[secret]), QUOTED);
    format!("{reason}; it begins with `{begins}`")
}
