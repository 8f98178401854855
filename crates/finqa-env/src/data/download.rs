//! Fetches the published benchmark from its hub, verified file by file.
//!
//! The hub names a revision and lists its files with their hashes (a git blob
//! id, or SHA-256 for a large file). A file gets its own name only once it is
//! verified, and files that verify are not fetched again. The files are published
//! under Apache-2.0 with the request not to train on them, which [`NOTICE`] repeats.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use futures::StreamExt as _;
use parking_lot::Mutex;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::StatusCode;
use reqwest::header::LINK;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::catalog::COMPANIES;
use super::hub::{DownloadReport, HubError, HubEvent, HubLimits, HubOptions};
use super::note::BuildNote;
use finqa_core::fetch::{
    DownloadError, DownloadEvent, DownloadOptions, PublishedFile, fetch, fetch_bytes, verify,
};
use finqa_core::files;

/// The licence notice that is shown before a download.
pub const NOTICE: &str = "SnorkelFinance (snorkelai/finqa-data), Apache-2.0; \
    its authors publish it for evaluation only: do not train on it";

#[derive(Debug, Deserialize)]
struct HubRevision {
    sha: String,
}

/// One line of the hub's listing.
#[derive(Clone, Debug, Deserialize)]
struct HubEntry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    oid: String,
    size: u64,
    lfs: Option<LargeFile>,
}

#[derive(Clone, Debug, Deserialize)]
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
}

impl HubLimits {
    /// The first limit that these files exceed.
    fn exceeded_by(&self, files: &[HubEntry]) -> Option<String> {
        let count = files.len();
        if count > self.files {
            return Some(format!("{count} files are more than {}", self.files));
        }
        if let Some(file) = files.iter().find(|file| file.bytes() > self.file_bytes) {
            let (path, bytes) = (&file.path, file.bytes());
            let limit = self.file_bytes;
            return Some(format!("{path} with {bytes} bytes is larger than {limit}"));
        }
        // The sizes come from the hub: their sum may overflow.
        let total = files
            .iter()
            .try_fold(0_u64, |sum, file| sum.checked_add(file.bytes()))
            .unwrap_or(u64::MAX);
        (total > self.total_bytes)
            .then(|| format!("{total} bytes are more than {}", self.total_bytes))
    }
}

/// Fetches the missing files of the benchmark into `folder`, which becomes a data
/// directory.
///
/// A later call continues after a failure: whole files are kept, and a partial one
/// is resumed. The client must have no total timeout, and must follow redirects,
/// because a hub stores large files elsewhere.
///
/// # Errors
/// See [`HubError`].
pub async fn download(
    client: &reqwest::Client,
    folder: &Path,
    options: &HubOptions,
    progress: &mut (dyn FnMut(HubEvent) + Send),
) -> Result<DownloadReport, HubError> {
    if BuildNote::read(folder)?.is_some() {
        let path = folder.to_owned();
        return Err(HubError::Built { path });
    }
    // Files are fetched concurrently; their events are reported one at a time.
    let progress = Mutex::new(progress);
    let tell = |event| (progress.lock())(event);
    let (hub, dataset) = (options.hub.trim_end_matches('/'), &options.dataset);
    let path = format!("api/datasets/{dataset}/revision/{}", options.revision);
    let mut bytes_left = options.limits.listing_bytes;
    let commit = ask::<HubRevision>(client, &path, options, &mut bytes_left, &tell)
        .await?
        .0
        .sha;
    let listed = list(client, &commit, options, &tell).await?;
    let files = wanted(listed, options, &commit)?;
    if let Some(what) = options.limits.exceeded_by(&files) {
        return Err(HubError::TooLarge {
            dataset: dataset.clone(),
            commit,
            what,
        });
    }
    tell(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(HubEntry::bytes).sum(),
    });
    let names: HashSet<String> = files.iter().map(|file| file.path.clone()).collect();
    let base = format!("{hub}/datasets/{dataset}/resolve/{commit}");
    let fetches = files.into_iter().map(|entry| {
        let (base, tell) = (&base, &tell);
        async move {
            one(client, folder, base, &entry, options, tell).await?;
            Ok::<_, HubError>(entry.path)
        }
    });
    let mut running = futures::stream::iter(fetches).buffer_unordered(options.concurrency.max(1));
    let mut files = 0;
    while let Some(path) = running.next().await {
        files += 1;
        tell(HubEvent::Done { path: path?, files });
    }
    let mut unlisted = super::catalog::tables_in(folder)?;
    unlisted.retain(|table| !names.contains(&format!("{COMPANIES}/{table}")));
    Ok(DownloadReport { commit, unlisted })
}

