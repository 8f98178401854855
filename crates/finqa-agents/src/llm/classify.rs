//! What a failed exchange is: its kind, its words, the wait that it asks for.

use std::time::Duration;

use finqa_core::error::innermost;
use finqa_core::net::retry_after;
use finqa_core::secrets::redact;
use reqwest::header::HeaderMap;

use super::error::{ErrorKind, ModelError};
use super::error_details::{ErrorDetails, one_line};
use super::failures::kind_of;
use super::transport::HttpReply;

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
            if error.message.contains("UnknownIssuer") {
                let hint = "; SSL_CERT_FILE=FILE trusts the certificates in FILE";
                error.message.push_str(hint);
            }
        }
        return Err(Box::new(with_exchange(error, exchange, secret)));
    }
    if (200..300).contains(&exchange.status) {
        return Ok(());
    }
    let mut words = ErrorDetails::read(&exchange.body);
    words.wait = server_hint(&exchange.headers).or(words.wait);
    let kind = kind_of(exchange.status, &words);
    let message = match kind {
        ErrorKind::Settings => "it redirects: name the address that it redirects to",
        _ => &words.message,
    };
    let mut error = refusal(kind, message, exchange, secret);
    error.retry_after = words.wait;
    Err(error)
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

#[cfg(test)]
mod tests {
    use super::*;

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
