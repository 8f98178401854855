//! Fetches the published benchmark from its hub, verified file by file.
//!
//! The hub names a revision and lists its files with their hashes (a git blob
//! id, or SHA-256 for a large file). A file gets its own name only once it is
//! verified, and files that verify are not fetched again. The files are published
//! under Apache-2.0 with the request not to train on them, which [`NOTICE`] repeats.

use std::path::Path;
use std::time::Duration;

use futures::{StreamExt as _, TryStreamExt as _};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::header::LINK;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::EnvError;
use super::catalog::{METADATA, QUESTIONS};
use super::note::{BuildNote, NOTE};
use finqa_core::fetch::{
    DownloadError, DownloadEvent, DownloadOptions, PublishedFile, blob_id, fetch_bytes, write,
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
const PAGE_BYTES: u64 = 8 << 20;
const PAGES: usize = 100;
const TOTAL_BYTES: u64 = 1 << 30;

/// The location of the benchmark, and how patient its download is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HubOptions {
    /// Address of the hub.
    pub hub: String,
    /// Branch, tag or commit.
    pub revision: String,
    /// Attempts in a row that may fail without a byte of progress, per file.
    pub attempts: u32,
    /// The pause before the first retry; it doubles each time.
    pub first_pause: Duration,
}

impl Default for HubOptions {
    fn default() -> Self {
        Self {
            hub: "https://huggingface.co".to_owned(),
            revision: "main".to_owned(),
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
        /// Number of files to fetch.
        files: usize,
        /// Their size in bytes.
        bytes: u64,
    },
    /// An attempt failed and will be repeated; one line.
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
    /// What the hub lists is not the benchmark, or not safe to fetch.
    #[error("{DATASET} at {commit}: {reason}, so it is not the benchmark")]
    NotTheBenchmark { commit: String, reason: String },
    /// The folder's content cannot be read, or `env build` made it.
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
        matches!(self, Self::Folder(error) if error.is_usage())
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

    /// True for the questions and the tables, without the raw text of the filings.
    fn is_of_benchmark(&self) -> bool {
        let table = self.path.starts_with("input_companies/") && self.path.ends_with(".json");
        self.kind == "file" && (table || self.path == QUESTIONS)
    }

    /// Checks that these bytes are the listed file's. A large file's blob id is that of its
    /// pointer.
    fn verify(&self, bytes: &[u8], path: &Path) -> Result<(), DownloadError> {
        let (expected, found) = match &self.lfs {
            None => (&self.oid, blob_id(bytes)),
            Some(large) => {
                let digest = Sha256::digest(bytes);
                let hex = digest.iter().map(|b| format!("{b:02x}"));
                (&large.oid, hex.collect())
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
    on_event: &(dyn Fn(HubEvent) + Sync),
) -> Result<String, HubError> {
    if BuildNote::read(folder)?.is_some() {
        let (path, found) = (folder.to_owned(), NOTE.to_owned());
        return Err(EnvError::Foreign { path, found }.into());
    }
    let url = options.hub.trim_end_matches('/');
    let hub = Hub {
        client,
        url,
        options,
        on_event,
    };
    let revision = format!("revision/{}", options.revision);
    let (HubRevision { sha: commit }, _) = hub.ask(&revision).await?;
    let files = hub.list(&commit).await?;
    if let Some(reason) = refusal(&files) {
        return Err(HubError::NotTheBenchmark { commit, reason });
    }
    on_event(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(HubEntry::bytes).sum(),
    });
    let base = format!("{url}/datasets/{DATASET}/resolve/{commit}");
    let fetches = files
        .iter()
        .map(|entry| hub.fetch_file(folder, &base, entry));
    let fetches = futures::stream::iter(fetches).buffer_unordered(CONCURRENCY);
    fetches.try_collect::<()>().await?;
    Ok(commit)
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
    let mut paths = files.iter().map(|file| &file.path);
    if let Some(path) = paths.find(|path| !path.split('/').all(is_plain)) {
        return Some(format!("{path:?} is not a path inside a data directory"));
    }
    let total = files
        .iter()
        .map(HubEntry::bytes)
        .fold(0, u64::saturating_add);
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
    /// The benchmark's files on all pages of the listing.
    async fn list(&self, commit: &str) -> Result<Vec<HubEntry>, HubError> {
        let mut query = "recursive=true".to_owned();
        let mut files = Vec::new();
        for _ in 0..PAGES {
            let page = format!("tree/{commit}?{query}");
            let (page, next): (Vec<HubEntry>, _) = self.ask(&page).await?;
            files.extend(page.into_iter().filter(HubEntry::is_of_benchmark));
            match next {
                Some(next) => query = next,
                None => return Ok(files),
            }
        }
        let url = self.url.to_owned();
        let reason = format!("the listing does not end after {PAGES} pages");
        Err(HubError::Listing { url, reason })
    }

    /// The hub's answer to `path`, and the query of its next page: a mirror repeats the hub's own
    /// links, but the next page comes from the mirror too.
    async fn ask<T: serde::de::DeserializeOwned>(
        &self,
        path: &str,
    ) -> Result<(T, Option<String>), HubError> {
        let base = format!("{}/api/datasets/{DATASET}", self.url);
        let url = format!("{base}/{path}");
        let listing = self.one_file(&base, path, PAGE_BYTES);
        let (bytes, headers) = fetch_bytes(self.client, &listing, &mut self.retries(&url)).await?;
        let answer = serde_json::from_slice(&bytes).map_err(|error| {
            let reason = error.to_string();
            HubError::Listing { url, reason }
        })?;
        let link = headers.get(LINK).and_then(|link| link.to_str().ok());
        Ok((answer, link.and_then(next_query)))
    }

    fn one_file(&self, base: &str, name: &str, most_bytes: u64) -> DownloadOptions {
        DownloadOptions {
            attempts: self.options.attempts,
            first_pause: self.options.first_pause,
            most_bytes,
            ..DownloadOptions::new(base.to_owned(), PublishedFile::new(name, None))
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
        let kept = files::read(&path).ok();
        if kept.is_none_or(|bytes| entry.verify(&bytes, &path).is_err()) {
            let name = utf8_percent_encode(&entry.path, PATH).to_string();
            let single = self.one_file(base, &name, entry.bytes());
            let retries = &mut self.retries(&entry.path);
            let (bytes, _) = fetch_bytes(self.client, &single, retries).await?;
            entry.verify(&bytes, &path)?;
            if let Some(parent) = path.parent() {
                std::fs::create_dir_all(parent).map_err(|source| DownloadError::Write {
                    path: parent.to_owned(),
                    source,
                })?;
            }
            write(&bytes, &path)?;
        }
        (self.on_event)(HubEvent::Done);
        Ok(())
    }

    /// Reports the retries of `what`.
    fn retries(&self, what: &str) -> impl FnMut(DownloadEvent) + Send {
        move |event| {
            if let DownloadEvent::Retrying { reason, pause } = event {
                let seconds = pause.as_secs_f64();
                let line = format!("{what}: {reason}; retrying in {seconds:.0} s");
                (self.on_event)(HubEvent::Retrying(line));
            }
        }
    }
}

/// The query of the address in `<...>; rel="next"`.
fn next_query(link: &str) -> Option<String> {
    link.split(',').find_map(|part| {
        let (address, relation) = part.split_once('>')?;
        let (_, query) = address.split_once('?')?;
        relation.contains("rel=\"next\"").then(|| query.to_owned())
    })
}

/// Characters of a path that are escaped in an address: all except slashes and
/// RFC 3986's unreserved characters.
const PATH: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'/');
