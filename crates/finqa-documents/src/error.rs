//! Defines why a document cannot be read.

use std::path::PathBuf;

use finqa_core::error::{Kind, Kinded};
use thiserror::Error;

/// Why a document cannot be read. The text is one line with the file's name and what to do.
#[derive(Debug, Error)]
pub enum DocumentError {
    #[error("{path}: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is of an unsupported kind, damaged, or too large; see the reason.
    #[error("{path}: {reason}")]
    NotText {
        path: PathBuf,
        /// The reason, and a remedy.
        reason: String,
    },
    /// The rows of a table do not fit together.
    #[error("{path}: line {line}: {reason}")]
    Table {
        path: PathBuf,
        line: u64,
        /// The reason, and a remedy.
        reason: String,
    },
    /// The file is JSON, such as the records of a dataset.
    #[error("{path}: it is JSON, not a page")]
    Json { path: PathBuf },
    /// The file contains nothing to ask about.
    #[error("{path}: {reason}")]
    Nothing { path: PathBuf, reason: String },
}

impl Kinded for DocumentError {
    fn kind(&self) -> Kind {
        // Also if the file cannot be opened: data that cannot be read are of this kind.
        Kind::Data
    }
}
