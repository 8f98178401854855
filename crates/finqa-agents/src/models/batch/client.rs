//! The HTTP requests of a batch API: files, batches, results.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_openai::error::OpenAIError;
use async_openai::traits::RequestOptionsBuilder;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use finqa_core::secrets::{shown_address, strike_json};

use super::{BatchRecord, anthropic, openai};
use crate::models::address::ServerAddress;
use crate::models::classify;
use crate::models::error::{ErrorKind, ModelError};
use crate::models::http;
use crate::models::protocol::Protocol;
use crate::models::retry::{FailedAttempt, retry};
use crate::models::settings::{Endpoint, ModelConnection, Provider, SettingsError};
use crate::models::transport::{HttpReply, Transport};
use crate::models::types::Stop;

/// A file of 200 MB takes longer than a reply.
const LEAST_TIMEOUT: Duration = Duration::from_secs(600);
/// Results are larger than a reply, too.
const MAX_RESULTS: usize = 1 << 30;

/// The limits of a batch API.
#[derive(Debug, Clone, Copy)]
pub(super) struct BatchLimits {
    pub requests: usize,
    /// Of the whole file or body.
    pub bytes: u64,
    /// What the API adds to each request, at most.
    pub frame: u64,
}

impl BatchLimits {
    /// Whether a batch of so many requests and bytes takes another of `more` bytes.
    pub(super) fn fit(self, requests: usize, bytes: u64, more: u64) -> bool {
        requests < self.requests && bytes + more <= self.bytes
    }
}

/// A request as it is put into a batch.
pub(super) struct BatchLine<'a> {
    pub key: &'a str,
    pub body: &'a RawValue,
}

/// How far a batch has come at its provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BatchProgress {
    Running,
    Completed,
    Expired,
    Cancelled,
    /// It was refused as a whole, and no request was processed.
    Rejected,
}

/// A batch as its provider describes it.
#[derive(Debug)]
pub(super) struct BatchState {
    pub progress: BatchProgress,
    /// Requests with a result.
    pub done: u64,
    /// The paths of its results.
    pub results: Vec<String>,
    /// Why it was rejected.
    pub faults: Vec<BatchFault>,
}

/// A reason for which a batch was rejected.
#[derive(Debug)]
pub(super) struct BatchFault {
    pub code: String,
    pub message: String,
    /// The line of the file, from 1.
    pub line: Option<usize>,
}

/// The result of one request.
#[derive(Debug)]
pub(super) enum BatchResult {
    Reply(HttpReply),
    /// It was not processed, because the batch ended before.
    Unprocessed,
}

/// A model whose requests are sent in batches.
pub(in crate::models) struct BatchClient {
    client: Client<ServerAddress>,
    transport: Transport,
    settings: ModelConnection,
    protocol: Protocol,
    name: String,
    reached: AtomicBool,
}

impl BatchClient {
    pub(crate) fn new(settings: &ModelConnection) -> Result<Self, SettingsError> {
        let direct = settings.endpoint() == Endpoint::Loopback;
        let http = http::client(settings.timeouts.connect, direct)?;
        let timeout = settings.timeouts.attempt.max(LEAST_TIMEOUT);
        let protocol = settings.protocol();
        Ok(Self {
            client: Client::build(http.clone(), ServerAddress::new(settings)?),
            transport: Transport::new(http, timeout, MAX_RESULTS),
            name: format!(
                "{} {} {} {}",
                settings.provider,
                shown_address(&settings.base_url),
                settings.model,
                protocol.path()
            ),
            settings: settings.clone(),
            protocol,
            reached: AtomicBool::new(false),
        })
    }

    /// Provider, address, model and path.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// How many batches a request may be in.
    pub(super) fn attempts(&self) -> u32 {
        self.settings.retry.max_attempts.max(1)
    }

