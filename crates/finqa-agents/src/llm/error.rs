//! The errors of model calls. They have a kind for callers to branch on, and the server's message
//! for people who look for the cause.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use finqa_core::error::{Kind, Kinded};
use serde::{Deserialize, Serialize};

/// The kind of an error. Callers branch on the kind, never on the text.
#[derive(
    Debug,
    Clone,
    PartialEq,
    Eq,
    Hash,
    thiserror::Error,
    strum::IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ErrorKind {
    /// The key is missing, wrong, or not allowed for this use (401, 403).
    #[error("the provider refused access")]
    Unauthorized,
    /// The model, deployment or path does not exist (404).
    #[error("the provider has no such model, deployment or path")]
    NotFound,
    /// The server refused the request itself (400, 413, 422 and the like).
    #[error("the provider refused the request")]
    BadRequest { parameter: Option<String> },
    /// The model does not support tools, or its server was started without tool support.
    #[error("the model does not support tool calls")]
    ToolsUnsupported,
    /// Too many requests or tokens per minute (429).
    #[error("the provider's rate limit was hit")]
    RateLimited,
    /// The account has no money or quota left (`insufficient_quota`), so waiting does not help.
    #[error("the account's quota is used up")]
    QuotaExceeded,
    /// The server failed (408, 409, 425, 498 and 5xx).
    #[error("the provider failed")]
    ServerError,
    /// No complete answer arrived within the time of an attempt.
    #[error("no complete answer in time")]
    Timeout,
    /// The connection failed: the host is down, the port refuses, the name is unknown, or the
    /// certificate is not trusted.
    #[error("no connection to the provider")]
    Connect,
    /// The connection broke, or the body ended before its announced length.
    #[error("the connection broke before the answer was complete")]
    CutOff,
    /// The status is a success, but the body is not an answer in the server's protocol.
    #[error("the provider's answer could not be read")]
    Malformed,
    /// The provider's filter refused the prompt (400 `content_filter`).
    #[error("the provider's content filter refused the prompt")]
    ContentFilter,
    /// The prompt does not fit into the model's context.
    #[error("the prompt is longer than the model's context")]
    ContextTooLong,
    /// The output limit of the reply, alone or together with the prompt, is above what the model or
    /// the quota of a minute allows.
    #[error("the limit of output tokens is too high")]
    OutputLimitTooHigh,
    /// The provider refused its model's output, because it is not the requested JSON.
    #[error("the provider refused its model's reply")]
    BadGeneration,
    /// The status is a success, but the reply reports that the provider failed during the reply.
    /// The reply counts as paid.
    #[error("the provider failed while it replied")]
    GatewayFailed,
    /// A failure that `data/failures.json` does not know.
    #[error("the provider failed in an unknown way")]
    Unknown,
    /// The caller cancelled the call.
    #[error("cancelled")]
    Cancelled,
    /// In a replay, the folder has no reply to the request.
    #[error("the reply is not stored")]
    NotStored,
    /// The settings cannot work, because an address is malformed or redirects elsewhere, for
    /// example.
    #[error("the model's settings cannot work")]
    Settings,
}

impl ErrorKind {
    /// True if another attempt of the same request may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::ServerError
                | Self::Timeout
                | Self::Connect
                | Self::CutOff
                | Self::Malformed
                | Self::BadGeneration
        )
    }

    /// True for a failure that ends a call when it occurs a second time (a malformed reply only if
    /// it is malformed in the same way), because each attempt may be billed.
    pub fn may_repeat_at_cost(&self) -> bool {
        matches!(self, Self::Malformed | Self::BadGeneration | Self::Timeout)
    }

    /// A fixed word for the kind, used in the journal, CSV and metrics.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

/// The scope of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Only this request. Other requests may succeed, but this one will not.
    Request,
    /// The provider, at present. The same request may succeed later.
    Provider,
    /// Every request of this run.
    Run,
    /// The caller stopped the call, so nothing failed.
    Cancelled,
}

