//! Converts a model's program to the dataset's language if there is only one way to read it. Any
//! other program stays exactly as written, so that the checks object to it.
//!
//! For example, `divide(subtract(a, b), b)` becomes `subtract(a, b), divide(#0, b)`. Infix
//! arithmetic with a stated result (`(a - b) / b = 0.14`) and figures with commas (`206,588`) are
//! also read.
//!
//! Reading order: `split` separates steps and arguments, `read` parses their operations, `steps`
//! collects the resulting steps.

mod read;
mod split;
mod steps;

/// Maximum length of a program in bytes, set by hand. A longer program stays as written, because
/// splitting the arguments of a call takes quadratic time.
const MAX_PROGRAM_BYTES: usize = 4096;

/// Reads the program of a reply; `None` if it is empty, `none`, `null` or `n/a`.
pub(super) fn program(text: &str) -> Option<String> {
    let raw = text.trim_matches(|c: char| c == '`' || c.is_whitespace());
    if matches!(raw.to_lowercase().as_str(), "" | "none" | "null" | "n/a") {
        return None;
    }
    let is_short = raw.len() <= MAX_PROGRAM_BYTES;
    let read = is_short.then(|| read::program(raw)).flatten();
    Some(read.unwrap_or_else(|| raw.to_string()))
}

#[cfg(test)]
mod tests;
