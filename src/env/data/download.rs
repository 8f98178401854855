//! Fetches the published benchmark from its hub, verified file by file.
//!
//! The hub names a revision and lists its files with their hashes (a git blob
//! id, or SHA-256 for a large file); nothing is put under its own name before
//! it has been verified, and what is there and right is not fetched again. The
//! client comes from outside. The files are published under Apache-2.0 with the
//! request not to train on them: [`NOTICE`] is for whoever starts a download.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use futures::StreamExt as _;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::EnvError;
use super::build::Note;
use super::catalog::COMPANIES;
use crate::dataset::download::{
    DownloadError, DownloadEvent, DownloadOptions, Published, fetch, verify,
};
use crate::files;

/// What to tell people before anything is fetched.
pub const NOTICE: &str = "SnorkelFinance (snorkelai/finqa-data), Apache-2.0; \
    its authors publish it for evaluation only: do not train on it";

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
pub struct Fetched {
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

#[derive(Debug, Deserialize)]
struct Revision {
    sha: String,
}

/// One line of the hub's listing.
#[derive(Clone, Debug, Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    oid: String,
    size: u64,
    lfs: Option<Large>,
}

#[derive(Clone, Debug, Deserialize)]
struct Large {
    oid: String,
    size: Option<u64>,
}

impl Entry {
    /// Its size; the listing's own is that of the pointer where the file is large.
    fn bytes(&self) -> u64 {
        let large = self.lfs.as_ref().and_then(|large| large.size);
        large.unwrap_or(self.size)
    }
}

