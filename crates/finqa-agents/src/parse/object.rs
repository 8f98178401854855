//! Finds the JSON object of a reply.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::{Map, Value};

use super::candidates::{bounded, candidates, without_think};
use super::lenient::{self, Refusal};

/// An analysis has at least one of these keys.
pub(super) const ANALYSIS_KEYS: [&str; 3] = ["answer", "program", "steps"];
/// A verdict has at least one of these keys.
pub(super) const VERDICT_KEYS: [&str; 2] = ["verdict", "findings"];

/// The result of [`find`].
pub(super) enum ObjectSearch {
    Object(ReplyObject),
    /// The text has something that starts like an object but cannot be read as an object.
    Refused {
        offset: usize,
        what: String,
    },
    Nothing,
}

/// An object that was found in a reply.
pub(super) struct ReplyObject {
    pub(super) members: Map<String, Value>,
    /// The byte range of the object in the text.
    pub(super) place: Range<usize>,
    /// Name of the member that was dropped because the text ends inside its value.
    pub(super) cut_in: Option<String>,
    /// False if the text ends inside the object.
    pub(super) is_closed: bool,
}

/// Finds the object in `text` that has the most of `keys`, and at least one of them. The last
/// object is not always the right one: a reply often ends in a small object such as
/// `{"answer": 0.5}`, which must not replace the full one before it. On a tie, the first tried
/// candidate wins.
pub(super) fn find(text: &str, keys: &[&str]) -> ObjectSearch {
    // Usually, the text is strict JSON, and no candidates are needed.
    if let Some(members) = whole(text, keys) {
        return ObjectSearch::Object(ReplyObject {
            members,
            place: 0..text.len(),
            cut_in: None,
            is_closed: true,
        });
    }
    let mut best: Option<ReplyObject> = None;
    let mut refusal = None;
    for start in candidates(text) {
        let object = match object_at(text, start) {
            Ok(Some(object)) => object,
            Ok(None) => continue,
            Err(refused) => {
                // The first refusal is about the most likely object.
                refusal.get_or_insert(ObjectSearch::Refused {
                    offset: refused.offset,
                    what: refused.what,
                });
                continue;
            }
        };
        let most = best.as_ref().map(|best| best.count(keys));
        if object.has_any(keys) && most.is_none_or(|most| object.count(keys) > most) {
            best = Some(object);
        }
    }
    match best {
        Some(object) => ObjectSearch::Object(object),
        None => refusal.unwrap_or(ObjectSearch::Nothing),
    }
}

/// Reads a text that consists of one object with one of `keys` and nothing else. The object may be
/// written as a JSON string, with other text around it.
fn whole(text: &str, keys: &[&str]) -> Option<Map<String, Value>> {
    match serde_json::from_str(text.trim()) {
        Ok(Value::Object(members)) => {
            let has_any = keys.iter().any(|key| members.contains_key(*key));
            has_any.then_some(members)
        }
        Ok(Value::String(inner)) => match find(&inner, keys) {
            ObjectSearch::Object(object) if object.is_closed => Some(object.members),
            _ => None,
        },
        _ => None,
    }
}

/// Reads the object that starts at byte `start`, strictly or else leniently. `None` if another
/// value starts there.
fn object_at(text: &str, start: usize) -> Result<Option<ReplyObject>, Refusal> {
    let (value, end, cut_in, is_closed) = match strict(text, start) {
        Some((value, end)) => (value, end, None, true),
        None => {
            let read = lenient::read(text, start)?;
            (read.value, read.end, read.cut_in, read.is_closed)
        }
    };
    Ok(match value {
        Value::Object(members) => Some(ReplyObject {
            members,
            place: start..end,
            cut_in,
            is_closed,
        }),
        _ => None,
    })
}

/// Reads a text that consists of one list or object. Some models write it as a JSON string, and
/// some of these write the string twice.
fn structure(text: &str) -> Option<Value> {
    let text = text.trim();
    match serde_json::from_str(text) {
        Ok(Value::String(inner)) => structure(&inner),
        Ok(value @ (Value::Array(_) | Value::Object(_))) => Some(value),
        Ok(_) => None,
        Err(_) if !text.starts_with(['[', '{']) => None,
        Err(_) => {
            let read = lenient::read(text, 0).ok()?;
            (read.is_closed && read.end == text.len()).then_some(read.value)
        }
    }
}

/// Returns a list or object, even if it is written as a JSON string. Other values are returned
/// unchanged.
pub(super) fn unwrapped(value: &Value) -> Cow<'_, Value> {
    let inner = value.as_str().and_then(structure);
    inner.map_or(Cow::Borrowed(value), Cow::Owned)
}

/// The items of a list, even if the list or an item is written as a JSON string. A single object
/// counts as one item. `None` for other values.
pub(super) fn items(value: &Value) -> Option<Vec<Value>> {
    let list = match unwrapped(value).into_owned() {
        Value::Array(items) => items,
        object @ Value::Object(_) => vec![object],
        _ => return None,
    };
    Some(list.iter().map(|it| unwrapped(it).into_owned()).collect())
}

/// The text after the object of a reply. It is empty if the reply consists of one list or object.
/// `None` if there is no object, or if the object is not closed.
pub(crate) fn after_object(text: &str) -> Option<&str> {
    let text = without_think(bounded(text));
    let keys: Vec<&str> = ANALYSIS_KEYS.into_iter().chain(VERDICT_KEYS).collect();
    match find(text, &keys) {
        _ if structure(text).is_some() => Some(""),
        ObjectSearch::Object(object) if object.is_closed => text.get(object.place.end..),
        _ => None,
    }
}

/// Reads a strict JSON value that starts at byte `start`. Also returns the offset of its end.
fn strict(text: &str, start: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, start + values.byte_offset()))
}

impl ReplyObject {
    /// The member called `name`; `None` if it is absent or null.
    pub(super) fn member(&self, name: &str) -> Option<&Value> {
        self.members.get(name).filter(|value| !value.is_null())
    }

    /// The number of these keys whose members are there and not null.
    fn count(&self, keys: &[&str]) -> usize {
        let is_there = |key: &&&str| self.member(key).is_some();
        keys.iter().filter(is_there).count()
    }

    /// True if the object has one of these keys, even with null, or if the text ends inside the
    /// value of one.
    fn has_any(&self, keys: &[&str]) -> bool {
        let mut all = keys.iter();
        all.any(|key| self.members.contains_key(*key) || self.cut_in.as_deref() == Some(*key))
    }

    /// The first keys, for an error message. At most 12, set by hand.
    pub(super) fn keys(&self) -> String {
        let keys: Vec<&str> = self.members.keys().take(12).map(String::as_str).collect();
        keys.join(", ")
    }
}

/// A scalar as text with its digits unchanged. A boolean becomes `yes` or `no`. `None` for null,
/// lists and objects.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("yes".to_string()),
        Value::Bool(false) => Some("no".to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
