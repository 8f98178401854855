//! What a failed exchange means: the server's words turned into a kind.
//!
//! Servers disagree on shape (`error` as object, as string, absent), on the type
//! of `code` (string, integer, null) and on the status, so words are read leniently and
//! the status decides only where they say nothing.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use finqa_core::error::innermost;
use finqa_core::net::retry_after;
use finqa_core::secrets::redact;
use finqa_core::text;

use super::error::{ErrorKind, ModelError};
use super::transport::HttpReply;

/// A server's description of a failure.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ErrorDetails {
    /// One line; may be empty.
    pub message: String,
    /// `code`, or else `type`; lower case.
    pub code: String,
    /// `type`, lower case.
    pub kind: String,
    pub parameter: Option<String>,
}

impl ErrorDetails {
    /// Reads a body: JSON of any of the known shapes, an HTML page, or plain text.
    pub(crate) fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match serde_json::from_str::<Value>(&text) {
            Ok(Value::Array(list)) => list.first().map(Self::from_json).unwrap_or_default(),
            Ok(value @ Value::Object(_)) => Self::from_json(&value),
            _ if text.trim_start().starts_with('<') => Self {
                message: "an HTML page".to_owned(),
                ..Self::default()
            },
            _ => Self {
                message: one_line(&text),
                ..Self::default()
            },
        }
    }

    fn from_json(value: &Value) -> Self {
        let error = match value.get("error") {
            Some(Value::String(message)) => {
                return Self {
                    message: one_line(message),
                    ..Self::default()
                };
            }
            Some(error @ Value::Object(_)) => error,
            _ => value,
        };
        let word = |name: &str| match error.get(name) {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        };
        let message = match (error.get("message"), error.get("detail")) {
            (Some(Value::String(text)), _) | (None, Some(Value::String(text))) => text.clone(),
            // FastAPI's list of validation errors.
            (Some(other), _) | (None, Some(other)) => other.to_string(),
            (None, None) => String::new(),
        };
        let mut parameter = word("param");
        // Anthropic names it at the beginning of the message: `max_tokens: …`, `tools.0.name: …`.
        if parameter.is_empty()
            && value.get("type").is_some_and(|kind| kind == "error")
            && let Some((path, _)) = message.split_once(": ")
            && path.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte)
            })
        {
            path.clone_into(&mut parameter);
        }
        Self {
            message: one_line(&message),
            code: word("code").to_ascii_lowercase(),
            kind: word("type").to_ascii_lowercase(),
            parameter: Some(parameter).filter(|name| !name.is_empty()),
        }
    }

    fn is_named(&self, word: &str) -> bool {
        self.code == word || self.kind == word
    }

    fn mentions(&self, words: &str) -> bool {
        self.message
            .as_bytes()
            .windows(words.len())
            .any(|window| window.eq_ignore_ascii_case(words.as_bytes()))
    }

    fn is_quota(&self) -> bool {
        [
            "insufficient_quota", "billing_hard_limit_reached", "billing_not_active",
        ]
        .iter()
        .any(|word| self.is_named(word))
            || self.mentions("exceeded your current quota")
            || self.mentions("credit balance is too low")
            || self.mentions("reached your specified api usage limits")
    }

    fn is_content_filter(&self) -> bool {
        self.is_named("content_filter")
            // How OpenAI's reasoning models are refused.
            || (self.is_named("invalid_prompt") && self.mentions("usage policy"))
    }

    /// Servers say so in words, e.g. Ollama: `… does not support tools`; vLLM: `"auto" tool choice requires …`;
    /// llama.cpp: `tools param requires --jinja flag`.
    fn refuses_tools(&self) -> bool {
        let named = self.parameter.as_deref();
        let unsupported = ["support", "require", "enable", "not allowed"];
        matches!(named, Some("tools" | "tool_choice"))
            || (self.mentions("tool") && unsupported.iter().any(|words| self.mentions(words)))
    }

    fn is_too_long(&self) -> bool {
        self.is_named("context_length_exceeded")
            || self.is_named("exceed_context_size_error")
            || self.is_named("request_too_large")
            || self.mentions("maximum context length")
            || self.mentions("prompt is too long")
            || self.mentions("exceed context limit")
            || self.mentions("available context size")
            || self.mentions("exceeds the context window")
    }
}

