//! A file over HTTP, resumed and retried.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::header::{CONTENT_RANGE, HeaderMap, LOCATION, RANGE};
use reqwest::{RequestBuilder, Response, StatusCode};

use super::archive::verify;
use super::{DownloadError, DownloadEvent, DownloadOptions};
use crate::error::causes;
use crate::net::retry_after;

type OnEvent<'a> = &'a mut (dyn FnMut(DownloadEvent) + Send);

/// The reason why one attempt did not fetch the whole file.
enum AttemptFailure {
    /// Worth another try, after at least this pause if the server named one.
    Transient(String, Option<Duration>),
    /// The part on disk cannot be continued; it has been removed.
    StartOver(String),
    Final(DownloadError),
}

/// Tries of one request, with pauses between them that double.
struct AttemptCounter<'o> {
    options: &'o DownloadOptions,
    failures: u32,
    pause: Duration,
}

impl<'o> AttemptCounter<'o> {
    fn new(options: &'o DownloadOptions) -> Self {
        Self {
            options,
            failures: 0,
            pause: options.first_pause,
        }
    }

    /// Waits before the next try; fails where there is none.
    async fn wait(
        &mut self,
        setback: AttemptFailure,
        progress: OnEvent<'_>,
    ) -> Result<(), DownloadError> {
        let (reason, asked) = match setback {
            AttemptFailure::Final(error) => return Err(error),
            AttemptFailure::Transient(reason, asked) => (reason, asked),
            AttemptFailure::StartOver(reason) => (reason, None),
        };
        self.failures += 1;
        if self.failures >= self.options.attempts.max(1) {
            return Err(DownloadError::Unreachable {
                url: self.options.url(),
                attempts: self.failures,
                reason,
            });
        }
        let pause = asked.unwrap_or(self.pause).min(self.options.longest_pause);
        progress(DownloadEvent::Retrying { reason, pause });
        tokio::time::sleep(pause).await;
        self.pause = self.pause.saturating_mul(2).min(self.options.longest_pause);
        Ok(())
    }
}

