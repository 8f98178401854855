//! Reads a failed HTTP exchange: its kind, its message, and the wait that the server asks for.

use std::borrow::Cow;
use std::time::Duration;

use finqa_core::error::innermost;
use finqa_core::net::retry_after;
use finqa_core::secrets::{redact, redact_json};
use reqwest::header::HeaderMap;
use serde_json::Value;

use super::error::{ErrorKind, ModelError};
use super::error_details::{ErrorDetails, one_line};
use super::failures::kind_of;
use super::transport::HttpReply;
use tokio_util::bytes::Bytes;

/// Returns a successful reply without `secret`. The secret is removed before anything is read, cut
/// or stored, because a cut inside the secret would leave its beginning.
///
/// # Errors
/// If the reply is incomplete, or its status is not a success.
pub(super) fn success(exchange: &HttpReply, secret: &str) -> Result<HttpReply, Box<ModelError>> {
    let exchange = HttpReply {
        body: without(&exchange.body, secret),
        ..exchange.clone()
    };
    if let Some(broken) = &exchange.broken {
        let mut error = broken.clone();
        if let Some(source) = &broken.source {
            error.message = one_line(&redact(&innermost(source.as_ref()).to_string(), &[secret]));
            if error.kind == ErrorKind::Malformed {
                let cause = std::mem::take(&mut error.message);
                error.message = format!("the body cannot be decompressed: {cause}");
            }
            // rustls reports this error if the answer is not encrypted.
            if error.message.contains("InvalidContentType") {
                error.message.push_str("; does the server speak http?");
            }
            if error.message.contains("UnknownIssuer") {
                let hint = "; SSL_CERT_FILE=FILE trusts the certificates in FILE";
                error.message.push_str(hint);
            }
        }
        return Err(Box::new(with_exchange(error, &exchange, secret)));
    }
    if (200..300).contains(&exchange.status) {
        return Ok(exchange);
    }
    let mut words = ErrorDetails::read(&exchange.body);
    words.wait = server_hint(&exchange.headers).or(words.wait);
    let kind = match kind_of(exchange.status, &words) {
        ErrorKind::Unknown => {
            // A gateway may report the status of the server behind it only as a code. The code is
            // used if the failure may pass.
            let hidden = words.status().map(|status| kind_of(status, &words));
            let hidden = hidden.filter(ErrorKind::is_transient);
            hidden.unwrap_or(ErrorKind::Unknown)
        }
        kind => kind,
    };
    let message = match kind {
        ErrorKind::Settings => "it redirects: name the address that it redirects to",
        _ => &words.message,
    };
    let mut error = refusal(kind, message, &exchange, secret);
    error.retry_after = words.wait;
    Err(error)
}

/// Removes `secret` from a body, even if the JSON of the body escapes some of its characters.
fn without(body: &Bytes, secret: &str) -> Bytes {
    let text = String::from_utf8_lossy(body);
    let mut clean = redact(&text, &[secret]);
    if clean.contains('\\')
        && let Ok(written) = serde_json::from_str::<Value>(&clean)
    {
        let mut json = written.clone();
        redact_json(&mut json, &[secret]);
        // Without an escaped secret, the server's own spelling of the body is kept.
        if json != written {
            clean = Cow::Owned(json.to_string());
        }
    }
    match clean {
        Cow::Borrowed(_) => body.clone(),
        Cow::Owned(clean) => clean.into(),
    }
}

/// Creates the error for a reply from which `secret` was already removed.
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

/// The id by which the provider finds the request in its logs. The headers are those of OpenAI,
/// Anthropic and Azure.
pub(super) fn request_id(exchange: &HttpReply, secret: &str) -> Option<String> {
    [
        "x-request-id", "request-id", "apim-request-id", "x-ms-request-id",
    ]
    .iter()
    .find_map(|name| exchange.headers.get(*name))
    .and_then(|value| value.to_str().ok())
    .map(|id| redact(id, &[secret]).into_owned())
}

/// Adds the status, the request id and the beginning of the body to an error. `secret` is removed
/// from the id; it was removed from the body before.
fn with_exchange(mut error: ModelError, exchange: &HttpReply, secret: &str) -> ModelError {
    error.status = (exchange.status != 0).then_some(exchange.status);
    error.request_id = request_id(exchange, secret);
    if !exchange.body.is_empty() {
        let kept = exchange.body.get(..ModelError::MAX_BODY);
        let kept = String::from_utf8_lossy(kept.unwrap_or(&exchange.body));
        error.body = Some(kept.into_owned());
    }
    error
}

/// The wait that the headers `retry-after-ms` or `retry-after` ask for; `None` if neither can be
/// read. The caller limits the wait.
fn server_hint(headers: &HeaderMap) -> Option<Duration> {
    // Read first, because it is more precise than `retry-after`, a number of whole seconds.
    let millis = headers.get("retry-after-ms");
    millis
        .and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok())
        .and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok())
        .or_else(|| retry_after(headers))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_wait_is_read_and_nonsense_is_not() {
        let hint = |headers: &[(&'static str, &str)]| {
            let mut map = HeaderMap::new();
            // The server's clock counts, even if ours is wrong.
            map.insert("date", "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap());
            for (name, value) in headers {
                map.insert(*name, value.parse().unwrap());
            }
            server_hint(&map).map(|wait| wait.as_secs_f64())
        };
        for (value, seconds) in [
            ("2", Some(2.0)),
            (" 0.5 ", Some(0.5)),
            ("2s", Some(2.0)),
            ("1m 30s", Some(90.0)),
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
    fn a_quoted_key_is_removed() {
        let said = |body: String| {
            let exchange = HttpReply {
                status: 401,
                body: body.into(),
                ..HttpReply::default()
            };
            let error = success(&exchange, "sk-very-secret").unwrap_err();
            let body = error.body.unwrap();
            assert!(!body.contains("secret") && !body.contains("very"), "{body}");
            error.message
        };
        let wrong = r#"{"error":"wrong key sk-very-secret"}"#;
        assert_eq!(said(wrong.to_owned()), "wrong key [redacted]");
        let escaped = wrong.replace("sk-v", r"sk\u002dv");
        assert_eq!(said(escaped), "wrong key [redacted]");
        // A cut inside the secret leaves its beginning.
        for before in (280..310).chain(ModelError::MAX_BODY - 40..ModelError::MAX_BODY) {
            let before = "x".repeat(before);
            let page = format!("<title>{}sk-very-secret</title>", &before[..95]);
            for body in [
                wrong.replace("wrong", &before),
                format!("{before} sk-very-secret"),
                page,
            ] {
                let message = said(body);
                assert!(!message.contains("sk-v"), "{message}");
            }
        }
    }
}
