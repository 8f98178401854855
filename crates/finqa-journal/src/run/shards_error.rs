//! The errors of starting and merging the shards of a run.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::journal::JournalError;
use finqa_core::error::{Kind, Kinded};

#[derive(Debug, Error)]
pub enum ShardsError {
    #[error("run {run} exists and has no shards")]
    Taken { run: String },
    #[error(
        "{path}: not a plan of shards ({reason}); remove this file and repeat the command of a \
         shard, which writes it again"
    )]
    NoPlan { path: PathBuf, reason: String },
    #[error("shard {shard} of run {run} {problem}")]
    OfShard {
        run: String,
        shard: u32,
        problem: String,
        /// True if the shard's content is wrong; false if the shard is in use, or was started with
        /// other inputs than the plan's.
        is_data: bool,
    },
    #[error("run {run} is not complete: {missing}")]
    Incomplete { run: String, missing: String },
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A file of the shards or of the merged run cannot be read, written or renamed.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl Kinded for ShardsError {
    fn kind(&self) -> Kind {
        match self {
            Self::OfShard { is_data: true, .. } | Self::NoPlan { .. } | Self::Incomplete { .. } => {
                Kind::Data
            }
            Self::OfShard { .. } | Self::Taken { .. } | Self::Io { .. } => Kind::Usage,
            Self::Journal(error) => error.kind(),
        }
    }
}

impl ShardsError {
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    /// The error of a shard whose journal cannot be read. For a damaged journal it says how to
    /// repair the shard; otherwise it is the journal's own error.
    pub fn unreadable(run: &str, shard: u32, reason: JournalError) -> Self {
        if reason.kind() != Kind::Data {
            return Self::Journal(reason);
        }
        Self::OfShard {
            run: run.to_owned(),
            shard,
            problem: format!(
                "cannot be read ({reason}); restore it, or remove its folder and repeat its command"
            ),
            is_data: true,
        }
    }
}
