//! Options, events and errors of a download from a hub.

use std::path::PathBuf;
use std::time::Duration;

use super::EnvError;
use finqa_core::fetch::DownloadError;

/// Limits of what a hub may list and send. The benchmark is far below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HubLimits {
    /// Size of all pages of the listing, in bytes.
    pub listing_bytes: u64,
    /// Number of files to fetch.
    pub files: usize,
    /// Size of one file, in bytes.
    pub file_bytes: u64,
    /// Size of all files, in bytes.
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

/// The published location of the benchmark, and the options of the download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOptions {
    /// Address of the hub, without a trailing slash.
    pub hub: String,
    /// The dataset, `owner/name`.
    pub dataset: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Number of files fetched concurrently.
    pub concurrency: usize,
    /// Attempts in a row that may fail without a byte of progress, per file.
    pub attempts: u32,
    /// The pause before the first retry; it doubles each time.
    pub first_pause: Duration,
    /// Maximum silence of a connection.
    pub read_timeout: Duration,
    /// Limits of the listing and the files.
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

/// Progress of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubEvent {
    /// The revision was resolved to a commit, and its files are listed.
    Listed {
        commit: String,
        /// Number of files to fetch.
        files: usize,
        /// Their size in bytes.
        bytes: u64,
    },
    /// An attempt failed and will be repeated.
    Retrying {
        /// The path in the data directory, or the listing's address.
        path: String,
        /// The reason of the failure.
        reason: String,
        /// The pause before the next attempt.
        pause: Duration,
    },
    /// A file is present and verified.
    Done {
        /// Path in the data directory.
        path: String,
        /// Files done so far.
        files: usize,
    },
}

/// The files that a download left in the folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DownloadReport {
    /// The commit that the revision resolved to.
    pub commit: String,
    /// Tables in the folder that do not belong to this commit, `company/file`, sorted.
    pub unlisted: Vec<String>,
}

/// The errors of downloading the benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub's answer is not a listing.
    #[error("{url}: {reason}; check the address, the connection or the proxy")]
    Listing { url: String, reason: String },
    /// The revision lacks a file that every data directory has.
    #[error("{dataset} at {commit} has no {missing}, so it is not the benchmark")]
    NotTheBenchmark {
        dataset: String,
        commit: String,
        missing: &'static str,
    },
    /// The hub lists more than the benchmark can contain.
    #[error("{dataset} at {commit}: {what}; it is not the benchmark")]
    TooLarge {
        dataset: String,
        commit: String,
        /// The part that is too large, and the limit.
        what: String,
    },
    /// A listed path would leave the data directory.
    #[error("the hub lists {path:?}, which is not a path inside a data directory")]
    Path { path: String },
    /// The folder was made by `env build`.
    #[error("{path} contains an environment that `env build` made; choose another folder")]
    Built { path: PathBuf },
    /// The folder's content cannot be read.
    #[error(transparent)]
    Folder(#[from] EnvError),
    /// A file cannot be fetched, verified or written.
    #[error(transparent)]
    File(#[from] DownloadError),
}

impl HubError {
    /// True if the network is at fault (exit code 5) rather than data or disk (3).
    pub fn is_network(&self) -> bool {
        match self {
            Self::Listing { .. } => true,
            Self::File(error) => error.is_network(),
            _ => false,
        }
    }

    /// True if the named folder is at fault (exit code 2).
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Built { .. })
    }
}
