//! Determines the meaning of a failure by the table `data/failures.json`.
//!
//! Each row states the meaning of a reply, the provider that sends it, and the source of the row.
//! The provider is never a condition, because gateways pass on the same replies.

use std::sync::OnceLock;

use serde::Deserialize;

use super::error::ErrorKind;
use super::error_details::ErrorDetails;

const TABLE: &str = include_str!("../../../../data/failures.json");

/// The content of `data/failures.json`.
#[derive(Default, Deserialize)]
struct FailureTable {
    failures: Vec<FailureRow>,
    finish_words: Vec<FinishRow>,
}

/// A row of the table. It matches if all of its non-empty columns match. The first matching row
/// decides.
#[derive(Deserialize)]
struct FailureRow {
    /// HTTP statuses; `5xx` means all statuses of the class.
    #[serde(default)]
    status: String,
    /// One of the reply's codes; `*` matches any text.
    #[serde(default)]
    code: String,
    /// Words of the message in lower case; `…` matches any text between the words.
    #[serde(default)]
    phrase: String,
    kind: ErrorKind,
}

/// A finish word of a provider with its meaning.
#[derive(Deserialize)]
struct FinishRow {
    word: String,
    means: FinishMeaning,
}

/// The meaning of a finish word, by which a provider says why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FinishMeaning {
    Stop,
    Length,
    ContentFilter,
    ToolCalls,
    /// The provider refused its model's output.
    BadGeneration,
    /// The provider failed after it had started to reply.
    Failed,
}

/// The embedded table. It is empty only if it cannot be parsed, which a test rules out.
fn table() -> &'static FailureTable {
    static PARSED: OnceLock<FailureTable> = OnceLock::new();
    PARSED.get_or_init(|| serde_json::from_str(TABLE).unwrap_or_default())
}

/// The kind of a failure with this status (0 for none) and this message.
///
/// If the table does not have the failure, the result is [`ErrorKind::Unknown`], or a bad request
/// if the server names a parameter.
pub(super) fn kind_of(status: u16, words: &ErrorDetails) -> ErrorKind {
    let parameter = words.parameter.clone();
    let row = table().failures.iter().find(|row| row.fits(status, words));
    match (row.map(|row| &row.kind), &parameter) {
        (Some(ErrorKind::BadRequest { .. }), _) | (None, Some(_)) => {
            ErrorKind::BadRequest { parameter }
        }
        (Some(kind), _) => kind.clone(),
        (None, None) => ErrorKind::Unknown,
    }
}

/// The meaning of a finish word; `None` if the table does not have it. Gemini's compatible endpoint
/// appends its own word: `content_filter: SAFETY`.
pub(super) fn finish_meaning(word: &str) -> Option<FinishMeaning> {
    let word = word.split(": ").next()?.replace('-', "_");
    let mut rows = table().finish_words.iter();
    let row = rows.find(|row| row.word.eq_ignore_ascii_case(&word))?;
    Some(row.means)
}

impl FailureRow {
    /// True if the status, one of the codes and the message of a failure are those of this row. A
    /// field that is empty fits every failure. A phrase fits only if the server asks for no wait.
    fn fits(&self, status: u16, words: &ErrorDetails) -> bool {
        let is_status = |pattern: &str| match pattern.strip_suffix("xx") {
            Some(class) => class.parse() == Ok(status / 100),
            None => pattern.parse() == Ok(status),
        };
        let is_code = |code: &String| {
            if self.code.contains('*') {
                holds_in_order(code, self.code.split('*'))
            } else {
                *code == self.code
            }
        };
        (self.status.is_empty() || self.status.split(' ').any(is_status))
            && (self.code.is_empty() || words.codes.iter().any(is_code))
            && (self.phrase.is_empty()
                // A wait that the server asks for is more reliable than a phrase.
                || words.wait.is_none() && holds_in_order(&words.text, self.phrase.split('…')))
    }
}

