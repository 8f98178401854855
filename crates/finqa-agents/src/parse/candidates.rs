//! Finds the positions in a reply at which its JSON object may start.
//!
//! `<think>` blocks are skipped. Objects are tried from the end, because models draft before they
//! answer. Objects inside code fences are tried before the others.

use super::MAX_REPLY_BYTES;

/// Maximum number of positions that are tried inside fences, and again outside of them. The last
/// positions in the text are used. Set by hand: each position costs one reading of the text.
const MAX_CANDIDATES: usize = 8;
/// Maximum number of times that the scan starts again after a brace that is never closed. It is
/// limited because each scan reads the rest of the text again. Set by hand.
const MAX_RESTARTS: usize = 8;

/// The last [`MAX_REPLY_BYTES`] of `text`, starting at a whole character.
pub(super) fn bounded(text: &str) -> &str {
    let start = text.ceil_char_boundary(text.len().saturating_sub(MAX_REPLY_BYTES));
    text.get(start..).unwrap_or_default()
}

/// `text` after its last `</think>`. If the text begins with a block that is never closed, the
/// result is empty, so that a draft is never read as the answer.
pub(super) fn without_think(text: &str) -> &str {
    const TAGS: [(&str, &str); 2] = [("<think>", "</think>"), ("<thinking>", "</thinking>")];
    for (open, close) in TAGS {
        if let Some((_, answer)) = text.rsplit_once(close) {
            return answer;
        }
        if text.trim_start().starts_with(open) {
            return "";
        }
    }
    text
}

/// Offsets at which an object may start, the most likely first. These are the offsets inside
/// fences, with which a model marks its answer, then the others. Both are ordered from the last to
/// the first.
pub(super) fn candidates(text: &str) -> Vec<usize> {
    let fences = fences(text);
    let (fenced, bare): (Vec<usize>, Vec<usize>) = object_starts(text)
        .into_iter()
        .rev()
        .partition(|start| is_fenced(&fences, *start));
    let some = |starts: Vec<usize>| starts.into_iter().take(MAX_CANDIDATES);
    some(fenced).chain(some(bare)).collect()
}

/// True if `at` is inside one of `fences`, which must be sorted.
fn is_fenced(fences: &[std::ops::Range<usize>], at: usize) -> bool {
    let next = fences.partition_point(|fence| fence.start <= at);
    next.checked_sub(1)
        .and_then(|i| fences.get(i))
        .is_some_and(|fence| fence.contains(&at))
}

/// Byte ranges of fenced blocks. An unclosed block extends to the end of the text.
fn fences(text: &str) -> Vec<std::ops::Range<usize>> {
    let marks: Vec<usize> = text.match_indices("```").map(|(at, _)| at).collect();
    marks
        .chunks(2)
        .filter_map(|pair| match pair {
            [open, close] => Some(*open..*close),
            [open] => Some(*open..text.len()),
            _ => None,
        })
        .collect()
}

/// Sorted offsets of each `{` that opens a top-level object. They include a brace that is never
/// closed, after which the scan starts again.
fn object_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = Vec::new();
    let mut from = 0;
    for _ in 0..=MAX_RESTARTS {
        match scan(text, bytes, from, &mut starts) {
            Some(unclosed) => from = unclosed + 1,
            None => break,
        }
    }
    starts.sort_unstable();
    starts.dedup();
    starts
}

/// Adds the starts of top-level objects from byte `from` on to `starts`. Returns the start of an
/// object that is never closed. Only double quotes delimit strings, because an apostrophe may be
/// part of prose.
fn scan(text: &str, bytes: &[u8], from: usize, starts: &mut Vec<usize>) -> Option<usize> {
    let mut open: Option<(usize, usize)> = None;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        let Some((start, depth)) = open else {
            if *byte == b'{' && looks_like_object(text, at) {
                starts.push(at);
                open = Some((at, 1));
                in_string = false;
            }
            continue;
        };
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'{' => open = Some((start, depth + 1)),
            b'}' if depth == 1 => open = None,
            b'}' => open = Some((start, depth - 1)),
            _ => {}
        }
    }
    open.map(|(start, _)| start)
}

/// True if a quoted key follows, which excludes `\frac{a}{b}` and `{2008}`.
fn looks_like_object(text: &str, at: usize) -> bool {
    let inside = text.get(at + 1..).unwrap_or_default();
    inside.trim_start().starts_with('"')
}
