//! The HTTP requests of a batch API: submissions, lists, states and results.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_openai::error::OpenAIError;
use async_openai::traits::RequestOptionsBuilder;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;
use tokio_util::bytes::Bytes;

use finqa_core::secrets::{redact_json, shown_address};

use super::api::{BatchLine, BatchResult, BatchState, plain_id};
use super::record::{BatchRecord, RunBatches};
use super::{anthropic, openai};
use crate::llm::address::ServerAddress;
use crate::llm::body;
use crate::llm::classify;
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::provider::Provider;
use crate::llm::retry::{RetryOptions, cancelled, retry};
use crate::llm::settings::ModelConnection;
use crate::llm::transport::{HttpReply, Transport};
use crate::llm::types::Stop;

/// The first wait between two requests for the state of a batch. It doubles each time. Set by hand,
/// like the longest wait: a batch of hours needs few requests.
pub(super) const FIRST_POLL: Duration = Duration::from_millis(250);
/// The longest wait between two requests for the state of a batch.
pub(super) const LAST_POLL: Duration = Duration::from_secs(60);

/// Minimum timeout of a request, because a file of 200 MB takes longer than a reply. Set by hand.
const LEAST_TIMEOUT: Duration = Duration::from_secs(600);
/// Maximum size of a file of results in bytes. Set by hand: the file is read into memory as a
/// whole.
const MOST_BYTES: usize = 1 << 30;

/// A model whose requests are sent in batches.
pub(in crate::llm) struct BatchClient {
    client: Client<ServerAddress>,
    transport: Transport,
    settings: ModelConnection,
    name: String,
}

