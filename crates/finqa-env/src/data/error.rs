//! The errors of an environment's data.

use finqa_core::error::{Kind, Kinded};
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
    /// A file is damaged, or lacks data that an environment needs.
    #[error("{path}: {reason}")]
    Data { path: PathBuf, reason: String },
    /// The folder to write to contains other files, which must not be mixed with the new ones.
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

impl Kinded for EnvError {
    fn kind(&self) -> Kind {
        match self {
            Self::Foreign { .. } | Self::Write { .. } => Kind::Usage,
            _ => Kind::Data,
        }
    }
}

impl EnvError {
    pub(super) fn reading(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Io { path, source }
    }
}
