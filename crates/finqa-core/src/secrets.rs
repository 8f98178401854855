//! Removes keys, tokens and passwords from text before it is shown, stored or sent.

use std::borrow::Cow;

/// Minimum length of a secret that is removed, set by hand. Shorter texts are too likely to be part
/// of a word.
const SHORTEST: usize = 6;

/// The text that replaces a secret.
pub const HIDDEN: &str = "[redacted]";

/// The API version in an address whose query consists only of Azure's `api-version=VERSION`. The
/// version is not a secret, so it may be shown. `None` for any other query, and if the value
/// has other characters than a version or may be a key.
pub fn api_version_of(address: &str) -> Option<&str> {
    let (_, query) = address.split_once('?')?;
    let version = query.strip_prefix("api-version=")?;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.');
    (version.chars().all(is_plain) && !is_key_like(version)).then_some(version)
}

/// True if a key contains a quotation mark, a blank or an invisible character. Keys of providers
/// never do, but such a character is easily copied along from a file, a chat or a shell command.
pub fn is_broken_key(key: &str) -> bool {
    key.contains(|c: char| !c.is_ascii_graphic() || matches!(c, '"' | '\'' | '`'))
}

/// An address that is safe to show and store. User, password and fragment are removed, path
/// segments that look like a key are hidden, and of the query only Azure's API version remains.
pub fn shown_address(address: &str) -> String {
    let bare = address.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = bare.split_once("://").unwrap_or(("", bare));
    let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
    // A password may contain `/`, `?` or `#`, which ends the authority too early. The start of the
    // password would then be shown as the host.
    if address.contains('@') && !authority.contains('@') {
        return HIDDEN.to_owned();
    }
    let host = authority.rsplit('@').next().unwrap_or_default();
    let mut shown = match scheme {
        "" => host.to_owned(),
        _ => format!("{scheme}://{host}"),
    };
    if rest.contains('/') {
        for segment in path.split('/') {
            shown.push('/');
            shown.push_str(if is_key_like(segment) {
                HIDDEN
            } else {
                segment
            });
        }
    }
    if let Some(version) = api_version_of(address) {
        shown.push_str("?api-version=");
        shown.push_str(version);
    }
    shown
}

/// True if a path segment looks like a key rather than a name: it starts with a known prefix, has a
/// long run of mixed letters and digits, or is a UUID.
fn is_key_like(segment: &str) -> bool {
    // Prefixes of providers' keys.
    const BEGINNINGS: [&str; 8] = ["sk-", "pk-", "rk-", "sk_", "gsk_", "hf_", "xai-", "AIza"];
    // Set by hand: names such as `Meta-Llama-3-70B-Instruct` have shorter runs of letters and
    // digits.
    const LONGEST_WORD: usize = 16;
    // Set by hand: a shorter segment is a name even if it starts with a known prefix.
    const SHORTEST_KEY: usize = 8;
    let runs = segment.split(|c: char| !c.is_ascii_alphanumeric());
    let mixed = |run: &str| {
        run.len() >= LONGEST_WORD
            && run.bytes().any(|byte| byte.is_ascii_digit())
            && run.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let begins = BEGINNINGS.iter().any(|start| segment.starts_with(start));
    (begins && segment.len() >= SHORTEST_KEY) || runs.clone().any(mixed) || is_uuid(segment)
}

fn is_uuid(text: &str) -> bool {
    let hex = |part: &str| part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) && text.split('-').all(hex)
}

/// A server's text without the secrets that were sent to the server.
pub fn redact<'t>(text: &'t str, secrets: &[&str]) -> Cow<'t, str> {
    redact_all(text, secrets.iter().copied())
}

