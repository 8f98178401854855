//! Reads the JSON in a body. It accepts everything that the parsers of JavaScript and Python
//! accept, and an event stream from a server that was asked for a single reply.

use std::borrow::Cow;

use finqa_core::pattern;
use finqa_core::text::{NOT_FINITE, Pattern, one_line, single_spaced, with_nulls};
use regex::Captures;
use serde_json::{Value, json};

/// Reads a body. Strings and numbers keep their values. A lone surrogate and bytes that are not
/// UTF-8 become `U+FFFD`, and a number that is not finite becomes null.
///
/// # Errors
/// If the body is not JSON. The error says what the body probably is.
pub(super) fn json(body: &[u8]) -> Result<Value, String> {
    // A byte order mark is not part of JSON.
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    // Try strict JSON first, because nearly every body is strict JSON.
    if let Ok(value) = serde_json::from_slice(body) {
        return Ok(value);
    }
    let text = String::from_utf8_lossy(body);
    lenient(&text).or_else(|error| streamed(&text).ok_or_else(|| nature(body, &text, &error)))
}

/// Reads JSON in the form that Python's `json` writes and accepts.
fn lenient(text: &str) -> serde_json::Result<Value> {
    static TOKEN: Pattern = pattern!(r#"(?s)"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*"#);
    let text = with_nulls(text, &NOT_FINITE);
    let finite = TOKEN.replace_all(&text, |token: &Captures<'_>| {
        let token = token.get(0).map_or("", |token| token.as_str());
        match token.parse::<f64>() {
            Ok(number) if !number.is_finite() => Cow::Borrowed("null"),
            _ => without_lone_surrogates(token),
        }
        .into_owned()
    });
    serde_json::from_str(&finite)
}

/// Replaces each escape of a lone surrogate in a JSON string by `U+FFFD`. Pairs stay.
fn without_lone_surrogates(token: &str) -> Cow<'_, str> {
    // Matches an escape, a pair of surrogates, or a lone surrogate, which is the group.
    static ESCAPE: Pattern =
        pattern!(r"(?is)\\[^u]|\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(\\ud[89a-f][0-9a-f]{2})");
    ESCAPE.replace_all(token, |escape: &Captures<'_>| match escape.get(1) {
        Some(_) => "\u{fffd}".to_owned(),
        None => escape.get(0).map_or("", |it| it.as_str()).to_owned(),
    })
}

/// The reply in an event stream: the `response` of its last event, the last event if it is an error
/// or the only one, or else a message assembled from the chunks. `None` if there is no event, if an
/// event is not JSON, or if the chunks have no choice.
fn streamed(text: &str) -> Option<Value> {
    let mut events = Vec::new();
    let mut data = String::new();
    // An empty line ends an event. One is added, because the last event may lack it.
    for line in text.lines().chain([""]) {
        if let Some(part) = line.strip_prefix("data:") {
            data.push_str(part);
        } else if line.trim().is_empty() && !data.is_empty() {
            if data.trim() != "[DONE]" {
                events.push(lenient(&data).ok()?);
            }
            data.clear();
        }
    }
    let last = events.last()?;
    if let Some(response @ Value::Object(_)) = last.get("response") {
        return Some(response.clone());
    }
    let is_alone = events.len() == 1 && last.pointer("/choices/0/delta").is_none();
    if last.get("error").is_some_and(|error| !error.is_null()) || is_alone {
        return events.pop();
    }
    let begins = |event: &Value| event.get("type").is_some_and(|it| it == "message_start");
    if events.iter().any(begins) {
        return message(events);
    }
    let mut whole = Value::Null;
    for chunk in events {
        chunk.get("choices")?;
        add(&mut whole, "", chunk);
    }
    let choice = whole.pointer_mut("/choices/0")?.as_object_mut()?;
    let message = choice.shift_remove("delta")?;
    choice.insert("message".to_owned(), message);
    Some(whole)
}

