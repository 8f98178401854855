//! The errors of journals.

use std::path::{Path, PathBuf};

use finqa_core::error::{Kind, Kinded};
use rusqlite::ErrorCode;
use thiserror::Error;

/// The version of the file's layout. Journals of any other version are refused.
pub(super) const FORMAT: i64 = 4;

#[derive(Debug, Error)]
pub enum JournalError {
    /// SQLite refused: no space, no permission, not a database.
    #[error("{path}: {reason}")]
    Sqlite {
        path: PathBuf,
        /// Not a `#[source]`, because `reason` has sources of its own that repeat its message.
        reason: rusqlite::Error,
    },
    #[error("{path}: entry {entry}: {source}")]
    Entry {
        path: PathBuf,
        entry: String,
        #[source]
        source: serde_json::Error,
    },
    #[error(
        "{path} has journal format {found}, and this program reads format {FORMAT}; use the convfinqa that wrote it"
    )]
    Format { path: PathBuf, found: i64 },
    /// A new journal cannot be moved to its path, or the remains of an earlier attempt cannot be
    /// removed.
    #[error("{path}: {source}")]
    Rename {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "{path} was deleted or replaced while the run was in progress: the answers since it was opened \
         are lost; start a new run"
    )]
    Gone { path: PathBuf },
    #[error("{path} is in use by another process; wait until it ends")]
    Busy { path: PathBuf },
    #[error("{path}: not a run's journal (it has no metadata)")]
    Empty { path: PathBuf },
}

impl Kinded for JournalError {
    fn kind(&self) -> Kind {
        match self {
            Self::Entry { .. } | Self::Empty { .. } => Kind::Data,
            Self::Sqlite { reason, .. } => match reason.sqlite_error_code() {
                // The journal is not damaged, and the user can remove the cause, such as a full
                // disk.
                Some(
                    ErrorCode::CannotOpen
                    | ErrorCode::ReadOnly
                    | ErrorCode::PermissionDenied
                    | ErrorCode::DiskFull
                    | ErrorCode::SystemIoFailure
                    | ErrorCode::DatabaseBusy
                    | ErrorCode::DatabaseLocked
                    | ErrorCode::OutOfMemory,
                ) => Kind::Usage,
                _ => Kind::Data,
            },
            // The content of the file is not wrong.
            _ => Kind::Usage,
        }
    }
}

impl JournalError {
    /// Removes the SQL that an error of SQLite quotes, because it may be the whole schema.
    pub(super) fn sqlite(path: &Path, source: rusqlite::Error) -> Self {
        let source = match source {
            rusqlite::Error::SqlInputError { error, msg, .. } => {
                rusqlite::Error::SqliteFailure(error, Some(msg))
            }
            source => source,
        };
        Self::Sqlite {
            path: path.to_owned(),
            reason: source,
        }
    }
}
