//! A user's own document: a table from CSV, TSV, Markdown or aligned text, and its text, as the
//! page that questions are asked about.
//!
//! A note reports what is read differently from the file; what could be misread
//! is an error. Reports as HTML,
//! PDF and workbooks are read by `filing`.

mod aligned;
mod amounts;
pub(super) mod decode;
mod grid;
mod markdown;
mod sentences;

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Document;

/// The largest file that is accepted as a page, in bytes.
const LARGEST: u64 = 8 * 1024 * 1024;

/// The errors of a user's document.
#[derive(Debug, Error)]
pub(crate) enum OwnError {
    #[error("{path}: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is not text, or larger than a page.
    #[error("{path}: {reason}")]
    NotText {
        path: PathBuf,
        /// The reason, and a remedy.
        reason: String,
    },
    /// The table's rows do not fit together.
    #[error("{path}: line {line}: {reason}")]
    Table {
        path: PathBuf,
        line: u64,
        /// The reason, and a remedy.
        reason: String,
    },
    /// There is nothing in it.
    #[error("{path}: {reason}")]
    Nothing { path: PathBuf, reason: String },
}

/// A document that has been read.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OwnDocument {
    /// The page: its id and filename are the file's name.
    pub document: Document,
    /// The values read differently from the file, one line each.
    pub notes: Vec<String>,
}

/// The table of a table file or of a Markdown file.
#[derive(Debug, Default, PartialEq)]
struct Grid {
    /// Rows, the header first.
    rows: Vec<Vec<String>>,
    /// Lines above the header that are not rows: titles, units.
    titles: Vec<String>,
    notes: Vec<String>,
}

/// Reads a document from one file: a table, or Markdown or text with one, by its extension.
pub(crate) fn read_own(path: &Path) -> Result<OwnDocument, OwnError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let decoded = decode::file(path)?;
    let text = decoded.text.as_str();
    // Tables are of pipes in Markdown, of aligned columns in plain text.
    let page = match extension(path).as_str() {
        "json" | "jsonl" => {
            return Err(OwnError::Nothing {
                path: path.to_owned(),
                reason: "it is JSON, not a page; a run reads records with --data-path".to_owned(),
            });
        }
        "csv" => markdown::table_alone(grid::separated(path, text, None)?),
        "tsv" | "tab" => markdown::table_alone(grid::separated(path, text, Some(b'\t'))?),
        "txt" | "text" => markdown::page_of(path, aligned::blocks(text))?,
        _ => markdown::page(path, text)?,
    };
    let document = Document {
        id: name.clone().into_owned(),
        filename: name.into_owned(),
        own: true,
        table: page.grid.rows,
        // A title or unit above the table is the sentence before it.
        pre_text: [page.before, page.grid.titles].concat(),
        post_text: page.after,
        ..Document::default()
    };
    if document.table.is_empty() && document.sentences().next().is_none() {
        return Err(OwnError::Nothing {
            path: path.to_owned(),
            reason: "it holds neither a table nor text".to_owned(),
        });
    }
    let notes = [decoded.notes, page.grid.notes].concat();
    Ok(OwnDocument { document, notes })
}

fn extension(path: &Path) -> String {
    path.extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}
