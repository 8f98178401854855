//! Finds the object of a reply, and its members under their usual spellings.

use std::ops::Range;

use serde_json::{Map, Value};

use super::candidates::candidates;
use super::lenient;
use super::types::{Leniency, Notes};

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
    members: Map<String, Value>,
    pub(super) place: Range<usize>,
    /// The member that was dropped because the text ends in it.
    pub(super) cut_in: Option<String>,
}

/// `rank` says how much an object looks like the requested one: a reply often ends in a
/// small object such as `{"value": 0.5}`, which must not replace the full one before it.
/// Among objects of one rank the likeliest place wins.
pub(super) fn find(
    text: &str,
    keys: &[&str],
    rank: impl Fn(&ReplyObject) -> u8,
    notes: &mut Notes,
) -> ObjectSearch {
    let mut all = all(text, keys);
    // The first of the highest rank; `max_by_key` would take the last.
    let ranks = all.objects.iter().map(|(object, _)| rank(object));
    let best = ranks
        .enumerate()
        .min_by_key(|(_, rank)| std::cmp::Reverse(*rank));
    match best {
        Some((at, _)) => {
            let (object, own) = all.objects.swap_remove(at);
            notes.extend(&own);
            ObjectSearch::Object(object)
        }
        None => all.refusal.unwrap_or(ObjectSearch::Nothing),
    }
}

/// The objects of a reply that have one of the requested keys.
pub(super) struct Objects {
    /// The likeliest first, each with its leniencies.
    pub(super) objects: Vec<(ReplyObject, Notes)>,
    /// The likeliest place that cannot be read as an object.
    pub(super) refusal: Option<ObjectSearch>,
}

/// Every object of `text` that has one of `keys`.
pub(super) fn all(text: &str, keys: &[&str]) -> Objects {
    let mut found = Objects {
        objects: Vec::new(),
        refusal: None,
    };
    // The usual case, strict JSON alone, without looking at candidates.
    if let Ok(value) = serde_json::from_str::<Value>(text.trim()) {
        match value {
            Value::String(inner) => {
                // One level only: an inner string is not opened again.
                if !inner.trim_start().starts_with('"') {
                    found = all(&inner, keys);
                }
                for (object, own) in &mut found.objects {
                    object.place = 0..text.len();
                    own.add(Leniency::DoubleEncoded);
                }
                if !found.objects.is_empty() {
                    return found;
                }
            }
            value => {
                let mut own = Notes::default();
                if let Some(object) = with_keys(value, keys, 0..text.len(), &mut own) {
                    found.objects.push((object, own));
                    return found;
                }
            }
        }
    }
    for candidate in candidates(text) {
        let mut own = Notes::default();
        if let Some(leniency) = candidate.leniency {
            own.add(leniency);
        }
        let (value, end, cut_in) = match strict(text, candidate.start) {
            Some((value, end)) => (value, end, None),
            None => match lenient::read(text, candidate.start, &mut own) {
                Ok(read) => (read.value, read.end, read.cut_in),
                Err(refused) => {
                    found.refusal.get_or_insert(ObjectSearch::Refused {
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
        let place = candidate.start..end;
        let object = match value {
            Value::Object(members) if cut => Some(ReplyObject {
                members,
                place,
                cut_in: None,
            }),
            value => with_keys(value, keys, place, &mut own),
        };
        if let Some(mut object) = object {
            object.cut_in = cut_in;
            found.objects.push((object, own));
        }
    }
    found
}

/// The strict JSON value at the start of `text[start..]`, and where it ends.
fn strict(text: &str, start: usize) -> Option<(Value, usize)> {
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, start + values.byte_offset()))
}

/// The object, or the one inside it (`{"response": {…}}`, `[{…}]`), that has one of `keys`.
fn with_keys(
    value: Value,
    keys: &[&str],
    place: Range<usize>,
    notes: &mut Notes,
) -> Option<ReplyObject> {
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
    let members = if has_any(&members, keys) {
        members
    } else {
        notes.add(Leniency::Wrapped);
        members.into_iter().find_map(|(_, inner)| match inner {
            Value::Object(inner) => has_any(&inner, keys).then_some(inner),
            _ => None,
        })?
    };
    Some(ReplyObject {
        members,
        place,
        cut_in: None,
    })
}

fn has_any(members: &Map<String, Value>, keys: &[&str]) -> bool {
    members
        .keys()
        .any(|key| keys.contains(&plain(key).as_str()))
}

/// A key without case, spaces and underscores.
pub(super) fn plain(key: &str) -> String {
    key.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

impl ReplyObject {
    /// The member called `name`, or one of `others` (plain spellings); a null counts as absent.
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

    /// True if there is a member with one of these normalised keys; a null counts as
    /// absent.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        self.members
            .iter()
            .any(|(key, value)| !value.is_null() && keys.contains(&plain(key).as_str()))
    }

    /// All members, in their own spelling.
    pub(super) fn members(&self) -> &Map<String, Value> {
        &self.members
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
