//! Finding the object of a reply, and its members under their usual spellings.

use serde_json::{Map, Value};

use super::candidates::candidates;
use super::lenient;
use super::types::{Leniency, Notes};

/// What a reply held.
pub(super) enum Found {
    /// An object with at least one of the keys looked for.
    Object(Object),
    /// Something that starts like an object and cannot be read as one.
    Refused { offset: usize, what: String },
    /// No object with such a key.
    Nothing,
}

/// The members of an object.
pub(super) struct Object {
    members: Map<String, Value>,
    /// Where it starts in the text.
    pub(super) offset: usize,
    /// The member that was dropped because the text ends in it.
    pub(super) cut_in: Option<String>,
}

/// The likeliest object of `text` that has one of `keys`.
pub(super) fn find(text: &str, keys: &[&str], notes: &mut Notes) -> Found {
    let mut refusal = None;
    // The usual case, strict JSON alone, without looking at candidates.
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        match value {
            Value::String(inner) => {
                let mut own = Notes::default();
                own.add(Leniency::DoubleEncoded);
                // One level only: an inner string is not opened again.
                if !inner.trim_start().starts_with('"')
                    && let Found::Object(object) = find(&inner, keys, &mut own)
                {
                    notes.extend(&own);
                    return Found::Object(Object {
                        offset: 0,
                        ..object
                    });
                }
            }
            value => {
                if let Some(object) = with_keys(value, keys, 0, notes) {
                    return Found::Object(object);
                }
            }
        }
    }
    for candidate in candidates(text) {
        let mut own = Notes::default();
        if let Some(leniency) = candidate.leniency {
            own.add(leniency);
        }
        let (value, cut_in) = match strict(text, candidate.start) {
            Some(value) => (value, None),
            None => match lenient::read(text, candidate.start, &mut own) {
                Ok(read) => (read.value, read.cut_in),
                Err(refused) => {
                    refusal.get_or_insert(Found::Refused {
                        offset: refused.offset,
                        what: refused.what,
                    });
                    continue;
                }
            },
        };
        let cut = cut_in
            .as_deref()
            .is_some_and(|key| keys.contains(&plain(key).as_str()));
        let object = match value {
            Value::Object(members) if cut => Some(Object {
                members,
                offset: candidate.start,
                cut_in: None,
            }),
            value => with_keys(value, keys, candidate.start, &mut own),
        };
        if let Some(mut object) = object {
            object.cut_in = cut_in;
            notes.extend(&own);
            return Found::Object(object);
        }
    }
    refusal.unwrap_or(Found::Nothing)
}

/// The strict JSON value at the start of `text[start..]`.
fn strict(text: &str, start: usize) -> Option<Value> {
    serde_json::Deserializer::from_str(text.get(start..)?)
        .into_iter::<Value>()
        .next()?
        .ok()
}

/// The object, or the one inside it (`{"response": {…}}`, `[{…}]`), that has one of `keys`.
fn with_keys(value: Value, keys: &[&str], offset: usize, notes: &mut Notes) -> Option<Object> {
    let object = |members| Object {
        members,
        offset,
        cut_in: None,
    };
    let members = match value {
        Value::Object(members) => members,
        Value::Array(items) if items.len() == 1 => match items.into_iter().next() {
            Some(Value::Object(members)) => {
                notes.add(Leniency::Wrapped);
                members
            }
            _ => return None,
        },
        _ => return None,
    };
    if has_any(&members, keys) {
        return Some(object(members));
    }
    let inner = members.into_iter().next().map(|(_, value)| value)?;
    match inner {
        Value::Object(inner) if has_any(&inner, keys) => {
            notes.add(Leniency::Wrapped);
            Some(object(inner))
        }
        _ => None,
    }
}

fn has_any(members: &Map<String, Value>, keys: &[&str]) -> bool {
    members
        .keys()
        .any(|key| keys.contains(&plain(key).as_str()))
}

/// A key without case, spaces and underscores.
fn plain(key: &str) -> String {
    key.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

impl Object {
    /// The member called `name`, or one of `others` (plain spellings); a null
    /// counts as absent.
    pub(super) fn member(&self, name: &str, others: &[&str], notes: &mut Notes) -> Option<&Value> {
        let found = self.members.get(name).filter(|v| !v.is_null());
        if found.is_some() {
            return found;
        }
        let own = plain(name);
        let (_, value) = self.members.iter().find(|(key, value)| {
            let key = plain(key);
            !value.is_null() && (key == own || others.contains(&key.as_str()))
        })?;
        notes.add(Leniency::KeyVariant);
        Some(value)
    }

    /// The keys there are, for an error.
    pub(super) fn keys(&self) -> String {
        let keys: Vec<&str> = self.members.keys().take(12).map(String::as_str).collect();
        keys.join(", ")
    }
}

/// A scalar as text, digits as they are; `None` for null, lists and objects.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.trim().to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(true) => Some("yes".to_string()),
        Value::Bool(false) => Some("no".to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