/// All pages of the listing.
async fn list(
    client: &reqwest::Client,
    commit: &str,
    options: &HubOptions,
    tell: &(dyn Fn(HubEvent) + Sync),
) -> Result<Vec<HubEntry>, HubError> {
    const MOST_PAGES: usize = 1_000;
    let dataset = &options.dataset;
    let tree = format!("api/datasets/{dataset}/tree/{commit}");
    let mut path = format!("{tree}?recursive=true");
    let mut entries = Vec::new();
    let mut bytes_left = options.limits.listing_bytes;
    let wrong = |path: &str, reason| HubError::Listing {
        url: format!("{}/{path}", options.hub.trim_end_matches('/')),
        reason,
    };
    for _ in 0..MOST_PAGES {
        let (page, next) =
            ask::<Vec<HubEntry>>(client, &path, options, &mut bytes_left, tell).await?;
        entries.extend(page);
        let Some(next) = next else {
            return Ok(entries);
        };
        // A mirror repeats the hub's own links: the next page comes from the mirror too.
        let Some((_, query)) = next.split_once(&format!("/{tree}")) else {
            let reason = format!("its next page is {next}, which belongs to another listing");
            return Err(wrong(&path, reason));
        };
        path = format!("{tree}{query}");
    }
    let reason = format!("the listing does not end after {MOST_PAGES} pages");
    Err(wrong(&path, reason))
}

/// The hub's answer to `path` and the address of its next page; `bytes_left` is how
/// large it and the pages after it may be.
async fn ask<T: serde::de::DeserializeOwned>(
    client: &reqwest::Client,
    path: &str,
    options: &HubOptions,
    bytes_left: &mut u64,
    tell: &(dyn Fn(HubEvent) + Sync),
) -> Result<(T, Option<String>), HubError> {
    let hub = options.hub.trim_end_matches('/');
    let url = format!("{hub}/{path}");
    let wrong = |reason| HubError::Listing {
        url: url.clone(),
        reason,
    };
    let listing = download_options(
        hub,
        PublishedFile::new(path, None, true),
        *bytes_left,
        options,
    );
    let mut retrying = retries(&url, tell);
    let (bytes, headers) = fetch_bytes(client, &listing, &mut retrying)
        .await
        .map_err(|error| {
            wrong(match error {
                DownloadError::Unreachable { reason, .. } => reason,
                DownloadError::Refused { status, .. } => StatusCode::from_u16(status).map_or_else(
                    |error| error.to_string(),
                    |status| format!("status {status}"),
                ),
                DownloadError::LargerThanAllowed { .. } => {
                    "its listing is larger than any of the benchmark's".to_owned()
                }
                other => other.to_string(),
            })
        })?;
    *bytes_left = bytes_left.saturating_sub(bytes.len() as u64);
    let link = headers.get(LINK).and_then(|link| link.to_str().ok());
    let answer = serde_json::from_slice(&bytes).map_err(|error| wrong(error.to_string()))?;
    Ok((answer, link.and_then(next_page)))
}

fn download_options(
    base: &str,
    file: PublishedFile,
    most_bytes: u64,
    options: &HubOptions,
) -> DownloadOptions {
    DownloadOptions {
        attempts: options.attempts,
        first_pause: options.first_pause,
        read_timeout: options.read_timeout,
        most_bytes,
        ..DownloadOptions::new(base.to_owned(), file)
    }
}

