//! Fetches the published benchmark from its hub, verified file by file.
//!
//! The hub names a revision and lists its files with their hashes (a git blob
//! id, or SHA-256 for a large file); nothing is put under its own name before
//! it has been verified, and what is there and right is not fetched again. The
//! client comes from outside. The files are published under Apache-2.0 with the
//! request not to train on them: [`NOTICE`] is for whoever starts a download.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures::StreamExt as _;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::dataset::download::{DownloadError, DownloadOptions, Published, fetch, verify};

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
    /// A file is there and verified.
    Done {
        /// Its path in the data directory.
        path: String,
        /// Files done so far.
        files: usize,
    },
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
}

/// Fetches what is missing of the benchmark into `folder`, which becomes a data
/// directory; gives the commit it is of.
///
/// Run it again after a failure: whole files are kept, a broken one is gone on
/// with. Give a client without a total timeout.
///
/// # Errors
/// See [`HubError`].
pub async fn download(
    client: &reqwest::Client,
    folder: &Path,
    options: &HubOptions,
    progress: &mut (dyn FnMut(HubEvent) + Send),
) -> Result<String, HubError> {
    let (hub, dataset) = (options.hub.trim_end_matches('/'), &options.dataset);
    let url = format!("{hub}/api/datasets/{dataset}/revision/{}", options.revision);
    let commit = ask::<Revision>(client, &url, options).await?.0.sha;
    let files = wanted(list(client, hub, &commit, options).await?, options, &commit)?;
    progress(HubEvent::Listed {
        commit: commit.clone(),
        files: files.len(),
        bytes: files.iter().map(|f| f.size).sum(),
    });
    let base = format!("{hub}/datasets/{dataset}/resolve/{commit}");
    let fetches = files.into_iter().map(|entry| {
        let base = &base;
        async move {
            one(client, folder, base, &entry, options).await?;
            Ok::<_, HubError>(entry.path)
        }
    });
    let mut running = futures::stream::iter(fetches).buffer_unordered(options.concurrency.max(1));
    let mut files = 0;
    while let Some(path) = running.next().await {
        files += 1;
        progress(HubEvent::Done { path: path?, files });
    }
    Ok(commit)
}

/// All pages of the listing.
async fn list(
    client: &reqwest::Client,
    hub: &str,
    commit: &str,
    options: &HubOptions,
) -> Result<Vec<Entry>, HubError> {
    const MOST_PAGES: usize = 1_000;
    let dataset = &options.dataset;
    let mut url = format!("{hub}/api/datasets/{dataset}/tree/{commit}?recursive=true");
    let mut entries = Vec::new();
    for _ in 0..MOST_PAGES {
        let (page, next) = ask::<Vec<Entry>>(client, &url, options).await?;
        entries.extend(page);
        match next {
            // A listing that leads elsewhere is not this hub's.
            Some(next) if next.starts_with(hub) => url = next,
            Some(_) | None => break,
        }
    }
    Ok(entries)
}

/// The answer and the address of its next page.
async fn ask<T: serde::de::DeserializeOwned>(
    client: &reqwest::Client,
    url: &str,
    options: &HubOptions,
) -> Result<(T, Option<String>), HubError> {
    let mut pause = options.first_pause;
    let mut tries = 0;
    loop {
        tries += 1;
        match ask_once(client, url, options.read_timeout).await {
            Ok(answer) => return Ok(answer),
            Err((reason, worth_a_retry)) => {
                if !worth_a_retry || tries >= options.attempts.max(1) {
                    let url = url.to_owned();
                    return Err(HubError::Listing { url, reason });
                }
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
    let response = request
        .send()
        .await
        .map_err(|e| (e.without_url().to_string(), true))?;
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
    fetch(client, &path, &single, &mut |_| {}).await?;
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
    let bytes = std::fs::read(path).map_err(|e| unwritten(path, e))?;
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

/// The path with whatever has a meaning in an address escaped.
fn encoded(path: &str) -> String {
    path.bytes()
        .map(|b| match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => {
                char::from(b).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect()
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