/// Anthropic's message, assembled from its events. The blocks of a message follow each other.
/// `None` if an event changes a block or a message that was not begun.
fn message(events: Vec<Value>) -> Option<Value> {
    let (mut whole, mut blocks) = (Value::Null, Vec::new());
    for mut event in events {
        let kind = event.get("type").and_then(Value::as_str).map(str::to_owned);
        let mut part = |name: &str| event.get_mut(name).map(Value::take).unwrap_or_default();
        match kind.as_deref() {
            Some("message_start") => whole = part("message"),
            Some("content_block_start") => blocks.push(part("content_block")),
            Some("content_block_delta") => {
                let mut delta = part("delta");
                delta.as_object_mut()?.shift_remove("type");
                add(blocks.last_mut()?, "", delta);
            }
            Some("message_delta") => {
                add(&mut whole, "", part("delta"));
                add(&mut whole, "", json!({"usage": part("usage")}));
            }
            // `ping`, `content_block_stop` and `message_stop` contain no part of the message.
            _ => {}
        }
    }
    for block in blocks.iter_mut().filter_map(Value::as_object_mut) {
        if let Some(input) = block.shift_remove("partial_json") {
            block.insert("input".to_owned(), input);
        }
    }
    let content = Value::Array(blocks);
    whole.as_object_mut()?.insert("content".to_owned(), content);
    Some(whole)
}

/// Adds a part of a chunk to `whole`. Texts and lists grow. Any other value is replaced, but not by
/// null or an empty text.
fn add(whole: &mut Value, name: &str, part: Value) {
    // The texts of which a chunk contains only the next piece. Other strings, such as `id`, are
    // complete in each chunk that has them.
    const TEXTS: [&str; 8] = [
        "content", "reasoning_content", "reasoning", "refusal", "arguments", "text", "thinking",
        "partial_json",
    ];
    match (whole, part) {
        (_, Value::Null) => {}
        (Value::String(_), Value::String(more)) if more.is_empty() => {}
        (Value::String(text), Value::String(more)) if TEXTS.contains(&name) => text.push_str(&more),
        (Value::Object(members), Value::Object(more)) => {
            for (name, part) in more {
                let member = members.entry(name.clone()).or_insert(Value::Null);
                add(member, &name, part);
            }
        }
        (Value::Array(items), Value::Array(more)) => {
            for item in more {
                let known = items.iter_mut().rfind(|it| is_continued(name, it, &item));
                match known {
                    Some(known) => add(known, "", item),
                    None => items.push(item),
                }
            }
        }
        (whole, part) => *whole = part,
    }
}

/// True if `part`, from the list `name`, continues `item`. Some servers leave out the index, or
/// send the same index for every call.
fn is_continued<'a>(name: &str, item: &'a Value, part: &'a Value) -> bool {
    let is_there = |it: &&Value| !it.is_null() && it.as_str() != Some("");
    let given = |of: &'a Value, path| of.pointer(path).filter(is_there);
    let is_same = |path| {
        let both = given(item, path).zip(given(part, path));
        both.is_none_or(|(old, new)| old == new)
    };
    let begins = || {
        let marks = ["/index", "/id"].map(|path| given(part, path));
        marks == [None, None] && given(part, "/function/name").is_some()
    };
    match name {
        "choices" => is_same("/index"),
        "tool_calls" => is_same("/index") && is_same("/id") && !begins(),
        _ => false,
    }
}

/// Describes what a body that is not JSON probably is.
fn nature(body: &[u8], text: &str, error: &serde_json::Error) -> String {
    let start = text.trim_start();
    let strange = text.chars().filter(|&c| is_strange(c)).count();
    match start.chars().next() {
        None => "it is empty".to_owned(),
        _ if body.starts_with(b"\x1f\x8b") => {
            "it is compressed (gzip) and does not say so".to_owned()
        }
        // More than a tenth of the characters are unprintable. Set by hand.
        _ if strange * 10 > text.chars().count() => "it is binary data".to_owned(),
        Some('<') => format!("it is {}", page(text)),
        Some('{' | '[') if error.is_eof() => format!("it is JSON that ends too early: {error}"),
        Some('{' | '[') => format!("it is not JSON: {error}"),
        _ if start.starts_with("data:") || start.starts_with("event:") => {
            "it is an event stream, which was not asked for".to_owned()
        }
        _ => "it is text, not JSON".to_owned(),
    }
}

/// Describes what an HTML page probably is, with its title if that has at most 101 characters, a
/// limit set by hand.
pub(super) fn page(text: &str) -> String {
    static TITLE: Pattern = pattern!(r"(?is)<(?:title|h1)[^>]*>\s*([^<]{0,100}\S)\s*</");
    const KINDS: [(&str, &[&str]); 2] = [
        (
            "a login page",
            &[
                "type=\"password\"", "log in", "login", "sign in", "single sign-on",
            ],
        ),
        (
            "a proxy's page",
            &[
                "proxy", "gateway", "nginx", "cloudflare", "captive", "firewall",
            ],
        ),
    ];
    let lower = text.to_lowercase();
    let holds = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let kind = KINDS.iter().find(|(_, words)| holds(words));
    let kind = kind.map(|(kind, _)| format!(", probably {kind}"));
    let title = TITLE.captures(text).and_then(|found| found.get(1));
    let title = title.map(|title| format!(" (`{}`)", single_spaced(title.as_str())));
    format!(
        "an HTML page{}{}",
        kind.unwrap_or_default(),
        title.unwrap_or_default()
    )
}

