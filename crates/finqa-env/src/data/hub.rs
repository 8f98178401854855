//! Fetches the published benchmark from its hub, verified file by file.
//!
//! The hub names a revision and lists its files with their hashes (a git blob
//! id, or SHA-256 for a large file). A file gets its own name only once it is
//! verified, and files that verify are not fetched again. The files are published
//! under Apache-2.0 with the request not to train on them, which [`NOTICE`] repeats.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::LINK;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::EnvError;
use super::catalog::{METADATA, QUESTIONS};
use super::note::BuildNote;
use finqa_core::fetch::{
    DownloadError, DownloadEvent, DownloadOptions, PublishedFile, fetch, fetch_bytes, verify,
};
use finqa_core::files;

/// The licence notice that is shown before a download.
pub const NOTICE: &str = "SnorkelFinance (snorkelai/finqa-data), Apache-2.0; \
    its authors publish it for evaluation only: do not train on it";

/// The dataset that the environment's README and Dockerfile name.
const DATASET: &str = "snorkelai/finqa-data";
/// Files that are fetched at a time.
const CONCURRENCY: usize = 8;
/// Limits of what a hub may list and send. The benchmark is far below them.
const LISTING_BYTES: u64 = 64 << 20;
const PAGES: usize = 1_000;
const FILES: usize = 100_000;
const FILE_BYTES: u64 = 64 << 20;
const TOTAL_BYTES: u64 = 1 << 30;

/// The location of the benchmark, and how patient its download is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOptions {
    /// Address of the hub, without a trailing slash.
    pub hub: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Attempts in a row that may fail without a byte of progress, per file.
    pub attempts: u32,
    /// The pause before the first retry; it doubles each time.
    pub first_pause: Duration,
    /// Maximum silence of a connection.
    pub read_timeout: Duration,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            hub: "https://huggingface.co".to_owned(),
            revision: "main".to_owned(),
            attempts: 5,
            first_pause: Duration::from_secs(1),
            read_timeout: Duration::from_secs(30),
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
    Done,
}

/// The errors of downloading the benchmark.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HubError {
    /// The hub's answer is not a listing.
    #[error("{url}: {reason}; check the address, the connection or the proxy")]
    Listing { url: String, reason: String },
    /// What the hub lists is not the benchmark, or not safe to fetch.
    #[error("{DATASET} at {commit}: {reason}, so it is not the benchmark")]
    NotTheBenchmark { commit: String, reason: String },
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

#[derive(Deserialize)]
struct HubRevision {
    sha: String,
}

/// One line of the hub's listing.
#[derive(Deserialize)]
struct HubEntry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    oid: String,
    size: u64,
    lfs: Option<LargeFile>,
}

#[derive(Deserialize)]
struct LargeFile {
    oid: String,
    size: Option<u64>,
}

impl HubEntry {
    /// The file's size. For a large file the listing's own `size` is that of its pointer.
    fn bytes(&self) -> u64 {
        let large = self.lfs.as_ref().and_then(|large| large.size);
        large.unwrap_or(self.size)
    }

    fn verify(&self, path: &Path, published: &PublishedFile) -> Result<(), DownloadError> {
        let Some(large) = &self.lfs else {
            return verify(path, published);
        };
        let bytes = files::read(path).map_err(|e| write_error(path, e))?;
        let digest = Sha256::digest(&bytes);
        let found: String = digest.iter().map(|b| format!("{b:02x}")).collect();
        if found == large.oid {
            return Ok(());
        }
        Err(DownloadError::WrongHash {
            path: path.to_owned(),
            expected: large.oid.clone(),
            found,
        })
    }
}

/// Fetches the missing files of the benchmark into `folder`, which becomes a data directory;
/// returns their commit.
///
/// A later call continues after a failure: whole files are kept. The client must have no total timeout, and must follow redirects,
/// because a hub stores large files elsewhere.
///
/// # Errors
/// See [`HubError`].
pub async fn download(
    client: &reqwest::Client,
    folder: &Path,
    options: &HubOptions,
    progress: &mut (dyn FnMut(HubEvent) + Send),
) -> Result<String, HubError> {
    if BuildNote::read(folder)?.is_some() {
        let path = folder.to_owned();
        return Err(HubError::Built { path });
    }
    // Files are fetched concurrently; their events are reported one at a time.
    let progress = Mutex::new(progress);
    let hub = Hub {
        client,
        url: options.hub.trim_end_matches('/'),
        options,
        on_event: &|event| (progress.lock())(event),
    };
    let path = format!("api/datasets/{DATASET}/revision/{}", options.revision);
    let (revision, _) = hub.ask(&path, &mut { LISTING_BYTES }).await?;
    let HubRevision { sha: commit } = revision;
    let mut files = hub.list(&commit).await?;
    files.retain(is_of_benchmark);
    if let Some(reason) = refusal(&files) {
        return Err(HubError::NotTheBenchmark { commit, reason });
    }
    (hub.on_event)(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(HubEntry::bytes).sum(),
    });
    let base = format!("{}/datasets/{DATASET}/resolve/{commit}", hub.url);
    let fetches = files
        .iter()
        .map(|entry| hub.fetch_file(folder, &base, entry));
    futures::stream::iter(fetches)
        .buffer_unordered(CONCURRENCY)
        .try_for_each(|()| {
            (hub.on_event)(HubEvent::Done);
            std::future::ready(Ok(()))
        })
        .await?;
    Ok(commit)
}

/// The questions and the tables, without the raw text of the filings.
fn is_of_benchmark(entry: &HubEntry) -> bool {
    let table = entry.path.starts_with("input_companies/") && entry.path.ends_with(".json");
    entry.kind == "file" && (table || entry.path == QUESTIONS)
}

