//! Reads a user's document, so that questions can be asked about it. It answers no questions.
//!
//! - **In:** the path of a CSV, Markdown, text, HTML (with or without inline XBRL), Excel or PDF
//!   file.
//! - **Out:** a [`Document`]: paragraphs and tables in their order, with the figures as printed,
//!   the tags of a filing, the data of its cover, and notes on what was read differently or left
//!   out. A file that cannot be read, or that contains nothing to ask about, is a [`DocumentError`]
//!   that says what to do.
//!
//! Reading order: [`open`] calls all others. `kind` recognizes what a file is by its content, and
//! `decode` turns bytes into text. `formats` reads each kind of file into grids of texts or into
//! lines with positions. `grid` and `lines` build tables from these. `cells` brings figures into
//! one notation, and `tags` reads inline XBRL. `document` names the tables, reads the cover, makes
//! pages from excerpts, and says which figures may be misread.

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
mod kind;
mod lines;
mod source;
mod tags;
mod text;

use std::collections::HashMap;
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

pub use block::{Block, PrintedTable};
use decode::{DecodedText, bytes, decode};
pub use document::{Document, Shown};
pub use error::DocumentError;
use formats::plain::{self, PlainFile};
use formats::{html, pdf, workbook};
pub use grid::spans::PrintedCell;
use kind::{DOCUMENTS, Kind, SUBMISSIONS};
pub use source::SheetCell;
pub use tags::{Tag, TagPeriod};
use text::begins;

/// Maximum size of any file, in bytes. Set by hand, like the three numbers below.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Maximum size of a CSV, Markdown or text file, in bytes.
const LARGEST_PAGE: usize = 16 * 1024 * 1024;

/// HTML without tables but with more absolutely positioned boxes than this is refused, because its
/// pages are laid out as boxes, in which no table can be recognized.
const BOXES: usize = 4;

/// A complete HTML document has its end tag within this many bytes of the end of the file.
const END: usize = 2048;

/// Reads a document. Its content decides how it is read, because its name may be wrong.
///
/// # Errors
///
/// One line with the file's name if it cannot be read or has nothing to ask about.
pub fn open(path: &Path) -> Result<Document, DocumentError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let extension = extension.to_lowercase();
    let content = bytes(path, LARGEST)?;
    let refused = |reason: String| DocumentError::NotText {
        path: path.to_owned(),
        reason,
    };
    let document = match kind::of_bytes(&content).map_err(refused)? {
        Some(Kind::Pdf { header }) => {
            let content = content.get(header..).unwrap_or_default().to_vec();
            let (blocks, notes) = without_panic(|| pdf::blocks(content)).map_err(refused)?;
            let document = Document::of_blocks(&name, blocks, &HashMap::new(), notes);
            Document {
                placed: true,
                ..document
            }
        }
        Some(Kind::Workbook) => {
            let read = without_panic(|| workbook::read(&content)).map_err(refused)?;
            let no_tags = HashMap::new();
            let hidden = Document::of_blocks(&name, read.hidden, &no_tags, Vec::new());
            Document {
                hidden: hidden.tables().cloned().collect(),
                left_out: read.left_out,
                ..Document::of_blocks(&name, read.blocks, &no_tags, Vec::new())
            }
        }
        _ => {
            let size = content.len();
            let decoded = decode(path, content)?;
            match kind::of_text(&extension, &decoded.text).map_err(refused)? {
                Kind::Html => html(path, &name, decoded).map_err(refused)?,
                // A page of text need not have a table, so the check below is skipped.
                _ => return page(path, &extension, &name, size, decoded),
            }
        }
    };
    if document.tables().next().is_none() {
        return Err(refused("it has no table with figures; save the report itself, not a page that links to it or asks to sign in".to_owned()));
    }
    Ok(document)
}

/// Reads CSV, Markdown or plain text.
fn page(
    path: &Path,
    extension: &str,
    name: &str,
    size: usize,
    decoded: DecodedText,
) -> Result<Document, DocumentError> {
    if size > LARGEST_PAGE {
        return Err(DocumentError::NotText {
            path: path.to_owned(),
            reason: format!("it is larger than {} MB", LARGEST_PAGE / (1024 * 1024)),
        });
    }
    let (read, notes) = plain::read(path, extension, name, decoded)?;
    Ok(match read {
        PlainFile::Page(page) => Document {
            name: name.to_owned(),
            notes,
            plain: Some(page.into()),
            ..Document::default()
        },
        PlainFile::Tables(blocks) => Document::of_blocks(name, blocks, &HashMap::new(), notes),
    })
}

/// Reads HTML. A text that begins like a whole document but lacks its end is refused. A submission
/// to the SEC or a part of a document that may be cut off is read with a note.
fn html(path: &Path, name: &str, decoded: DecodedText) -> Result<Document, String> {
    let DecodedText { text, mut notes } = decoded;
    let cut = is_cut(&text);
    if cut && begins(&text, &DOCUMENTS) {
        return Err("it is cut off: it has no </html> at its end; get the whole file".to_owned());
    }
    if cut {
        notes.push(format!(
            "{} may be cut off: it does not end like HTML",
            path.display()
        ));
    }
    let (blocks, tagged) = html::blocks(&text)?;
    let tabular = blocks.iter().any(|block| matches!(block, Block::Table(_)));
    // Without spaces, because styles are written with and without one after the colon.
    let compact = || text.replace(' ', "").to_lowercase();
    if !tabular && compact().matches("position:absolute").count() > BOXES {
        return Err("its pages are made of boxes at fixed places, without tables; print it to a PDF and ask about that".to_owned());
    }
    Ok(Document {
        cut,
        ..Document::of_blocks(name, blocks, &tagged, notes)
    })
}

/// True if HTML is cut off: a whole document without an end tag, or a part that does not end
/// with a tag.
fn is_cut(text: &str) -> bool {
    let tail = text.as_bytes().get(text.len().saturating_sub(END)..);
    // Lossy, because the tail may begin inside a character.
    let tail = String::from_utf8_lossy(tail.unwrap_or(text.as_bytes())).to_ascii_lowercase();
    let ends = ["</html>", "</text>", "</document>"];
    let has_end = ends.iter().any(|end| tail.contains(end));
    let whole = begins(text, &DOCUMENTS) || begins(text, &SUBMISSIONS);
    !has_end && (whole || !tail.trim_end().ends_with('>'))
}

/// Turns a panic of a library into an error, because a damaged file may make it panic. The
/// panic message is not printed. The panic hook is global, so meanwhile the panics of other
/// threads are silent too.
fn without_panic<T>(read: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    // `AssertUnwindSafe`, because after a panic nothing is used that `read` may have changed.
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
