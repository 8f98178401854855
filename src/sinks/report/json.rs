//! JSON that may stand inside a `<script>` element of an HTML page.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// Writes `value` as JSON in which no character can end the element, open a
/// comment or break a line of script: `<`, `>`, `&`, U+2028 and U+2029 are
/// `\u` escapes, which only ever stand inside strings.
pub(super) fn write_embedded(
    out: &mut dyn Write,
    value: &(impl Serialize + ?Sized),
) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(out, Embedded);
    value.serialize(&mut serializer).map_err(io::Error::from)
}

struct Embedded;

impl Formatter for Embedded {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, found)) = rest.char_indices().find(|(_, c)| unsafe_in_html(*c)) {
            let (before, after) = rest.split_at(at);
            writer.write_all(before.as_bytes())?;
            write!(writer, "\\u{:04x}", u32::from(found))?;
            rest = after.get(found.len_utf8()..).unwrap_or_default();
        }
        writer.write_all(rest.as_bytes())
    }
}

fn unsafe_in_html(c: char) -> bool {
    matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_can_leave_the_element_and_everything_reads_back() {
        let hostile =
            "</script><script>alert(1)</script><!-- & \u{2028}\u{2029} \"quoted\" \u{202e}abc \0";
        let mut out = Vec::new();
        write_embedded(&mut out, &[hostile]).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains(unsafe_in_html), "{text}");
        assert_eq!(
            serde_json::from_str::<Vec<String>>(&text).unwrap(),
            [hostile]
        );
    }
}
