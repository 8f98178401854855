//! The archive over HTTP, resumed and retried.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use reqwest::StatusCode;
use reqwest::header::{CONTENT_RANGE, LOCATION, RANGE, RETRY_AFTER};

use super::archive::verify;
use super::{DownloadError, DownloadEvent, DownloadOptions};
use crate::error::causes;

type Progress<'a> = &'a mut (dyn FnMut(DownloadEvent) + Send);

/// How one try ended short of the whole file.
enum Setback {
    /// Worth another try, after at least this pause if the server named one.
    Passing(String, Option<Duration>),
    /// The part on disk cannot be gone on with; it has been removed.
    StartOver(String),
    Final(DownloadError),
}

/// Fetches the archive to `path`, by way of `….part`, and verifies it.
pub async fn fetch(
    client: &reqwest::Client,
    path: &Path,
    options: &DownloadOptions,
    progress: Progress<'_>,
) -> Result<(), DownloadError> {
    let url = format!(
        "{}/{}",
        options.base_url.trim_end_matches('/'),
        options.archive.name
    );
    let part = part_of(path);
    let mut resumed = length(&part) > 0;
    if resumed {
        progress(DownloadEvent::Resuming {
            bytes: length(&part),
        });
    }
    let mut failures = 0;
    let mut pause = options.first_pause;
    // Only what was never had before is progress: a server that cannot resume
    // would otherwise be asked for ever.
    let mut most = length(&part);
    loop {
        let setback = match attempt(client, &url, &part, options, progress).await {
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
                    Setback::StartOver("the resumed file is not the published one".to_owned())
                }
            },
            Err(setback) => setback,
        };
        let (reason, asked) = match setback {
            Setback::Final(error) => return Err(error),
            Setback::Passing(reason, asked) => (reason, asked),
            Setback::StartOver(reason) => (reason, None),
        };
        if length(&part) > most {
            most = length(&part);
            failures = 0;
            pause = options.first_pause;
        }
        failures += 1;
        if failures >= options.attempts.max(1) {
            return Err(DownloadError::Unreachable {
                url,
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
    url: &str,
    part: &Path,
    options: &DownloadOptions,
    progress: Progress<'_>,
) -> Result<(), Setback> {
    let offset = length(part);
    let mut request = client.get(url);
    if offset > 0 {
        request = request.header(RANGE, format!("bytes={offset}-"));
    }
    let sent = tokio::time::timeout(options.read_timeout, request.send()).await;
    let mut response = match sent {
        Ok(Ok(response)) => response,
        Ok(Err(error)) if error.is_builder() => {
            return Err(Setback::Final(DownloadError::Unreachable {
                url: url.to_owned(),
                attempts: 1,
                reason: format!("it is no address of a web server ({})", reasons(&error)),
            }));
        }
        Ok(Err(error)) => return Err(Setback::Passing(reasons(&error), None)),
        Err(_) => return Err(silent(options)),
    };
    let start = match response.status() {
        StatusCode::PARTIAL_CONTENT => match range_start(&response) {
            Some(start) if start == offset => offset,
            _ => {
                remove(part).map_err(Setback::Final)?;
                return Err(Setback::StartOver(
                    "the server answered with another part of the file".to_owned(),
                ));
            }
        },
        StatusCode::RANGE_NOT_SATISFIABLE => {
            // Nothing is left to send: the part is whole, or of another file.
            return if verify(part, &options.archive).is_ok() {
                Ok(())
            } else {
                remove(part).map_err(Setback::Final)?;
                Err(Setback::StartOver(
                    "the part on disk is not of this file".to_owned(),
                ))
            };
        }
        status if status.is_success() => 0,
        status => return Err(refusal(url, status, &response)),
    };
    let total = response.content_length().map(|left| start + left);
    let too_large = || {
        Setback::Final(DownloadError::LargerThanAllowed {
            url: url.to_owned(),
            limit: options.most_bytes,
        })
    };
    if total.is_some_and(|total| total > options.most_bytes) {
        return Err(too_large());
    }
    let mut file = open(part, start).map_err(|e| Setback::Final(DownloadError::write(part, e)))?;
    let mut bytes = start;
    progress(DownloadEvent::Received { bytes, total });
    loop {
        match tokio::time::timeout(options.read_timeout, response.chunk()).await {
            Ok(Ok(Some(chunk))) => {
                if bytes + chunk.len() as u64 > options.most_bytes {
                    remove(part).map_err(Setback::Final)?;
                    return Err(too_large());
                }
                file.write_all(&chunk)
                    .map_err(|e| Setback::Final(DownloadError::write(part, e)))?;
                bytes += chunk.len() as u64;
                progress(DownloadEvent::Received { bytes, total });
            }
            Ok(Ok(None)) => break,
            Ok(Err(error)) => return Err(Setback::Passing(reasons(&error), None)),
            Err(_) => return Err(silent(options)),
        }
    }
    if total.is_some_and(|total| bytes < total) {
        return Err(Setback::Passing("the connection was cut".to_owned(), None));
    }
    file.sync_all()
        .map_err(|e| Setback::Final(DownloadError::write(part, e)))
}

/// A status that is no success: final, or worth another try.
fn refusal(url: &str, status: StatusCode, response: &reqwest::Response) -> Setback {
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
        let asked = header(RETRY_AFTER)
            .and_then(|seconds| seconds.trim().parse().ok())
            .map(Duration::from_secs);
        return Setback::Passing(format!("status {}", status.as_u16()), asked);
    }
    let hint = if status.is_redirection() {
        match header(LOCATION) {
            Some(location) => format!("the server points to {location}; give that as the address"),
            None => "the server points elsewhere without saying where".to_owned(),
        }
    } else if status == StatusCode::NOT_FOUND {
        "the file is not there; check the address".to_owned()
    } else {
        "the server does not give it out; check the address or the proxy".to_owned()
    };
    Setback::Final(DownloadError::Refused {
        url: url.to_owned(),
        status: status.as_u16(),
        hint,
    })
}

fn silent(options: &DownloadOptions) -> Setback {
    Setback::Passing(
        format!(
            "the server was silent for {} s",
            options.read_timeout.as_secs_f64()
        ),
        None,
    )
}

/// The first byte of `Content-Range: bytes 100-199/200`.
fn range_start(response: &reqwest::Response) -> Option<u64> {
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

/// Opens the part to go on at `start`; what lies behind is dropped.
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
