//! What is fetched, how, and the events of a download.

use std::time::Duration;

/// No published file is half of this; a hostile archive might be any size.
pub(super) const LARGEST: u64 = 256 << 20;

/// The options of a download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadOptions {
    /// Address of the folder that holds the archive, without a slash at its end.
    pub base_url: String,
    pub archive: PublishedFile,
    /// The files in it; folders inside the archive do not matter.
    pub files: Vec<PublishedFile>,
    /// Tries in a row that may fail.
    pub attempts: u32,
    /// The first pause between tries; it doubles up to [`DownloadOptions::longest_pause`].
    pub first_pause: Duration,
    /// The longest pause between tries, also where the server asks for more.
    pub longest_pause: Duration,
    /// Maximum silence of a connection.
    pub read_timeout: Duration,
    /// Most bytes that are taken of the archive.
    pub most_bytes: u64,
}

/// A published file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    pub name: String,
    /// The git blob id (SHA-1 of `blob <length>\0` and the bytes), if known.
    pub blob: Option<String>,
}

impl PublishedFile {
    /// A file by its name, and its blob id where known.
    pub fn new(name: &str, blob: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            blob: blob.map(str::to_owned),
        }
    }
}

impl DownloadOptions {
    /// One file from the folder at `base_url`, with the retries and
    /// timeouts that suit a public server.
    pub fn new(base_url: String, archive: PublishedFile) -> Self {
        Self {
            base_url,
            archive,
            files: Vec::new(),
            attempts: 6,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
            read_timeout: Duration::from_secs(30),
            most_bytes: LARGEST,
        }
    }

    pub(super) fn url(&self) -> String {
        let base = self.base_url.trim_end_matches('/');
        format!("{base}/{}", self.archive.name)
    }
}

/// Events of a download, for a progress bar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DownloadEvent {
    /// The bytes that have come, and those in all if the server said so.
    Received { bytes: u64, total: Option<u64> },
    /// A try failed; another follows after a pause.
    Retrying { reason: String, pause: Duration },
}
