//! Parameters, tags and metrics, sent so that a value that the server refuses holds up no other.
//!
//! Limits differ between servers: a parameter's value had at most 250 characters in MLflow 1.0, 500
//! in 1.30 and 2.3, and 6,000 in 2.14 and 3.17; a tag's value 250, 5,000 and 8,000. A database that
//! was not migrated keeps its older limits. The words of the refusal name the limit.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use finqa_core::text::head;

use super::error::MlflowError;
use super::server::TrackingServer;

/// Characters in a parameter's value that the newest servers take.
pub(super) const NEWEST_LIMIT: usize = 6000;
/// The same of the oldest ones, for a refusal that names no limit.
const OLDEST_LIMIT: usize = 250;
/// The file with the whole values of what was cut.
pub(super) const WHOLE: &str = "whole_values.json";

/// What a server did not take of some values.
#[derive(Debug, Default)]
pub(super) struct CutValues {
    /// The values that were cut, whole, by their keys.
    pub(super) whole: BTreeMap<String, String>,
    /// The keys of what was cut, by the limit.
    keys: BTreeMap<usize, Vec<String>>,
    /// What is missing, one line each.
    pub(super) shortfalls: Vec<String>,
}

/// Sends values of a `kind`, which is the name of the list in `runs/log-batch`. A refused batch
/// is sent again with its values cut to the limit that the server names, otherwise in halves.
///
/// # Errors
/// A failure that is no refusal, or a refusal of every value.
pub(super) async fn send(
    server: &TrackingServer,
    run: &str,
    kind: &str,
    values: Vec<Value>,
) -> Result<CutValues, MlflowError> {
    let mut cut = CutValues::default();
    let mut refused: Option<(Vec<String>, MlflowError)> = None;
    let mut is_any_taken = values.is_empty();
    let mut waiting = vec![values];
    while let Some(mut batch) = waiting.pop().filter(|batch| !batch.is_empty()) {
        let body = json!({"run_id": run, kind: batch});
        let Err(error) = server.post("runs/log-batch", &body).await else {
            is_any_taken = true;
            continue;
        };
        let named = named_limit(&error, &batch);
        if !error.is_refusal() && named.is_none() {
            return Err(error);
        }
        let limit = named.or((batch.len() == 1).then_some(OLDEST_LIMIT));
        if limit.is_some_and(|limit| cut.shorten(&mut batch, limit)) {
            waiting.push(batch);
        } else if batch.len() > 1 {
            let rest = batch.split_off(batch.len() / 2);
            waiting.extend([rest, batch]);
        } else {
            let key = batch.first().and_then(key).unwrap_or_default();
            let (keys, _) = refused.get_or_insert_with(|| (Vec::new(), error));
            keys.push(key.to_owned());
        }
    }
    if let Some((keys, error)) = refused {
        if !is_any_taken {
            return Err(error);
        }
        let line = format!("{kind}: {} ({error})", keys.join(", "));
        cut.shortfalls.push(line);
    }
    for (limit, keys) in &cut.keys {
        let keys = keys.join(", ");
        let line = format!("{kind}: {keys} beyond {limit} characters; {WHOLE} has all of it");
        cut.shortfalls.push(line);
    }
    Ok(cut)
}

impl CutValues {
    /// Cuts texts to `limit` characters, or a single one to as many bytes; true if one got
    /// shorter.
    fn shorten(&mut self, batch: &mut [Value], limit: usize) -> bool {
        let (is_single, mut is_shorter) = (batch.len() == 1, false);
        for value in batch {
            let Some((key, text)) = key(value).zip(text(value)) else {
                continue;
            };
            let mut short = head(text, limit);
            if is_single && short.len() == text.len() {
                short = text.get(..text.floor_char_boundary(limit)).unwrap_or(text);
            }
            if short.len() == text.len() {
                continue;
            }
            is_shorter = true;
            let (key, short) = (key.to_owned(), short.to_owned());
            self.whole
                .entry(key.clone())
                .or_insert_with(|| text.to_owned());
            for keys in self.keys.values_mut() {
                keys.retain(|known| *known != key);
            }
            self.keys.retain(|_, keys| !keys.is_empty());
            self.keys.entry(limit).or_default().push(key.clone());
            *value = json!({"key": key, "value": short});
        }
        is_shorter
    }
}

