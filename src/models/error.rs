//! How a call to a model fails: a kind that callers decide by, and what the
//! server said, kept for the person who has to find out why.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

/// What went wrong; callers branch on this, never on the text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The key is missing, wrong, or not allowed here (401, 403).
    Unauthorized,
    /// No such model, deployment or path (404).
    NotFound,
    /// The server refused the request itself (400, 413, 422 and the like).
    BadRequest {
        /// The parameter that it named, if it named one.
        parameter: Option<String>,
    },
    /// Too many requests or tokens a minute (429).
    RateLimited,
    /// The account has no money or quota left (`insufficient_quota`): waiting does not help.
    QuotaExceeded,
    /// The server failed (408, 409, 425 and 5xx).
    ServerError,
    /// No whole answer within the time of an attempt.
    Timeout,
    /// No connection: dead host, refused port, unknown name.
    Connect,
    /// The encrypted connection could not be made: certificates, versions.
    Tls,
    /// The connection broke, or the body ended before its announced length.
    CutOff,
    /// A success status with a body that is no chat completion.
    Malformed,
    /// The provider's filter refused the prompt (400 `content_filter`).
    ContentFilter,
    /// The prompt does not fit into the model's context.
    ContextTooLong,
    /// The caller's token was cancelled.
    Cancelled,
    /// The settings cannot work: a malformed address, or one that redirects elsewhere.
    Settings,
}

impl ErrorKind {
    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::ServerError
                | Self::Timeout
                | Self::Connect
                | Self::CutOff
                | Self::Malformed
        )
    }

    /// A stable word for it: journal, CSV and metrics use it.
    #[must_use]
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unauthorized => "unauthorized",
            Self::NotFound => "not_found",
            Self::BadRequest { .. } => "bad_request",
            Self::RateLimited => "rate_limited",
            Self::QuotaExceeded => "quota_exceeded",
            Self::ServerError => "server_error",
            Self::Timeout => "timeout",
            Self::Connect => "connect",
            Self::Tls => "tls",
            Self::CutOff => "cut_off",
            Self::Malformed => "malformed",
            Self::ContentFilter => "content_filter",
            Self::ContextTooLong => "context_too_long",
            Self::Cancelled => "cancelled",
            Self::Settings => "settings",
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Self::Unauthorized => "the provider refused the key",
            Self::NotFound => "the provider knows no such model, deployment or path",
            Self::BadRequest { .. } => "the provider refused the request",
            Self::RateLimited => "the provider's rate limit was hit",
            Self::QuotaExceeded => "the account's quota is used up",
            Self::ServerError => "the provider failed",
            Self::Timeout => "no whole answer in time",
            Self::Connect => "no connection to the provider",
            Self::Tls => "no encrypted connection to the provider",
            Self::CutOff => "the connection broke before the answer was whole",
            Self::Malformed => "the provider's answer is no chat completion",
            Self::ContentFilter => "the provider's content filter refused the prompt",
            Self::ContextTooLong => "the prompt is longer than the model's context",
            Self::Cancelled => "cancelled",
            Self::Settings => "the model's settings cannot work",
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.describe())
    }
}

/// A call that brought no answer.
#[derive(Debug, Clone, thiserror::Error)]
pub struct ModelError {
    /// What went wrong.
    pub kind: ErrorKind,
    /// What the server or the transport said, one line.
    pub message: String,
    /// The HTTP status of the last attempt that had one.
    pub status: Option<u16>,
    /// The provider's id of that attempt.
    pub request_id: Option<String>,
    /// Its body as sent, cut at [`ModelError::MAX_BODY`] bytes.
    pub body: Option<String>,
    /// HTTP requests sent for this call.
    pub attempts: u32,
    /// The transport's own error.
    #[source]
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl ModelError {
    /// Most bytes of a body that are kept.
    pub const MAX_BODY: usize = 16 * 1024;

    /// An error of this kind; the rest is filled in by who knows it.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            status: None,
            request_id: None,
            body: None,
            attempts: 0,
            source: None,
        }
    }

    /// The caller's token was cancelled after so many HTTP requests.
    #[must_use]
    pub fn cancelled(attempts: u32) -> Self {
        Self {
            attempts,
            ..Self::new(ErrorKind::Cancelled, String::new())
        }
    }

    /// The same error with the transport's own error kept.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Arc<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The error without what a provider said, which may quote the prompt or the
    /// reply; our own words about the connection stay.
    #[must_use]
    pub fn without_words(&self) -> Self {
        let ours = matches!(
            self.kind,
            ErrorKind::Timeout
                | ErrorKind::Connect
                | ErrorKind::Tls
                | ErrorKind::CutOff
                | ErrorKind::Malformed
                | ErrorKind::Cancelled
                | ErrorKind::Settings
        );
        let message = if ours {
            self.message.clone()
        } else {
            String::new()
        };
        Self {
            message,
            body: None,
            ..self.clone()
        }
    }

    /// Whether a model may have worked, and been paid, for a request of this call
    /// although no answer arrived.
    #[must_use]
    pub fn may_have_been_billed(&self) -> bool {
        self.attempts > 0
            && matches!(
                self.kind,
                ErrorKind::Timeout
                    | ErrorKind::CutOff
                    | ErrorKind::Malformed
                    | ErrorKind::Cancelled
            )
    }

    /// Whether every other call of this run would fail alike, so that the run
    /// stops instead of failing question by question: a wrong key, an unknown
    /// model, a dead host, no money left, settings that cannot work.
    #[must_use]
    pub fn is_fatal_for_run(&self) -> bool {
        matches!(
            self.kind,
            ErrorKind::Unauthorized
                | ErrorKind::NotFound
                | ErrorKind::QuotaExceeded
                | ErrorKind::Connect
                | ErrorKind::Tls
                | ErrorKind::Settings
        )
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

    #[test]
    fn the_text_is_one_line_with_status_request_and_attempts() {
        let error = ModelError {
            status: Some(503),
            request_id: Some("req_7".into()),
            attempts: 4,
            ..ModelError::new(ErrorKind::ServerError, "overloaded")
        };
        assert_eq!(
            error.to_string(),
            "the provider failed: overloaded (status 503, request req_7, 4 attempts)"
        );
    }

    #[test]
    fn only_what_every_call_would_meet_ends_a_run() {
        let fatal = |kind| ModelError::new(kind, "").is_fatal_for_run();
        assert!(fatal(ErrorKind::Unauthorized));
        assert!(fatal(ErrorKind::NotFound));
        assert!(fatal(ErrorKind::Connect));
        assert!(!fatal(ErrorKind::ContentFilter));
        assert!(!fatal(ErrorKind::RateLimited));
        assert!(!fatal(ErrorKind::BadRequest { parameter: None }));
    }
}
