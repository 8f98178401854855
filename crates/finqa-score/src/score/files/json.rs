//! Reads predictions as JSON: objects one after the other (JSONL), or an array of objects, such as
//! the official prediction file.

use serde_json::value::RawValue;
use serde_json::{Deserializer, Value};

use finqa_core::program::tokens;
use finqa_core::text::counted;

/// The content of a field. It decides how a list or an object in the field is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    /// An answer or a gold.
    Answer,
    /// A program, which may be a list of its tokens.
    Program,
}

/// The keys under which an object may have its answer, which docs/scoring.md lists. Set by hand, not
/// taken from particular systems.
const ANSWERS: [&str; 6] = [
    "answer", "final_answer", "predicted_answer", "prediction", "text", "value",
];

/// The values of a file, each with the line that it begins on, from 1.
pub(super) fn values(json: &str) -> Result<Vec<(usize, &RawValue)>, serde_json::Error> {
    // Cut the final line break, because the error of a truncated value would otherwise name the
    // line after it.
    let json = json.trim_end();
    let values: Vec<&RawValue> = if json.trim_start().starts_with('[') {
        serde_json::from_str(json)?
    } else {
        Deserializer::from_str(json)
            .into_iter()
            .collect::<Result<_, _>>()?
    };
    let (mut line, mut passed) = (1, 0);
    let values = values.into_iter().map(|value| {
        // Each value is a slice of `json`.
        let start = value.get().as_ptr() as usize - json.as_ptr() as usize;
        line += json
            .get(passed..start)
            .unwrap_or_default()
            .matches('\n')
            .count();
        passed = start;
        (line, value)
    });
    Ok(values.collect())
}

/// The text of a value in a field of this form; `None` for null.
///
/// # Errors
/// Says what the value is and what is expected.
pub(super) fn text_of_value(value: &Value, form: Form) -> Result<Option<String>, String> {
    let inner = match (value, form) {
        (Value::Null, _) => return Ok(None),
        (Value::String(text), _) => return Ok(Some(text.clone())),
        // JSON does not keep how a number was written: `5.0` becomes `5`, as in our own CSV.
        (Value::Number(number), _) => return Ok(number.as_f64().map(|x| x.to_string())),
        (Value::Bool(yes), _) => return Ok(Some(if *yes { "yes" } else { "no" }.to_owned())),
        (Value::Array(tokens), Form::Program) => {
            return program_of(tokens)
                .map(Some)
                .ok_or_else(|| unread(value, form));
        }
        (Value::Array(items), _) => items.iter().collect(),
        (Value::Object(fields), Form::Answer) => {
            ANSWERS.iter().filter_map(|key| fields.get(*key)).collect()
        }
        (Value::Object(_), _) => Vec::new(),
    };
    match inner.as_slice() {
        [one] => text_of_value(one, form),
        _ => Err(unread(value, form)),
    }
}

/// The program of a list of tokens, or of steps. `None` if one of them is neither a text nor a
/// number.
fn program_of(tokens: &[Value]) -> Option<String> {
    let texts: Option<Vec<String>> = tokens
        .iter()
        .map(|token| match token {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        })
        .collect();
    Some(tokens::join(texts?.iter().map(String::as_str)))
}

/// The program in a text that is a list of tokens; `None` for another text.
pub(super) fn program_of_text(text: &str) -> Option<String> {
    program_of(value_of_text(text)?.as_array()?)
}

/// The answer in a text. If the text is a list or an object with exactly one answer, that answer is
/// returned. Otherwise the whole text is, because a reply may be any text.
pub(super) fn answer_of_text(text: String) -> String {
    let answer = value_of_text(&text).map(|value| text_of_value(&value, Form::Answer));
    answer
        .and_then(|answer| answer.ok().flatten())
        .unwrap_or(text)
}

/// Parses a text that is a list or an object, written as JSON or as Python prints it. `None` for
/// any other text.
fn value_of_text(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['[', '{']) {
        return None;
    }
    let as_json = || serde_json::from_str(&text.replace('\'', "\""));
    serde_json::from_str(text).or_else(|_| as_json()).ok()
}

/// The reason why a list or an object cannot be read as a cell of this form.
fn unread(value: &Value, form: Form) -> String {
    let found = match value {
        Value::Object(fields) => {
            // Five keys, set by hand, keep the message short.
            let keys: Vec<&str> = fields.keys().map(String::as_str).take(5).collect();
            format!("an object ({})", keys.join(", "))
        }
        value => {
            let length = value.as_array().map_or(0, Vec::len);
            format!("a list of {}", counted(length, "value"))
        }
    };
    match form {
        Form::Program => format!("{found}, expected text or a list of tokens"),
        Form::Text | Form::Answer => format!("{found}, expected text, a number or a list of one"),
    }
}