pub(super) fn kind_of(status: u16, words: &ErrorDetails) -> ErrorKind {
    match status {
        _ if words.is_content_filter() => ErrorKind::ContentFilter,
        402 => ErrorKind::QuotaExceeded,
        401 | 403 => ErrorKind::Unauthorized,
        400 | 429 if words.is_quota() => ErrorKind::QuotaExceeded,
        // One request above the whole minute's allowance: waiting does not help.
        429 if words.mentions("request too large") => ErrorKind::ContextTooLong,
        429 => ErrorKind::RateLimited,
        404 | 405 | 410 => ErrorKind::NotFound,
        408 | 409 | 425 | 500.. => ErrorKind::ServerError,
        _ if words.is_too_long() => ErrorKind::ContextTooLong,
        400 if words.is_named("model_not_found") || words.parameter.as_deref() == Some("model") => {
            ErrorKind::NotFound
        }
        300..=399 => ErrorKind::Settings,
        _ if words.refuses_tools() => ErrorKind::ToolsUnsupported,
        _ => ErrorKind::BadRequest {
            parameter: words.parameter.clone(),
        },
    }
}

/// Refuses a reply that is incomplete or no success.
///
/// `secret` is removed from everything that is kept.
pub(super) fn success(exchange: &HttpReply, secret: &str) -> Result<(), Box<ModelError>> {
    if let Some(broken) = &exchange.broken {
        let mut error = broken.clone();
        if let Some(source) = &broken.source {
            error.message = one_line(&innermost(source.as_ref()).to_string());
            // What rustls reads where the answer is not encrypted.
            if error.message.contains("InvalidContentType") {
                error.message.push_str("; does the server speak http?");
            }
        }
        return Err(Box::new(with_exchange(error, exchange, secret)));
    }
    if (200..300).contains(&exchange.status) {
        return Ok(());
    }
    let words = ErrorDetails::read(&exchange.body);
    let kind = kind_of(exchange.status, &words);
    let message = match kind {
        ErrorKind::Settings => "it redirects: name the address that it redirects to",
        _ => &words.message,
    };
    Err(refusal(kind, message, exchange, secret))
}

pub(super) fn refusal(
    kind: ErrorKind,
    message: &str,
    exchange: &HttpReply,
    secret: &str,
) -> Box<ModelError> {
    let error = ModelError {
        retry_after: server_hint(&exchange.headers),
        ..ModelError::new(kind, message)
    };
    Box::new(with_exchange(error, exchange, secret))
}

pub(super) fn request_id(exchange: &HttpReply, secret: &str) -> Option<String> {
    [
        "x-request-id", "request-id", "apim-request-id", "x-ms-request-id",
    ]
    .iter()
    .find_map(|name| exchange.headers.get(*name))
    .and_then(|value| value.to_str().ok())
    .map(|id| redact(id, &[secret]).into_owned())
}

fn with_exchange(mut error: ModelError, exchange: &HttpReply, secret: &str) -> ModelError {
    error.status = (exchange.status != 0).then_some(exchange.status);
    error.request_id = request_id(exchange, secret);
    if !exchange.body.is_empty() {
        let kept = exchange
            .body
            .get(..ModelError::MAX_BODY)
            .unwrap_or(&exchange.body);
        error.body = Some(redact(&String::from_utf8_lossy(kept), &[secret]).into_owned());
    }
    error.message = redact(&error.message, &[secret]).into_owned();
    error
}

/// The wait that the server asks for; the caller limits it.
fn server_hint(headers: &HeaderMap) -> Option<Duration> {
    let millis = headers.get("retry-after-ms");
    millis
        .and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok())
        .and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok())
        .or_else(|| retry_after(headers))
}

