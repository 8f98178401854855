//! Compares requests: finds the nearest recorded or cached one, and the fields that differ.

use std::fmt;

use finqa_core::text;
use serde_json::Value;

/// Characters of a value that are shown.
const SHOWN: usize = 40;

/// Of these, characters before the first one that differs.
const BEFORE: usize = 12;

/// Fields that are named; the others are counted.
const NAMED: usize = 4;

/// A field in which a request differs from a stored one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FieldDifference {
    /// JSON pointer.
    pointer: String,
    /// The stored value, cut to where it differs; `None` if the field is absent.
    stored: Option<String>,
    /// The requested value.
    asked: Option<String>,
    /// The number of characters that differ.
    weight: usize,
}

impl fmt::Display for FieldDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "absent".to_owned());
        write!(
            f,
            "{} ({} stored, {} asked)",
            self.pointer,
            shown(&self.stored),
            shown(&self.asked)
        )
    }
}

/// The fields in which `asked` differs from `stored`, in the order of `asked`.
pub(super) fn differences(stored: &Value, asked: &Value) -> Vec<FieldDifference> {
    let mut found = Vec::new();
    compare(Some(stored), Some(asked), &mut String::new(), &mut found);
    found
}

/// The total number of characters that differ: 0 for equal values.
pub(super) fn distance(differences: &[FieldDifference]) -> usize {
    differences.iter().map(|field| field.weight).sum()
}

/// The differences in a few words.
pub(super) fn in_words(differences: &[FieldDifference]) -> String {
    let named: Vec<String> = differences
        .iter()
        .take(NAMED)
        .map(ToString::to_string)
        .collect();
    match differences.len().saturating_sub(NAMED) {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}

fn compare(
    stored: Option<&Value>,
    asked: Option<&Value>,
    pointer: &mut String,
    found: &mut Vec<FieldDifference>,
) {
    match (stored, asked) {
        (Some(Value::Object(stored)), Some(Value::Object(asked))) => {
            let added = stored.keys().filter(|key| !asked.contains_key(*key));
            for key in asked.keys().chain(added) {
                let token = key.replace('~', "~0").replace('/', "~1");
                within(pointer, &token, |pointer| {
                    compare(stored.get(key), asked.get(key), pointer, found);
                });
            }
        }
        (Some(Value::Array(stored)), Some(Value::Array(asked))) => {
            for at in 0..stored.len().max(asked.len()) {
                within(pointer, &at.to_string(), |pointer| {
                    compare(stored.get(at), asked.get(at), pointer, found);
                });
            }
        }
        (stored, asked) if stored == asked => {}
        (stored, asked) => found.push(field(pointer, stored, asked)),
    }
}

fn within(pointer: &mut String, token: &str, visit: impl FnOnce(&mut String)) {
    let length = pointer.len();
    pointer.push('/');
    pointer.push_str(token);
    visit(pointer);
    pointer.truncate(length);
}

fn field(pointer: &str, stored: Option<&Value>, asked: Option<&Value>) -> FieldDifference {
    let [was, now] = [stored, asked].map(|value| value.map(text).unwrap_or_default());
    let [was_chars, now_chars] = [&was, &now].map(|text| text.chars().collect::<Vec<_>>());
    let same = common(was_chars.iter(), now_chars.iter());
    let rest = |chars: &[char]| {
        chars
            .iter()
            .rev()
            .copied()
            .take(chars.len() - same)
            .collect::<Vec<_>>()
    };
    let same_end = common(rest(&was_chars).iter(), rest(&now_chars).iter());
    let differing = was_chars.len().max(now_chars.len()) - same - same_end;
    FieldDifference {
        pointer: if pointer.is_empty() { "/" } else { pointer }.to_owned(),
        stored: stored.map(|value| cut(value, &was, same)),
        asked: asked.map(|value| cut(value, &now, same)),
        weight: differing.max(1),
    }
}

/// The number of equal characters at the start.
fn common<'c>(a: impl Iterator<Item = &'c char>, b: impl Iterator<Item = &'c char>) -> usize {
    a.zip(b).take_while(|(a, b)| a == b).count()
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value around its first difference, on one line.
fn cut(value: &Value, text: &str, same: usize) -> String {
    let start = text::head(text, same.saturating_sub(BEFORE)).len();
    let part = text.get(start..).unwrap_or_default();
    let part = text::cut(part, SHOWN, "…").replace(char::is_control, " ");
    let before = if start > 0 { "…" } else { "" };
    match value {
        Value::String(_) => format!("\"{before}{part}\""),
        _ => format!("{before}{part}"),
    }
}

/// Feeds a value with its keys sorted.
pub(super) fn canonical(value: &Value, hasher: &mut blake3::Hasher) {
    match value {
        Value::Object(fields) => {
            let mut keys: Vec<&String> = fields.keys().collect();
            keys.sort_unstable();
            hasher.update(b"{");
            for key in keys {
                hasher.update(Value::from(key.as_str()).to_string().as_bytes());
                hasher.update(b":");
                canonical(fields.get(key).unwrap_or(&Value::Null), hasher);
                hasher.update(b",");
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                canonical(item, hasher);
                hasher.update(b",");
            }
            hasher.update(b"]");
        }
        leaf => {
            hasher.update(leaf.to_string().as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_are_named_by_pointer_with_both_values_cut_to_the_difference() {
        let page = "a long page ".repeat(20);
        let stored = json!({"temperature": 0.0, "seed": 7, "messages": [
            {"role": "user", "content": format!("{page}What was revenue in 2008?")}]});
        let asked = json!({"temperature": 0.7, "messages": [
            {"role": "user", "content": format!("{page}What was revenue in 2009?")}], "a/b": null});
        let found = differences(&stored, &asked);
        assert_eq!(
            in_words(&found),
            "/temperature (0.0 stored, 0.7 asked), \
             /messages/0/content (\"…venue in 2008?\" stored, \"…venue in 2009?\" asked), \
             /a~1b (absent stored, null asked), /seed (7 stored, absent asked)"
        );
        assert_eq!(distance(&found), 1 + 1 + 4 + 1);
        assert_eq!(differences(&stored, &stored), []);
    }

    #[test]
    fn the_order_of_keys_does_not_matter_and_many_fields_are_counted() {
        assert_eq!(
            differences(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})),
            []
        );
        let found = differences(&json!([]), &json!([1, 2, 3, 4, 5, 6]));
        assert!(in_words(&found).ends_with("and 2 more"), "{found:?}");
    }
}