/// The beginning of a body, in printable characters. Its length is set by hand.
pub(super) fn beginning(body: &str) -> String {
    const QUOTED: usize = 80;
    one_line(&body.replace(is_strange, "·"), QUOTED)
}

fn is_strange(c: char) -> bool {
    c == char::REPLACEMENT_CHARACTER || c.is_control() && !c.is_whitespace()
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "tables of cases")]
mod tests {
    use super::*;

    #[test]
    fn what_javascript_or_python_reads_is_read_with_its_values() {
        for (body, value) in [
            (&b"\xef\xbb\xbf{\"a\": 1}"[..], json!({"a": 1})),
            (b"\n\n  \r\n{\"a\": 1}\n", json!({"a": 1})),
            (br#"{"a": "cut \ud83d"}"#, json!({"a": "cut \u{fffd}"})),
            (
                br#"["\ud83d\ude00 \uDE00\uD83D x"]"#,
                json!(["\u{1f600} \u{fffd}\u{fffd} x"]),
            ),
            // An escaped backslash, and the letters of an escape.
            (
                br#"["\\ud83d", "\ud83d", "\\\ud83d"]"#,
                json!(["\\ud83d", "\u{fffd}", "\\\u{fffd}"]),
            ),
            (
                br#"[NaN, -Infinity, Infinity, 1e999, -1E+400, 0.1]"#,
                json!([null, null, null, null, null, 0.1]),
            ),
            (
                br#"["NaN", "-Infinity \" NaN", NaN]"#,
                json!(["NaN", "-Infinity \" NaN", null]),
            ),
            (
                b"[\"a\xff\", 12345678901234567890, 1.0]",
                json!(["a\u{fffd}", 12345678901234567890_u64, 1.0]),
            ),
            (b"data: {\"a\": 1}\n\ndata: [DONE]\n\n", json!({"a": 1})),
            (
                b": hold on\n\nevent: message\ndata: {\"a\":\ndata: 1}\n",
                json!({"a": 1}),
            ),
        ] {
            assert_eq!(json(body), Ok(value), "{}", String::from_utf8_lossy(body));
        }
    }

    #[test]
    fn chunks_that_were_not_asked_for_are_put_together() {
        let chunk = |choice: Value, usage: Value| {
            let body = json!({"id": "c", "model": "m", "choices": [choice], "usage": usage});
            format!("data: {body}\n\n")
        };
        let text =
            |text: &str| json!({"index": 0, "delta": {"content": text}, "finish_reason": null});
        let call = |call: Value| json!({"index": 0, "delta": {"tool_calls": [call]}});
        let stream = [
            chunk(
                json!({"index": 0, "delta": {"role": "assistant", "content": ""}}),
                Value::Null,
            ),
            chunk(text("4"), Value::Null),
            chunk(text("2"), Value::Null),
            chunk(
                call(
                    json!({"index": 0, "id": "t", "function": {"name": "f", "arguments": "{\"a\""}}),
                ),
                Value::Null,
            ),
            chunk(
                call(
                    json!({"index": 0, "id": "t", "function": {"name": "f", "arguments": ": 1}"}}),
                ),
                Value::Null,
            ),
            chunk(
                json!({"index": 0, "delta": {}, "finish_reason": "stop"}),
                json!({"prompt_tokens": 1}),
            ),
            "data: [DONE]\n\n".to_owned(),
        ];
        let whole = json(stream.concat().as_bytes()).unwrap();
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], "42");
        let function = json!({"name": "f", "arguments": "{\"a\": 1}"});
        assert_eq!(
            message["tool_calls"],
            json!([{"index": 0, "id": "t", "function": function}])
        );
        assert_eq!(whole["choices"][0]["finish_reason"], "stop");
        assert_eq!(whole["usage"], json!({"prompt_tokens": 1}));

