//! Fetches a file over HTTP, with retries.

use std::time::Duration;

use reqwest::header::LOCATION;
use reqwest::{Response, StatusCode};

use finqa_core::error::causes;
use finqa_core::net::retry_after;

use crate::DownloadError;
use crate::options::{DownloadEvent, DownloadOptions};

type OnEvent<'a> = &'a mut (dyn FnMut(DownloadEvent) + Send);

enum AttemptFailure {
    /// Another attempt may succeed. Has the pause that the server asked for, if it asked for one.
    Transient(String, Option<Duration>),
    Final(DownloadError),
}

fn transient(reason: impl Into<String>) -> AttemptFailure {
    AttemptFailure::Transient(reason.into(), None)
}

/// Fetches a file into memory and reports progress. If an attempt breaks off, the next attempt
/// starts from the first byte.
///
/// # Errors
/// The server refuses the request, every attempt fails, or the file is larger than allowed.
pub async fn fetch_bytes(
    client: &reqwest::Client,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<Vec<u8>, DownloadError> {
    let (mut failures, mut pause) = (0, options.first_pause);
    loop {
        let (reason, asked) = match attempt(client, options, progress).await {
            Ok(fetched) => return Ok(fetched),
            Err(AttemptFailure::Final(error)) => return Err(error),
            Err(AttemptFailure::Transient(reason, asked)) => (reason, asked),
        };
        failures += 1;
        // At least one attempt is made, even if the options allow none.
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

/// Sends one request and reads the whole body.
async fn attempt(
    client: &reqwest::Client,
    options: &DownloadOptions,
    progress: OnEvent<'_>,
) -> Result<Vec<u8>, AttemptFailure> {
    let url = options.url();
    let mut response = in_time(options, client.get(&url).send()).await?;
    let status = response.status();
    if !status.is_success() {
        return Err(refusal(url, status, &response));
    }
    let total = response.content_length();
    let mut body = Vec::new();
    while let Some(chunk) = in_time(options, response.chunk()).await? {
        body.extend_from_slice(&chunk);
        let bytes = body.len() as u64;
        // The received bytes are counted, because the server may state no length. No further
        // attempt follows, because the file would be too large again.
        if bytes > options.most_bytes {
            let limit = options.most_bytes;
            let error = DownloadError::LargerThanAllowed { url, limit };
            return Err(AttemptFailure::Final(error));
        }
        progress(DownloadEvent::Received { bytes, total });
    }
    Ok(body)
}

/// Waits for one step of an exchange: the response, or its next bytes. The wait ends at the read
/// timeout.
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
        // The outermost message only repeats the address, so the reason is taken from the causes.
        let mut texts: Vec<String> = causes(&error).map(ToString::to_string).collect();
        // A cause may have the same text as the one before it.
        texts.dedup();
        let reason = if texts.is_empty() {
            error.to_string()
        } else {
            texts.join(": ")
        };
        // A builder error means an invalid address, with which every attempt fails.
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

/// Turns a status other than success into a failure. After a rate limit, a timeout or a server
/// error, another attempt may succeed.
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
