//! The errors of downloading the published files.

use std::path::{Path, PathBuf};

/// The errors of downloading the published files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    /// The server could not be reached, or the connection kept breaking.
    #[error(
        "cannot fetch {url} after {attempts} tries: {reason}; check the connection or the proxy and run the command again, it continues where it stopped"
    )]
    Unreachable {
        url: String,
        /// Tries in a row without progress.
        attempts: u32,
        reason: String,
    },
    /// The server answered, and will not give the file.
    #[error("{url}: the server refused the request with status {status}: {hint}")]
    Refused {
        url: String,
        status: u16,
        hint: String,
    },
    /// The bytes are not the published ones.
    #[error(
        "{path} is not the published file (git blob {found}, expected {expected}): it was removed; run the command again, or check that the address serves the original"
    )]
    WrongHash {
        path: PathBuf,
        expected: String,
        found: String,
    },
    /// The archive cannot be read.
    #[error("{path} cannot be unpacked: remove it and run the command again")]
    Archive {
        path: PathBuf,
        source: zip::result::ZipError,
    },
    /// The archive lacks a file.
    #[error("{path} does not contain {name}, only {found}: it is not the published archive")]
    NotInArchive {
        path: PathBuf,
        name: String,
        found: String,
    },
    /// A file in the archive unpacks to more than it may.
    #[error("{name} in {path} is larger than {limit} bytes: it is not the published archive")]
    TooLarge {
        path: PathBuf,
        name: String,
        limit: u64,
    },
    /// The server sends more than the file can have.
    #[error("{url} is larger than {limit} bytes: it is not the published file")]
    LargerThanAllowed { url: String, limit: u64 },
    /// Writing failed: no space, no permission.
    #[error(
        "cannot write {path}: free some space or choose another folder; what was fetched is kept and will be resumed"
    )]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl DownloadError {
    /// True if the network is at fault (exit code 5) rather than data or disk (3).
    pub fn is_network(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Refused { .. })
    }

    pub(super) fn write(path: &Path, source: std::io::Error) -> Self {
        Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}
