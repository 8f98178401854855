//! Finds the object of a reply.

use std::ops::Range;

use serde_json::{Map, Value};

use super::candidates::candidates;
use super::lenient;

/// The object in a reply.
pub(super) enum ObjectSearch {
    Object(ReplyObject),
    /// Something that starts like an object and cannot be read as one.
    Refused {
        offset: usize,
        what: String,
    },
    Nothing,
}

pub(super) struct ReplyObject {
    pub(super) members: Map<String, Value>,
    pub(super) place: Range<usize>,
    /// The member that was dropped because the text ends in it.
    pub(super) cut_in: Option<String>,
}

/// The object of `text` that has most of `keys`, and at least one: a reply often ends in a
/// small object such as `{"answer": 0.5}`, which must not replace the full one before it.
/// Among objects with as many the likeliest place wins.
pub(super) fn find(text: &str, keys: &[&str]) -> ObjectSearch {
    let count = |members: &Map<String, Value>| {
        let is_there = |key: &&&str| members.get(**key).is_some_and(|value| !value.is_null());
        keys.iter().filter(is_there).count()
    };
    let is_requested = |members: &Map<String, Value>, cut_in: Option<&str>| {
        let mut all = keys.iter();
        all.any(|key| members.contains_key(*key) || cut_in == Some(*key))
    };
    // The usual case, strict JSON alone, without looking at candidates.
    if let Ok(Value::Object(members)) = serde_json::from_str(text.trim())
        && is_requested(&members, None)
    {
        return ObjectSearch::Object(ReplyObject {
            members,
            place: 0..text.len(),
            cut_in: None,
        });
    }
    let mut best: Option<ReplyObject> = None;
    let mut refusal = None;
    for start in candidates(text) {
        let (value, end, cut_in) = match strict(text, start) {
            Some((value, end)) => (value, end, None),
            None => match lenient::read(text, start) {
                Ok(read) => (read.value, read.end, read.cut_in),
                Err(refused) => {
                    refusal.get_or_insert(ObjectSearch::Refused {
                        offset: refused.offset,
                        what: refused.what,
                    });
                    continue;
                }
            },
        };
        let Value::Object(members) = value else {
            continue;
        };
        let most = best.as_ref().map(|object| count(&object.members));
        if is_requested(&members, cut_in.as_deref())
            && most.is_none_or(|most| count(&members) > most)
        {
            best = Some(ReplyObject {
                members,
                place: start..end,
                cut_in,
            });
        }
    }
    match best {
        Some(object) => ObjectSearch::Object(object),
        None => refusal.unwrap_or(ObjectSearch::Nothing),
    }
}

/// The strict JSON value at the start of `text[start..]`, and where it ends.
fn strict(text: &str, start: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, start + values.byte_offset()))
}

impl ReplyObject {
    /// The member called `name`; a null counts as absent.
    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// The keys, for an error message.
    pub(super) fn keys(&self) -> String {
        let keys: Vec<&str> = self.members.keys().take(12).map(String::as_str).collect();
        keys.join(", ")
    }
}

/// A scalar as text with its digits unchanged; `None` for null, lists and objects.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("yes".to_string()),
        Value::Bool(false) => Some("no".to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
