//! The errors of an environment's data.

use std::path::{Path, PathBuf};

/// A data directory that cannot be read, built or fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// A file or folder of the layout cannot be read.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// A file is damaged, or lacks what an environment needs.
    #[error("{path}: {reason}")]
    Data { path: PathBuf, reason: String },
    /// The folder to write to contains other files.
    #[error("{path} holds other files, such as {found}: name a new folder or an empty one")]
    Foreign { path: PathBuf, found: String },
    /// A built file cannot be written.
    #[error("cannot write {path}: {source}; name another folder")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl EnvError {
    pub(super) fn reading(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }

    /// True if the request is at fault (exit code 2) rather than the data (3).
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Foreign { .. } | Self::Write { .. })
    }
}
