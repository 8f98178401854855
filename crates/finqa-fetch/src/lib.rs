//! Downloads the published archive, verifies it and unpacks it.
//!
//! A download that breaks off starts again from the first byte. Nothing is written before its git
//! blob id is verified, so every file that exists is complete. The caller provides the HTTP client,
//! which decides on proxies and certificates.
//!
//! Reading order: this file, `options` (what to download), `published` (where the files of
//! ConvFinQA are), `http` (fetches a file, with retries), `archive` (verifies and unpacks it).

#![warn(unreachable_pub)]

mod archive;
mod error;
mod http;
mod options;
mod published;

use std::path::{Path, PathBuf};

pub use archive::{blob_id, write};
pub use error::DownloadError;
pub use http::fetch_bytes;
pub use options::{DownloadEvent, DownloadOptions, PublishedFile};
pub use published::published;

/// Downloads the archive, unpacks it into `folder`, which is created if it is missing, and returns
/// the paths of the files. Nothing is fetched if the files exist and verify. An archive that the
/// user put into the folder is used if it verifies. `progress` is called for every chunk, so it
/// should return quickly.
///
/// Unpacking runs on the calling thread. Use a client without a total timeout:
/// [`DownloadOptions::read_timeout`] detects a silent server.
///
/// # Errors
/// See [`DownloadError`].
pub async fn download(
    client: &reqwest::Client,
    folder: &Path,
    options: &DownloadOptions,
    progress: &mut (dyn FnMut(DownloadEvent) + Send),
) -> Result<Vec<PathBuf>, DownloadError> {
    if let Some(files) = archive::all_there(folder, &options.files) {
        return Ok(files);
    }
    std::fs::create_dir_all(folder).map_err(DownloadError::at(folder))?;
    let path = folder.join(&options.archive.name);
    let verified = |bytes: &Vec<u8>| archive::verify(bytes, &path, &options.archive);
    // An archive that cannot be read counts as missing. A downloaded archive stays in memory; only
    // its files are written.
    let kept = finqa_core::files::read(&path).ok();
    let archive = match kept.filter(|bytes| verified(bytes).is_ok()) {
        Some(kept) => kept,
        None => {
            let bytes = fetch_bytes(client, options, progress).await?;
            verified(&bytes)?;
            bytes
        }
    };
    archive::unpack(&path, &archive, &options.files, options::LARGEST)
}
