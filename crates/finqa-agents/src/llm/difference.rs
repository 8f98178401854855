//! Compares a stored request with a new one: measures how much they differ, and names the fields
//! that differ.

use finqa_core::text;
use serde_json::Value;

/// Maximum number of characters that are shown of a value. Set by hand, like the next two limits:
/// the difference is a part of a one-line message.
const SHOWN: usize = 40;

/// Maximum number of characters that are shown before the first difference.
const BEFORE: usize = 12;

/// Maximum number of fields that are named. Further fields are only counted.
const NAMED: usize = 4;

/// The difference between two requests.
#[derive(Debug, Default)]
pub(super) struct RequestDifference {
    /// The fields in words, in the order of the new request.
    fields: Vec<String>,
    /// The total number of characters that differ: 0 for equal requests.
    pub distance: usize,
}

impl RequestDifference {
    pub(super) fn of(stored: &Value, asked: &Value) -> Self {
        let mut found = Self::default();
        found.compare(stored, asked, "");
        found
    }

    /// The differences in a few words.
    pub(super) fn in_words(&self) -> String {
        let named: Vec<&str> = self.fields.iter().take(NAMED).map(String::as_str).collect();
        match self.fields.len().saturating_sub(NAMED) {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        }
    }

    /// Adds the places at which two values differ. An absent field equals null.
    fn compare(&mut self, stored: &Value, asked: &Value, pointer: &str) {
        match (stored, asked) {
            (Value::Object(was), Value::Object(now)) => {
                let left_out = was.keys().filter(|key| !now.contains_key(*key));
                for key in now.keys().chain(left_out) {
                    let at = format!("{pointer}/{key}");
                    self.compare(member(was.get(key)), member(now.get(key)), &at);
                }
            }
            (Value::Array(was), Value::Array(now)) => {
                for index in 0..was.len().max(now.len()) {
                    let at = format!("{pointer}/{index}");
                    self.compare(member(was.get(index)), member(now.get(index)), &at);
                }
            }
            _ if stored == asked => {}
            _ => self.add(stored, asked, pointer),
        }
    }

    /// Adds the field at `pointer` with the beginnings of both values, and counts their characters
    /// that differ.
    fn add(&mut self, stored: &Value, asked: &Value, pointer: &str) {
        let [was, now] = [stored, asked].map(plain);
        let common = was.chars().zip(now.chars()).take_while(|(a, b)| a == b);
        let same = common.count();
        let lengths = [&was, &now].map(|text| text.chars().count() - same);
        let ends = was.chars().rev().zip(now.chars().rev());
        let ends = ends.take(lengths[0].min(lengths[1]));
        let same_end = ends.take_while(|(a, b)| a == b).count();
        // The beginning and the end that both texts share do not count. A difference counts at
        // least 1, even if only the types differ (`1` and `"1"`).
        self.distance += (lengths[0].max(lengths[1]) - same_end).max(1);
        let [was, now] = [(stored, was), (asked, now)].map(|(value, text)| cut(value, &text, same));
        self.fields
            .push(format!("{pointer} ({was} stored, {now} asked)"));
    }
}

fn member(value: Option<&Value>) -> &Value {
    value.unwrap_or(&Value::Null)
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The part of a value around its first difference, on one line.
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

/// Hashes a value with its keys sorted, so that their order does not matter.
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
        let asked = json!({"messages": [
            {"role": "user", "content": format!("{page}What was revenue in 2009?")}], "temperature": 0.7});
        let found = RequestDifference::of(&stored, &asked);
        assert_eq!(
            found.in_words(),
            "/messages/0/content (\"…venue in 2008?\" stored, \"…venue in 2009?\" asked), \
             /temperature (0.0 stored, 0.7 asked), /seed (7 stored, null asked)"
        );
        assert_eq!(found.distance, 1 + 1 + 4);
        assert_eq!(RequestDifference::of(&stored, &stored).distance, 0);
        let found = RequestDifference::of(&json!([]), &json!([1, 2, 3, 4, 5, 6]));
        assert!(found.in_words().ends_with("and 2 more"), "{found:?}");
    }
}
