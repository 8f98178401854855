//! Reads JSON, and words its errors like Python's `json` and those of values like pydantic.

use finqa_core::text::with_nulls;
use serde_json::Value;

use super::{repr_json, type_name};

/// An error in a text that is not JSON, in the words of Python's `json`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct JsonFault {
    /// The message without its position, e.g. `Expecting value`.
    pub message: &'static str,
    /// Position of the error, in characters from 0.
    pub(crate) position: usize,
    line: usize,
    column: usize,
}

impl std::fmt::Display for JsonFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{}: line {} column {} (char {})",
            self.message, self.line, self.column, self.position
        )
    }
}

/// Parses a JSON text. The error is worded like that of Python's `json.loads`; its position is
/// derived from serde_json's and may be a few characters off. `NaN` and `Infinity` are refused,
/// although Python accepts them.
pub(crate) fn parse_json(text: &str) -> Result<Value, JsonFault> {
    serde_json::from_str(text).map_err(|error| json_fault(text, &error))
}

/// Reads a JSON file that Python may have written: `NaN` is null, and a byte order mark is
/// skipped. An infinity is an error, because JSON has no number for it.
pub(crate) fn read_json(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).or_else(|error| {
        // Report the error of the unchanged text: its position is that in the file.
        match std::str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(&with_nulls(text, &["NaN"])).map_err(|_| error),
            Err(_) => Err(error),
        }
    })
}

/// Translates an error of serde_json into the words and the position of Python's `json`.
fn json_fault(text: &str, error: &serde_json::Error) -> JsonFault {
    let lines = text.split_inclusive('\n').map(str::len);
    let line_start: usize = lines.take(error.line().saturating_sub(1)).sum();
    // serde_json's column is that of the last byte read, counted from 1.
    let past = line_start + error.column();
    let mut at = if error.is_eof() {
        past
    } else {
        past.saturating_sub(1)
    }
    .min(text.len());
    let text_of_error = error.to_string();
    let message = match text_of_error.split(" at line ").next().unwrap_or_default() {
        "EOF while parsing a value" | "expected value" => "Expecting value",
        "expected ident" => {
            // Python points to the first letter of the word.
            let before = text.as_bytes().get(..at).unwrap_or_default();
            at -= before
                .iter()
                .rev()
                .take_while(|b| b.is_ascii_alphabetic())
                .count();
            "Expecting value"
        }
        "trailing comma" if text.as_bytes().get(at) == Some(&b']') => "Expecting value",
        "trailing comma" | "key must be a string" | "EOF while parsing an object" => {
            "Expecting property name enclosed in double quotes"
        }
        "EOF while parsing a string" => {
            // Python points to the opening quote.
            let mut quotes = text.match_indices('"').map(|(quote, _)| quote);
            let escaped = |quote: &usize| text.get(..*quote).is_some_and(|s| s.ends_with('\\'));
            at = quotes.rfind(|quote| !escaped(quote)).unwrap_or(at);
            "Unterminated string starting at"
        }
        "expected `:`" => "Expecting ':' delimiter",
        "expected `,` or `]`" | "expected `,` or `}`" | "EOF while parsing a list" => {
            "Expecting ',' delimiter"
        }
        "trailing characters" | "invalid number" => "Extra data",
        "invalid escape" => {
            // Python points to the backslash.
            at = at.saturating_sub(1);
            "Invalid \\escape"
        }
        "unexpected end of hex escape" | "lone leading surrogate in hex escape" => {
            "Invalid \\uXXXX escape"
        }
        "recursion limit exceeded" => "Nested too deeply",
        other if other.starts_with("control character") => "Invalid control character at",
        _ => "Value outside of standard JSON",
    };
    let before: Vec<char> = String::from_utf8_lossy(text.as_bytes().get(..at).unwrap_or_default())
        .chars()
        .collect();
    JsonFault {
        message,
        position: before.len(),
        line: before.iter().filter(|c| **c == '\n').count() + 1,
        column: before.iter().rev().take_while(|c| **c != '\n').count() + 1,
    }
}

/// Python's `repr` of a JSON value, shortened as pydantic does: of more than 50 characters, the
/// first 25 and the last 24 are kept.
pub(crate) fn short_repr(value: &Value) -> String {
    let whole = repr_json(value);
    let length = whole.chars().count();
    if length <= 50 {
        return whole;
    }
    let head: String = whole.chars().take(25).collect();
    let tail: String = whole.chars().skip(length - 24).collect();
    format!("{head}...{tail}")
}

/// The lines in which pydantic 2.13 reports one wrong value.
pub(crate) fn fault(place: &str, text: &str, kind: &str, value: &Value) -> String {
    format!(
        "\n{place}\n  {text} [type={kind}, input_value={}, input_type={}]\n    \
         For further information visit {}",
        short_repr(value),
        type_name(value),
        fault_page(kind)
    )
}

/// The address of the page on which pydantic explains a kind of error.
pub(crate) fn fault_page(kind: &str) -> String {
    format!("https://errors.pydantic.dev/2.13/v/{kind}")
}

/// Python's `str` of a JSON value: a text unchanged, anything else its `repr`.
pub(crate) fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr_json(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Each expectation is what CPython 3.11 prints for `json.loads(text)`.
    #[test]
    fn faults_read_as_pythons() {
        let property = "Expecting property name enclosed in double quotes";
        for (text, message, line, column, char) in [
            ("", "Expecting value", 1, 1, 0),
            ("nope", "Expecting value", 1, 1, 0),
            ("{", property, 1, 2, 1),
            ("{'a':1}", property, 1, 2, 1),
            ("{\"a\":1,}", property, 1, 8, 7),
            ("{\"a\" 1}", "Expecting ':' delimiter", 1, 6, 5),
            ("{\"a\":\n1 2}", "Expecting ',' delimiter", 2, 3, 8),
            ("[1,]", "Expecting value", 1, 4, 3),
            ("\"abc", "Unterminated string starting at", 1, 1, 0),
            ("{} {}", "Extra data", 1, 4, 3),
            ("\"\\x\"", "Invalid \\escape", 1, 2, 1),
            ("\"a\nb\"", "Invalid control character at", 1, 3, 2),
            ("01", "Extra data", 1, 2, 1),
            ("[\u{e9}]", "Expecting value", 1, 2, 1),
        ] {
            let fault = parse_json(text).expect_err(text);
            let said = format!("{message}: line {line} column {column} (char {char})");
            assert_eq!(fault.to_string(), said, "{text:?}");
        }
    }

    #[test]
    fn what_python_takes_and_we_do_not_is_still_one_clear_fault() {
        assert!(parse_json("NaN").is_err());
        assert!(parse_json("[1e999]").is_err());
        let deep = "[".repeat(100_000);
        assert!(parse_json(&deep).is_err());
    }

    #[test]
    fn values_look_as_in_python() {
        let value = json!({"a": [1, 2.5, null, true], "b'": "it's \"x\"\n"});
        assert_eq!(
            display(&value),
            "{'a': [1, 2.5, None, True], \"b'\": 'it\\'s \"x\"\\n'}"
        );
        assert_eq!(display(&json!("plain")), "plain");
        let long = short_repr(&json!("x".repeat(100)));
        assert_eq!(long.chars().count(), 52);
    }
}
