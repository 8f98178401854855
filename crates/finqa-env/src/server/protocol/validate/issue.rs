//! The first fault of a request.

use std::borrow::Cow;

use serde::Serialize;

/// A fault of a request: its name, the keys that lead to it, and a sentence about it. The field
/// names are those that FastAPI's clients expect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RequestIssue {
    /// The name of the fault, such as `missing`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The keys that lead to the value.
    pub(crate) loc: Vec<String>,
    pub(crate) msg: Cow<'static, str>,
}

impl RequestIssue {
    pub(crate) fn new(kind: &'static str, field: &str) -> Self {
        Self {
            kind,
            loc: vec![field.to_owned()],
            msg: text_of(kind).into(),
        }
    }

    /// Appends the reason to the message.
    pub(super) fn because(mut self, why: &str) -> Self {
        self.msg = format!("{} {why}", self.msg).into();
        self
    }

    /// A body that is not JSON.
    pub(crate) fn not_json(error: &serde_json::Error) -> Self {
        Self::new("json_invalid", "body").because(&error.to_string())
    }
}

/// Prints the place and the message on one line.
impl std::fmt::Display for RequestIssue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.loc.join("."), self.msg)
    }
}

/// The message for a kind of fault. Some messages are completed by [`RequestIssue::because`].
fn text_of(kind: &str) -> &'static str {
    match kind {
        "missing" => "Field required",
        "extra_forbidden" => "Extra inputs are not permitted",
        "string_type" => "Input should be a valid string",
        // The limit of `FieldType::ShortText`.
        "string_too_long" => "String should have at most 255 characters",
        "literal_error" => "Input should be",
        "json_invalid" => "Invalid JSON:",
        "greater_than_equal" => "Input should be greater than or equal to 0",
        "greater_than" => "Input should be greater than 0",
        "dict_type" => "Input should be a valid dictionary",
        "int_type" => "Input should be a valid integer",
        "int_parsing" => "Input should be a valid integer, unable to parse string as an integer",
        "int_from_float" => "Input should be a valid integer, got a number with a fractional part",
        "float_type" => "Input should be a valid number",
        "float_parsing" => "Input should be a valid number, unable to parse string as a number",
        _ => "Invalid input:",
    }
}
