//! Keeps secrets out of what leaves the process: the keys and tokens that the
//! caller names, and whatever looks like one. Applied to every exported string,
//! last, so that no other module has to consider it.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use finqa_core::secrets::{HIDDEN, redact_all};
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use regex::Regex;
use secrecy::{ExposeSecret, SecretString};

/// Removes secrets from text.
#[derive(Default)]
pub(crate) struct Redactor {
    secrets: Vec<SecretString>,
    shapes: Option<Regex>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// Removes these, and what has the shape of a key, a bearer token, or a
    /// password in a URL.
    pub(crate) fn new(secrets: impl IntoIterator<Item = SecretString>) -> Self {
        // A token is long: "bearer securities" is not a secret.
        const SHAPES: &str = r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\b[Bb]earer\s+[A-Za-z0-9._~+/-]{20,}=*|://[^/\s:@]*:[^/\s@]+@";
        let escaped = |secret: &SecretString| {
            let json = serde_json::Value::from(secret.expose_secret()).to_string();
            let inner = json.get(1..json.len().saturating_sub(1))?;
            (inner != secret.expose_secret()).then(|| SecretString::from(inner))
        };
        let mut secrets: Vec<SecretString> = secrets.into_iter().collect();
        // As log lines and JSON in attributes write them.
        secrets.extend(secrets.iter().filter_map(escaped).collect::<Vec<_>>());
        Self {
            secrets,
            shapes: Some(finqa_core::regex!(SHAPES)),
        }
    }

    /// The text without secrets.
    pub(crate) fn text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let clean = redact_all(text, self.secrets.iter().map(ExposeSecret::expose_secret));
        match &self.shapes {
            Some(shapes) if shapes.is_match(&clean) => Cow::Owned(
                shapes
                    .replace_all(&clean, |found: &regex::Captures<'_>| {
                        match found.get(0).map(|text| text.as_str()) {
                            Some(url) if url.starts_with("://") => format!("://{HIDDEN}@"),
                            _ => HIDDEN.to_owned(),
                        }
                    })
                    .into_owned(),
            ),
            _ => clean,
        }
    }

    /// Cleans a span in place.
    fn span(&self, span: &mut SpanData) {
        self.attributes(&mut span.attributes);
        for event in &mut span.events.events {
            self.attributes(&mut event.attributes);
            if let Cow::Owned(clean) = self.text(&event.name) {
                event.name = clean.into();
            }
        }
        for link in &mut span.links.links {
            self.attributes(&mut link.attributes);
        }
        if let Status::Error { description } = &mut span.status
            && let Cow::Owned(clean) = self.text(description)
        {
            *description = clean.into();
        }
    }

    fn attributes(&self, attributes: &mut [KeyValue]) {
        for attribute in attributes {
            match &mut attribute.value {
                Value::String(text) => self.string(text),
                Value::Array(Array::String(texts)) => {
                    texts.iter_mut().for_each(|text| self.string(text));
                }
                _ => {}
            }
        }
    }

    fn string(&self, text: &mut StringValue) {
        if let Cow::Owned(clean) = self.text(text.as_str()) {
            *text = clean.into();
        }
    }
}

/// Hands spans on without secrets.
#[derive(Debug)]
pub(super) struct RedactingExporter<E> {
    inner: E,
    redactor: Arc<Redactor>,
}

impl<E> RedactingExporter<E> {
    pub(super) fn new(inner: E, redactor: &Arc<Redactor>) -> Self {
        Self {
            inner,
            redactor: Arc::clone(redactor),
        }
    }
}

impl<E: SpanExporter> SpanExporter for RedactingExporter<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch.iter_mut().for_each(|span| self.redactor.span(span));
        self.inner.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("key hunter2-hunter2!", "key [redacted]")]
    #[case("sk-proj-abcdefghijklmnop1234", "[redacted]")]
    #[case(
        "Authorization: Bearer abcdefghijklmnopqrstuvwxyz==",
        "Authorization: [redacted]"
    )]
    #[case("http://me:secret@host/v1", "http://[redacted]@host/v1")]
    #[case(
        "bearer securities of $ 10 million", "bearer securities of $ 10 million"
    )]
    #[case("risk-adjusted-return-on-capital", "risk-adjusted-return-on-capital")]
    #[case("http://127.0.0.1:4318/v1/traces", "http://127.0.0.1:4318/v1/traces")]
    #[case("a pass: hunter", "a pass: [redacted]")]
    fn secrets_go_and_text_stays(#[case] text: &str, #[case] clean: &str) {
        let redactor = Redactor::new([
            SecretString::from("hunter2-hunter2!"),
            SecretString::from("hunter"),
            SecretString::from("net"),
        ]);
        assert_eq!(redactor.text(text), clean);
    }

    #[test]
    fn a_secret_is_removed_from_json_that_escapes_it() {
        let redactor = Redactor::new([SecretString::from(r#"pass"word\"#)]);
        let line = serde_json::json!({"message": r#"got pass"word\ today"#}).to_string();
        assert_eq!(
            redactor.text(&line),
            r#"{"message":"got [redacted] today"}"#
        );
    }
}