        let failed = [
            text("4").to_string(),
            json!({"error": {"message": "gone"}}).to_string(),
        ];
        let failed = failed.map(|event| format!("data: {event}\n\n")).concat();
        assert_eq!(json(failed.as_bytes()).unwrap()["error"]["message"], "gone");
        let response =
            "event: x\ndata: {\"type\": \"response.completed\", \"response\": {\"id\": 7}}\n\n";
        assert_eq!(json(response.as_bytes()), Ok(json!({"id": 7})));
    }

    #[test]
    fn chunks_without_an_index_an_id_or_a_name_continue_what_has_begun() {
        let part = |index: Value, id: Value, name: Value, arguments: &str| json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}});
        let none = || Value::Null;
        let names = |parts: Vec<Value>| {
            let chunks = parts.into_iter().map(|call| {
                let choice =
                    json!({"delta": {"content": "x", "tool_calls": [call]}, "finish_reason": ""});
                format!("data: {}\n\n", json!({"choices": [choice]}))
            });
            let last = "data: {\"choices\": [{\"delta\": {\"role\": \"\"}, \"finish_reason\": \"stop\"}]}\n\n";
            let stream = chunks.collect::<String>() + last + "data: [DONE]\n\n";
            let whole = json(stream.as_bytes()).unwrap();
            assert_eq!(whole["choices"].as_array().unwrap().len(), 1, "{whole}");
            assert_eq!(whole["choices"][0]["finish_reason"], "stop", "{whole}");
            let calls = whole["choices"][0]["message"]["tool_calls"].clone();
            let calls = calls.as_array().unwrap().iter();
            let calls = calls.map(|it| {
                [
                    &it["id"], &it["function"]["name"], &it["function"]["arguments"],
                ]
                .map(|it| it.as_str().unwrap_or("-").to_owned())
                .join(" ")
            });
            calls.collect::<Vec<_>>()
        };
        for (parts, calls) in [
            (
                vec![
                    part(0.into(), "a".into(), "f".into(), "{"),
                    part(0.into(), "".into(), "".into(), "}"),
                ],
                vec!["a f {}"],
            ),
            (
                vec![
                    part(none(), "a".into(), "f".into(), "{"),
                    part(none(), none(), none(), "}"),
                ],
                vec!["a f {}"],
            ),
            (
                vec![
                    part(none(), "a".into(), "f".into(), "{}"),
                    part(none(), "b".into(), "f".into(), "[]"),
                ],
                vec!["a f {}", "b f []"],
            ),
            (
                vec![
                    part(none(), "".into(), "f".into(), "{}"),
                    part(none(), "".into(), "g".into(), "[]"),
                ],
                vec![" f {}", " g []"],
            ),
            // Every call has index 0.
            (
                vec![
                    part(0.into(), "a".into(), "f".into(), "{}"),
                    part(0.into(), "b".into(), "g".into(), "["),
                    part(0.into(), none(), none(), "]"),
                ],
                vec!["a f {}", "b g []"],
            ),
            // A call that is complete in one chunk.
            (
                vec![part(0.into(), "a".into(), "f".into(), "{}")],
                vec!["a f {}"],
            ),
        ] {
            assert_eq!(names(parts), calls);
        }
        let alone = "data: {\"choices\": [{\"delta\": {\"content\": \"42\"}, \"finish_reason\": \"stop\"}]}\n\ndata: [DONE]\n\n";
        let whole = json(alone.as_bytes()).unwrap();
        assert_eq!(whole["choices"][0]["message"]["content"], "42", "{whole}");
    }

    #[test]
    fn a_body_that_is_not_json_says_what_it_probably_is() {
        for (body, what) in [
            (&b""[..], "empty"),
            (
                b"<html><title>Sign in</title>", "probably a login page (`Sign in`)",
            ),
            (
                b"<html><h1>502 Bad Gateway</h1>",
                "probably a proxy's page (`502 Bad Gateway`)",
            ),
            (b"<!doctype html><p>busy", "an HTML page"),
            (b"{\"choices\": [{\"mess", "JSON that ends too early"),
            (b"{\"a\": 1} and more", "not JSON: trailing"),
            (b"{'a': 1}", "not JSON: key must be a string"),
            (b"Internal error", "text, not JSON"),
            (b"\x1f\x8b\x08\x00\x00", "compressed (gzip)"),
            (b"\x00\xff\xfe\x81\x02abc", "binary data"),
            (b"data: {\"cut\": \n\n", "an event stream"),
        ] {
            let said = json(body).unwrap_err();
            assert!(said.contains(what), "{said}");
        }
        assert_eq!(beginning("a\u{fffd}\u{1}b\nc"), "a··b c");
    }
}