    pub(super) fn limits(&self) -> BatchLimits {
        match self.settings.provider {
            Provider::Anthropic => anthropic::LIMITS,
            Provider::OpenAi | Provider::Azure => openai::LIMITS,
        }
    }

    fn is_anthropic(&self) -> bool {
        self.settings.provider == Provider::Anthropic
    }

    /// Uploads the requests; `None` where they are submitted without a file.
    pub(super) async fn upload(
        &self,
        lines: &[BatchLine<'_>],
        name: &str,
        stop: &Stop,
    ) -> Result<Option<String>, ModelError> {
        if self.is_anthropic() {
            return Ok(None);
        }
        let file = openai::file(lines, self.endpoint_path()).map_err(unsendable)?;
        let file = Bytes::from(file);
        let send = |client: Client<ServerAddress>| {
            let request = openai::upload(file.clone(), name);
            let sent = async move {
                let files = client.files();
                files.create_byot::<_, IgnoredAny>(request).await.map(drop)
            };
            sent.boxed()
        };
        let reply = self.exchange(&send, stop).await;
        let reply = reply.map_err(|error| named(error, "POST /files"))?;
        let id = self.id(&reply).map_err(|why| unreadable(&why))?;
        Ok(Some(id))
    }

    /// Submits the requests: those of the uploaded file, or `lines`. A request that broke
    /// off is looked for in the provider's list before it is sent again; gives the id, and
    /// whether a batch that is not listed may have arrived too. `may_have_arrived` is set once
    /// a request broke off, whatever the last error is.
    pub(super) async fn submit(
        &self,
        record: &BatchRecord,
        run: &str,
        lines: &[BatchLine<'_>],
        known: &[String],
        may_have_arrived: &AtomicBool,
        stop: &Stop,
    ) -> Result<(String, bool), ModelError> {
        let path = self.batches_path();
        let body = match &record.file {
            Some(file) => openai::submission(file, self.endpoint_path(), run, &record.place()),
            None => anthropic::submission(lines),
        };
        let body = body.map_err(unsendable)?;
        let repeated = AtomicBool::new(false);
        let submitted = retry(self.settings.retry, 0, stop, &|_| {}, || async {
            if may_have_arrived.load(Ordering::Relaxed) {
                if let Some(id) = self.find_once(record, run, known).await? {
                    return Ok(id);
                }
                repeated.store(true, Ordering::Relaxed);
            }
            let send = |client| post(client, path, &body);
            let reply = self.attempt(&send).await.inspect_err(|failed| {
                if failed.error.lost_an_answer() {
                    may_have_arrived.store(true, Ordering::Relaxed);
                }
            })?;
            let id = self.id(&reply);
            id.map_err(|why| FailedAttempt::permanent(unreadable(&why)))
        });
        let id = submitted
            .await
            .map_err(|error| self.located(named(error, &format!("POST {path}"))))?;
        Ok((id, repeated.into_inner()))
    }

    /// The id of a batch that an earlier process may have submitted.
    pub(super) async fn find(
        &self,
        record: &BatchRecord,
        run: &str,
        known: &[String],
        stop: &Stop,
    ) -> Result<Option<String>, ModelError> {
        let found = retry(self.settings.retry, 0, stop, &|_| {}, || {
            self.find_once(record, run, known)
        });
        let path = self.batches_path();
        found
            .await
            .map_err(|error| self.located(named(error, &format!("GET {path}"))))
    }

    async fn find_once(
        &self,
        record: &BatchRecord,
        run: &str,
        known: &[String],
    ) -> Result<Option<String>, FailedAttempt> {
        const PAGES: usize = 20;
        let cursor = match self.is_anthropic() {
            true => "after_id",
            false => "after",
        };
        let mut query = vec![("limit", "100".to_owned())];
        let mut found = None;
        for _ in 0..PAGES {
            let send = |client| get(client, self.batches_path(), &query);
            let page = self.json(&self.attempt(&send).await?);
            let page = page.map_err(|why| FailedAttempt::permanent(unreadable(&why)))?;
            let batches = page.get("data").and_then(Value::as_array);
            let batches = batches.map(Vec::as_slice).unwrap_or_default();
            let is_it = |batch: &&Value| match self.is_anthropic() {
                true => anthropic::may_be(batch, record, known),
                false => openai::is(batch, run, &record.place()),
            };
            let id = |batch: &Value| plain_id(batch);
            // The newest are first. Of Anthropic's the oldest is taken: what another run
            // submitted later may have as many requests.
            found = batches.iter().rfind(is_it).and_then(id).or(found);
            if found.is_some() && !batches.last().is_some_and(|last| is_it(&last)) {
                return Ok(found);
            }
            let more = page.get("has_more").is_some_and(|more| more == true);
            let Some(last) = batches.last().filter(|_| more).and_then(id) else {
                return Ok(found);
            };
            query.truncate(1);
            query.push((cursor, last));
        }
        Ok(None)
    }

    pub(super) async fn state(&self, batch: &str, stop: &Stop) -> Result<BatchState, ModelError> {
        let path = format!("{}/{batch}", self.batches_path());
        let sent = self.get(&path, stop).await.map_err(|error| match error {
            ModelError {
                kind: ErrorKind::NotFound,
                ..
            } => ModelError {
                message: format!(
                    "batch {batch} is not at {}: the key may be of another account than the one \
                     that submitted it; continue with that one's key",
                    shown_address(&self.settings.base_url)
                ),
                ..error
            },
            error => error,
        })?;
        let batch = self.json(&sent).map_err(|why| unreadable(&why))?;
        let state = match self.is_anthropic() {
            true => anthropic::state(&batch, &path),
            false => openai::state(batch),
        };
        state.map_err(|why| unreadable(&why))
    }

    pub(super) async fn cancel(&self, batch: &str, stop: &Stop) -> Result<(), ModelError> {
        let path = format!("{}/{batch}/cancel", self.batches_path());
        let empty = RawValue::from_string("{}".to_owned());
        let empty = empty.map_err(unsendable)?;
        let send = |client| post(client, &path, &empty);
        self.exchange(&send, stop).await.map(drop)
    }

    /// The results of a batch that has ended, by their keys, and how many lines cannot be
    /// read.
    pub(super) async fn results(
        &self,
        state: &BatchState,
        stop: &Stop,
    ) -> Result<(HashMap<String, BatchResult>, usize), ModelError> {
        let (mut results, mut unread) = (HashMap::new(), 0);
        for path in &state.results {
            let reply = self.get(path, stop).await?;
            for line in reply.body.split(|byte| *byte == b'\n') {
                if line.iter().all(u8::is_ascii_whitespace) {
                    continue;
                }
                let read = serde_json::from_slice(line).ok().and_then(|line: Value| {
                    let read = match self.is_anthropic() {
                        true => anthropic::result(&line),
                        false => openai::result(&line),
                    };
                    Some((line.get("custom_id")?.as_str()?.to_owned(), read?))
                });
                match read {
                    // The output comes before the errors.
                    Some((key, result)) => drop(results.entry(key).or_insert(result)),
                    None => unread += 1,
                }
            }
        }
        Ok((results, unread))
    }

    fn batches_path(&self) -> &'static str {
        match self.is_anthropic() {
            true => "/v1/messages/batches",
            false => "/batches",
        }
    }

    /// Where the requests of a file go. Azure's API versions before `/openai/v1` name it
    /// without a version.
    fn endpoint_path(&self) -> String {
        let unversioned = self.settings.provider == Provider::Azure
            && !self.settings.base_url.ends_with("/openai/v1");
        match unversioned {
            true => self.protocol.path().to_owned(),
            false => format!("/v1{}", self.protocol.path()),
        }
    }

    async fn get(&self, path: &str, stop: &Stop) -> Result<HttpReply, ModelError> {
        let send = |client| get(client, path, &[]);
        let sent = self.exchange(&send, stop).await;
        sent.map_err(|error| named(error, &format!("GET {path}")))
    }

    /// Sends a request, with retries.
    async fn exchange<'a>(
        &'a self,
        send: &'a SendRequest<'a>,
        stop: &Stop,
    ) -> Result<HttpReply, ModelError> {
        let retried = retry(self.settings.retry, 0, stop, &|_| {}, || self.attempt(send));
        retried.await.map_err(|error| self.located(error))
    }

