//! The HTTP client of a tracking server. Every call has a timeout, and every reply is
//! either the expected one or an error that describes the unexpected one.

use std::path::Path;
use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use finqa_core::error::innermost;
use finqa_core::secrets::shown_address;

use super::error::MlflowError;
use super::target::TrackingTarget;

/// Maximum number of bytes read of an unexpected reply.
const MAX_UNEXPECTED_BYTES: usize = 64 * 1024;

/// Timeouts of calls to the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrackingTimeouts {
    /// For one call.
    pub call: Duration,
    /// For a sign of life before the last delivery of a run.
    pub sign: Duration,
    /// For all of the last delivery of a run.
    pub end: Duration,
    /// Between two deliveries during a run.
    pub pause: Duration,
}

impl Default for TrackingTimeouts {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(15),
            sign: Duration::from_secs(3),
            end: Duration::from_secs(30),
            pause: Duration::from_secs(3),
        }
    }
}

/// A tracking server.
#[derive(Clone, Debug)]
pub struct TrackingServer {
    http: reqwest::Client,
    target: TrackingTarget,
    timeouts: TrackingTimeouts,
}

impl TrackingServer {
    /// A server behind a client that follows no redirect and retries nothing.
    pub fn new(http: reqwest::Client, target: TrackingTarget, timeouts: TrackingTimeouts) -> Self {
        Self {
            http,
            target,
            timeouts,
        }
    }

    /// The server's address and experiment.
    pub fn target(&self) -> &TrackingTarget {
        &self.target
    }

    /// The timeouts of calls.
    pub(crate) fn timeouts(&self) -> TrackingTimeouts {
        self.timeouts
    }

    /// Asks for a sign of life, for a short time; any answer is one.
    pub(crate) async fn sign_of_life(&self) -> Result<(), MlflowError> {
        let request = self
            .request(Method::GET, "/version")
            .timeout(self.timeouts.sign);
        self.send(request).await.map(|_| ())
    }

    /// A call that reads.
    pub(super) async fn get<T: DeserializeOwned>(
        &self,
        call: &str,
        query: &[(&str, &str)],
    ) -> Result<T, MlflowError> {
        let request = self
            .request(Method::GET, &format!("/api/2.0/mlflow/{call}"))
            .query(query);
        self.reply(call, self.send(request).await?).await
    }

