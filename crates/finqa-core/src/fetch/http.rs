//! A file over HTTP, resumed and retried.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, HeaderMap, LOCATION, RANGE};
use reqwest::{Response, StatusCode};

use super::archive::verify;
use super::{DownloadError, DownloadEvent, DownloadOptions};
use crate::error::causes;
use crate::net::retry_after;

type OnEvent<'a> = &'a mut (dyn FnMut(DownloadEvent) + Send);

/// The reason why one attempt did not fetch the whole file.
enum AttemptFailure {
    /// Worth another try, after at least this pause if the server named one.
    Transient(String, Option<Duration>),
    Final(DownloadError),
}

impl From<DownloadError> for AttemptFailure {
    fn from(error: DownloadError) -> Self {
        Self::Final(error)
    }
}

fn transient(reason: impl Into<String>) -> AttemptFailure {
    AttemptFailure::Transient(reason.into(), None)
}

/// Fetches a file into memory; gives it with the response's headers.
///
/// # Errors
/// If it cannot be had, or is larger than allowed.
pub async fn fetch_bytes(
    client: &reqwest::Client,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<(Vec<u8>, HeaderMap), DownloadError> {
    let folder = tempfile::tempdir().map_err(DownloadError::at(&std::env::temp_dir()))?;
    let path = folder.path().join("file");
    let headers = fetch(client, &path, options, progress).await?;
    let bytes = std::fs::read(&path).map_err(DownloadError::at(&path))?;
    Ok((bytes, headers))
}

/// Fetches a file to `path`, by way of `….part`, and verifies it; gives the headers of the
/// last response.
///
/// # Errors
/// See [`DownloadError`].
pub async fn fetch(
    client: &reqwest::Client,
    path: &Path,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<HeaderMap, DownloadError> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    // Only what was never had before is progress: a server that cannot resume
    // would otherwise be asked forever.
    let mut most = length(&part);
    let mut resumed = most > 0;
    if resumed {
        progress(DownloadEvent::Resuming { bytes: most });
    }
    let (mut failures, mut pause) = (0, options.first_pause);
    loop {
        let failure = match attempt(client, &part, options, progress).await {
            Err(failure) => failure,
            Ok(headers) => match verify(&part, &options.archive) {
                Ok(()) => {
                    std::fs::rename(&part, path).map_err(DownloadError::at(path))?;
                    return Ok(headers);
                }
                Err(mut wrong) => {
                    remove(&part)?;
                    // The part from before may have been of another file: try
                    // once from the start before blaming the server.
                    if !std::mem::take(&mut resumed) {
                        if let DownloadError::WrongHash { path: named, .. } = &mut wrong {
                            path.clone_into(named);
                        }
                        return Err(wrong);
                    }
                    transient("the resumed file is not the published one")
                }
            },
        };
        let (reason, asked) = match failure {
            AttemptFailure::Final(error) => return Err(error),
            AttemptFailure::Transient(reason, asked) => (reason, asked),
        };
        if length(&part) > most {
            most = length(&part);
            (failures, pause) = (0, options.first_pause);
        }
        failures += 1;
        if failures >= options.attempts.max(1) {
            return Err(DownloadError::Unreachable {
                url: options.url(),
                attempts: failures,
                reason,
            });
        }
        let wait = asked.unwrap_or(pause).min(options.longest_pause);
        progress(DownloadEvent::Retrying {
            reason,
            pause: wait,
        });
        tokio::time::sleep(wait).await;
        pause = pause.saturating_mul(2).min(options.longest_pause);
    }
}

/// One request, its body appended to the part.
async fn attempt(
    client: &reqwest::Client,
    part: &Path,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<HeaderMap, AttemptFailure> {
    let url = options.url();
    let offset = length(part);
    let mut request = client.get(&url);
    if offset > 0 {
        request = request.header(RANGE, format!("bytes={offset}-"));
    }
    let mut response = in_time(options, request.send()).await?;
    let start = match response.status() {
        StatusCode::PARTIAL_CONTENT if range_start(&response) == Some(offset) => offset,
        StatusCode::PARTIAL_CONTENT => {
            remove(part)?;
            return Err(transient(
                "the server answered with another part of the file",
            ));
        }
        // Nothing is left to send: the part is whole, or of another file.
        StatusCode::RANGE_NOT_SATISFIABLE => {
            if verify(part, &options.archive).is_ok() {
                return Ok(HeaderMap::new());
            }
            remove(part)?;
            return Err(transient("the part on disk is not of this file"));
        }
        status if status.is_success() => 0,
        status => return Err(refusal(url, status, &response)),
    };
    let total = response.content_length().map(|left| start + left);
    let mut file = open(part, start).map_err(DownloadError::at(part))?;
    let mut bytes = start;
    progress(DownloadEvent::Received { bytes, total });
    while let Some(chunk) = in_time(options, response.chunk()).await? {
        bytes += chunk.len() as u64;
        if bytes > options.most_bytes {
            remove(part)?;
            let (url, limit) = (options.url(), options.most_bytes);
            return Err(DownloadError::LargerThanAllowed { url, limit }.into());
        }
        file.write_all(&chunk).map_err(DownloadError::at(part))?;
        progress(DownloadEvent::Received { bytes, total });
    }
    if total.is_some_and(|total| bytes < total) {
        return Err(transient("the connection was cut"));
    }
    file.sync_all().map_err(DownloadError::at(part))?;
    Ok(std::mem::take(response.headers_mut()))
}

/// A part of an exchange, within the time of a silent connection.
async fn in_time<T>(
    options: &DownloadOptions,
    part: impl Future<Output = reqwest::Result<T>>,
) -> Result<T, AttemptFailure> {
    let limit = options.read_timeout;
    let Ok(ended) = tokio::time::timeout(limit, part).await else {
        let seconds = limit.as_secs_f64();
        return Err(transient(format!("the server was silent for {seconds} s")));
    };
    ended.map_err(|error| {
        // The first message only repeats the address.
        let mut texts: Vec<String> = causes(&error).map(ToString::to_string).collect();
        texts.dedup();
        let reason = match texts.is_empty() {
            true => error.to_string(),
            false => texts.join(": "),
        };
        if !error.is_builder() {
            return transient(reason);
        }
        AttemptFailure::Final(DownloadError::Unreachable {
            url: options.url(),
            attempts: 1,
            reason: format!("it is not the address of a web server ({reason})"),
        })
    })
}

/// A status other than success: final, or worth another try.
fn refusal(url: String, status: StatusCode, response: &Response) -> AttemptFailure {
    let may_pass = [StatusCode::TOO_MANY_REQUESTS, StatusCode::REQUEST_TIMEOUT];
    if may_pass.contains(&status) || status.is_server_error() {
        let asked = retry_after(response.headers());
        return AttemptFailure::Transient(format!("status {status}"), asked);
    }
    let location = response.headers().get(LOCATION);
    let hint = match (location.and_then(|to| to.to_str().ok()), status.as_u16()) {
        (Some(to), 300..=399) => format!("the server redirects to {to}; use that address"),
        (_, 404) => "the file does not exist; check the address".to_owned(),
        (_, 401 | 403 | 407) => "access is denied; check the address or the proxy".to_owned(),
        _ => "the server does not serve it; check the address or the proxy".to_owned(),
    };
    AttemptFailure::Final(DownloadError::Refused {
        url,
        status: status.as_u16(),
        hint,
    })
}

/// The first byte of `Content-Range: bytes 100-199/200`.
fn range_start(response: &Response) -> Option<u64> {
    let range = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (start, _) = range.trim().strip_prefix("bytes")?.split_once('-')?;
    start.trim().parse().ok()
}

fn length(part: &Path) -> u64 {
    std::fs::metadata(part).map_or(0, |metadata| metadata.len())
}

/// Opens the part for appending at `start`; what follows is dropped.
fn open(part: &Path, start: u64) -> std::io::Result<File> {
    let file = OpenOptions::new().create(true).append(true).open(part)?;
    if file.metadata()?.len() != start {
        file.set_len(start)?;
    }
    Ok(file)
}

fn remove(part: &Path) -> Result<(), DownloadError> {
    match std::fs::remove_file(part) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(DownloadError::at(part)(error))
        }
        _ => Ok(()),
    }
}
