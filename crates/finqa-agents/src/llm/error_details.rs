//! Reads a server's description of a failure, in any of its forms.
//!
//! Servers disagree on the form (`error` as an object, as a string, or absent) and on the type of
//! `code` (string, integer, null). Gateways quote the message of the server behind them in a text.

use std::time::Duration;

use jiff::SignedDuration;
use serde_json::{Deserializer, Value};

use finqa_core::text;

use super::body::{self, page};

/// A server's description of a failure.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct ErrorDetails {
    /// The message on one line; may be empty.
    pub message: String,
    /// The whole message and the messages that it quotes, in lower case and without backticks.
    pub text: String,
    /// All codes, types, states, reasons, quota ids and parameters in the description, and the
    /// names of its fields, in lower case.
    pub codes: Vec<String>,
    pub parameter: Option<String>,
    /// The wait that the body asks for.
    pub wait: Option<Duration>,
}

/// Paths at which an error names its kind.
const CODES: [&str; 9] = [
    "/details/error_code", "/code", "/type", "/status", "/error_type", "/innererror/code",
    "/metadata/error_type", "/error_code", "/__type",
];

/// Members of a body that contain the error. If there is no such member, the body itself is the
/// error.
pub(super) const ERRORS: [&str; 3] = ["error", "errors", "base_resp"];

impl ErrorDetails {
    /// Reads a body, which is JSON in any of the known forms, an HTML page, or plain text.
    pub(crate) fn read(body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        match body::json(body) {
            Ok(value @ (Value::Array(_) | Value::Object(_))) => Self::of(&value),
            _ if text.trim_start().starts_with('<') => Self {
                message: page(&text),
                ..Self::default()
            },
            _ => {
                let mut details = Self::default();
                details.say(&text);
                details
            }
        }
    }

    /// Reads JSON in any of the known forms.
    pub(crate) fn of(value: &Value) -> Self {
        let mut details = Self::default();
        if let Value::Array(list) = value {
            // Google puts its error into a list.
            return list.first().map(Self::of).unwrap_or_default();
        }
        if let Value::String(text) = value {
            details.say(text);
        }
        let places = ERRORS.iter().filter_map(|name| value.get(*name));
        // The member may be a list, whose first error counts.
        let mut places = places.map(|place| place.get(0).unwrap_or(place));
        let error = places.find(|error| error.is_object()).unwrap_or(value);
        // xAI and TGI write the message in `error`, with the code next to it.
        let words = ["message", "detail", "error", "errors", "msg", "status_msg"];
        let mut words = words.iter().filter_map(|name| error.get(*name));
        let message = match words.find(|words| !words.is_null()) {
            Some(Value::String(text)) => text.clone(),
            // FastAPI's list of validation errors.
            Some(other) => other.to_string(),
            None => String::new(),
        };
        details.say(&message);
        let named = CODES.iter().filter_map(|path| error.pointer(path));
        details.codes.extend(named.filter_map(word));
        // The presence of some fields tells what failed: `failed_generation`, `flagged_input`.
        for fields in [Some(error), error.get("metadata")] {
            let fields = fields.and_then(Value::as_object).into_iter().flatten();
            let fields = fields.filter(|(_, value)| !value.is_null());
            details
                .codes
                .extend(fields.map(|(name, _)| name.to_lowercase()));
        }
        details.parameter = error.get("param").and_then(word).or(details.parameter);
        // Anthropic names the parameter at the beginning of the message: `max_tokens: …`,
        // `tools.0.name: …`.
        if details.parameter.is_none()
            && value.get("type").is_some_and(|kind| kind == "error")
            && let Some((path, _)) = message.split_once(": ")
            && path.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte)
            })
        {
            details.parameter = Some(path.to_owned());
        }
        let named = details.parameter.iter().map(|name| format!("param:{name}"));
        details.codes.extend(named);
        let parts = error.get("details").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            details.add_google(part);
        }
        let text = |path| error.pointer(path).and_then(Value::as_str);
        // OpenRouter quotes the message of the server behind it.
        if let Some(raw) = text("/metadata/raw") {
            details.say(raw);
        }
        // Groq quotes the output of its model.
        if let Some(written) = text("/failed_generation") {
            details.message = one_line(&format!("{}: {written}", details.message));
        }
        details
    }

    /// The first code that is the HTTP status of a failure. A gateway may report the status of the
    /// server behind it only as a code.
    pub(super) fn status(&self) -> Option<u16> {
        let mut codes = self.codes.iter().filter_map(|code| code.parse().ok());
        codes.find(|status| (400..600).contains(status))
    }

    /// Adds a text. If the text contains an error as JSON, adds this error too, because a gateway
    /// quotes the error of another server.
    fn say(&mut self, text: &str) {
        self.message = one_line(&format!("{} {text}", self.message));
        let plain = text.to_lowercase().replace('`', "");
        self.text.push_str(&plain);
        self.wait = self.wait.or_else(|| stated_wait(&plain));
        let json = text.find('{').and_then(|at| text.get(at..));
        let quoted = json.and_then(|json| Deserializer::from_str(json).into_iter().next()?.ok());
        if let Some(quoted @ Value::Object(_)) = quoted {
            let quoted = Self::of(&quoted);
            self.codes.extend(quoted.codes);
            self.parameter = self.parameter.take().or(quoted.parameter);
            self.wait = self.wait.or(quoted.wait);
        }
    }

    /// Adds an item of the list `details` in Google's errors.
    fn add_google(&mut self, part: &Value) {
        let delay = part.get("retryDelay").and_then(Value::as_str);
        self.wait = delay.and_then(duration).or(self.wait);
        self.codes.extend(part.get("reason").and_then(word));
        let violations = part.get("violations").and_then(Value::as_array);
        let violations = violations.into_iter().flatten();
        let quotas = violations.filter_map(|it| word(it.get("quotaId")?));
        self.codes.extend(quotas);
    }
}

