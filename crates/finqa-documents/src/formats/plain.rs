//! A page of a table and text: CSV, TSV, Markdown or text with tables in aligned columns.
//!
//! A note reports what is read differently from the file; what could be misread is an error.

use std::path::Path;

use finqa_core::question;

use super::markdown::{self, MarkdownPage};
use crate::decode::DecodedText;
use crate::error::DocumentError;
use crate::grid::plain;
use crate::lines::aligned;

/// Reads the page of a file, by its extension, and what is read differently from the file.
pub(crate) fn page(
    path: &Path,
    name: &str,
    decoded: DecodedText,
) -> Result<(question::Document, Vec<String>), DocumentError> {
    let text = decoded.text.as_str();
    let alone = |grid| MarkdownPage {
        grid,
        ..MarkdownPage::default()
    };
    // Tables are of pipes in Markdown, of aligned columns in plain text.
    let page = match extension(path).as_str() {
        "json" | "jsonl" => {
            return Err(DocumentError::Nothing {
                path: path.to_owned(),
                reason: "it is JSON, not a page; a run reads records with --data-path".to_owned(),
            });
        }
        "csv" => alone(plain::separated(path, text, None)?),
        "tsv" | "tab" => alone(plain::separated(path, text, Some(b'\t'))?),
        "txt" | "text" => markdown::page_of(path, aligned::blocks(text))?,
        _ => markdown::page(path, text)?,
    };
    let document = question::Document {
        id: name.to_owned(),
        filename: name.to_owned(),
        own: true,
        table: page.grid.rows,
        // A title or unit above the table is the sentence before it.
        pre_text: [page.before, page.grid.titles].concat(),
        post_text: page.after,
        ..question::Document::default()
    };
    if document.table.is_empty() && document.sentences().next().is_none() {
        return Err(DocumentError::Nothing {
            path: path.to_owned(),
            reason: "it holds neither a table nor text".to_owned(),
        });
    }
    let notes = [decoded.notes, page.grid.notes].concat();
    Ok((document, notes))
}

fn extension(path: &Path) -> String {
    path.extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default()
}
