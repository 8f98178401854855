//! A fault of a request, in the form and the words of pydantic.

use std::borrow::Cow;

use finqa_core::text;
use serde::Serialize;
use serde_json::{Value, json};

use crate::python;

/// A fault of a request, as pydantic lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct RequestIssue {
    /// pydantic's name of the fault, e.g. `missing`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Where the fault is: the keys that lead to the value, or the position in a text that is not
    /// JSON.
    pub(crate) loc: Vec<Value>,
    pub(crate) msg: Cow<'static, str>,
    /// The faulty value, or the object that lacks one.
    pub input: Value,
    /// The bound or expectation that was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ctx: Option<Value>,
    /// The page on which pydantic explains the fault; not sent for request bodies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl RequestIssue {
    pub(crate) fn new(kind: &'static str, field: &str, input: &Value) -> Self {
        Self {
            kind,
            loc: vec![field.into()],
            msg: text_of(kind).into(),
            input: shown(input),
            ctx: None,
            url: None,
        }
    }

    /// Adds the bound or expectation that was missed, also to the message if it is a text.
    pub(super) fn because(mut self, ctx: Value) -> Self {
        if let Some(Value::String(why)) = ctx.get("expected").or(ctx.get("error")) {
            self.msg = format!("{} {why}", self.msg).into();
        }
        self.ctx = Some(ctx);
        self
    }

    /// A body that is not JSON.
    pub(crate) fn not_json(fault: &python::JsonFault) -> Self {
        let mut issue = Self::new("json_invalid", "body", &json!({}));
        issue.loc.push(fault.position.into());
        issue.msg = "JSON decode error".into();
        issue.ctx = Some(json!({"error": fault.message}));
        issue
    }
}

/// pydantic's message for a kind of fault. [`RequestIssue::because`] completes some of them.
fn text_of(kind: &str) -> &'static str {
    match kind {
        "missing" => "Field required",
        "extra_forbidden" => "Extra inputs are not permitted",
        "string_type" => "Input should be a valid string",
        "string_too_long" => "String should have at most 255 characters",
        "literal_error" => "Input should be",
        "json_invalid" => "Invalid JSON:",
        "greater_than_equal" => "Input should be greater than or equal to 0",
        "greater_than" => "Input should be greater than 0",
        "dict_type" => "Input should be a valid dictionary",
        "model_attributes_type" => {
            "Input should be a valid dictionary or object to extract fields from"
        }
        "int_type" => "Input should be a valid integer",
        "int_parsing" => "Input should be a valid integer, unable to parse string as an integer",
        "int_from_float" => "Input should be a valid integer, got a number with a fractional part",
        "float_type" => "Input should be a valid number",
        "float_parsing" => "Input should be a valid number, unable to parse string as a number",
        _ => "Invalid input:",
    }
}

/// The faulty value as it is sent back, so that the client can find it. A long one is cut.
fn shown(input: &Value) -> Value {
    let text = input.to_string();
    match text.len() {
        0..=1000 => input.clone(),
        _ => text::cut(&text, 500, "...").into(),
    }
}

/// A list of faults as one text: `str()` of pydantic's exception.
pub(crate) fn summary(title: &str, issues: &[RequestIssue]) -> String {
    let count = text::counted(issues.len(), "validation error");
    let mut out = format!("{count} for {title}");
    for issue in issues {
        let place: Vec<String> = issue.loc.iter().map(python::display).collect();
        let place = place.join(".");
        out.push_str(&python::fault(&place, &issue.msg, issue.kind, &issue.input));
    }
    out
}