/// Reports the retries of `path`.
fn retries(path: &str, tell: &(dyn Fn(HubEvent) + Sync)) -> impl FnMut(DownloadEvent) + Send {
    move |event| {
        if let DownloadEvent::Retrying { reason, pause } = event {
            tell(HubEvent::Retrying {
                path: path.to_owned(),
                reason,
                pause,
            });
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

/// The listed files that make a data directory: the questions and the tables,
/// without the raw text of the filings.
fn wanted(
    entries: Vec<HubEntry>,
    options: &HubOptions,
    commit: &str,
) -> Result<Vec<HubEntry>, HubError> {
    let is_wanted = |e: &HubEntry| {
        let questions = e.path == super::catalog::QUESTIONS;
        let table = e.path.starts_with("input_companies/") && e.path.ends_with(".json");
        e.kind == "file" && (questions || table)
    };
    let files: Vec<HubEntry> = entries.into_iter().filter(is_wanted).collect();
    for missing in [super::catalog::QUESTIONS, super::catalog::METADATA] {
        if !files.iter().any(|f| f.path == missing) {
            return Err(HubError::NotTheBenchmark {
                dataset: options.dataset.clone(),
                commit: commit.to_owned(),
                missing,
            });
        }
    }
    let is_plain =
        |part: &str| !matches!(part, "" | "." | "..") && !part.contains(['\\', ':', '\0']);
    match files.iter().find(|f| !f.path.split('/').all(is_plain)) {
        Some(bad) => Err(HubError::Path {
            path: bad.path.clone(),
        }),
        None => Ok(files),
    }
}

/// Fetches one file unless it already verifies.
async fn one(
    client: &reqwest::Client,
    folder: &Path,
    base: &str,
    entry: &HubEntry,
    options: &HubOptions,
    tell: &(dyn Fn(HubEvent) + Sync),
) -> Result<(), HubError> {
    let path = folder.join(&entry.path);
    let published = PublishedFile {
        name: encoded(&entry.path),
        // A large file's blob id is that of its pointer.
        blob: entry.lfs.is_none().then(|| entry.oid.clone()),
        required: true,
    };
    if path.is_file() && verified(&path, &published, entry).is_ok() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(|e| unwritten(parent, e))?;
    }
    let most_bytes = entry.bytes().min(options.limits.file_bytes);
    let single = download_options(base, published.clone(), most_bytes, options);
    fetch(client, &path, &single, &mut retries(&entry.path, tell)).await?;
    if let Err(wrong) = verified(&path, &published, entry) {
        std::fs::remove_file(&path).map_err(|e| unwritten(&path, e))?;
        return Err(wrong.into());
    }
    Ok(())
}

fn verified(path: &Path, published: &PublishedFile, entry: &HubEntry) -> Result<(), DownloadError> {
    let Some(large) = &entry.lfs else {
        return verify(path, published);
    };
    let bytes = files::read(path).map_err(|e| unwritten(path, e))?;
    let found: String = Sha256::digest(&bytes)
        .iter()
        .map(|b| format!("{b:02x}"))
        .collect();
    if found == large.oid {
        return Ok(());
    }
    Err(DownloadError::WrongHash {
        path: PathBuf::from(path),
        expected: large.oid.clone(),
        found,
    })
}

fn unwritten(path: &Path, source: std::io::Error) -> DownloadError {
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

fn encoded(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_pages_are_found_in_link_headers() {
        let link = "<https://hub/api?cursor=x>; rel=\"next\", <https://hub/api>; rel=\"first\"";
        assert_eq!(next_page(link).as_deref(), Some("https://hub/api?cursor=x"));
        assert_eq!(next_page("<https://hub/api>; rel=\"first\""), None);
    }

    #[test]
    fn paths_are_escaped() {
        assert_eq!(encoded("a b/c&d%.json"), "a%20b/c%26d%25.json");
    }
}