/// A word in lower case or a number; `None` for other values.
fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.to_ascii_lowercase()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The wait that a sentence (in lower case) states: `please retry in 36s.`, `try again in 1m30.5s`,
/// `retry after 20 seconds`. `None` if it states none.
fn stated_wait(text: &str) -> Option<Duration> {
    let asked = ["retry in ", "try again in ", "retry after "];
    let mut waits = asked.iter().filter_map(|words| text.split_once(words));
    waits.find_map(|(_, rest)| {
        // The wait is one word (`36s.`) or two (`20 seconds.`).
        let mut words = rest.split_ascii_whitespace();
        let first = words.next()?;
        let both = format!("{first} {}", words.next().unwrap_or_default());
        duration(&both).or_else(|| duration(first))
    })
}

fn duration(text: &str) -> Option<Duration> {
    let text = text.trim_end_matches(|c: char| !c.is_alphanumeric());
    text.parse::<SignedDuration>().ok()?.try_into().ok()
}

/// At most 300 characters of a text (set by hand), on one line.
pub(super) fn one_line(text: &str) -> String {
    text::one_line(text, 300)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn a_wait_in_the_body_is_read_in_each_form() {
        let wait = |body: &str| ErrorDetails::read(body.as_bytes()).wait;
        for (words, millis) in [
            ("Please retry in 36.5s.", Some(36_500)),
            ("Please try again in 1m30.5s. Visit", Some(90_500)),
            ("Please try again in 6ms", Some(6)),
            ("Please retry after 20 seconds.", Some(20_000)),
            ("Please try again in a minute", None),
            ("retry", None),
        ] {
            let body = serde_json::json!({"error": {"message": words}}).to_string();
            assert_eq!(wait(&body), millis.map(Duration::from_millis), "{words}");
        }
        let google = r#"[{"error": {"details": [{"@type": "x"}, {"retryDelay": "36s"}]}}]"#;
        assert_eq!(wait(google), Some(Duration::from_secs(36)));
    }

    #[test]
    fn what_a_gateway_quotes_is_read() {
        let inner = r#"{"error": {"message": "no", "code": "content_filter", "param": "prompt"}}"#;
        let openrouter = serde_json::json!({"error": {
            "message": "Provider returned error", "code": 400, "metadata": {"raw": inner}}});
        let litellm = serde_json::json!({"error": {
            "message": format!("litellm.BadRequestError: AzureException - {inner}"), "code": "400"}});
        for body in [openrouter, litellm] {
            let read = ErrorDetails::read(body.to_string().as_bytes());
            assert!(
                read.codes.iter().any(|code| code == "content_filter"),
                "{read:?}"
            );
            assert_eq!(read.parameter.as_deref(), Some("prompt"));
            assert!(read.message.contains("content_filter"), "{read:?}");
        }
    }
}
