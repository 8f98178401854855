//! Cassettes: the HTTP exchanges of a run in one file, and a run answered from them.
//!
//! They are recorded and replayed at `transport`, so that a replayed reply passes through
//! the same parsing, retries, error classes and costs as one from the network. A line of
//! the file is one model call with all of its requests and attempts; the first line says
//! whose calls they are, and further ones when each question was answered.

mod call;
mod format;
mod record;
mod replay;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

pub(super) use call::{CassetteCall, body_of, failure_of};
pub use format::RecordedRow;
pub use record::CassetteRecorder;
pub use replay::CassetteReplay;

/// The cassette that a run's exchanges are written to, or read from.
#[derive(Debug, Clone)]
pub enum Cassette {
    Record(Arc<CassetteRecorder>),
    Replay(Arc<CassetteReplay>),
}

impl Cassette {
    /// The file that is replayed.
    pub fn replay(&self) -> Option<&Arc<CassetteReplay>> {
        match self {
            Self::Record(_) => None,
            Self::Replay(replay) => Some(replay),
        }
    }

    /// The file that is recorded.
    pub fn recorder(&self) -> Option<&CassetteRecorder> {
        match self {
            Self::Record(recorder) => Some(recorder),
            Self::Replay(_) => None,
        }
    }
}

/// A cassette that cannot be read or written.
#[derive(Debug, Error)]
pub enum CassetteError {
    #[error("{path} exists: name another file to record to, or delete it")]
    Exists { path: PathBuf },
    #[error("cannot write the cassette {path}: {source}")]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("cannot read the cassette {path}: {source}")]
    Read {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("{path} is not a cassette: {reason}")]
    Foreign { path: PathBuf, reason: String },
    #[error(
        "{path} is a cassette of version {found}; this program reads version {}",
        format::VERSION
    )]
    Version { path: PathBuf, found: u64 },
    #[error("{path} is damaged in line {line}: {reason}")]
    Line {
        path: PathBuf,
        line: u64,
        reason: String,
    },
}

impl CassetteError {
    /// True if the content of a file is at fault, rather than its name or place.
    pub fn is_data(&self) -> bool {
        matches!(
            self,
            Self::Foreign { .. } | Self::Version { .. } | Self::Line { .. }
        )
    }
}