    /// Sends a request once.
    async fn attempt<'a>(&'a self, send: &'a SendRequest<'a>) -> Result<HttpReply, FailedAttempt> {
        let transport = self.transport.fresh(None);
        let client = self.client.clone().with_http_service(transport.clone());
        let sent = send(client).await;
        let Some(attempt) = transport.take() else {
            let message = sent.err().map(|error| error.to_string());
            let message = message.unwrap_or_default();
            let error = ModelError::new(ErrorKind::Settings, message);
            return Err(FailedAttempt::permanent(error));
        };
        let status = attempt.exchange.status;
        let reached = self.reached.fetch_or(status != 0, Ordering::Relaxed) || status != 0;
        if attempt.broken.is_some() || !(200..300).contains(&status) {
            return Err(classify::failed(&attempt, self.settings.key(), reached));
        }
        Ok(attempt.exchange)
    }

    fn located(&self, mut error: ModelError) -> ModelError {
        let nowhere = [ErrorKind::Connect, ErrorKind::Tls, ErrorKind::Timeout];
        if nowhere.contains(&error.kind) {
            let address = shown_address(&self.settings.base_url);
            error.message = format!("{address}: {}", error.message);
        }
        error
    }

    fn json(&self, reply: &HttpReply) -> Result<Value, String> {
        let mut json: Value =
            serde_json::from_slice(&reply.body).map_err(|error| error.to_string())?;
        strike_json(&mut json, &[self.settings.key()]);
        Ok(json)
    }

    fn id(&self, reply: &HttpReply) -> Result<String, String> {
        let json = self.json(reply)?;
        plain_id(&json).ok_or_else(|| "it has no usable `id`".to_owned())
    }
}

