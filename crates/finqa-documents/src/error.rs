//! The errors of reading a document.

use std::path::PathBuf;

use thiserror::Error;

/// Why a document is not read, in one line that names the file and says what to do.
#[derive(Debug, Error)]
pub enum DocumentError {
    #[error("{path}: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The file is of another kind, damaged, or larger than a page.
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
