//! The variables of the environment and of `.env`.

use std::io::ErrorKind;
use std::path::Path;

use crate::settings::Variables;
use finqa_core::files;

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
    let unreadable = || {
        let line = ".env: a line is not NAME=value; quote a value with spaces or `#`, and close \
                    each quote";
        Failure::usage(line)
    };
    match bytes.contains(&0) {
        true => Err(unreadable()),
        false => dotenvy::from_read(bytes.as_slice()).map_err(|_| unreadable()),
    }
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