/// The reason why these files are not fetched.
fn refusal(files: &[HubEntry]) -> Option<String> {
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    for needed in [QUESTIONS, METADATA] {
        if !files.iter().any(|file| file.path == needed) {
            return Some(format!("it has no {needed}"));
        }
    }
    for file in files {
        let (path, bytes) = (&file.path, file.bytes());
        if !path.split('/').all(is_plain) {
            return Some(format!("{path:?} is not a path inside a data directory"));
        }
        if bytes > FILE_BYTES {
            return Some(format!(
                "{path} with {bytes} bytes is larger than {FILE_BYTES}"
            ));
        }
    }
    let (count, total) = (files.len(), files.iter().map(HubEntry::bytes).sum::<u64>());
    if count > FILES {
        return Some(format!("{count} files are more than {FILES}"));
    }
    (total > TOTAL_BYTES).then(|| format!("{total} bytes are more than {TOTAL_BYTES}"))
}

/// A hub during a download.
struct Hub<'a> {
    client: &'a reqwest::Client,
    /// Without a trailing slash.
    url: &'a str,
    options: &'a HubOptions,
    on_event: &'a (dyn Fn(HubEvent) + Sync),
}

impl Hub<'_> {
    /// All pages of the listing.
    async fn list(&self, commit: &str) -> Result<Vec<HubEntry>, HubError> {
        let tree = format!("api/datasets/{DATASET}/tree/{commit}");
        let mut path = format!("{tree}?recursive=true");
        let mut entries = Vec::new();
        let mut bytes_left = LISTING_BYTES;
        for _ in 0..PAGES {
            let (page, next): (Vec<HubEntry>, _) = self.ask(&path, &mut bytes_left).await?;
            entries.extend(page);
            let Some(next) = next else {
                return Ok(entries);
            };
            // A mirror repeats the hub's own links: the next page comes from the mirror too.
            let Some((_, query)) = next.split_once(&format!("/{tree}")) else {
                let reason = format!("its next page is {next}, which belongs to another listing");
                return Err(self.wrong_listing(&path, reason));
            };
            path = format!("{tree}{query}");
        }
        let reason = format!("the listing does not end after {PAGES} pages");
        Err(self.wrong_listing(&path, reason))
    }

    fn wrong_listing(&self, path: &str, reason: String) -> HubError {
        let url = format!("{}/{path}", self.url);
        HubError::Listing { url, reason }
    }

    /// The hub's answer to `path` and the address of its next page; `bytes_left` is how
    /// large it and the pages after it may be.
    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
        bytes_left: &mut u64,
    ) -> Result<(T, Option<String>), HubError> {
        let listing = PublishedFile::new(path, None, true);
        let listing = self.download_options(self.url, listing, *bytes_left);
        let mut retrying = self.retries(format!("{}/{path}", self.url));
        let (bytes, headers) = fetch_bytes(self.client, &listing, &mut retrying).await?;
        *bytes_left = bytes_left.saturating_sub(bytes.len() as u64);
        let link = headers.get(LINK).and_then(|link| link.to_str().ok());
        let answer = serde_json::from_slice(&bytes)
            .map_err(|error| self.wrong_listing(path, error.to_string()))?;
        Ok((answer, link.and_then(next_page)))
    }

    fn download_options(
        &self,
        base: &str,
        file: PublishedFile,
        most_bytes: u64,
    ) -> DownloadOptions {
        DownloadOptions {
            attempts: self.options.attempts,
            first_pause: self.options.first_pause,
            read_timeout: self.options.read_timeout,
            most_bytes,
            ..DownloadOptions::new(base.to_owned(), file)
        }
    }

    /// Fetches one file unless it already verifies.
    async fn fetch_file(
        &self,
        folder: &Path,
        base: &str,
        entry: &HubEntry,
    ) -> Result<(), HubError> {
        let path = folder.join(&entry.path);
        let published = PublishedFile {
            name: escape(&entry.path),
            // A large file's blob id is that of its pointer.
            blob: entry.lfs.is_none().then(|| entry.oid.clone()),
            required: true,
        };
        if path.is_file() && entry.verify(&path, &published).is_ok() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| write_error(parent, e))?;
        }
        let single = self.download_options(base, published.clone(), entry.bytes());
        let mut retrying = self.retries(entry.path.clone());
        fetch(self.client, &path, &single, &mut retrying).await?;
        if let Err(wrong) = entry.verify(&path, &published) {
            std::fs::remove_file(&path).map_err(|e| write_error(&path, e))?;
            return Err(wrong.into());
        }
        Ok(())
    }

    /// Reports the retries of `path`.
    fn retries(&self, path: String) -> impl FnMut(DownloadEvent) + Send {
        move |event| {
            if let DownloadEvent::Retrying { reason, pause } = event {
                let path = path.clone();
                (self.on_event)(HubEvent::Retrying {
                    path,
                    reason,
                    pause,
                });
            }
        }
    }
}

/// The address in `<...>; rel="next"`.
fn next_page(link: &str) -> Option<String> {
    link.split(',').find_map(|part| {
        let (address, relation) = part.split_once(';')?;
        let address = address.trim().strip_prefix('<')?.strip_suffix('>')?;
        relation
            .contains("rel=\"next\"")
            .then(|| address.to_owned())
    })
}

fn write_error(path: &Path, source: std::io::Error) -> DownloadError {
    let path = path.to_owned();
    DownloadError::Write { path, source }
}

/// Characters of a path that are escaped in an address: all except slashes and
/// RFC 3986's unreserved characters.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');

fn escape(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}
