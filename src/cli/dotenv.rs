//! Variables from the environment and from `.env`.

use std::borrow::Cow;
use std::io::ErrorKind;
use std::path::Path;

use finqa_core::text::line_of;
use finqa_core::{files, regex};
use finqa_journal::settings::Variables;

use super::Failure;

/// Adds the variables in `.env` to the environment. Variables that are already set are not
/// replaced. Call it while the process has one thread, because another thread could read the
/// environment while it changes.
///
/// Reads only the `.env` of the working directory. A file in a parent directory may belong to
/// somebody else, and its `OPENAI_BASE_URL` would receive the user's exported key.
///
/// # Errors
/// A `.env` that exists and cannot be read.
pub(crate) fn load() -> Result<(), Failure> {
    let bytes = match files::read(Path::new(".env")) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Failure::usage(format!(".env: {error}"))),
    };
    // Used instead of the parser's own message, which quotes the line and so may show a key.
    let unreadable = |line: usize| {
        Failure::usage(format!(
            ".env: line {line} is not NAME=value; quote a value with spaces or `#`, and close each \
             quote"
        ))
    };
    let line_at = |at: usize| line_of(&bytes, at);
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        return Err(unreadable(line_at(at)));
    }
    let text =
        std::str::from_utf8(&bytes).map_err(|error| unreadable(line_at(error.valid_up_to())))?;
    let text = literal_dollars(text);
    dotenvy::from_read(text.as_bytes()).map_err(|error| {
        let at = match &error {
            dotenvy::Error::LineParse(part, _) => text.find(part.as_str()),
            // The other errors do not come from a text in memory.
            _ => None,
        };
        let before = at.and_then(|at| text.get(..at)).unwrap_or_default();
        unreadable(1 + before.matches('\n').count())
    })
}

/// Escapes each `$` that is not part of `${NAME}`. The parser would also read `$NAME` as a
/// variable, but a key may contain `$`. Python's python-dotenv reads such files in the same way.
fn literal_dollars(text: &str) -> Cow<'_, str> {
    let dollars = regex!(r"(?s)\\.|'[^'\n]*'|\$\{\w+\}|\$");
    dollars.replace_all(text, |found: &regex::Captures<'_>| {
        match found.get(0).map_or("", |found| found.as_str()) {
            "$" => r"\$".to_owned(),
            other => other.to_owned(),
        }
    })
}

/// The value of a variable in the environment or in `.env`; `None` if it is unset or blank.
pub(crate) fn variable(name: &str) -> Option<String> {
    let value = std::env::var(name).ok();
    value.filter(|value| !value.trim().is_empty())
}

/// The variables in the form that the library expects.
pub(crate) fn variables() -> Variables {
    Variables::new(variable)
}
