//! Fetches the published benchmark from its hub, verified file by file.
//!
//! The hub describes a revision in one answer, which has its commit and its files with their hashes
//! (a git blob id, or SHA-256 for a large file). A file gets its final name only after it is
//! verified, and files that verify are not fetched again. The files are published under Apache-2.0
//! with the request not to train on them, which [`NOTICE`] repeats.

use std::path::Path;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::EnvError;
use super::catalog::{METADATA, QUESTIONS};
use super::note::{BuildNote, NOTE};
use finqa_core::error::{Kind, Kinded};
use finqa_core::files;
use finqa_fetch::{
    DownloadError, DownloadEvent, DownloadOptions, PublishedFile, blob_id, fetch_bytes, write,
};

/// The licence notice that is shown before a download.
pub const NOTICE: &str = "SnorkelFinance (snorkelai/finqa-data), Apache-2.0; \
    its authors publish it for evaluation only: do not train on it";

/// The dataset that the environment's README and Dockerfile name.
const DATASET: &str = "snorkelai/finqa-data";
/// Maximum number of files that are fetched at the same time. Set by hand.
const CONCURRENCY: usize = 8;
/// Maximum size of a listing in bytes, so that a hub cannot fill the memory. Set by hand.
const LISTING_BYTES: u64 = 32 << 20;
/// Maximum size of all files together in bytes, so that a hub cannot fill the disk. Set by hand.
const TOTAL_BYTES: u64 = 1 << 30;

/// The location of the benchmark, and how its download retries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOptions {
    /// Address of the hub.
    pub hub: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Maximum number of attempts per file. Each starts again from the first byte.
    pub attempts: u32,
    /// The pause before the first retry. It doubles with each retry.
    pub first_pause: Duration,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            hub: "https://huggingface.co".to_owned(),
            revision: "main".to_owned(),
            // Set by hand: five attempts have pauses of 1, 2, 4 and 8 s between them.
            attempts: 5,
            first_pause: Duration::from_secs(1),
        }
    }
}

/// Progress of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HubEvent {
    /// The revision was resolved to a commit, and its files are listed.
    Listed {
        commit: String,
        /// The number of files to fetch.
        files: usize,
        /// The size of these files in bytes.
        bytes: u64,
    },
    /// An attempt failed and will be repeated. The text is one line.
    Retrying(String),
    /// A file is present and verified.
    Done,
}

/// The errors of downloading the benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub's answer is not a listing.
    #[error("{url}: {reason}; check the address, the connection or the proxy")]
    Listing { url: String, reason: String },
    /// The listed files are not the benchmark, or are not safe to fetch.
    #[error("{DATASET} at {commit}: {reason}, so it is not the benchmark")]
    NotTheBenchmark { commit: String, reason: String },
    /// The folder cannot be read, or `env build` wrote it.
    #[error(transparent)]
    Folder(#[from] EnvError),
    /// A file cannot be fetched, verified or written.
    #[error(transparent)]
    File(#[from] DownloadError),
}

impl Kinded for HubError {
    fn kind(&self) -> Kind {
        match self {
            Self::Listing { .. } => Kind::Provider,
            Self::File(error) => error.kind(),
            Self::Folder(error) => error.kind(),
            _ => Kind::Data,
        }
    }
}

impl HubError {
    /// True if the network is at fault rather than data or the disk.
    pub fn is_network(&self) -> bool {
        match self {
            Self::Listing { .. } => true,
            Self::File(error) => error.is_network(),
            _ => false,
        }
    }
}

/// A revision, as the hub describes it with `?blobs=true`.
#[derive(Deserialize)]
struct HubRevision {
    #[serde(rename = "sha")]
    commit: String,
    #[serde(rename = "siblings")]
    files: Vec<HubFile>,
}

/// A file of the revision, with the hash by which its content is checked.
#[derive(Deserialize)]
struct HubFile {
    #[serde(rename = "rfilename")]
    path: String,
    /// The git blob id of the file, or of its pointer if the file is large.
    #[serde(rename = "blobId")]
    blob: String,
    size: u64,
    lfs: Option<LargeFile>,
}

/// The hash and size of a file that Git LFS stores.
#[derive(Deserialize)]
struct LargeFile {
    sha256: String,
    size: u64,
}

impl HubFile {
    fn bytes(&self) -> u64 {
        self.lfs.as_ref().map_or(self.size, |large| large.size)
    }

    /// True for the questions, the tables and their metadata. The hub's raw texts of filings are
    /// not needed.
    fn is_of_benchmark(&self) -> bool {
        let table = self.path.starts_with("input_companies/") && self.path.ends_with(".json");
        table || self.path == QUESTIONS
    }

    /// Checks that these bytes are the content of the listed file.
    fn verify(&self, bytes: &[u8], path: &Path) -> Result<(), DownloadError> {
        let (expected, found) = match &self.lfs {
            None => (&self.blob, blob_id(bytes)),
            Some(large) => {
                let digest = Sha256::digest(bytes);
                let hex = digest.iter().map(|b| format!("{b:02x}"));
                (&large.sha256, hex.collect())
            }
        };
        if found == *expected {
            return Ok(());
        }
        Err(DownloadError::WrongHash {
            path: path.to_owned(),
            expected: expected.clone(),
            found,
        })
    }
}

/// Fetches the missing files of the benchmark into `folder`, which becomes a data directory.
/// Returns the commit of the files.
///
/// After a failure, a later call continues and keeps the files that verify. The client must not
/// have a total timeout, and it must follow redirects, because a hub stores large files at another
/// address.
///
/// # Errors
/// See [`HubError`].
pub async fn download(
    client: &reqwest::Client,
    folder: &Path,
    options: &HubOptions,
    on_event: &(dyn Fn(HubEvent) + Sync),
) -> Result<String, HubError> {
    // The benchmark must not be mixed into an environment that `env build` wrote.
    if BuildNote::read(folder)?.is_some() {
        let (path, found) = (folder.to_owned(), NOTE.to_owned());
        return Err(EnvError::Foreign { path, found }.into());
    }
    let hub = Hub {
        client,
        options,
        on_event,
    };
    let HubRevision { commit, mut files } = hub.revision().await?;
    files.retain(HubFile::is_of_benchmark);
    if let Some(reason) = refusal(&files) {
        return Err(HubError::NotTheBenchmark { commit, reason });
    }
    on_event(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(HubFile::bytes).sum(),
    });
    let fetches = files.iter().map(|file| hub.keep(folder, &commit, file));
    let fetches = futures::stream::iter(fetches).buffer_unordered(CONCURRENCY);
    fetches.try_collect::<()>().await?;
    Ok(commit)
}

