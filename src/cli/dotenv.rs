//! The variables of the environment and of `.env`.

use std::cell::Cell;
use std::collections::HashSet;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::sync::OnceLock;

use crate::settings::Variables;
use finqa_core::files;

use super::Failure;

const FILE: &str = ".env";

/// The variables that `.env` gave this process: they are trusted less than
/// exported ones.
static NAMES: OnceLock<HashSet<String>> = OnceLock::new();

/// Adds the variables of `.env` to those of the environment, which win. Only the
/// working folder's file is read: one of a parent folder may be anybody's, and its
/// `OPENAI_BASE_URL` would get the exported key.
///
/// # Errors
/// A `.env` that cannot be read; one that is not there is not an error.
pub(crate) fn load() -> anyhow::Result<()> {
    let bytes = match files::read(Path::new(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failure(&error.to_string())),
    };
    // The parser removes the mark only where it sets the variables itself.
    let text = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let line = Cell::new(0);
    let mut given = HashSet::new();
    for item in dotenvy::from_read_iter(DotenvLines {
        rest: text,
        line: &line,
    }) {
        // The parser's own words quote the line, which may hold a key.
        let (name, value) = item.map_err(|_| unreadable(line.get()))?;
        if name.contains('\0') || value.contains('\0') {
            return Err(unreadable(line.get()));
        }
        if std::env::var(&name).is_err() {
            given.insert(name);
        }
    }
    dotenvy::from_read(text).map_err(|_| unreadable(line.get()))?;
    let _ = NAMES.set(given);
    Ok(())
}

/// The variable as set in the environment or in `.env`; empty is unset.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name)
        .ok()
        .filter(|value| !value.trim().is_empty())
}

/// The variables as the library gets them.
pub(crate) fn variables() -> Variables {
    Variables::new(variable).with_file(is_from_dotenv)
}

/// True if the variable's value comes from `.env`.
pub(crate) fn is_from_dotenv(name: &str) -> bool {
    NAMES.get().is_some_and(|names| names.contains(name))
}

fn unreadable(line: usize) -> anyhow::Error {
    failure(&format!(
        "line {line}: not NAME=value; quote a value with spaces or `#`, and close each quote"
    ))
}

fn failure(reason: &str) -> anyhow::Error {
    Failure::usage(format!("{FILE}: {reason}")).into()
}

/// Gives a line at a time, so that the number of the one being parsed is known.
struct DotenvLines<'a> {
    rest: &'a [u8],
    line: &'a Cell<usize>,
}

impl Read for DotenvLines<'_> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let end = self.rest.iter().position(|byte| *byte == b'\n');
        let most = end.map_or(self.rest.len(), |end| end + 1);
        let (now, rest) = self.rest.split_at(most.min(into.len()));
        if !now.is_empty() && (rest.is_empty() || now.ends_with(b"\n")) {
            self.line.set(self.line.get() + 1);
        }
        self.rest = rest;
        if let Some(into) = into.get_mut(..now.len()) {
            into.copy_from_slice(now);
        }
        Ok(now.len())
    }
}
