//! A report as it was filed, as HTML with inline XBRL or without, as a PDF or as a workbook:
//! paragraphs and tables in their order. What is printed is what is read. The tags of a figure are
//! listed with it; an answer that they contradict in scale, year or length is doubted.
//!
//! `html`, `pdf` and `workbook` read files into `block`s, of which `report` makes a report. `spans` makes a table of cells, `lines`
//! of aligned text, `tags` reads what marks figures, and `cover` when the fiscal years end.
//! `confirm` finds figures that may be misread, and `excerpt` the part that a question is about.

mod block;
mod confirm;
mod cover;
mod excerpt;
mod html;
mod lines;
mod pdf;
mod report;
mod spans;
mod tags;
mod workbook;

use std::collections::HashMap;
use std::path::Path;

use super::own::OwnError;
use super::own::decode::{bytes, decode};
pub(crate) use block::FiledTable;
pub(crate) use excerpt::ReadFiling;
pub(crate) use report::Filing;

/// The largest file that is read as a report, in bytes.
const LARGEST: u64 = 64 * 1024 * 1024;

/// Whether a file is read as a report, by its extension.
pub(crate) fn is_filing(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let extensions = ["htm", "html", "xhtml", "xlsx", "xlsm", "pdf"];
    extensions
        .iter()
        .any(|one| extension.eq_ignore_ascii_case(one))
}

/// Reads a report.
///
/// # Errors
///
/// One line that names the file if it cannot be read or has nothing to ask about.
pub(crate) fn read_filing(path: &Path) -> Result<Filing, OwnError> {
    let content = bytes(path, LARGEST)?;
    let refused = |reason: String| OwnError::NotText {
        path: path.to_owned(),
        reason,
    };
    let mut notes = Vec::new();
    let placed = content.starts_with(b"%PDF-");
    let (blocks, tagged) = if placed {
        (pdf::blocks(content).map_err(refused)?, HashMap::new())
    } else if content.starts_with(b"PK\x03\x04") {
        (workbook::blocks(&content).map_err(refused)?, HashMap::new())
    } else {
        let decoded = decode(path, &content)?;
        notes = decoded.notes;
        if !decoded.text.trim_end().to_ascii_lowercase().ends_with('>') {
            notes.push(format!(
                "{} does not end like HTML: it may be cut off",
                path.display()
            ));
        }
        html::blocks(&decoded.text)
    };
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let mut filing = Filing::of_blocks(name, blocks, &tagged, notes);
    filing.placed = placed;
    if filing.tables().next().is_none() {
        return Err(refused("it has no table with figures; save the report itself, not a page that links to it or asks to sign in".to_owned()));
    }
    Ok(filing)
}