/// The reason not to fetch these files, if there is one.
fn refusal(files: &[HubFile]) -> Option<String> {
    // No path may lead out of the folder, not even on Windows, where a backslash or a colon can.
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    for needed in [QUESTIONS, METADATA] {
        if !files.iter().any(|file| file.path == needed) {
            return Some(format!("it has no {needed}"));
        }
    }
    let mut paths = files.iter().map(|file| &file.path);
    if let Some(path) = paths.find(|path| !path.split('/').all(is_plain)) {
        return Some(format!("{path:?} is not a path inside a data directory"));
    }
    let sizes = files.iter().map(HubFile::bytes);
    let total = sizes.fold(0, u64::saturating_add);
    (total > TOTAL_BYTES).then(|| format!("{total} bytes are more than {TOTAL_BYTES}"))
}

/// A download in progress.
struct Hub<'a> {
    client: &'a reqwest::Client,
    options: &'a HubOptions,
    on_event: &'a (dyn Fn(HubEvent) + Sync),
}

impl Hub<'_> {
    /// Fetches the commit of the requested revision and the list of its files. An error if the hub
    /// cannot be asked or its list cannot be read.
    async fn revision(&self) -> Result<HubRevision, HubError> {
        let place = format!("api/datasets/{DATASET}/revision");
        let name = format!("{}?blobs=true", self.options.revision);
        let what = "the list of files";
        let bytes = self.fetch(&place, &name, what, LISTING_BYTES).await?;
        serde_json::from_slice(&bytes).map_err(|error| HubError::Listing {
            url: format!("{}/{place}/{name}", self.options.hub),
            reason: error.to_string(),
        })
    }

    /// Fetches one file, unless it exists and verifies. Its address contains the commit, so that
    /// all files are of one revision even if the branch moves during the download.
    async fn keep(&self, folder: &Path, commit: &str, file: &HubFile) -> Result<(), HubError> {
        let path = folder.join(&file.path);
        // A file that cannot be read is fetched again.
        let kept = files::read(&path).ok();
        if kept.is_none_or(|bytes| file.verify(&bytes, &path).is_err()) {
            let place = format!("datasets/{DATASET}/resolve/{commit}");
            let name = utf8_percent_encode(&file.path, PATH).to_string();
            let bytes = self.fetch(&place, &name, &file.path, file.bytes()).await?;
            file.verify(&bytes, &path)?;
            write(&bytes, &path)?;
        }
        (self.on_event)(HubEvent::Done);
        Ok(())
    }

    /// Fetches at most `most_bytes` from the hub. Retry events name `what`.
    async fn fetch(
        &self,
        place: &str,
        name: &str,
        what: &str,
        most_bytes: u64,
    ) -> Result<Vec<u8>, DownloadError> {
        let base = format!("{}/{place}", self.options.hub.trim_end_matches('/'));
        let options = DownloadOptions {
            attempts: self.options.attempts,
            first_pause: self.options.first_pause,
            most_bytes,
            ..DownloadOptions::new(base, PublishedFile::new(name, None))
        };
        let mut report = |event| {
            if let DownloadEvent::Retrying { reason, pause } = event {
                let seconds = pause.as_secs_f64();
                let line = format!("{what}: {reason}; retrying in {seconds:.0} s");
                (self.on_event)(HubEvent::Retrying(line));
            }
        };
        fetch_bytes(self.client, &options, &mut report).await
    }
}

/// The characters of a path that are escaped in an address: all except slashes and RFC 3986's
/// unreserved characters.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_whole_benchmark_inside_its_directory_is_fetched() {
        let files = |sizes: &[(&str, u64)]| {
            let file = |(path, size): &(&str, u64)| HubFile {
                path: (*path).to_owned(),
                blob: String::new(),
                size: *size,
                lfs: None,
            };
            refusal(&sizes.iter().map(file).collect::<Vec<_>>()).unwrap_or_default()
        };
        let [questions, metadata] = [QUESTIONS, METADATA].map(|path| (path, 1));
        assert_eq!(files(&[questions, metadata]), "");
        for (part, missing) in [(questions, METADATA), (metadata, QUESTIONS)] {
            assert_eq!(files(&[part]), format!("it has no {missing}"));
        }
        for path in ["input_companies/../../a.json", "a//b.json", "C:a.json"] {
            let refused = files(&[questions, metadata, (path, 0)]);
            let words = format!("{path:?} is not a path");
            assert!(refused.starts_with(&words), "{refused}");
        }
        let large = files(&[(QUESTIONS, TOTAL_BYTES), metadata]);
        assert!(large.starts_with("1073741825 bytes are more"), "{large}");
    }
}