/// Like [`redact`], with the secrets from an iterator. The result is owned only if a secret was
/// found.
pub fn redact_all<'t, 's>(text: &'t str, secrets: impl Iterator<Item = &'s str>) -> Cow<'t, str> {
    let mut found: Vec<&str> = secrets
        .filter(|secret| secret.len() >= SHORTEST && text.contains(secret))
        .collect();
    // Replace the longest secret first. Otherwise, a secret that is the start of a longer one would
    // leave the rest of the longer one in the text.
    found.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    found
        .into_iter()
        .fold(Cow::Borrowed(text), |clean, secret| {
            Cow::Owned(clean.replace(secret, HIDDEN))
        })
}

/// Redacts every string in a JSON value, including field names.
pub fn redact_json(value: &mut serde_json::Value, secrets: &[&str]) {
    use serde_json::Value;
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redact(text, secrets) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_json(item, secrets)),
        Value::Object(fields) => {
            if fields
                .keys()
                .any(|name| matches!(redact(name, secrets), Cow::Owned(_)))
            {
                let named = std::mem::take(fields).into_iter();
                *fields = named
                    .map(|(name, value)| (redact(&name, secrets).into_owned(), value))
                    .collect();
            }
            fields
                .values_mut()
                .for_each(|item| redact_json(item, secrets));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case("https://api.openai.com/v1", "https://api.openai.com/v1")]
    #[case("http://ollama:11434/v1/", "http://ollama:11434/v1/")]
    #[case(
        "https://h/openai/deployments/gpt-4o-mini-2024-07-18",
        "https://h/openai/deployments/gpt-4o-mini-2024-07-18"
    )]
    #[case(
        "https://h/meta-llama/Meta-Llama-3-70B-Instruct",
        "https://h/meta-llama/Meta-Llama-3-70B-Instruct"
    )]
    #[case("https://me:pw@h:1/v1?key=abc#def", "https://h:1/v1")]
    #[case("h/v1?key=abc", "h/v1")]
    #[case(
        "https://h/openai/?api-version=2025-01-01-preview",
        "https://h/openai/?api-version=2025-01-01-preview"
    )]
    #[case("https://h/v1?api-version=2025-01-01&key=abc", "https://h/v1")]
    #[case("https://h/v1?api-version=sk-planted-secret", "https://h/v1")]
    #[case("https://me:p#w@h/v1", "[redacted]")]
    #[case("https://me:p?w@h/v1", "[redacted]")]
    #[case("https://me:1/w@h/v1", "[redacted]")]
    #[case("https://h/sk-planted-secret/v1", "https://h/[redacted]/v1")]
    #[case(
        "https://h/k/0123456789abcdef0123456789abcdef",
        "https://h/k/[redacted]"
    )]
    #[case(
        "https://h/7f6e5d4c-1a2b-4c3d-8e9f-0123456789ab/v1",
        "https://h/[redacted]/v1"
    )]
    fn an_address_is_shown_without_what_may_be_a_key(#[case] address: &str, #[case] shown: &str) {
        assert_eq!(shown_address(address), shown);
    }

    #[test]
    fn a_key_has_no_character_that_keys_do_not_have() {
        assert!(!is_broken_key("sk-proj_A1.b~c/d+e="));
        for broken in [
            "\"sk-1\"", "'sk-1", "sk-1’", "Bearer sk-1", "sk-1\nsk-2", "sk\u{a0}1", "\u{feff}sk-1",
            "sk-\u{200b}1", "sk-\u{7}1", "sk-ä",
        ] {
            assert!(is_broken_key(broken), "{broken:?}");
        }
    }

    #[test]
    fn of_a_secret_that_another_begins_nothing_is_left() {
        let secrets = ["hunter", "hunter-and-gatherer"];
        assert_eq!(redact("x hunter-and-gatherer", &secrets), "x [redacted]");
    }

    #[test]
    fn a_secret_is_struck_out_of_every_string_of_a_value() {
        let mut value =
            serde_json::json!({"a hunter2!": ["x hunter2! y", {"b": "hunter2!"}], "n": 1});
        redact_json(&mut value, &["hunter2!", "x"]);
        assert_eq!(
            value,
            serde_json::json!({"a [redacted]": ["x [redacted] y", {"b": "[redacted]"}], "n": 1})
        );
    }
}
