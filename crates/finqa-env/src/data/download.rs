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
    let on_event = |event| (progress.lock())(event);
    let dataset = &options.dataset;
    let hub = Hub {
        client,
        url: options.hub.trim_end_matches('/'),
        options,
        on_event: &on_event,
    };
    let path = format!("api/datasets/{dataset}/revision/{}", options.revision);
    let mut bytes_left = options.limits.listing_bytes;
    let (HubRevision { sha: commit }, _) = hub.ask(&path, &mut bytes_left).await?;
    let listed = hub.list(&commit).await?;
    let files = benchmark_files(listed, options, &commit)?;
    if let Some(what) = options.limits.exceeded_by(&files) {
        return Err(HubError::TooLarge {
            dataset: dataset.clone(),
            commit,
            what,
        });
    }
    on_event(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(HubEntry::bytes).sum(),
    });
    let names: HashSet<String> = files.iter().map(|file| file.path.clone()).collect();
    let base = format!("{}/datasets/{dataset}/resolve/{commit}", hub.url);
    let fetches = files.into_iter().map(|entry| {
        let (base, hub) = (&base, &hub);
        async move {
            hub.fetch_file(folder, base, &entry).await?;
            Ok::<_, HubError>(entry.path)
        }
    });
    let mut running = futures::stream::iter(fetches).buffer_unordered(options.concurrency.max(1));
    let mut files = 0;
    while let Some(path) = running.next().await {
        files += 1;
        on_event(HubEvent::Done { path: path?, files });
    }
    let mut unlisted = super::catalog::tables_in(folder)?;
    unlisted.retain(|table| !names.contains(&format!("{COMPANIES}/{table}")));
    Ok(DownloadReport { commit, unlisted })
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
        const MOST_PAGES: usize = 1_000;
        let tree = format!("api/datasets/{}/tree/{commit}", self.options.dataset);
        let mut path = format!("{tree}?recursive=true");
        let mut entries = Vec::new();
        let mut bytes_left = self.options.limits.listing_bytes;
        for _ in 0..MOST_PAGES {
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
        let reason = format!("the listing does not end after {MOST_PAGES} pages");
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
        let wrong = |reason| self.wrong_listing(path, reason);
        let listing = PublishedFile::new(path, None, true);
        let listing = self.download_options(self.url, listing, *bytes_left);
        let url = format!("{}/{path}", self.url);
        let mut retrying = retries(&url, self.on_event);
        let (bytes, headers) = fetch_bytes(self.client, &listing, &mut retrying)
            .await
            .map_err(|error| {
                wrong(match error {
                    DownloadError::Unreachable { reason, .. } => reason,
                    DownloadError::Refused { status, .. } => StatusCode::from_u16(status)
                        .map_or_else(
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
        if path.is_file() && verify_entry(&path, &published, entry).is_ok() {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|e| write_error(parent, e))?;
        }
        let most_bytes = entry.bytes().min(self.options.limits.file_bytes);
        let single = self.download_options(base, published.clone(), most_bytes);
        fetch(
            self.client,
            &path,
            &single,
            &mut retries(&entry.path, self.on_event),
        )
        .await?;
        if let Err(wrong) = verify_entry(&path, &published, entry) {
            std::fs::remove_file(&path).map_err(|e| write_error(&path, e))?;
            return Err(wrong.into());
        }
        Ok(())
    }
}

/// Reports the retries of `path`.
fn retries(path: &str, on_event: &(dyn Fn(HubEvent) + Sync)) -> impl FnMut(DownloadEvent) + Send {
    move |event| {
        if let DownloadEvent::Retrying { reason, pause } = event {
            on_event(HubEvent::Retrying {
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
fn benchmark_files(
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

fn verify_entry(
    path: &Path,
    published: &PublishedFile,
    entry: &HubEntry,
) -> Result<(), DownloadError> {
    let Some(large) = &entry.lfs else {
        return verify(path, published);
    };
    let bytes = files::read(path).map_err(|e| write_error(path, e))?;
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
        assert_eq!(escape("a b/c&d%.json"), "a%20b/c%26d%25.json");
    }
}