/// True if a text contains these parts in this order.
fn holds_in_order<'t, 'p>(text: &'t str, mut parts: impl Iterator<Item = &'p str>) -> bool {
    let after = |rest: &'t str, part| Some(rest.split_once(part)?.1);
    parts.try_fold(text, after).is_some()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Value, json};

    use super::*;

    fn kind(status: u16, body: &Value) -> ErrorKind {
        kind_of(status, &ErrorDetails::read(body.to_string().as_bytes()))
    }

    fn rows(name: &str) -> Vec<Value> {
        let table: Value = serde_json::from_str(TABLE).unwrap();
        table[name].as_array().unwrap().clone()
    }

    #[test]
    fn each_row_decides_its_sample_and_says_what_was_read_for_it() {
        serde_json::from_str::<FailureTable>(TABLE).unwrap();
        for (at, row) in rows("failures").iter().enumerate() {
            let status: u16 = serde_json::from_value(row["sample"][0].clone()).unwrap();
            let words = ErrorDetails::read(row["sample"][1].to_string().as_bytes());
            let mut rows = table().failures.iter();
            let first = rows.position(|row| row.fits(status, &words));
            assert_eq!(first, Some(at), "{row}");
        }
        for row in rows("failures").iter().chain(&rows("finish_words")) {
            assert!(!row["provider"].as_str().unwrap().is_empty(), "{row}");
            let read = row["read"].as_str().unwrap();
            let known = ["docs", "client", "report", "not verified"];
            assert!(known.iter().any(|word| read.starts_with(word)), "{row}");
        }
    }

    #[test]
    fn a_row_without_a_kind_is_an_error() {
        let table = |kind| {
            let row = format!(r#"{{"failures": [{{"status": "418"{kind}}}], "finish_words": []}}"#);
            serde_json::from_str::<FailureTable>(&row).err()
        };
        assert!(table(r#", "kind": "server_error""#).is_none());
        let error = table("").unwrap().to_string();
        assert!(error.contains("missing field `kind`"), "{error}");
    }

    #[test]
    fn every_system_of_the_table_is_in_the_documentation_and_has_rows() {
        let page = include_str!("../../../../docs/providers.md");
        let (_, page) = page.split_once("## What is read of a failure").unwrap();
        let section = page.split("\n## ").next().unwrap();
        let lines = section.lines().filter_map(|line| line.strip_prefix("| "));
        let documented: BTreeSet<&str> = lines
            .filter_map(|line| Some(line.split_once(" |")?.0))
            .filter(|name| *name != "system")
            .collect();
        let rows = rows("failures");
        let named = rows.iter().filter_map(|row| row["provider"].as_str());
        let named = named.flat_map(|names| names.split(", "));
        let named: BTreeSet<&str> = named.filter(|name| *name != "all").collect();
        assert_eq!(named, documented);
        assert_eq!(named.len(), 22);
    }

    #[test]
    fn no_phrase_is_a_bare_word_or_outranks_a_status_a_code_or_a_wait() {
        let mut seen = BTreeSet::new();
        for row in &table().failures {
            let key = (&row.status, &row.code, &row.phrase);
            assert!(seen.insert(key), "twice: {key:?}");
            let texts = [&row.code, &row.phrase];
            assert!(
                texts.iter().all(|text| **text == text.to_lowercase()),
                "{key:?}"
            );
            assert!(
                row.phrase.is_empty()
                    || !row.code.is_empty()
                    || row.phrase.contains([' ', '…', '.']),
                "{key:?}"
            );
        }
        let rows = table().failures.iter();
        let mut phrases = rows.filter(|row| row.code.is_empty() && !row.phrase.is_empty());
        assert!(phrases.clone().count() > 40);
        let words = ErrorDetails {
            text: "content exists risk".to_owned(),
            ..ErrorDetails::default()
        };
        for (status, expected) in [
            (401, ErrorKind::Unauthorized),
            (402, ErrorKind::QuotaExceeded),
            (404, ErrorKind::NotFound),
            (429, ErrorKind::RateLimited),
            (503, ErrorKind::ServerError),
            (400, ErrorKind::ContentFilter),
            (403, ErrorKind::ContentFilter),
        ] {
            assert_eq!(kind_of(status, &words), expected, "{status}");
        }
        let waits = ErrorDetails {
            wait: Some(std::time::Duration::from_secs(36)),
            ..words
        };
        assert_eq!(kind_of(400, &waits), ErrorKind::Unknown);
        assert!(phrases.all(|row| !row.fits(400, &waits)));
    }

    #[test]
    fn words_that_only_resemble_a_refusal_are_no_filter() {
        for message in [
            "messages[0].content must be a string",
            "no endpoints match your data policy",
            "No endpoints found matching your data policy (Free model publication)",
            "the content filter of this deployment cannot be changed",
            "policy of the organization: model is blocked",
            "Invalid content type",
            "unsafe header",
        ] {
            let body = json!({"error": {"message": message, "code": 400}});
            assert_eq!(kind(400, &body), ErrorKind::Unknown, "{message}");
        }
    }

    #[test]
    fn a_status_with_unknown_words_is_retried_unknown_or_one_of_five() {
        for body in [
            json!({}),
            json!({"error": {"message": "frobnicated"}}),
            json!("x"),
        ] {
            for status in 400..600 {
                let expected = match status {
                    401 => ErrorKind::Unauthorized,
                    402 => ErrorKind::QuotaExceeded,
                    404 | 405 | 410 => ErrorKind::NotFound,
                    429 => ErrorKind::RateLimited,
                    408 | 409 | 425 | 498 | 500.. => ErrorKind::ServerError,
                    _ => ErrorKind::Unknown,
                };
                assert_eq!(kind(status, &body), expected, "{status} {body}");
            }
        }
        let named = json!({"error": {"message": "no", "param": "temperature"}});
        let parameter = Some("temperature".into());
        assert_eq!(kind(400, &named), ErrorKind::BadRequest { parameter });
        assert_eq!(kind(307, &json!({})), ErrorKind::Settings);
    }

    #[test]
    fn a_refusal_of_tools_is_distinguished_from_other_refused_requests() {
        for message in ["toolbench-7b: bad messages", "temperature is not supported"] {
            let body = json!({"error": {"message": message}});
            assert_eq!(kind(400, &body), ErrorKind::Unknown, "{message}");
        }
    }
}
