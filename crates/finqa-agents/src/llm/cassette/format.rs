//! The lines of a cassette.

use std::collections::BTreeMap;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::protocol::ApiDialect;
use super::super::transport::TransportFailure;
use super::super::types::RequestOrigin;

/// The version of the file's layout; a newer one is refused.
pub(super) const VERSION: u64 = 1;

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CassetteLine {
    /// The first line.
    Cassette(CassetteHeader),
    Call(RecordedCall),
    Row(RecordedRow),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CassetteHeader {
    pub version: u64,
    /// The program that recorded it.
    pub program: String,
    /// The run, as its journal describes it; absent if no run was recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Value>,
}

/// The clock's part of a row: latency, time and order.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedRow {
    /// The question's place in the plan.
    pub index: usize,
    /// Seconds.
    pub latency: f64,
    /// Position in the order of answering.
    pub ordinal: u64,
    /// Milliseconds since 1970 UTC.
    pub at: i64,
}

/// A model call.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct RecordedCall {
    /// The node that asked.
    pub node: String,
    pub origin: RequestOrigin,
    /// The dialect of the first request. A server's refusal changes it for calls that
    /// begin later, and which those are depends on the concurrency.
    pub(crate) dialect: ApiDialect,
    /// One, and one more for each parameter that the server refused.
    pub requests: Vec<RecordedRequest>,
}

/// A request and its attempts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct RecordedRequest {
    pub method: String,
    /// Below the base address.
    pub path: String,
    pub body: Value,
    pub attempts: Vec<RecordedAttempt>,
}

/// The result of one attempt.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in super::super) struct RecordedAttempt {
    /// Seconds that were waited before it, after the failure of the one before.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) wait: f64,
    /// Seconds until it ended.
    pub seconds: f64,
    /// 0 when no answer came.
    pub status: u16,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<RecordedBody>,
    /// The reason why the answer is incomplete, if it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<TransportFailure>,
    /// The failure in the transport's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// A body: JSON where a reply is read as such, else the text as it was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(in super::super) enum RecordedBody {
    Text(String),
    Json(Value),
}

impl RecordedBody {
    pub(crate) fn of(status: u16, body: &[u8]) -> Option<Self> {
        if body.is_empty() {
            return None;
        }
        let success = (200..300).contains(&status);
        Some(match serde_json::from_slice(body) {
            Ok(json @ Value::Object(_)) if success => Self::Json(json),
            // An error's text is quoted as it is.
            _ => Self::Text(String::from_utf8_lossy(body).into_owned()),
        })
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_bytes(),
            Self::Json(json) => json.to_string().into_bytes(),
        }
    }
}

/// Of a reply's headers those that are kept: what is read of them, the provider's limits,
/// and the ids that its support asks for. Any other may hold a secret.
fn is_kept(name: &str) -> bool {
    const NAMES: [&str; 7] = [
        "retry-after", "retry-after-ms", "x-should-retry", "request-id", "x-request-id",
        "apim-request-id", "x-ms-request-id",
    ];
    NAMES.contains(&name)
        || name.starts_with("x-ratelimit-")
        || name.starts_with("anthropic-ratelimit-")
}

pub(in super::super) fn kept_headers(headers: &HeaderMap) -> BTreeMap<String, String> {
    let kept = headers.iter().filter(|(name, _)| is_kept(name.as_str()));
    kept.filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect()
}

pub(in super::super) fn header_map(kept: &BTreeMap<String, String>) -> HeaderMap {
    let headers = kept.iter().filter_map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    headers.collect()
}
