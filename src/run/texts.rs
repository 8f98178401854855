//! Long texts of calls and rows, which repeat from call to call: instructions, pages, a
//! reply in the request that follows it. Journal and transcripts keep each paragraph once
//! and name it by a number.

use std::collections::BTreeMap;

use serde_json::Value;

/// The least length of a shared text: the number and row of a shorter one would take as
/// much space.
const SHORTEST: usize = 64;

/// The places of texts in a call, in a row, and in a row with its calls.
const PLACES: &[&[&str]] = &[
    &["messages", "*", "content"],
    &["reply", "content"],
    &["calls", "*", "messages", "*", "content"],
    &["calls", "*", "reply", "content"],
    &["settled", "rounds", "*", "reply"],
    &["settled", "rounds", "*", "critic_reply"],
    &["settled", "episode", "messages", "*", "content"],
];

/// The places of sentences in a row that its calls quote: the steps of an answer from the
/// reply, in the critic's prompt, and objections in the prompt of the next round.
const QUOTED: &[&[&str]] = &[
    &["settled", "answer", "steps", "*"],
    &["settled", "rounds", "*", "answer", "steps", "*"],
    &["settled", "rounds", "*", "findings", "*", "problem"],
    &["settled", "rounds", "*", "findings", "*", "fix"],
    &[
        "settled", "rounds", "*", "verdict", "findings", "*", "problem",
    ],
    &["settled", "rounds", "*", "verdict", "findings", "*", "fix"],
];

/// Replaces the long paragraphs of an entry's texts by their numbers: `"text"` becomes
/// `[1, 2, "the rest"]`, whose parts in a row are the text.
pub(super) fn share<E>(
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

/// Like [`share`], for a row with its calls, whose long sentences are numbered too.
/// `number` gets a text and its form: a paragraph that contains other long lines, or quotes
/// numbered sentences, is written as a list of those and of the text between them.
pub(crate) fn share_quoted<E>(
    row: &mut Value,
    mut number: impl FnMut(&str, Value) -> Result<i64, E>,
) -> Result<(), E> {
    let mut quoted = BTreeMap::new();
    for path in QUOTED {
        at(row, path, &mut |text| {
            if let Value::String(sentence) = &*text
                && sentence.len() >= SHORTEST
            {
                let numbered = number(sentence, text.clone())?;
                quoted.insert(sentence.clone(), numbered);
                *text = Value::Array(vec![numbered.into()]);
            }
            Ok(())
        })?;
    }
    let mut quoted: Vec<(String, i64)> = quoted.into_iter().collect();
    // The longest first: one may contain another.
    quoted.sort_by_key(|(sentence, _)| std::cmp::Reverse(sentence.len()));
    share(row, |paragraph| {
        let mut parts = Vec::new();
        for line in paragraph.split_inclusive('\n') {
            let whole = line.len() == paragraph.len();
            let quotes = quoted.iter().any(|(sentence, _)| line.contains(sentence));
            if line.len() >= SHORTEST && !whole && !quotes {
                parts.push(number(line, line.into())?.into());
            } else {
                add_split(&mut parts, line, &quoted);
            }
        }
        let written = match parts.iter().any(Value::is_number) {
            true => parts.into(),
            false => paragraph.into(),
        };
        number(paragraph, written)
    })
}

/// Adds `text`, split around the sentences that it quotes.
fn add_split(parts: &mut Vec<Value>, text: &str, quoted: &[(String, i64)]) {
    for (at, (sentence, number)) in quoted.iter().enumerate() {
        if let Some((before, after)) = text.split_once(sentence.as_str()) {
            add_split(parts, before, quoted.get(at + 1..).unwrap_or_default());
            parts.push((*number).into());
            return add_split(parts, after, quoted);
        }
    }
    add_text(parts, text);
}

fn add_text(parts: &mut Vec<Value>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Value::String(before)) => before.push_str(text),
        _ => parts.push(text.into()),
    }
}

/// By what a text is recognised: the start of its blake3 hash.
pub(crate) type TextHash = [u8; 16];

pub(crate) fn text_hash(text: &str) -> TextHash {
    let mut hash = TextHash::default();
    let mut hasher = blake3::Hasher::new();
    hasher
        .update(text.as_bytes())
        .finalize_xof()
        .fill(&mut hash);
    hash
}

/// Undoes [`share`]: `add` appends the paragraph of a number to a text.
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
                part => add(part.as_i64().unwrap_or_default(), &mut whole)?,
            }
        }
        *text = whole.into();
        Ok(())
    })
}

/// Leaves out the messages of a call, and every long text of a call or row.
pub(super) fn leave_out(entry: &mut Value) {
    if let Some(messages) = entry.get_mut("messages") {
        *messages = Value::Array(Vec::new());
    }
    let emptied: Result<(), std::convert::Infallible> = for_each_text(entry, &mut |text| {
        *text = Value::String(String::new());
        Ok(())
    });
    let Ok(()) = emptied;
}

fn for_each_text<E>(
    entry: &mut Value,
    each: &mut impl FnMut(&mut Value) -> Result<(), E>,
) -> Result<(), E> {
    PLACES.iter().try_for_each(|path| at(entry, path, each))
}

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

        let step = "The change is the later year's figure less that of the earlier year.";
        let fix = "take the figure of 2009, and divide by it: the question asks for a share of it";
        let mut row = json!({
            "settled": {
                "answer": {"steps": ["short", step]},
                "rounds": [{"verdict": {"findings": [{"problem": "short", "fix": fix}]}}],
            },
            "calls": [
                {"reply": {"content": format!(r#"{{"steps": ["short", "{step}"], "program": "1"}}"#)}},
                {"messages": [{"content": format!("- 1: {fix}\n- 2: {fix}{step}")}]},
            ],
        });
        let mut texts: Vec<(String, Value)> = Vec::new();
        share_quoted(&mut row, |text, written| {
            let known = texts.iter().position(|(known, _)| known == text);
            Ok::<_, Infallible>(known.unwrap_or_else(|| {
                texts.push((text.to_owned(), written));
                texts.len() - 1
            }) as i64)
        })
        .unwrap();
        let written: Vec<_> = texts.iter().map(|(_, written)| written.clone()).collect();
        let reply = json!([r#"{"steps": ["short", ""#, 0, r#""], "program": "1"}"#]);
        let review = json!(["- 1: ", 1, "\n- 2: ", 1, 0]);
        assert_eq!(json!(written), json!([step, fix, review, reply]));
        assert_eq!(row["settled"]["answer"]["steps"], json!(["short", [0]]));
        assert_eq!(row["calls"][0]["reply"]["content"], json!([3]));
        assert_eq!(row["calls"][1]["messages"][0]["content"], json!([2]));
        let (quoting, _) = &texts[2];
        assert_eq!(*quoting, format!("- 1: {fix}\n- 2: {fix}{step}"));

        let mut row = json!({"settled": {"rounds": [{"reply": "r", "critic_reply": "c"}]}});
        let mut light = call;
        leave_out(&mut light);
        leave_out(&mut row);
        assert_eq!(light["messages"], json!([]));
        assert_eq!(light["reply"]["content"], "");
        assert_eq!(
            row["settled"]["rounds"][0],
            json!({"reply": "", "critic_reply": ""})
        );
    }
}
