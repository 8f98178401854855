//! Documents that questions are asked about: any file (CSV, Markdown, text, HTML with inline XBRL
//! or without, workbook, PDF) as tables and paragraphs in their order, and as the page that is
//! asked about. What is printed is what is read.
//!
//! `decode` reads the bytes of text. `formats` delivers grids of texts and lines with places, of
//! which `grid` and `lines` make tables; `cells` brings figures into one notation, and `tags` reads
//! what marks them. `document` names the tables, reads the cover, makes pages, and says which
//! figures may be misread. Nothing here answers a question.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a test fails by panicking"
    )
)]

mod block;
mod cells;
mod decode;
mod document;
mod error;
mod formats;
mod grid;
mod lines;
mod source;
mod tags;
mod text;

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

pub use block::{Block, PrintedTable};
use decode::{bytes, decode};
pub use document::{Document, Shown};
pub use error::DocumentError;
use formats::{html, pdf, plain, workbook};
pub use grid::spans::PrintedCell;
pub use source::SheetCell;
pub use tags::{Tag, TagPeriod};

/// The largest file that is read as a report, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// The largest file that is read as a page, in bytes.
const LARGEST_PAGE: u64 = 8 * 1024 * 1024;

/// How a workbook begins that is encrypted, or older than XLSX.
const OLD_OFFICE: &[u8] = b"\xD0\xCF\x11\xE0";

/// How whole documents begin.
const DOCUMENTS: [&str; 3] = ["<html", "<!doctype", "<?xml"];

/// How far from its end a file may say that it ends, in bytes.
const END: usize = 2048;

/// Whether a file is read as a report, by its extension.
fn is_report(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let extensions = ["htm", "html", "xhtml", "xlsx", "xlsm", "pdf"];
    extensions
        .iter()
        .any(|one| extension.eq_ignore_ascii_case(one))
}

/// Reads a document.
///
/// # Errors
///
/// One line that names the file if it cannot be read or has nothing to ask about.
pub fn open(path: &Path) -> Result<Document, DocumentError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if is_report(path) {
        return report(path, name.into_owned());
    }
    let decoded = decode(path, &bytes(path, LARGEST_PAGE)?)?;
    let (page, notes) = plain::page(path, &name, decoded)?;
    Ok(Document {
        name: name.into_owned(),
        notes,
        plain: Some(page),
        ..Document::default()
    })
}

fn report(path: &Path, name: String) -> Result<Document, DocumentError> {
    let content = bytes(path, LARGEST)?;
    let refused = |reason: String| DocumentError::NotText {
        path: path.to_owned(),
        reason,
    };
    let mut notes = Vec::new();
    let mut cut = false;
    let (mut left_out, mut hidden) = (Vec::new(), Document::default());
    let placed = content.starts_with(b"%PDF-");
    let (blocks, tagged) = if placed {
        let read = without_panic(|| pdf::blocks(content));
        (read.map_err(refused)?, HashMap::new())
    } else if content.starts_with(b"PK\x03\x04") {
        let read = without_panic(|| workbook::read(&content)).map_err(refused)?;
        left_out = read.left_out;
        hidden = Document::of_blocks(String::new(), read.hidden, &HashMap::new(), Vec::new());
        (read.blocks, HashMap::new())
    } else if content.starts_with(OLD_OFFICE) {
        return Err(refused("it needs a password, or is a workbook of before 2007 (.xls); save it as .xlsx without a password".to_owned()));
    } else {
        let decoded = decode(path, &content)?;
        notes = decoded.notes;
        cut = is_cut(&decoded.text);
        if cut && begins(&decoded.text, &DOCUMENTS) {
            return Err(refused(
                "it is cut off: it has no </html> at its end; get the whole file".to_owned(),
            ));
        }
        if cut {
            notes.push(format!(
                "{} may be cut off: it does not end like HTML",
                path.display()
            ));
        }
        html::blocks(&decoded.text).map_err(refused)?
    };
    let mut document = Document::of_blocks(name, blocks, &tagged, notes);
    document.placed = placed;
    document.cut = cut;
    document.left_out = left_out;
    document.hidden = hidden.tables().cloned().collect();
    if document.tables().next().is_none() {
        return Err(refused("it has no table with figures; save the report itself, not a page that links to it or asks to sign in".to_owned()));
    }
    Ok(document)
}

/// Whether a text breaks off: a document without its end, or a part that ends in no tag.
fn is_cut(text: &str) -> bool {
    let tail = text.as_bytes().get(text.len().saturating_sub(END)..);
    let tail = String::from_utf8_lossy(tail.unwrap_or(text.as_bytes())).to_ascii_lowercase();
    let ends = ["</html>", "</text>", "</document>"];
    let has_end = ends.iter().any(|end| tail.contains(end));
    let whole = begins(text, &DOCUMENTS) || begins(text, &["<sec-document", "<document"]);
    !has_end && (whole || !tail.trim_end().ends_with('>'))
}

fn begins(text: &str, with: &[&str]) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    with.iter().any(|tag| {
        let start = text.get(..tag.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(tag))
    })
}

/// A panic of a library over a damaged file is an error like any other, and prints nothing.
fn without_panic<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let read = panic::catch_unwind(AssertUnwindSafe(read));
    panic::set_hook(hook);
    read.unwrap_or_else(|_| Err("it is damaged; get it again".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_without_its_end_is_cut_off() {
        for (text, cut) in [
            ("<html><p>a</p></html>", false),
            ("<html><p>a</p></HTML><!-- saved -->\n", false),
            ("\u{feff}<!DOCTYPE html><p>a</p>", true),
            ("<?xml version='1.0'?><html><p>a</p>", true),
            ("<DOCUMENT>\n<TEXT>\n<p>a</p>", true),
            ("<DOCUMENT>\n<TEXT>\n<p>a</p></TEXT>", false),
            ("<p>a</p>", false),
            ("<p>a</p><table><tr><td>1,2", true),
        ] {
            assert_eq!(is_cut(text), cut, "{text}");
        }
    }

    #[test]
    fn a_panic_of_a_library_is_an_error() {
        let error = without_panic::<()>(|| panic!("in a library")).unwrap_err();
        assert!(error.contains("it is damaged"), "{error}");
    }
}
