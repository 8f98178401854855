//! The HTTP client of a tracking server. Every call has a timeout. An unexpected reply becomes an
//! error that describes the reply.

use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use reqwest::{Body, Method, RequestBuilder};
use serde_json::Value;

use finqa_core::error::innermost;
use finqa_core::text::one_line;

use super::error::MlflowError;
use super::target::TrackingTarget;

/// Timeout of one call, set by hand.
const CALL: Duration = Duration::from_secs(15);
/// Maximum number of characters shown of the reason why a server cannot be reached. Set by hand.
const REASON: usize = 200;

/// An MLflow server, with the HTTP client that calls it.
#[derive(Clone, Debug)]
pub struct TrackingServer {
    http: reqwest::Client,
    target: TrackingTarget,
}

impl TrackingServer {
    /// A server that is called through `http`. The client should not follow redirects, which would
    /// send the credentials to a host that the user did not name. It should not retry, because
    /// `track sync` can deliver the run again.
    pub fn new(http: reqwest::Client, target: TrackingTarget) -> Self {
        Self { http, target }
    }

    pub fn target(&self) -> &TrackingTarget {
        &self.target
    }

    /// Sends a request that only reads.
    pub(super) async fn get(
        &self,
        call: &str,
        query: &[(&str, &str)],
    ) -> Result<Value, MlflowError> {
        let path = format!("/api/2.0/mlflow/{call}");
        self.json(call, self.request(Method::GET, &path).query(query))
            .await
    }

    /// Sends a request that changes something.
    pub(super) async fn post(&self, call: &str, body: &Value) -> Result<Value, MlflowError> {
        let path = format!("/api/2.0/mlflow/{call}");
        self.json(call, self.request(Method::POST, &path).json(body))
            .await
    }

    /// Uploads a file of `size` bytes to a path on this server.
    pub(super) async fn put(
        &self,
        path: &str,
        body: impl Into<Body>,
        size: u64,
    ) -> Result<(), MlflowError> {
        let request = self
            .request(Method::PUT, path)
            // A large file gets more time: one second for each megabyte, which is set by hand.
            .timeout(CALL + Duration::from_secs(size / 1_000_000))
            .header(CONTENT_LENGTH, size)
            .body(body);
        let bytes = self.send("artifacts", request).await?;
        // The web page of a proxy may come with status 200 too.
        if is_html(&bytes) {
            Err(self.unexpected("artifacts", &bytes))
        } else {
            Ok(())
        }
    }

    /// Sends spans as OTLP in protobuf.
    pub(super) async fn put_spans(
        &self,
        experiment: &str,
        run: &str,
        spans: Vec<u8>,
    ) -> Result<(), MlflowError> {
        let request = self
            .request(Method::POST, "/v1/traces")
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header("x-mlflow-experiment-id", experiment)
            .header("x-mlflow-run-id", run)
            .body(spans);
        self.send("/v1/traces", request).await.map(drop)
    }

    /// The text at this JSON pointer of a reply. A reply without it did not come from MLflow.
    pub(super) fn text(
        &self,
        call: &str,
        reply: &Value,
        pointer: &str,
    ) -> Result<String, MlflowError> {
        let text = reply.pointer(pointer).and_then(Value::as_str);
        text.map(str::to_owned)
            .ok_or_else(|| self.unexpected(call, reply.to_string().as_bytes()))
    }

    /// Begins a request to `path`, with the credentials, if any, and the time limit.
    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let address = format!("{}{path}", self.target.uri);
        let request = self.http.request(method, address).timeout(CALL);
        match self.target.authorization() {
            Some(authorization) => request.header(AUTHORIZATION, authorization),
            None => request,
        }
    }

    /// Sends a request and reads the JSON of the reply. `call` names the request in errors.
    async fn json(&self, call: &str, request: RequestBuilder) -> Result<Value, MlflowError> {
        let bytes = self.send(call, request).await?;
        let mut reply =
            serde_json::from_slice(&bytes).map_err(|_| self.unexpected(call, &bytes))?;
        // Ids and names from the server are stored and shown, so remove secrets that it repeats in
        // them.
        self.target.redact(&mut reply);
        Ok(reply)
    }

    /// Sends a request and returns the body of a successful reply.
    async fn send(&self, call: &str, request: RequestBuilder) -> Result<Vec<u8>, MlflowError> {
        let unreachable = |error| self.unreachable(&error);
        let reply = request.send().await.map_err(unreachable)?;
        let status = reply.status();
        let bytes = reply.bytes().await.map_err(unreachable)?;
        if status.is_success() {
            return Ok(bytes.into());
        }
        // A body that is not JSON has no message, so it is quoted as a text.
        let mut json: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        self.target.redact(&mut json);
        let text = |key: &str| json.get(key).and_then(Value::as_str);
        // `detail` is the field of servers made with FastAPI.
        let said = match text("message").or_else(|| text("detail")) {
            Some(message) => message.to_owned(),
            None => self.words(&bytes),
        };
        let (uri, code) = (self.target.shown.clone(), text("error_code"));
        let status = status.as_u16();
        Err(match status {
            401 | 403 => MlflowError::Refused { uri, status, said },
            _ => MlflowError::Answer {
                uri,
                status,
                call: call.to_owned(),
                code: code.unwrap_or_default().to_owned(),
                said,
            },
        })
    }

    /// The error for a reply with status 200 that did not come from MLflow.
    fn unexpected(&self, call: &str, bytes: &[u8]) -> MlflowError {
        MlflowError::Answer {
            uri: self.target.shown.clone(),
            status: 200,
            call: call.to_owned(),
            code: String::new(),
            said: self.words(bytes),
        }
    }

    /// The text of a reply for an error. Removes the credentials that were sent.
    fn words(&self, bytes: &[u8]) -> String {
        if bytes.is_empty() {
            return "an empty body".to_owned();
        }
        if is_html(bytes) {
            return "a web page".to_owned();
        }
        let mut text = Value::from(String::from_utf8_lossy(bytes));
        self.target.redact(&mut text);
        text.as_str().unwrap_or_default().to_owned()
    }

    fn unreachable(&self, error: &reqwest::Error) -> MlflowError {
        let reason = if error.is_timeout() {
            "no answer in time".to_owned()
        } else if error.is_connect() {
            "nothing listens there, or the name is unknown".to_owned()
        } else {
            one_line(&innermost(error).to_string(), REASON)
        };
        MlflowError::Unreachable {
            uri: self.target.shown.clone(),
            reason,
        }
    }
}

fn is_html(bytes: &[u8]) -> bool {
    // JSON never begins with `<`.
    bytes.trim_ascii_start().first() == Some(&b'<')
}