    /// A call that writes.
    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        call: &str,
        body: &impl Serialize,
    ) -> Result<T, MlflowError> {
        let request = self
            .request(Method::POST, &format!("/api/2.0/mlflow/{call}"))
            .json(body);
        self.reply(call, self.send(request).await?).await
    }

    /// Puts a file to an address under this server.
    pub(super) async fn put_file(&self, path: &str, file: &Path) -> Result<(), MlflowError> {
        let unread = |source| MlflowError::File {
            path: file.to_owned(),
            source,
        };
        let open = tokio::fs::File::open(file).await.map_err(unread)?;
        let size = open.metadata().await.map_err(unread)?.len();
        let request = self
            .request(Method::PUT, path)
            // A large file takes its time: at least a megabyte a second is hoped for.
            .timeout(self.timeouts.call + Duration::from_secs(size / 1_000_000))
            .header(reqwest::header::CONTENT_TYPE, content_type(file))
            .header(reqwest::header::CONTENT_LENGTH, size)
            .body(open);
        self.check_stored(self.send(request).await?).await
    }

    /// Puts text to an address under this server.
    pub(super) async fn put_text(&self, path: &str, text: String) -> Result<(), MlflowError> {
        let request = self
            .request(Method::PUT, path)
            .header(reqwest::header::CONTENT_TYPE, content_type(Path::new(path)))
            .body(text);
        self.check_stored(self.send(request).await?).await
    }

    /// Checks that a file was stored: the reply is empty or an empty object.
    async fn check_stored(&self, reply: Response) -> Result<(), MlflowError> {
        let status = reply.status();
        if !status.is_success() {
            return Err(self.refusal("artifacts", reply).await);
        }
        let bytes = reply
            .bytes()
            .await
            .map_err(|error| self.unreachable(&error))?;
        // A proxy's page also comes with 200.
        if is_html(&bytes) {
            return Err(self.not_mlflow(status, "artifacts", &bytes));
        }
        Ok(())
    }

    /// Hands spans over, as OTLP in protobuf.
    pub(super) async fn put_spans(
        &self,
        experiment: &str,
        run: &str,
        spans: Vec<u8>,
    ) -> Result<(), MlflowError> {
        let request = self
            .request(Method::POST, "/v1/traces")
            .header(reqwest::header::CONTENT_TYPE, "application/x-protobuf")
            .header("x-mlflow-experiment-id", experiment)
            .header("x-mlflow-run-id", run)
            .body(spans);
        let reply = self.send(request).await?;
        if reply.status().is_success() {
            return Ok(());
        }
        Err(self.refusal("/v1/traces", reply).await)
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let address = format!("{}{path}", self.target.uri);
        let request = self.http.request(method, address);
        self.target.authorize(request.timeout(self.timeouts.call))
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, MlflowError> {
        request
            .send()
            .await
            .map_err(|error| self.unreachable(&error))
    }

    async fn reply<T: DeserializeOwned>(
        &self,
        call: &str,
        reply: Response,
    ) -> Result<T, MlflowError> {
        let status = reply.status();
        if !status.is_success() {
            return Err(self.refusal(call, reply).await);
        }
        let bytes = reply
            .bytes()
            .await
            .map_err(|error| self.unreachable(&error))?;
        // Ids and names of the server's are kept and shown.
        serde_json::from_slice(&bytes)
            .and_then(|mut json| {
                self.target.redact_json(&mut json);
                serde_json::from_value(json)
            })
            .map_err(|_| self.not_mlflow(status, call, &bytes))
    }

    /// The error of a reply that is not a success.
    async fn refusal(&self, call: &str, reply: Response) -> MlflowError {
        let status = reply.status();
        let moved = reply
            .headers()
            .get(reqwest::header::LOCATION)
            .and_then(|to| to.to_str().ok())
            .map(str::to_owned);
        let bytes = match reply.bytes().await {
            Ok(bytes) => bytes,
            Err(error) => return self.unreachable(&error),
        };
        let moved = moved.map(|to| shown_address(&self.redacted_line(&to)));
        let uri = self.target.shown.clone();
        let json = serde_json::from_slice(&bytes).ok().map(|mut json: Value| {
            self.target.redact_json(&mut json);
            json
        });
        let text = |key: &str| json.as_ref().and_then(|json| json.get(key)?.as_str());
        let detail = text("message").or_else(|| text("detail")).map(one_line);
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            let plain = one_line(&self.redacted_line(&String::from_utf8_lossy(&bytes)));
            let detail =
                detail.or_else(|| (!is_html(&bytes) && !plain.is_empty()).then_some(plain));
            return MlflowError::Refused {
                uri,
                status: status.as_u16(),
                detail: detail.map_or_else(String::new, |detail| format!(": {detail}")),
            };
        }
        match (detail, moved) {
            (Some(message), _) => MlflowError::Api {
                uri,
                status: status.as_u16(),
                call: call.to_owned(),
                code: text("error_code").unwrap_or_default().to_owned(),
                message,
            },
            (None, Some(to)) => MlflowError::NotMlflow {
                uri,
                status: status.as_u16(),
                call: call.to_owned(),
                found: format!("a redirect to {}", one_line(&to)),
            },
            (None, None) => self.not_mlflow(status, call, &bytes),
        }
    }

    /// Words of the server without what it was sent and repeats.
    fn redacted_line(&self, text: &str) -> String {
        self.target.redact(text)
    }

    fn not_mlflow(&self, status: StatusCode, call: &str, bytes: &[u8]) -> MlflowError {
        let found = if bytes.is_empty() {
            "an empty body".to_owned()
        } else if is_html(bytes) {
            "a web page".to_owned()
        } else {
            let shown = bytes
                .get(..bytes.len().min(MAX_UNEXPECTED_BYTES))
                .unwrap_or_default();
            format!(
                "{:?}",
                one_line(&self.redacted_line(&String::from_utf8_lossy(shown)))
            )
        };
        MlflowError::NotMlflow {
            uri: self.target.shown.clone(),
            status: status.as_u16(),
            call: call.to_owned(),
            found,
        }
    }

    fn unreachable(&self, error: &reqwest::Error) -> MlflowError {
        let reason = if error.is_timeout() {
            "no answer in time".to_owned()
        } else if error.is_connect() {
            "nothing listens there, or the name is unknown".to_owned()
        } else {
            one_line(&innermost(error).to_string())
        };
        MlflowError::Unreachable {
            uri: self.target.shown.clone(),
            reason,
        }
    }
}

fn is_html(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    start.first() == Some(&b'<')
}

/// The first 200 characters on one line.
fn one_line(text: &str) -> String {
    finqa_core::text::one_line(text, 200)
}

fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("csv") => "text/csv",
        Some("html") => "text/html",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("jsonl" | "toml" | "j2" | "mmd" | "dot" | "txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}