/// Fetches the archive into memory; gives it with the response's headers.
///
/// # Errors
/// If it cannot be had, or is larger than allowed.
pub async fn fetch_bytes(
    client: &reqwest::Client,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<(Vec<u8>, HeaderMap), DownloadError> {
    let mut tries = AttemptCounter::new(options);
    loop {
        match attempt_bytes(client, options).await {
            Ok(answer) => return Ok(answer),
            Err(setback) => tries.wait(setback, progress).await?,
        }
    }
}

async fn attempt_bytes(
    client: &reqwest::Client,
    options: &DownloadOptions,
) -> Result<(Vec<u8>, HeaderMap), AttemptFailure> {
    let url = options.url();
    let mut response = send(client.get(&url), options).await?;
    if !response.status().is_success() {
        return Err(refusal(&url, response.status(), &response));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = next_chunk(&mut response, options).await? {
        bytes.extend_from_slice(&chunk);
        if bytes.len() as u64 > options.most_bytes {
            return Err(too_large(options));
        }
    }
    Ok((bytes, std::mem::take(response.headers_mut())))
}

/// Fetches the archive to `path`, by way of `….part`, and verifies it.
pub async fn fetch(
    client: &reqwest::Client,
    path: &Path,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<(), DownloadError> {
    let part = part_of(path);
    let mut resumed = length(&part) > 0;
    if resumed {
        progress(DownloadEvent::Resuming {
            bytes: length(&part),
        });
    }
    let mut tries = AttemptCounter::new(options);
    // Only what was never had before is progress: a server that cannot resume
    // would otherwise be asked forever.
    let mut most = length(&part);
    loop {
        let setback = match attempt(client, &part, options, progress).await {
            Ok(()) => match verify(&part, &options.archive) {
                Ok(()) => {
                    return std::fs::rename(&part, path)
                        .map_err(|source| DownloadError::write(path, source));
                }
                Err(wrong) => {
                    remove(&part)?;
                    // The part from before may have been of another file: try
                    // once from the start before blaming the server.
                    if !std::mem::take(&mut resumed) {
                        return Err(match wrong {
                            DownloadError::WrongHash {
                                expected, found, ..
                            } => DownloadError::WrongHash {
                                path: path.to_owned(),
                                expected,
                                found,
                            },
                            other => other,
                        });
                    }
                    AttemptFailure::StartOver(
                        "the resumed file is not the published one".to_owned(),
                    )
                }
            },
            Err(setback) => setback,
        };
        if length(&part) > most {
            most = length(&part);
            tries = AttemptCounter::new(options);
        }
        tries.wait(setback, progress).await?;
    }
}

/// One request, its body appended to the part.
async fn attempt(
    client: &reqwest::Client,
    part: &Path,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<(), AttemptFailure> {
    let url = options.url();
    let offset = length(part);
    let mut request = client.get(&url);
    if offset > 0 {
        request = request.header(RANGE, format!("bytes={offset}-"));
    }
    let mut response = send(request, options).await?;
    let start = match response.status() {
        StatusCode::PARTIAL_CONTENT => match range_start(&response) {
            Some(start) if start == offset => offset,
            _ => {
                remove(part).map_err(AttemptFailure::Final)?;
                return Err(AttemptFailure::StartOver(
                    "the server answered with another part of the file".to_owned(),
                ));
            }
        },
        StatusCode::RANGE_NOT_SATISFIABLE => {
            // Nothing is left to send: the part is whole, or of another file.
            return if verify(part, &options.archive).is_ok() {
                Ok(())
            } else {
                remove(part).map_err(AttemptFailure::Final)?;
                Err(AttemptFailure::StartOver(
                    "the part on disk is not of this file".to_owned(),
                ))
            };
        }
        status if status.is_success() => 0,
        status => return Err(refusal(&url, status, &response)),
    };
    let total = response.content_length().map(|left| start + left);
    if total.is_some_and(|total| total > options.most_bytes) {
        return Err(too_large(options));
    }
    let mut file =
        open(part, start).map_err(|e| AttemptFailure::Final(DownloadError::write(part, e)))?;
    let mut bytes = start;
    progress(DownloadEvent::Received { bytes, total });
    while let Some(chunk) = next_chunk(&mut response, options).await? {
        if bytes + chunk.len() as u64 > options.most_bytes {
            remove(part).map_err(AttemptFailure::Final)?;
            return Err(too_large(options));
        }
        file.write_all(&chunk)
            .map_err(|e| AttemptFailure::Final(DownloadError::write(part, e)))?;
        bytes += chunk.len() as u64;
        progress(DownloadEvent::Received { bytes, total });
    }
    if total.is_some_and(|total| bytes < total) {
        return Err(AttemptFailure::Transient(
            "the connection was cut".to_owned(),
            None,
        ));
    }
    file.sync_all()
        .map_err(|e| AttemptFailure::Final(DownloadError::write(part, e)))
}

async fn send(
    request: RequestBuilder,
    options: &DownloadOptions,
) -> Result<Response, AttemptFailure> {
    match tokio::time::timeout(options.read_timeout, request.send()).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) if error.is_builder() => {
            Err(AttemptFailure::Final(DownloadError::Unreachable {
                url: options.url(),
                attempts: 1,
                reason: format!(
                    "it is not the address of a web server ({})",
                    reasons(&error)
                ),
            }))
        }
        Ok(Err(error)) => Err(AttemptFailure::Transient(reasons(&error), None)),
        Err(_) => Err(silent(options)),
    }
}

async fn next_chunk(
    response: &mut Response,
    options: &DownloadOptions,
) -> Result<Option<impl std::ops::Deref<Target = [u8]> + use<>>, AttemptFailure> {
    match tokio::time::timeout(options.read_timeout, response.chunk()).await {
        Ok(Ok(chunk)) => Ok(chunk),
        Ok(Err(error)) => Err(AttemptFailure::Transient(reasons(&error), None)),
        Err(_) => Err(silent(options)),
    }
}

fn too_large(options: &DownloadOptions) -> AttemptFailure {
    AttemptFailure::Final(DownloadError::LargerThanAllowed {
        url: options.url(),
        limit: options.most_bytes,
    })
}

/// A status other than success: final, or worth another try.
fn refusal(url: &str, status: StatusCode, response: &Response) -> AttemptFailure {
    let header = |name| {
        response
            .headers()
            .get(name)
            .and_then(|value| value.to_str().ok())
    };
    if status == StatusCode::TOO_MANY_REQUESTS
        || status == StatusCode::REQUEST_TIMEOUT
        || status.is_server_error()
    {
        let asked = retry_after(response.headers());
        return AttemptFailure::Transient(format!("status {status}"), asked);
    }
    let hint = if status.is_redirection() {
        match header(LOCATION) {
            Some(location) => format!("the server redirects to {location}; use that address"),
            None => "the server redirects without an address".to_owned(),
        }
    } else {
        match status {
            StatusCode::NOT_FOUND => "the file does not exist; check the address",
            StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                "access is denied; check the address or the proxy"
            }
            _ => "the server does not serve it; check the address or the proxy",
        }
        .to_owned()
    };
    AttemptFailure::Final(DownloadError::Refused {
        url: url.to_owned(),
        status: status.as_u16(),
        hint,
    })
}

fn silent(options: &DownloadOptions) -> AttemptFailure {
    AttemptFailure::Transient(
        format!(
            "the server was silent for {} s",
            options.read_timeout.as_secs_f64()
        ),
        None,
    )
}

/// The first byte of `Content-Range: bytes 100-199/200`.
fn range_start(response: &Response) -> Option<u64> {
    let range = response.headers().get(CONTENT_RANGE)?.to_str().ok()?;
    let (start, _) = range.trim().strip_prefix("bytes")?.split_once('-')?;
    start.trim().parse().ok()
}

fn part_of(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
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
            Err(DownloadError::write(part, error))
        }
        _ => Ok(()),
    }
}

/// The causes of an error behind its first message, which only repeats the address.
fn reasons(error: &reqwest::Error) -> String {
    let mut texts: Vec<String> = causes(error).map(ToString::to_string).collect();
    texts.dedup();
    if texts.is_empty() {
        error.to_string()
    } else {
        texts.join(": ")
    }
}
