//! Predictions as JSON: objects one after the other (JSONL), or an array of them, such as the
//! official prediction file.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;

use finqa_core::program::tokens;
use finqa_core::regex;

use super::read::Form;

/// The keys under which an object may have its answer.
const ANSWERS: [&str; 6] = [
    "answer", "final_answer", "predicted_answer", "prediction", "text", "value",
];

/// The JSON with `null` for `NaN` and the infinities, which Python writes and JSON does not have.
pub(super) fn without_nan(json: &str) -> Cow<'_, str> {
    if !json.contains("NaN") && !json.contains("Infinity") {
        return Cow::Borrowed(json);
    }
    let texts_and_words = regex!(r#"(?s)"(?:[^"\\]|\\.)*"|-?Infinity|NaN"#);
    texts_and_words.replace_all(json, |found: &regex::Captures<'_>| {
        match found.get(0).map_or("", |found| found.as_str()) {
            text if text.starts_with('"') => text.to_owned(),
            _ => "null".to_owned(),
        }
    })
}

/// The values of a file, each with the line that it begins on, from 1; an error with its line.
pub(super) fn values(json: &str) -> Result<Vec<(usize, &RawValue)>, (usize, serde_json::Error)> {
    let mut lines = LineCounter {
        json,
        at: 0,
        line: 1,
    };
    if json.trim_start().starts_with('[') {
        let values: Vec<&RawValue> =
            serde_json::from_str(json).map_err(|error| (error.line(), error))?;
        let start = |value: &RawValue| value.get().as_ptr() as usize - json.as_ptr() as usize;
        let values = values.into_iter();
        return Ok(values
            .map(|value| (lines.to(start(value)), value))
            .collect());
    }
    let mut values = Vec::new();
    let mut stream = serde_json::Deserializer::from_str(json).into_iter::<&RawValue>();
    loop {
        let line = lines.to(stream.byte_offset());
        match stream.next() {
            Some(value) => values.push((line, value.map_err(|error| (line, error))?)),
            None => return Ok(values),
        }
    }
}

/// Counts lines up to ever later places.
struct LineCounter<'j> {
    json: &'j str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    /// The line of the first character from `at` on that is not white space.
    fn to(&mut self, at: usize) -> usize {
        let rest = self.json.get(at..).unwrap_or_default();
        let start = at + rest.len() - rest.trim_start().len();
        let passed = self.json.get(self.at..start).unwrap_or_default();
        self.line += passed.matches('\n').count();
        self.at = start;
        self.line
    }
}

/// The text of a value in a field of this form; `None` if there is none.
///
/// # Errors
/// What the value is instead, and what is expected.
pub(super) fn text_of_value(value: &Value, form: Form) -> Result<Option<String>, String> {
    match (value, form) {
        (Value::Null, _) => Ok(None),
        (Value::String(text), _) => Ok(Some(text.clone())),
        // A JSON number has no written form to keep: `5.0` is `5`, as in our own CSV.
        (Value::Number(number), _) => Ok(number.as_f64().map(|x| x.to_string())),
        (Value::Bool(yes), _) => Ok(Some(if *yes { "yes" } else { "no" }.to_owned())),
        (Value::Array(items), Form::Program) => match program_of(items) {
            Some(program) => Ok(Some(program)),
            None => Err(unread(value, form)),
        },
        (Value::Array(items), _) => match items.as_slice() {
            [item] => text_of_value(item, form),
            _ => Err(unread(value, form)),
        },
        (Value::Object(fields), Form::Answer) => {
            let mut answers = fields
                .iter()
                .filter(|(key, _)| ANSWERS.contains(&key.as_str()));
            match (answers.next(), answers.next()) {
                (Some((_, answer)), None) => text_of_value(answer, form),
                _ => Err(unread(value, form)),
            }
        }
        (Value::Object(_), _) => Err(unread(value, form)),
    }
}

/// The program of a list of tokens, or of steps.
fn program_of(tokens: &[Value]) -> Option<String> {
    let texts: Option<Vec<Cow<'_, str>>> = tokens
        .iter()
        .map(|token| match token {
            Value::String(text) => Some(text.into()),
            Value::Number(number) => Some(number.to_string().into()),
            _ => None,
        })
        .collect();
    Some(tokens::join(texts?.iter().map(AsRef::as_ref)))
}

/// The program in a text that holds a list of tokens.
pub(super) fn program_of_text(text: &str) -> Option<String> {
    program_of(value_of_text(text)?.as_array()?)
}

/// The only answer of a list or object in a text, or the text itself: a reply may be any text.
pub(super) fn answer_of_text(text: String) -> String {
    let answer = value_of_text(&text).map(|value| text_of_value(&value, Form::Answer));
    answer
        .and_then(|answer| answer.ok().flatten())
        .unwrap_or(text)
}

/// A list or an object as JSON, or as Python prints it.
fn value_of_text(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let as_json = || serde_json::from_str(&text.replace('\'', "\""));
    serde_json::from_str(text).or_else(|_| as_json()).ok()
}

fn unread(value: &Value, form: Form) -> String {
    let found = match value {
        Value::Array(items) => match (items.len(), form) {
            (_, Form::Program) => "a list that is not of tokens".to_owned(),
            (count, _) => format!("a list of {count} values"),
        },
        Value::Object(fields) => {
            let keys: Vec<&str> = fields.keys().map(String::as_str).take(5).collect();
            format!("an object ({})", keys.join(", "))
        }
        other => other.to_string(),
    };
    let expected = match form {
        Form::Program => "text or a list of tokens",
        Form::Text | Form::Answer => "text, a number or a list of one",
    };
    format!("{found}, expected {expected}")
}
