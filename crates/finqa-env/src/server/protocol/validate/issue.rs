//! One fault of an input, as pydantic lists it, and the kinds that are common.

use std::borrow::Cow;

use finqa_core::text;
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::python::json as python;

/// Where in the input a fault lies: a key or an index.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A field or key.
    Key(Cow<'static, str>),
    /// A character position, as in `["body", 12]`.
    Index(usize),
}

impl From<&'static str> for Step {
    fn from(key: &'static str) -> Self {
        Self::Key(Cow::Borrowed(key))
    }
}

/// One fault of an input, as pydantic lists it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RequestIssue {
    /// pydantic's name of the fault, e.g. `missing`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The way to the faulty value.
    pub loc: Vec<Step>,
    /// One English sentence.
    pub msg: Cow<'static, str>,
    /// The faulty value, or the object that lacks one.
    pub input: Value,
    /// The bound or expectation that was missed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ctx: Option<Value>,
    /// Where pydantic explains the fault.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

impl RequestIssue {
    pub(super) fn new(kind: &'static str, loc: Step, msg: &'static str, input: &Value) -> Self {
        Self {
            kind,
            loc: vec![loc],
            msg: Cow::Borrowed(msg),
            input: shortened(input),
            ctx: None,
            url: None,
        }
    }

    pub(super) fn with(mut self, ctx: Value) -> Self {
        self.ctx = Some(ctx);
        self
    }
}

/// A faulty value is sent back so that its sender can find it, but not when it
/// is itself a flood: long texts, lists and objects are cut, at every depth.
fn shortened(input: &Value) -> Value {
    cut(input, &mut 200)
}

/// Longest text that is sent back, in characters.
const TEXT: usize = 500;

fn cut(input: &Value, left: &mut usize) -> Value {
    if *left == 0 {
        return Value::from("...");
    }
    *left -= 1;
    match input {
        Value::String(text) => Value::String(text::cut(text, TEXT, "...")),
        Value::Array(items) => {
            let room = items.len().min(*left);
            items
                .iter()
                .take(room)
                .map(|item| cut(item, left))
                .collect()
        }
        Value::Object(map) => {
            let room = map.len().min(*left);
            let entries = map.iter().take(room);
            Value::Object(
                entries
                    .map(|(key, item)| (text::cut(key, TEXT, "..."), cut(item, left)))
                    .collect(),
            )
        }
        other => other.clone(),
    }
}

/// The faults of an action or message: they carry pydantic's address.
pub fn with_urls(mut issues: Vec<RequestIssue>) -> Vec<RequestIssue> {
    for issue in &mut issues {
        issue.url = Some(format!("https://errors.pydantic.dev/2.13/v/{}", issue.kind));
    }
    issues
}

/// The faults of a request body: they stand under `body`.
pub fn in_body(mut issues: Vec<RequestIssue>) -> Vec<RequestIssue> {
    for issue in &mut issues {
        issue.loc.insert(0, Step::from("body"));
    }
    issues
}

/// pydantic's `str()` of a list of faults.
pub fn summary(title: &str, issues: &[RequestIssue]) -> String {
    let plural = if issues.len() == 1 { "" } else { "s" };
    let mut out = format!("{} validation error{plural} for {title}", issues.len());
    for issue in issues {
        let place: Vec<String> = issue
            .loc
            .iter()
            .map(|step| match step {
                Step::Key(key) => key.to_string(),
                Step::Index(index) => index.to_string(),
            })
            .collect();
        out.push_str(&format!(
            "\n{}\n  {} [type={}, input_value={}, input_type={}]\n    For further information visit https://errors.pydantic.dev/2.13/v/{}",
            place.join("."),
            issue.msg,
            issue.kind,
            python::short_repr(&issue.input),
            python::type_name(&issue.input),
            issue.kind,
        ));
    }
    out
}

/// A body that is no JSON.
pub fn json_fault(fault: &python::JsonFault) -> RequestIssue {
    RequestIssue {
        kind: "json_invalid",
        loc: vec![Step::from("body"), Step::Index(fault.position)],
        msg: Cow::Borrowed("JSON decode error"),
        input: json!({}),
        ctx: Some(json!({"error": fault.message})),
        url: None,
    }
}

/// A body that is JSON, or raw text, but no object.
pub fn not_an_object(input: &Value) -> RequestIssue {
    let mut issue = RequestIssue::new(
        "model_attributes_type",
        Step::from("body"),
        "Input should be a valid dictionary or object to extract fields from",
        input,
    );
    issue.loc = vec![Step::from("body")];
    issue
}

/// A body that is absent where one is wanted.
pub fn no_body() -> RequestIssue {
    RequestIssue::new(
        "missing",
        Step::from("body"),
        "Field required",
        &Value::Null,
    )
}

pub(super) fn extras<'a>(
    data: &'a Map<String, Value>,
    known: &'a [&str],
) -> impl Iterator<Item = RequestIssue> + 'a {
    data.iter()
        .filter(|(key, _)| !known.contains(&key.as_str()))
        // Enough to see what is wrong; a message may hold a million of them.
        .take(20)
        .map(|(key, value)| {
            let place = Step::Key(Cow::Owned(key.chars().take(200).collect()));
            RequestIssue::new(
                "extra_forbidden",
                place,
                "Extra inputs are not permitted",
                value,
            )
        })
}

pub(super) fn dict_type(field: &'static str, value: &Value) -> RequestIssue {
    RequestIssue::new(
        "dict_type",
        field.into(),
        "Input should be a valid dictionary",
        value,
    )
}

pub(super) fn string_type(field: &'static str, value: &Value) -> RequestIssue {
    RequestIssue::new(
        "string_type",
        field.into(),
        "Input should be a valid string",
        value,
    )
}

pub(super) fn too_long(field: &'static str, value: &Value) -> RequestIssue {
    RequestIssue::new(
        "string_too_long",
        field.into(),
        "String should have at most 255 characters",
        value,
    )
    .with(json!({"max_length": 255}))
}

pub(super) fn short_text(
    field: &'static str,
    value: Option<&Value>,
) -> Result<Option<String>, Box<RequestIssue>> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= 255 => {
            Ok(Some(text.clone()).filter(|text| !text.is_empty()))
        }
        Some(long @ Value::String(_)) => Err(Box::new(too_long(field, long))),
        Some(other) => Err(Box::new(string_type(field, other))),
    }
}