/// The id of what a provider returns, if it can be a part of a path.
fn plain_id(of: &Value) -> Option<String> {
    let id = of.get("id").and_then(Value::as_str)?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    (!id.is_empty() && id.bytes().all(is_plain)).then(|| id.to_owned())
}

/// Sends a request; the transport keeps the reply.
type SendRequest<'a> =
    dyn Fn(Client<ServerAddress>) -> BoxFuture<'a, Result<(), OpenAIError>> + Send + Sync + 'a;

fn post<'a>(
    client: Client<ServerAddress>,
    path: &'a str,
    body: &'a RawValue,
) -> BoxFuture<'a, Result<(), OpenAIError>> {
    let sent = async move {
        let route = client.chat().path(path)?;
        route.create_byot::<_, IgnoredAny>(body).await.map(drop)
    };
    sent.boxed()
}

fn get<'a>(
    client: Client<ServerAddress>,
    path: &'a str,
    query: &'a [(&'static str, String)],
) -> BoxFuture<'a, Result<(), OpenAIError>> {
    let sent = async move {
        let route = client.batches().path(path)?.query(query)?;
        route.list_byot::<IgnoredAny>().await.map(drop)
    };
    sent.boxed()
}

fn unsendable(error: serde_json::Error) -> ModelError {
    ModelError::new(ErrorKind::Settings, error.to_string())
}

fn unreadable(why: &str) -> ModelError {
    ModelError::new(ErrorKind::Malformed, format!("of the batch API: {why}"))
}

/// The error of the request that is called `what`.
fn named(mut error: ModelError, what: &str) -> ModelError {
    error.message = match error.message.is_empty() {
        true => what.to_owned(),
        false => format!("{what}: {}", error.message),
    };
    error
}
