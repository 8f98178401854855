//! The variables of the environment and of `.env`.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;

use finqa_core::{files, regex};
use finqa_journal::settings::Variables;

use super::Failure;

/// Adds the variables of `.env` to those of the environment, which win. Only the
/// working folder's file is read: one of a parent folder may be anybody's, and its
/// `OPENAI_BASE_URL` would get the exported key. Call it while the process has one thread:
/// another one could read the environment while it changes.
///
/// # Errors
/// A `.env` that cannot be read; one that is not there is not an error.
pub(crate) fn load() -> Result<(), Failure> {
    let bytes = match files::read(Path::new(".env")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::usage(format!(".env: {error}"))),
    };
    // The parser's own words quote the line, which may hold a key.
    let unreadable = |line: usize| {
        Failure::usage(format!(
            ".env: line {line} is not NAME=value; quote a value with spaces or `#`, and close each \
             quote"
        ))
    };
    let line_at = |at: usize| 1 + bytes.iter().take(at).filter(|byte| **byte == b'\n').count();
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(unreadable(line_at(at)));
    }
    let text =
        std::str::from_utf8(&bytes).map_err(|error| unreadable(line_at(error.valid_up_to())))?;
    let text = literal_dollars(text);
    dotenvy::from_read(text.as_bytes()).map_err(|error| {
        let at = match &error {
            dotenvy::Error::LineParse(part, _) => text.find(part.as_str()),
            _ => None,
        };
        let before = at.and_then(|at| text.get(..at)).unwrap_or_default();
        unreadable(1 + before.matches('\n').count())
    })
}

/// The text with each `$` as the parser reads a plain one: a key may hold it. As Python's reader
/// of such files has it, only `${NAME}` stands for the value of another variable.
fn literal_dollars(text: &str) -> Cow<'_, str> {
    let dollars = regex!(r"(?s)\\.|'[^'\n]*'|\$\{\w+\}|\$");
    dollars.replace_all(text, |found: &regex::Captures<'_>| {
        match found.get(0).map_or("", |found| found.as_str()) {
            "$" => r"\$".to_owned(),
            other => other.to_owned(),
        }
    })
}

/// The variable as set in the environment or in `.env`; empty is unset.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    value.filter(|value| !value.trim().is_empty())
}

/// The variables as the library gets them.
pub(crate) fn variables() -> Variables {
    Variables::new(variable)
}