/// The error of a call without an answer. It is stored when the call is over, without the fields
/// that only decide about further attempts and the end of the run.
#[derive(Debug, Clone, thiserror::Error, Serialize, Deserialize)]
pub struct ModelError {
    pub kind: ErrorKind,
    /// The message of the server or the transport, on one line.
    pub message: String,
    /// The HTTP status of the last attempt with a status.
    pub status: Option<u16>,
    /// The provider's id of the same attempt.
    pub request_id: Option<String>,
    /// The body as the server sent it, cut at [`ModelError::MAX_BODY`] bytes.
    pub body: Option<String>,
    /// Number of HTTP requests sent for this call.
    pub attempts: u32,
    /// Number of these requests that may have been billed although no answer arrived.
    pub lost: u32,
    /// True if the model has answered another call of the run.
    pub after_success: bool,
    /// Time from the first request to the failure, measured like
    /// [`ChatReply::latency`](super::ChatReply).
    pub latency: Duration,
    /// The wait that the server asked for before another attempt.
    #[serde(skip)]
    pub retry_after: Option<Duration>,
    /// The time for which the server had not answered, if it is down.
    #[serde(skip)]
    pub outage: Option<Duration>,
    /// The time that the attempt waited for the limits before it was sent.
    pub queued: Duration,
    /// True if another wait would exceed `give_up_after`. This ends the run.
    #[serde(skip)]
    pub is_given_up: bool,
    #[source]
    #[serde(skip)]
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Kinded for ModelError {
    fn kind(&self) -> Kind {
        match self.kind {
            ErrorKind::Settings => Kind::Usage,
            _ => Kind::Provider,
        }
    }
}

/// The message of an error without numbers and ids, because these differ each time.
pub fn constant_words(error: &str) -> String {
    let words = error.split_whitespace();
    let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}

impl ModelError {
    /// Maximum bytes of a body that an error keeps. Set by hand.
    pub const MAX_BODY: usize = 16 * 1024;

