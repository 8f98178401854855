//! What goes wrong with journals.

use std::path::PathBuf;

use thiserror::Error;

use super::FORMAT;

/// What went wrong with a journal.
#[derive(Debug, Error)]
pub enum JournalError {
    /// SQLite refused: no space, no permission, not a database.
    #[error("{path}: {source}")]
    Sqlite {
        /// The journal.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: rusqlite::Error,
    },
    /// An entry cannot be read.
    #[error("{path}: entry {entry}: {source}")]
    Entry {
        /// The journal.
        path: PathBuf,
        /// Which one.
        entry: String,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
    /// Written by a newer program.
    #[error(
        "{path}: journal format {found} is newer than this program's {FORMAT}; use the convfinqa that wrote it"
    )]
    Newer {
        /// The journal.
        path: PathBuf,
        /// Its format.
        found: i64,
    },
    /// The new file cannot be put in its place.
    #[error("{path}: {source}")]
    Rename {
        /// The journal.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The file was deleted or replaced under an open journal.
    #[error(
        "{path} was deleted or replaced while the run was in progress: what was answered since it was \
         opened is lost, and nothing more is asked; start a new run"
    )]
    Gone {
        /// The journal.
        path: PathBuf,
    },
    /// A copy to read from cannot be made.
    #[error("{path}: cannot be read in place, nor copied to be read: {source}")]
    Copy {
        /// The journal.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// There is no run in the file.
    #[error("{path}: not a run's journal (it has no metadata)")]
    Empty {
        /// The journal.
        path: PathBuf,
    },
}
