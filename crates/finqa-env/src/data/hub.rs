//! What is asked of a hub, what happens on the way, and why it may fail.

use std::path::PathBuf;
use std::time::Duration;

use super::EnvError;
use finqa_core::fetch::DownloadError;

/// Bounds of what a hub may list and send. The benchmark is far below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubLimits {
    /// Bytes of all pages of the listing.
    pub listing_bytes: u64,
    /// Files that are wanted.
    pub files: usize,
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self {
            listing_bytes: 64 << 20,
            files: 100_000,
            file_bytes: 64 << 20,
            total_bytes: 1 << 30,
        }
    }
}

/// Where the benchmark is published, and how patiently it is fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOptions {
    /// Address of the hub, without a slash at its end.
    pub hub: String,
    /// The dataset, `owner/name`.
    pub dataset: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Files fetched at the same time.
    pub concurrency: usize,
    /// Tries in a row, for each file, that may fail without a byte of progress.
    pub attempts: u32,
    /// The first pause between tries; it doubles.
    pub first_pause: Duration,
    /// How long a silent connection is waited for.
    pub read_timeout: Duration,
    /// How much is taken.
    pub limits: HubLimits,
}

impl Default for HubOptions {
    /// The dataset that the environment's README and Dockerfile name.
    fn default() -> Self {
        Self {
            hub: "https://huggingface.co".to_owned(),
            dataset: "snorkelai/finqa-data".to_owned(),
            revision: "main".to_owned(),
            concurrency: 8,
            attempts: 5,
            first_pause: Duration::from_secs(1),
            read_timeout: Duration::from_secs(30),
            limits: HubLimits::default(),
        }
    }
}

/// What a download is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubEvent {
    /// The commit that the revision stands for, and what it holds.
    Listed {
        /// The commit.
        commit: String,
        /// Files that are wanted.
        files: usize,
        /// Their size in bytes.
        bytes: u64,
    },
    /// A try failed and another will be made.
    Retrying {
        /// The path in the data directory, or the listing's address.
        path: String,
        /// What the try met.
        reason: String,
        /// How long is waited before the next.
        pause: Duration,
    },
    /// A file is there and verified.
    Done {
        /// Its path in the data directory.
        path: String,
        /// Files done so far.
        files: usize,
    },
}

/// What a download left in the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DownloadReport {
    /// The commit that the revision stands for.
    pub commit: String,
    /// Tables in the folder that are not of this commit, `company/file`, sorted.
    pub unlisted: Vec<String>,
}

/// Why the benchmark could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub does not answer as a hub does.
    #[error("{url}: {reason}; check the address, the connection or the proxy")]
    Listing {
        /// The address.
        url: String,
        /// What came instead.
        reason: String,
    },
    /// The revision lacks what makes a data directory.
    #[error("{dataset} at {commit} holds no {missing}: it is not the benchmark")]
    NotTheBenchmark {
        /// The dataset.
        dataset: String,
        /// The commit.
        commit: String,
        /// What is missing.
        missing: &'static str,
    },
    /// The hub lists more than the benchmark can have.
    #[error("{dataset} at {commit}: {what}; it is not the benchmark")]
    TooLarge {
        /// The dataset.
        dataset: String,
        /// The commit.
        commit: String,
        /// What is too large, and the limit.
        what: String,
    },
    /// A listed path would leave the data directory.
    #[error("the hub lists {path:?}, which is no path inside a data directory")]
    Path {
        /// The path.
        path: String,
    },
    /// The folder is one that `env build` made.
    #[error("{path} holds an environment of `env build`: choose another folder")]
    Built {
        /// The folder.
        path: PathBuf,
    },
    /// What is in the folder cannot be looked at.
    #[error(transparent)]
    Folder(#[from] EnvError),
    /// A file cannot be fetched, verified or written.
    #[error(transparent)]
    File(#[from] DownloadError),
}

impl HubError {
    /// Whether the network is to blame (exit code 5) rather than data or disk (3).
    #[must_use]
    pub fn is_network(&self) -> bool {
        match self {
            Self::Listing { .. } => true,
            Self::File(error) => error.is_network(),
            _ => false,
        }
    }

    /// Whether the folder that was named is to blame (exit code 2).
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Built { .. })
    }
}
