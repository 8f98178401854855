//! Brings a model's program into the dataset's language where it has only one reading;
//! otherwise leaves it exactly as written, so that the checks object to it.
//!
//! `divide(subtract(a, b), b)` → `subtract(a, b), divide(#0, b)`; `(a - b) / b = 0.14`;
//! `206,588`. Reading order: `split` (steps and arguments), `read` (their operations), `steps`
//! (the steps that they make).

mod read;
mod split;
mod steps;

/// Longer programs are left unchanged, in bytes.
const MAX_PROGRAM_BYTES: usize = 4096;

/// The program of a reply, if it has one.
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
