//! The options and the events of a download.

use std::time::Duration;

/// Size limit of the archive and of each unpacked file, in bytes, against hostile archives. Set by
/// hand: the published files are less than half as large.
pub(crate) const LARGEST: u64 = 256 << 20;

/// The files to download, and the limits on attempts, pauses and size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadOptions {
    /// Address of the folder that contains the archive, without a trailing slash.
    pub base_url: String,
    pub archive: PublishedFile,
    /// The files to unpack. Each of them may be in any folder of the archive.
    pub files: Vec<PublishedFile>,
    /// Maximum number of attempts; at least one is made.
    pub attempts: u32,
    /// The pause after the first failed attempt. It doubles after each further one, up to
    /// [`DownloadOptions::longest_pause`].
    pub first_pause: Duration,
    /// The longest pause between attempts, even if the server asks for more.
    pub longest_pause: Duration,
    /// Maximum wait for the response, and for each further part of it.
    pub read_timeout: Duration,
    /// Maximum size of the archive in bytes.
    pub most_bytes: u64,
}

/// A published file and the id that verifies it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedFile {
    pub name: String,
    /// The git blob id (SHA-1 of `blob <length>\0` and the bytes); `None` if it is not known.
    pub blob: Option<String>,
}

impl PublishedFile {
    pub fn new(name: &str, blob: Option<&str>) -> Self {
        Self {
            name: name.to_owned(),
            blob: blob.map(str::to_owned),
        }
    }
}

impl DownloadOptions {
    /// Options to download `archive` from the folder at `base_url`, with retries and timeouts
    /// suited to a public server. Nothing is unpacked unless `files` is set.
    pub fn new(base_url: String, archive: PublishedFile) -> Self {
        Self {
            base_url,
            archive,
            files: Vec::new(),
            // Set by hand. Six attempts have pauses of 1, 2, 4, 8 and 16 s between them, so the
            // longest pause bounds only what a server asks for. The timeout bounds a silence.
            attempts: 6,
            first_pause: Duration::from_secs(1),
            longest_pause: Duration::from_secs(30),
            read_timeout: Duration::from_secs(30),
            most_bytes: LARGEST,
        }
    }

    pub(crate) fn url(&self) -> String {
        let base = self.base_url.trim_end_matches('/');
        format!("{base}/{}", self.archive.name)
    }
}

/// An event that a progress bar shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DownloadEvent {
    /// The bytes received so far, and the total if the server stated it.
    Received { bytes: u64, total: Option<u64> },
    /// An attempt failed; another follows after the pause.
    Retrying { reason: String, pause: Duration },
}