fn key(value: &Value) -> Option<&str> {
    value.get("key")?.as_str()
}

/// The text of a parameter or a tag; a metric has none.
fn text(value: &Value) -> Option<&str> {
    value.get("value")?.as_str()
}

/// The limit of a value's length that a refusal names, such as "had length 3864, which exceeded
/// length limit of 500", "exceeds the maximum length of 6000 characters", or a database's "value
/// too long for type character varying(500)".
fn named_limit(error: &MlflowError, batch: &[Value]) -> Option<usize> {
    static ABOUT_LENGTH: LazyLock<Regex> =
        LazyLock::new(|| finqa_core::regex!(r"(?i)length|long|character|varchar"));
    static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
        finqa_core::regex!(
            r"(?i)(?:limit|max|most|up to|over|than|exceed|var(?:ying|char))\D{0,30}?(\d+)"
        )
    });
    const QUOTED: usize = 40;
    let MlflowError::Answer { said, .. } = error else {
        return None;
    };
    // A database's error ends with the statement and its values.
    let mut said = said.split("[SQL:").next().unwrap_or_default().to_owned();
    for text in batch.iter().filter_map(text) {
        // The words of a value that the server quotes are not the server's.
        let start = head(text, QUOTED);
        if start.len() < text.len()
            && let Some((before, quoted)) = said.split_once(start)
        {
            let rest = text.get(start.len()..).unwrap_or_default().chars();
            let same = quoted.chars().zip(rest).take_while(|(a, b)| a == b);
            let same: usize = same.map(|(c, _)| c.len_utf8()).sum();
            said = format!("{before}{}", quoted.get(same..).unwrap_or_default());
        }
    }
    let limits = LIMIT.captures_iter(&said);
    let limit = limits.last().filter(|_| ABOUT_LENGTH.is_match(&said))?;
    limit.get(1)?.as_str().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(said: &str) -> Option<usize> {
        let error = MlflowError::Answer {
            uri: String::new(),
            status: 400,
            call: String::new(),
            code: "INVALID_PARAMETER_VALUE".to_owned(),
            said: said.to_owned(),
        };
        let long = format!("a limit of 12 characters {}", "x".repeat(800));
        named_limit(&error, &[json!({"key": "filter", "value": long})])
    }

    /// The words of MLflow 1.0 to 3.17, of its databases, and of servers with its API.
    #[test]
    fn the_limit_is_in_the_words_of_the_refusal() {
        let value = format!("a limit of 12 characters {}", "x".repeat(800));
        let begins = head(&value, 250);
        for (said, limit) in [
            (
                &*format!(
                    "Param value '{value}' had length 825, which exceeded length limit of 500"
                ),
                Some(500),
            ),
            (
                &*format!(
                    "Param value '{begins}' had length 825, which exceeded length limit of 250"
                ),
                Some(250),
            ),
            (
                "'params[3].value' exceeds the maximum length of 6000 characters",
                Some(6000),
            ),
            (
                "Tag value 'x' had length 9000, which exceeded length limit of 5000",
                Some(5000),
            ),
            (
                "(psycopg2.errors.StringDataRightTruncation) value too long for type character varying(500)\n\n[SQL: INSERT INTO params]\n[parameters: {'value': 'at most 3 long'}]",
                Some(500),
            ),
            (
                "Member must have length less than or equal to 2000",
                Some(2000),
            ),
            ("The value is over the 500 character limit", Some(500)),
            (
                "A batch logging request can contain at most 100 params. Got 120 params.",
                None,
            ),
            (
                "Batched logging API requests must be at most 1000000 bytes, got a request of size 2000000.",
                None,
            ),
            (&*format!("the value {value} is bad"), None),
            ("Data too long for column 'value' at row 1", None),
        ] {
            assert_eq!(named(said), limit, "{said}");
        }
    }
}