/// A request to the batch API.
enum ApiRequest<'a> {
    Upload(Bytes),
    Post(&'a RawValue),
    Get(&'a str),
}

impl BatchClient {
    /// Creates a client that shares its connections with the model.
    pub(in crate::llm) fn new(
        settings: &ModelConnection,
        client: Client<ServerAddress>,
        transport: &Transport,
    ) -> Self {
        let address = shown_address(&settings.base_url);
        let path = settings.protocol().path();
        Self {
            client,
            transport: transport.within(settings.timeout.max(LEAST_TIMEOUT), MOST_BYTES),
            name: format!("{} {address} {} {path}", settings.provider, settings.model),
            settings: settings.clone(),
        }
    }

    /// Provider, address, model and path. A record stores this text as its server.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// True if the provider's list shows to which run a batch belongs. Otherwise, only the results
    /// of the batch show it.
    pub(super) fn identifies_batches(&self) -> bool {
        self.settings.provider != Provider::Anthropic
    }

    /// Reads a line of the results; `None` if its form is unknown.
    pub(super) fn result(&self, line: &Value) -> Option<BatchResult> {
        match self.settings.provider {
            Provider::OpenAi | Provider::Azure => openai::result(line),
            Provider::Anthropic => anthropic::result(line),
        }
    }

    fn path(&self) -> &'static str {
        match self.settings.provider {
            Provider::OpenAi | Provider::Azure => "/batches",
            Provider::Anthropic => "/v1/messages/batches",
        }
    }

    /// Submits the requests and returns the id of the batch. Before a submission is repeated, the
    /// batch is looked up in the provider's list, because it may have been created although no
    /// answer arrived.
    pub(super) async fn submit(
        &self,
        run: &RunBatches,
        record: &BatchRecord,
        lines: &[BatchLine],
        stop: &Stop,
    ) -> Result<String, ModelError> {
        let body = match self.settings.provider {
            Provider::Anthropic => anthropic::submission(lines),
            Provider::OpenAi | Provider::Azure => {
                let endpoint = self.endpoint();
                let file = openai::file(lines, &endpoint).map_err(unsendable)?;
                let file = self.send(&ApiRequest::Upload(file), stop).await?;
                let file = self.id(&file).map_err(|error| *error)?;
                openai::submission(run, record, &endpoint, &file)
            }
        };
        let request = &ApiRequest::Post(&body.map_err(unsendable)?);
        let has_failed = AtomicBool::new(false);
        let submitted = retry(self.settings.retry, stop, &|_| {}, || async {
            if has_failed.swap(true, Ordering::Relaxed)
                && let Some(id) = self.find_once(run, record).await?
            {
                return Ok(id);
            }
            self.id(&self.attempt(request).await?)
        });
        submitted.await.map_err(|error| self.named(error, request))
    }

    /// The id of a planned batch; `None` if the provider does not list it.
    pub(super) async fn find(
        &self,
        run: &RunBatches,
        record: &BatchRecord,
        stop: &Stop,
    ) -> Result<Option<String>, ModelError> {
        let find = || self.find_once(run, record);
        retry(self.free_retries(), stop, &|_| {}, find).await
    }

    /// Like [`Self::find`], but asks only once. Only the newest 100 batches are searched, the most
    /// that OpenAI lists on one page.
    async fn find_once(
        &self,
        run: &RunBatches,
        record: &BatchRecord,
    ) -> Result<Option<String>, Box<ModelError>> {
        // Only the newest 100 batches are searched, the most that OpenAI lists on one page.
        let path = format!("{}?limit=100", self.path());
        let list = self.json(&self.attempt(&ApiRequest::Get(&path)).await?)?;
        let is_planned = if self.identifies_batches() {
            openai::is_planned
        } else {
            anthropic::is_planned
        };
        let batches = list.get("data").and_then(Value::as_array);
        // The newest batches are listed first. If several match, take the oldest, because another
        // run may later have submitted a batch with the same number of requests.
        let mut batches = batches.into_iter().flatten();
        let found = batches.rfind(|batch| is_planned(batch, run, record));
        found.map(id_of).transpose()
    }

    /// The state of the batch `batch`, which has `count` requests. Asks again while the reply is
    /// malformed, as `get_announced` says.
    pub(super) async fn state(
        &self,
        batch: &str,
        count: usize,
        stop: &Stop,
    ) -> Result<BatchState, ModelError> {
        let path = format!("{}/{batch}", self.path());
        let read = |reply: Result<HttpReply, ModelError>| {
            let batch = self.json(&reply?)?;
            let state = match self.settings.provider {
                Provider::OpenAi | Provider::Azure => openai::state(&batch, count),
                Provider::Anthropic => anthropic::state(&batch, &path),
            };
            state.map_err(unreadable)
        };
        self.get_announced(&path, stop, read).await
    }

    /// Fetches the file of results at `path`.
    pub(super) async fn results(&self, path: &str, stop: &Stop) -> Result<Bytes, ModelError> {
        let missing = || unreadable(openai::UNANNOUNCED.to_owned());
        let read = |reply: Result<HttpReply, ModelError>| match reply {
            Ok(reply) if reply.body.trim_ascii().is_empty() => Err(missing()),
            Ok(reply) => Ok(reply.body),
            Err(error) if error.kind == ErrorKind::NotFound => Err(missing()),
            Err(error) => Err(Box::new(error)),
        };
        self.get_announced(path, stop, read).await
    }

    /// Gets what the server has announced. If `read` finds a reply malformed, asks again until
    /// `give_up_after` has passed. Any other error ends this at once.
    async fn get_announced<T>(
        &self,
        path: &str,
        stop: &Stop,
        read: impl Fn(Result<HttpReply, ModelError>) -> Result<T, Box<ModelError>>,
    ) -> Result<T, ModelError> {
        let request = &ApiRequest::Get(path);
        let (begun, mut delay) = (Instant::now(), FIRST_POLL);
        loop {
            let mut error = match read(self.send(request, stop).await) {
                Ok(found) => return Ok(found),
                Err(error) => *error,
            };
            if error.kind != ErrorKind::Malformed {
                return Err(error);
            }
            if begun.elapsed() >= self.settings.retry.give_up_after {
                error.add("--resume asks for it again");
                return Err(self.named(error, request));
            }
            tokio::select! {
                // Biased, so that a stopped run does not ask again.
                biased;
                () = stop.drain.cancelled() => return Err(cancelled()),
                () = tokio::time::sleep(delay) => {}
            }
            delay = (delay * 2).min(LAST_POLL);
        }
    }

    /// The path that each request in a file of requests contains. Azure's
    /// deployment paths have no `/v1`, because their version is in the query.
    fn endpoint(&self) -> String {
        let path = self.settings.protocol().path();
        if self.settings.has_deployment_paths() {
            path.to_owned()
        } else {
            format!("/v1{path}")
        }
    }

    /// The retries of a request that is never billed. All of its attempts may time out.
    fn free_retries(&self) -> RetryOptions {
        let retry = self.settings.retry;
        RetryOptions {
            max_timeouts: retry.max_attempts,
            ..retry
        }
    }

    /// Sends a request that is never billed, with retries.
    async fn send(&self, request: &ApiRequest<'_>, stop: &Stop) -> Result<HttpReply, ModelError> {
        let attempt = || self.attempt(request);
        let sent = retry(self.free_retries(), stop, &|_| {}, attempt).await;
        sent.map_err(|error| self.named(error, request))
    }

    /// Sends a request once. Returns the reply if its status is a success, otherwise its error.
    async fn attempt(&self, request: &ApiRequest<'_>) -> Result<HttpReply, Box<ModelError>> {
        let transport = self.transport.fresh();
        let client = self.client.clone().with_http_service(transport.clone());
        let sent: Result<IgnoredAny, OpenAIError> = async {
            match request {
                ApiRequest::Upload(file) => {
                    // The next attempt needs the file again. A clone of `Bytes` shares its memory.
                    let upload = openai::upload(file.clone());
                    client.files().create_byot(upload).await
                }
                ApiRequest::Post(body) => client.chat().path(self.path())?.create_byot(body).await,
                ApiRequest::Get(path) => client.batches().path(*path)?.list_byot().await,
            }
        }
        .await;
        let reply = transport.take(sent)?;
        classify::success(&reply, self.settings.key())
    }

    fn json(&self, reply: &HttpReply) -> Result<Value, Box<ModelError>> {
        let mut json = body::json(&reply.body).map_err(unreadable)?;
        redact_json(&mut json, &[self.settings.key()]);
        Ok(json)
    }

    fn id(&self, reply: &HttpReply) -> Result<String, Box<ModelError>> {
        id_of(&self.json(reply)?)
    }

    /// Adds the address and the failed request to the message of an error.
    fn named(&self, mut error: ModelError, request: &ApiRequest<'_>) -> ModelError {
        let what = match request {
            ApiRequest::Upload(_) => "POST /files".to_owned(),
            ApiRequest::Post(_) => format!("POST {}", self.path()),
            ApiRequest::Get(path) => format!("GET {path}"),
        };
        let words = format!("{what}: {}", error.message);
        let words = words.trim_end_matches(": ");
        let address = shown_address(&self.settings.base_url);
        let is_read = matches!(request, ApiRequest::Get(_));
        error.message = if error.kind == ErrorKind::NotFound && !is_read {
            format!("{address} has no Batch API ({words}); resume the run with --engine live")
        } else {
            format!("{address}: {words}")
        };
        error
    }
}

fn unsendable(error: serde_json::Error) -> ModelError {
    ModelError::new(ErrorKind::Settings, error.to_string())
}

fn id_of(created: &Value) -> Result<String, Box<ModelError>> {
    let id = created.get("id").and_then(Value::as_str);
    let id = id.ok_or_else(|| unreadable("it has no `id`".to_owned()))?;
    plain_id(id).map(str::to_owned).map_err(unreadable)
}

fn unreadable(why: String) -> Box<ModelError> {
    let why = format!("of the batch API: {why}");
    Box::new(ModelError::new(ErrorKind::Malformed, why))
}
