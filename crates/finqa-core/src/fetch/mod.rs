//! Fetches the published archive, verifies it and unpacks it.
//!
//! A broken download is tried again from its start. Nothing is written before its git
//! blob id is verified, so a file that is there is whole. The client comes from
//! outside; this module decides nothing about proxies or certificates.

mod archive;
mod error;
mod http;
mod options;

use std::path::{Path, PathBuf};

pub use archive::{blob_id, write};
pub use error::DownloadError;
pub use http::fetch_bytes;
pub use options::{DownloadEvent, DownloadOptions, PublishedFile};

/// Fetches, verifies and unpacks into `folder`, which is made if need be; gives
/// the paths of the files. `progress` is called often and should return soon.
/// An archive that was put there by hand is used if it verifies.
///
/// Unpacking runs on the calling thread. Give a client without a total timeout:
/// [`DownloadOptions::read_timeout`] guards against a silent server.
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
    let kept = crate::files::read(&path).ok();
    let archive = match kept.filter(|bytes| verified(bytes).is_ok()) {
        Some(kept) => kept,
        None => {
            let bytes = fetch_bytes(client, options, progress).await?;
            verified(&bytes)?;
            bytes
        }
    };
    archive::unpack(&path, &archive, &options.files)
}
