//! The errors of a download, and whether the network is at fault.

use std::path::{Path, PathBuf};

use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DownloadError {
    #[error(
        "cannot fetch {url} after {}: {reason}; check the connection or the proxy and run the command again",
        counted(*attempts, "try")
    )]
    Unreachable {
        url: String,
        attempts: u32,
        reason: String,
    },
    #[error("{url}: the server refused the request with status {status}: {hint}")]
    Refused {
        url: String,
        status: u16,
        hint: String,
    },
    #[error(
        "{path} is not the published file (git blob {found}, expected {expected}): run the command again, or check that the address serves the original"
    )]
    WrongHash {
        path: PathBuf,
        expected: String,
        found: String,
    },
    #[error("{path} cannot be unpacked, it is not the published archive: {reason}")]
    Archive { path: PathBuf, reason: String },
    #[error("{url} is larger than {limit} bytes: it is not the published file")]
    LargerThanAllowed { url: String, limit: u64 },
    #[error("cannot write {path}: free some space or choose another folder")]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
}

impl Kinded for DownloadError {
    fn kind(&self) -> Kind {
        match self {
            Self::Unreachable { .. } | Self::Refused { .. } => Kind::Provider,
            Self::Write { .. } => Kind::Usage,
            _ => Kind::Data,
        }
    }
}

impl DownloadError {
    /// True for a failure of the network; false for wrong data and for a failure of the disk.
    pub fn is_network(&self) -> bool {
        matches!(self, Self::Unreachable { .. } | Self::Refused { .. })
    }

    /// Turns an I/O error on `path` into a download error; for `map_err`.
    pub(crate) fn at(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_written_is_an_output_and_not_data() {
        let full = std::io::Error::from(std::io::ErrorKind::StorageFull);
        let error = DownloadError::at(Path::new("data/train.json"))(full);
        assert_eq!(error.kind(), Kind::Usage);
        assert!(!error.is_network());
    }
}