/// At most 300 characters of a text, on one line.
fn one_line(text: &str) -> String {
    text::one_line(text, 300)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(status: u16, body: &str) -> ErrorKind {
        kind_of(status, &ErrorDetails::read(body.as_bytes()))
    }

    #[test]
    fn every_shape_of_error_body_is_read() {
        for body in [
            r#"{"error":{"message":"slow down","type":"requests","param":null,"code":"x"}}"#,
            r#"{"error":{"message":"slow down","code":429}}"#,
            r#"{"error":"slow down"}"#,
            r#"{"object":"error","message":"slow down","type":"x","param":null,"code":429}"#,
            r#"{"detail":"slow down"}"#,
            r#"[{"error":{"message":"slow down"}}]"#,
            "slow\n  down\n",
        ] {
            let read = ErrorDetails::read(body.as_bytes());
            assert_eq!(read.message, "slow down", "{body}");
        }
        let page = ErrorDetails::read(b"\n<!doctype html><html><head>");
        assert_eq!(page.message, "an HTML page");
        assert_eq!(ErrorDetails::read(b"").message, "");
        let unreadable = ErrorDetails::read(&[0xff, 0xfe]);
        assert_eq!(unreadable.message, "\u{fffd}\u{fffd}");
    }

    #[test]
    fn every_form_of_a_wait_is_read_and_nonsense_is_not() {
        let hint = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            // The server's clock counts, however wrong ours is.
            map.insert("date", "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap());
            for (name, value) in headers {
                map.insert(*name, value.parse().unwrap());
            }
            server_hint(&map).map(|wait| wait.as_secs_f64())
        };
        for (value, seconds) in [
            ("2", Some(2.0)),
            (" 0.5 ", Some(0.5)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10.0)),
            ("Sun, 06 Nov 1994 08:00:00 GMT", Some(0.0)),
            ("-1", None),
            ("NaN", None),
            ("soon", None),
            ("1e400", None),
        ] {
            assert_eq!(hint(&[("retry-after", value)]), seconds, "{value}");
        }
        let both = [("retry-after", "1"), ("retry-after-ms", "900")];
        assert_eq!(hint(&both), Some(0.9));
    }

    #[test]
    fn words_decide_before_the_status() {
        let filter = r#"{"error":{"message":"filtered","code":"content_filter","param":"prompt",
            "innererror":{"code":"ResponsibleAIPolicyViolation"}}}"#;
        assert_eq!(kind(400, filter), ErrorKind::ContentFilter);
        assert_eq!(kind(429, "{}"), ErrorKind::RateLimited);
        let model = r#"{"error":{"message":"no such model","param":"model","code":null}}"#;
        assert_eq!(kind(400, model), ErrorKind::NotFound);
        use ErrorKind::{ContentFilter, ContextTooLong, NotFound, QuotaExceeded};
        let context = "the request exceeds the available context size";
        let limit = "reached your specified API usage limits";
        let most = "the maximum context length is 8192";
        for (status, code, message, expected) in [
            (429, "insufficient_quota", "", QuotaExceeded),
            (429, "x", "You exceeded your current quota", QuotaExceeded),
            (
                429,
                "x",
                "Request too large for gpt-4o: Limit 30000",
                ContextTooLong,
            ),
            (400, "exceed_context_size_error", "", ContextTooLong),
            (400, "x", context, ContextTooLong),
            (400, "invalid_prompt", "see our usage policy", ContentFilter),
            (400, "billing_not_active", "", QuotaExceeded),
            (400, "x", "Your credit balance is too low", QuotaExceeded),
            (400, "x", limit, QuotaExceeded),
            (400, "context_length_exceeded", "", ContextTooLong),
            (413, "request_too_large", "", ContextTooLong),
            (400, "x", most, ContextTooLong),
            (400, "x", "prompt is too long: 9 tokens", ContextTooLong),
            (400, "x", "this would exceed context limit", ContextTooLong),
            (400, "x", "it exceeds the context window", ContextTooLong),
            (400, "model_not_found", "", NotFound),
        ] {
            let body = json!({"error": {"message": message, "code": code}}).to_string();
            assert_eq!(kind(status, &body), expected, "{code} {message}");
        }
        assert_eq!(
            kind(400, r#"{"error":{"message":"no","param":"temperature"}}"#),
            ErrorKind::BadRequest {
                parameter: Some("temperature".into())
            }
        );
    }

    #[test]
    fn a_refusal_of_tools_is_distinguished_from_other_refused_requests() {
        for message in [
            "registry/tiny does not support tools",
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
            "tools param requires --jinja flag",
        ] {
            let body = json!({"error": {"message": message}}).to_string();
            assert_eq!(kind(400, &body), ErrorKind::ToolsUnsupported, "{message}");
        }
        let named = r#"{"error":{"message":"unknown","param":"tools"}}"#;
        assert_eq!(kind(422, named), ErrorKind::ToolsUnsupported);
        for message in ["toolbench-7b: bad messages", "temperature is not supported"] {
            let body = json!({"error": {"message": message}}).to_string();
            let other = ErrorKind::BadRequest { parameter: None };
            assert_eq!(kind(400, &body), other, "{message}");
        }
    }

    #[test]
    fn the_status_decides_where_words_say_nothing() {
        for (status, expected) in [
            (401, ErrorKind::Unauthorized),
            (403, ErrorKind::Unauthorized),
            (404, ErrorKind::NotFound),
            (408, ErrorKind::ServerError),
            (409, ErrorKind::ServerError),
            (425, ErrorKind::ServerError),
            (422, ErrorKind::BadRequest { parameter: None }),
            (307, ErrorKind::Settings),
            (402, ErrorKind::QuotaExceeded),
            (500, ErrorKind::ServerError),
            (529, ErrorKind::ServerError),
        ] {
            assert_eq!(kind(status, ""), expected, "{status}");
        }
    }

    #[test]
    fn a_quoted_key_is_removed() {
        let exchange = HttpReply {
            status: 401,
            body: "{\"error\":\"wrong key sk-very-secret\"}".into(),
            ..HttpReply::default()
        };
        let error = success(&exchange, "sk-very-secret").unwrap_err();
        assert_eq!(error.message, "wrong key [redacted]");
        assert!(!error.body.unwrap().contains("secret"));
    }
}
