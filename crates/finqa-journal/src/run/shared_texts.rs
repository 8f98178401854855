//! Stores repeated texts once. Calls and rows repeat long texts: instructions, pages, and each
//! reply in the request that follows it. The journal and the transcripts store each long paragraph
//! once and refer to it by a number.

use serde_json::Value;

/// Minimum bytes of a shared paragraph. For a shorter one, its number and its row in the table
/// would take as much space as the text.
const SHORTEST: usize = 64;

/// Paths to the texts of a call, of a row, and of a row with its calls. `*` matches every item of a
/// list.
const PLACES: &[&[&str]] = &[
    &["messages", "*", "content"],
    &["reply", "content"],
    &["calls", "*", "messages", "*", "content"],
    &["calls", "*", "reply", "content"],
    &["settled", "rounds", "*", "reply"],
    &["settled", "rounds", "*", "critic_reply"],
    &["settled", "episode", "messages", "*", "content"],
];

/// Replaces the long paragraphs of an entry's texts by their numbers. `"text"` becomes a list of
/// its parts in order, such as `[1, 2, "the rest"]`. A text without long paragraphs is not changed.
pub fn share<E>(
    entry: &mut Value,
    mut number: impl FnMut(&str) -> Result<i64, E>,
) -> Result<(), E> {
    for_each_text(entry, &mut |text| {
        let Value::String(whole) = &*text else {
            return Ok(());
        };
        let mut parts: Vec<Value> = Vec::new();
        for part in whole.split_inclusive("\n\n") {
            if part.len() >= SHORTEST {
                parts.push(number(part)?.into());
            } else {
                add_text(&mut parts, part);
            }
        }
        if parts.iter().any(Value::is_number) {
            *text = parts.into();
        }
        Ok(())
    })
}

fn add_text(parts: &mut Vec<Value>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Value::String(before)) => before.push_str(text),
        _ => parts.push(text.into()),
    }
}

/// The first 16 bytes of the blake3 hash of a text, which identify it.
pub type TextHash = [u8; 16];

pub fn text_hash(text: &str) -> TextHash {
    let mut hash = TextHash::default();
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(text.as_bytes())
        .finalize_xof()
        .fill(&mut hash);
    hash
}

/// Undoes [`share`]. `add` appends the paragraph with this number to a text.
pub(super) fn restore<E>(
    entry: &mut Value,
    mut add: impl FnMut(i64, &mut String) -> Result<(), E>,
) -> Result<(), E> {
    for_each_text(entry, &mut |text| {
        let Value::Array(parts) = &*text else {
            return Ok(());
        };
        let mut whole = String::new();
        for part in parts {
            match part {
                Value::String(part) => whole.push_str(part),
                // Ids begin at 1, so `add` reports anything that is not a number as text 0.
                part => add(part.as_i64().unwrap_or_default(), &mut whole)?,
            }
        }
        *text = whole.into();
        Ok(())
    })
}

fn for_each_text<E>(
    entry: &mut Value,
    each: &mut impl FnMut(&mut Value) -> Result<(), E>,
) -> Result<(), E> {
    PLACES.iter().try_for_each(|path| at(entry, path, each))
}

/// Calls `each` with every value at this path. Does nothing if the path does not exist.
fn at<E>(
    value: &mut Value,
    path: &[&str],
    each: &mut impl FnMut(&mut Value) -> Result<(), E>,
) -> Result<(), E> {
    match (path, value) {
        ([], value) => each(value),
        (["*", rest @ ..], Value::Array(items)) => {
            items.iter_mut().try_for_each(|item| at(item, rest, each))
        }
        ([key, rest @ ..], Value::Object(fields)) => fields
            .get_mut(*key)
            .map_or(Ok(()), |value| at(value, rest, each)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use serde_json::json;

    use super::*;

    #[test]
    fn long_paragraphs_become_numbers_and_come_back_to_the_byte() {
        let page = format!("\n\n{}\n\n\n\n{}é\n", "a".repeat(80), "b".repeat(70));
        let call = json!({
            "messages": [
                {"role": "system", "content": "short"},
                {"role": "user", "content": format!("{page}\n\nQuestion: how much?")},
                {"role": "user", "content": page.clone()},
                {"role": "tool", "content": ""},
            ],
            "reply": {"content": page, "tool_calls": [{"arguments": "[1]"}]},
            "error": "x".repeat(100),
        });
        let mut texts: Vec<String> = Vec::new();
        let mut shared = call.clone();
        share(&mut shared, |text| {
            let known = texts.iter().position(|known| known == text);
            Ok::<_, Infallible>(known.unwrap_or_else(|| {
                texts.push(text.to_owned());
                texts.len() - 1
            }) as i64)
        })
        .unwrap();
        assert_eq!(texts.len(), 3, "{texts:?}");
        assert_eq!(shared["messages"][0]["content"], "short");
        assert_eq!(
            shared["messages"][1]["content"],
            json!(["\n\n", 0, "\n\n", 1, "\nQuestion: how much?"])
        );
        assert_eq!(shared["error"], call["error"]);
        let add = |number: i64, whole: &mut String| {
            whole.push_str(&texts[usize::try_from(number).unwrap()]);
            Ok::<_, Infallible>(())
        };
        restore(&mut shared, add).unwrap();
        assert_eq!(shared, call);
    }
}