/// Fetches what is missing of the benchmark into `folder`, which becomes a data
/// directory.
///
/// Run it again after a failure: whole files are kept, a broken one is gone on
/// with. Give a client without a total timeout, and one that follows redirects,
/// for a hub keeps large files elsewhere.
///
/// # Errors
/// See [`HubError`].
pub async fn download(
    client: &reqwest::Client,
    folder: &Path,
    options: &HubOptions,
    progress: &mut (dyn FnMut(HubEvent) + Send),
) -> Result<Fetched, HubError> {
    if Note::read(folder)?.is_some() {
        let path = folder.to_owned();
        return Err(HubError::Built { path });
    }
    // Files that are fetched at the same time tell of it one at a time.
    let progress = Mutex::new(progress);
    let tell = |event| (progress.lock().unwrap_or_else(PoisonError::into_inner))(event);
    let (hub, dataset) = (options.hub.trim_end_matches('/'), &options.dataset);
    let url = format!("{hub}/api/datasets/{dataset}/revision/{}", options.revision);
    let commit = ask::<Revision>(client, &url, options, &tell).await?.0.sha;
    let listed = list(client, hub, &commit, options, &tell).await?;
    let files = wanted(listed, options, &commit)?;
    tell(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(Entry::bytes).sum(),
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
    Ok(Fetched { commit, unlisted })
}

/// All pages of the listing.
async fn list(
    client: &reqwest::Client,
    hub: &str,
    commit: &str,
    options: &HubOptions,
    tell: &(dyn Fn(HubEvent) + Sync),
) -> Result<Vec<Entry>, HubError> {
    const MOST_PAGES: usize = 1_000;
    let dataset = &options.dataset;
    let tree = format!("/api/datasets/{dataset}/tree/{commit}");
    let mut url = format!("{hub}{tree}?recursive=true");
    let mut entries = Vec::new();
    for _ in 0..MOST_PAGES {
        let (page, next) = ask::<Vec<Entry>>(client, &url, options, tell).await?;
        entries.extend(page);
        let Some(next) = next else {
            return Ok(entries);
        };
        // A mirror passes the hub's own links on: the page is asked of the mirror.
        let Some((_, query)) = next.split_once(&tree) else {
            let reason = format!("its next page is said to be {next}, which is another listing");
            return Err(HubError::Listing { url, reason });
        };
        url = format!("{hub}{tree}{query}");
    }
    let reason = format!("the listing does not end after {MOST_PAGES} pages");
    Err(HubError::Listing { url, reason })
}

/// The answer and the address of its next page.
async fn ask<T: serde::de::DeserializeOwned>(
    client: &reqwest::Client,
    url: &str,
    options: &HubOptions,
    tell: &(dyn Fn(HubEvent) + Sync),
) -> Result<(T, Option<String>), HubError> {
    let mut pause = options.first_pause;
    let mut tries = 0;
    loop {
        tries += 1;
        match ask_once(client, url, options.read_timeout).await {
            Ok(answer) => return Ok(answer),
            Err((reason, worth_a_retry)) => {
                let url = url.to_owned();
                if !worth_a_retry || tries >= options.attempts.max(1) {
                    return Err(HubError::Listing { url, reason });
                }
                tell(HubEvent::Retrying {
                    path: url,
                    reason,
                    pause,
                });
            }
        }
        tokio::time::sleep(pause).await;
        pause = pause.saturating_mul(2);
    }
}

async fn ask_once<T: serde::de::DeserializeOwned>(
    client: &reqwest::Client,
    url: &str,
    timeout: Duration,
) -> Result<(T, Option<String>), (String, bool)> {
    let request = client.get(url).timeout(timeout);
    let response = request.send().await.map_err(|e| {
        // An address that is none stays none.
        let worth_a_retry = !e.is_builder();
        (e.without_url().to_string(), worth_a_retry)
    })?;
    let status = response.status();
    if !status.is_success() {
        let passing = status.is_server_error() || status.as_u16() == 429;
        return Err((format!("status {status}"), passing));
    }
    let link = response.headers().get("link").and_then(|l| l.to_str().ok());
    let next = link.and_then(next_page);
    let bytes = response
        .bytes()
        .await
        .map_err(|e| (e.without_url().to_string(), true))?;
    let answer = serde_json::from_slice(&bytes).map_err(|e| (e.to_string(), false))?;
    Ok((answer, next))
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

/// The files of a data directory among those listed: the questions and the
/// tables, not the filings' raw text beside them.
fn wanted(entries: Vec<Entry>, options: &HubOptions, commit: &str) -> Result<Vec<Entry>, HubError> {
    let is_wanted = |e: &Entry| {
        let questions = e.path == super::catalog::QUESTIONS;
        let table = e.path.starts_with("input_companies/") && e.path.ends_with(".json");
        e.kind == "file" && (questions || table)
    };
    let files: Vec<Entry> = entries.into_iter().filter(is_wanted).collect();
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

/// Fetches one file unless it is there, and verifies it.
async fn one(
    client: &reqwest::Client,
    folder: &Path,
    base: &str,
    entry: &Entry,
    options: &HubOptions,
    tell: &(dyn Fn(HubEvent) + Sync),
) -> Result<(), HubError> {
    let path = folder.join(&entry.path);
    let published = Published {
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
    let single = DownloadOptions {
        base_url: base.to_owned(),
        archive: published.clone(),
        attempts: options.attempts,
        first_pause: options.first_pause,
        read_timeout: options.read_timeout,
        ..DownloadOptions::default()
    };
    fetch(client, &path, &single, &mut |event| {
        if let DownloadEvent::Retrying { reason, pause } = event {
            tell(HubEvent::Retrying {
                path: entry.path.clone(),
                reason,
                pause,
            });
        }
    })
    .await?;
    if let Err(wrong) = verified(&path, &published, entry) {
        std::fs::remove_file(&path).map_err(|e| unwritten(&path, e))?;
        return Err(wrong.into());
    }
    Ok(())
}

fn verified(path: &Path, published: &Published, entry: &Entry) -> Result<(), DownloadError> {
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

/// What is escaped in a path that goes into an address: all but its slashes and
/// RFC 3986's unreserved.
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