    /// An error of this kind without any further information.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            request_id: None,
            body: None,
            attempts: 0,
            lost: 0,
            after_success: false,
            latency: Duration::ZERO,
            retry_after: None,
            outage: None,
            queued: Duration::ZERO,
            is_given_up: false,
            source: None,
        }
    }

    /// Appends words to the message.
    pub(super) fn add(&mut self, words: &str) {
        if !self.message.is_empty() {
            self.message.push_str("; ");
        }
        self.message.push_str(words);
    }

    /// True if the failed attempt may have been billed although no answer arrived. A refused
    /// request is not billed, and neither is a request that a server rejects only for now (409,
    /// 425, 429, 498, 503, 529). The following may be billed: a lost answer, an answer that the
    /// server failed to finish (500), and on Azure a prompt that was stopped by its filter or its
    /// length.
    pub(super) fn lost_an_answer(&self) -> bool {
        match self.kind {
            ErrorKind::Timeout
            | ErrorKind::CutOff
            | ErrorKind::Malformed
            | ErrorKind::BadGeneration
            | ErrorKind::GatewayFailed
            | ErrorKind::Cancelled => true,
            ErrorKind::ServerError => !matches!(self.status, Some(409 | 425 | 498 | 503 | 529)),
            ErrorKind::ContentFilter | ErrorKind::ContextTooLong => self.status == Some(400),
            _ => false,
        }
    }

    /// True if the server did not answer at all. False if it failed at this request.
    pub(super) fn is_unanswered(&self) -> bool {
        match self.kind {
            ErrorKind::Connect | ErrorKind::CutOff => true,
            // A gateway sends 502 to 504 for a server that does not answer. An overloaded server
            // sends 529.
            ErrorKind::ServerError => matches!(self.status, Some(502..=504 | 529)),
            _ => false,
        }
    }

    /// The scope of the error. Before the first answer, a wrong key, an unknown model or a dead
    /// host affects every call. After the model has answered once, the same refusal affects only
    /// one request, and a failed connection is an outage.
    pub fn scope(&self) -> Scope {
        match self.kind {
            _ if self.is_given_up => Scope::Run,
            ErrorKind::Cancelled => Scope::Cancelled,
            ErrorKind::ContentFilter
            | ErrorKind::ContextTooLong
            | ErrorKind::OutputLimitTooHigh
            | ErrorKind::BadRequest { .. }
            | ErrorKind::ToolsUnsupported
            | ErrorKind::Unknown => Scope::Request,
            ErrorKind::RateLimited
            | ErrorKind::ServerError
            | ErrorKind::Timeout
            | ErrorKind::CutOff
            | ErrorKind::Malformed
            | ErrorKind::BadGeneration
            | ErrorKind::GatewayFailed => Scope::Provider,
            ErrorKind::QuotaExceeded | ErrorKind::NotStored => Scope::Run,
            // A 401 refuses the key itself, while a 403 refuses only one use of it.
            ErrorKind::Unauthorized if self.status == Some(401) => Scope::Run,
            ErrorKind::Connect if self.after_success => Scope::Provider,
            ErrorKind::Unauthorized | ErrorKind::NotFound | ErrorKind::Settings
                if self.after_success =>
            {
                Scope::Request
            }
            ErrorKind::Unauthorized
            | ErrorKind::NotFound
            | ErrorKind::Settings
            | ErrorKind::Connect => Scope::Run,
        }
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if !self.message.is_empty() {
            write!(f, ": {}", self.message)?;
        }
        let mut notes = Vec::new();
        if let Some(status) = self.status {
            notes.push(format!("status {status}"));
        }
        if let Some(id) = &self.request_id {
            notes.push(format!("request {id}"));
        }
        if self.attempts > 1 {
            notes.push(format!("{} attempts", self.attempts));
        }
        if !notes.is_empty() {
            write!(f, " ({})", notes.join(", "))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(kind: ErrorKind, status: Option<u16>, after_success: bool) -> Scope {
        ModelError {
            status,
            after_success,
            ..ModelError::new(kind, "")
        }
        .scope()
    }

    #[test]
    fn only_an_error_that_every_call_would_meet_ends_a_run() {
        let refused = ErrorKind::BadRequest { parameter: None };
        use Scope::{Provider, Request, Run};
        for (kind, status, first, later) in [
            (ErrorKind::Unauthorized, 403, Run, Request),
            (ErrorKind::Unauthorized, 401, Run, Run),
            (ErrorKind::NotFound, 404, Run, Request),
            (ErrorKind::Connect, 0, Run, Provider),
            (ErrorKind::QuotaExceeded, 429, Run, Run),
            (ErrorKind::NotStored, 0, Run, Run),
            (ErrorKind::ContentFilter, 400, Request, Request),
            (ErrorKind::RateLimited, 429, Provider, Provider),
            (refused, 400, Request, Request),
        ] {
            let found = [false, true].map(|after| scope(kind.clone(), Some(status), after));
            assert_eq!(found, [first, later], "{kind}");
        }
    }

    #[test]
    fn a_refused_request_is_not_billed_and_a_lost_one_may_be() {
        use ErrorKind::{Connect, ContentFilter, ContextTooLong, CutOff, Malformed};
        use ErrorKind::{RateLimited, ServerError, Timeout};
        for (kind, status, lost) in [
            (Timeout, 0, true),
            (CutOff, 200, true),
            (Malformed, 200, true),
            (ServerError, 502, true),
            (ServerError, 504, true),
            // A request that the server began to answer before it failed may be billed. A request
            // that it turned away is not.
            (ServerError, 500, true),
            (ServerError, 503, false),
            (ServerError, 529, false),
            // Azure bills prompts that its filter stops.
            (ContentFilter, 400, true),
            (ContextTooLong, 429, false),
            (RateLimited, 429, false),
            (Connect, 0, false),
        ] {
            let error = ModelError {
                status: Some(status),
                ..ModelError::new(kind, "")
            };
            assert_eq!(error.lost_an_answer(), lost, "{error}");
        }
    }
}
