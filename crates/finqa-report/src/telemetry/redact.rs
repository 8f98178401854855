//! Removes secrets from traces and log lines: the keys and tokens that the caller names, and text
//! that looks like a key. This happens when a line or a span is exported, so that no other module
//! has to take care of it.

use std::sync::Arc;
use std::time::Duration;

use finqa_core::secrets::{HIDDEN, redact_all};
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use regex::Regex;
use secrecy::{ExposeSecret, SecretString};

/// Removes secrets from text.
#[derive(Debug)]
pub struct Redactor {
    secrets: Vec<SecretString>,
    shapes: Regex,
}

impl Redactor {
    /// A redactor that removes these secrets, and any text in the form of a key, of a bearer token,
    /// or of a password in a URL.
    pub fn new(mut secrets: Vec<SecretString>) -> Self {
        // A bearer token has at least 20 characters here, so that "bearer securities" is not
        // removed. A key has at least 16 after its prefix. Both are set by hand.
        const SHAPES: &str = r#"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\b[Bb]earer\s+[A-Za-z0-9._~+/-]{20,}=*|(?<scheme>://)[^/\s:@"]*:[^/\s@"]+(?<at>@)"#;
        // Remove each secret also as it looks in JSON, and in JSON within a JSON string.
        for _ in 0..2 {
            let escaped = secrets.iter().map(|secret| {
                let json = serde_json::Value::from(secret.expose_secret()).to_string();
                // Without the quotation marks around the JSON string.
                SecretString::from(json.trim_start_matches('"').strip_suffix('"').unwrap_or(""))
            });
            secrets.extend(escaped.collect::<Vec<_>>());
        }
        Self {
            secrets,
            shapes: finqa_core::regex!(SHAPES),
        }
    }

    /// The text without secrets.
    pub fn text(&self, text: &str) -> String {
        let secrets = self.secrets.iter().map(ExposeSecret::expose_secret);
        let clean = redact_all(text, secrets);
        let hidden = format!("${{scheme}}{HIDDEN}${{at}}");
        self.shapes.replace_all(&clean, hidden).into_owned()
    }

    /// Removes secrets from the values of attributes that are texts.
    pub(super) fn attributes<'a>(&self, attributes: impl IntoIterator<Item = &'a mut KeyValue>) {
        for attribute in attributes {
            match &mut attribute.value {
                Value::String(text) => *text = self.text(text.as_str()).into(),
                Value::Array(Array::String(texts)) => {
                    for text in texts {
                        *text = self.text(text.as_str()).into();
                    }
                }
                // Numbers and booleans cannot contain a secret text.
                _ => {}
            }
        }
    }

    /// Removes secrets from all texts of a span and of its events.
    fn span(&self, span: &mut SpanData) {
        span.name = self.text(&span.name).into();
        if let Status::Error { description } = &mut span.status {
            *description = self.text(description).into();
        }
        self.attributes(&mut span.attributes);
        for event in &mut span.events.events {
            event.name = self.text(&event.name).into();
            self.attributes(&mut event.attributes);
        }
    }
}

/// Wraps an exporter, to remove secrets from spans before the exporter gets them.
#[derive(Debug)]
pub(super) struct RedactingExporter<E> {
    pub exporter: E,
    pub redactor: Arc<Redactor>,
}

impl<E: SpanExporter> SpanExporter for RedactingExporter<E> {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        batch.iter_mut().for_each(|span| self.redactor.span(span));
        self.exporter.export(batch).await
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
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
    #[case(
        r#"{"url":"http://h:80","to":"a@b"}"#, r#"{"url":"http://h:80","to":"a@b"}"#
    )]
    fn secrets_go_and_text_stays(#[case] text: &str, #[case] clean: &str) {
        let secrets = ["hunter2-hunter2!", "hunter", "net"].map(SecretString::from);
        let redactor = Redactor::new(secrets.into());
        assert_eq!(redactor.text(text), clean);
    }

    #[test]
    fn a_secret_is_removed_from_json_that_escapes_it() {
        let redactor = Redactor::new(vec![SecretString::from(r#"pass"word\"#)]);
        let line = serde_json::json!({"message": r#"got pass"word\ today"#}).to_string();
        let clean = r#"{"message":"got [redacted] today"}"#;
        assert_eq!(redactor.text(&line), clean);
        let inside = serde_json::json!({ "value": line }).to_string();
        assert_eq!(
            redactor.text(&inside),
            serde_json::json!({"value": clean}).to_string()
        );
    }
}
