//! The HTTP requests of a batch API: files, batches, results.

use std::fs::File;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_openai::Client;
use async_openai::error::OpenAIError;
use async_openai::traits::RequestOptionsBuilder;
use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use finqa_core::secrets::{redact_json, shown_address};

use super::api::{BatchApi, BatchLine, BatchState, PlannedSubmission};
use super::lookup::id_of;
use super::{BatchRecord, FileBatches, MessageBatches, openai};
use crate::llm::address::ServerAddress;
use crate::llm::classify;
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::protocol::{ApiDialect, Protocol};
use crate::llm::provider::Provider;
use crate::llm::retry::{FailedAttempt, RetryOptions, retry};
use crate::llm::settings::ModelConnection;
use crate::llm::transport::{HttpReply, Transport};
use crate::llm::types::Stop;

/// A file of 200 MB takes longer than a reply.
const LEAST_TIMEOUT: Duration = Duration::from_secs(600);

/// A batch that was submitted.
pub(super) struct Submission {
    pub id: String,
    /// The batch was found in the provider's list by properties that other batches share.
    pub guessed: bool,
    /// An unlisted batch may have arrived too.
    pub repeated: bool,
}

/// A model whose requests are sent in batches.
pub(in crate::llm) struct BatchClient {
    client: Client<ServerAddress>,
    transport: Transport,
    pub(super) settings: ModelConnection,
    protocol: Protocol,
    name: String,
    /// The features that the model accepts; its calls update it.
    pub(super) dialect: Arc<Mutex<ApiDialect>>,
    reached: AtomicBool,
}

impl BatchClient {
    /// The client, its connections and the dialect are shared with the model.
    pub(crate) fn new(
        settings: &ModelConnection,
        client: Client<ServerAddress>,
        transport: &Transport,
        dialect: Arc<Mutex<ApiDialect>>,
    ) -> Self {
        let protocol = settings.protocol();
        Self {
            client,
            transport: transport.within(settings.timeouts.attempt.max(LEAST_TIMEOUT)),
            name: format!(
                "{} {} {} {}",
                settings.provider,
                shown_address(&settings.base_url),
                settings.model,
                protocol.path()
            ),
            settings: settings.clone(),
            protocol,
            dialect,
            reached: AtomicBool::new(false),
        }
    }

    /// Provider, address, model and path.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn dialect(&self) -> ApiDialect {
        *self.dialect.lock()
    }

    pub(super) fn set_dialect(&self, known: ApiDialect) {
        *self.dialect.lock() = known;
    }

    /// Maximum number of batches for a request.
    pub(super) fn attempts(&self) -> u32 {
        self.settings.retry.max_attempts.max(1)
    }

    pub(super) fn api(&self) -> &'static dyn BatchApi {
        match self.settings.provider {
            Provider::OpenAi | Provider::Azure => &FileBatches,
            Provider::Anthropic => &MessageBatches,
        }
    }

    /// The longest line of the results that is read.
    pub(super) fn most_bytes(&self) -> usize {
        self.settings.max_body
    }

    /// Uploads the requests; `None` where they are submitted without a file.
    pub(super) async fn upload(
        &self,
        lines: &[BatchLine<'_>],
        name: &str,
        stop: &Stop,
    ) -> Result<Option<String>, ModelError> {
        let file = self.api().file(lines, &self.endpoint_path());
        let Some(file) = file.map_err(unsendable)?.map(Bytes::from) else {
            return Ok(None);
        };
        let send = |client: Client<ServerAddress>| {
            let request = openai::upload(file.clone(), name);
            let sent = async move {
                let files = client.files();
                files.create_byot::<_, IgnoredAny>(request).await.map(drop)
            };
            sent.boxed()
        };
        let reply = self.exchange(&send, stop).await;
        let reply = reply.map_err(|error| self.without_batches(named(error, "POST /files")))?;
        let id = self.id(&reply).map_err(|why| unreadable(&why))?;
        Ok(Some(id))
    }

    /// Submits the requests: those of the uploaded file, or `lines`. A request that broke
    /// off is looked for in the provider's list before it is sent again. `may_have_arrived` is
    /// set once a request broke off, whatever the last error is.
    pub(super) async fn submit(
        &self,
        record: &BatchRecord,
        run: &str,
        lines: &[BatchLine<'_>],
        known: &[String],
        may_have_arrived: &AtomicBool,
        stop: &Stop,
    ) -> Result<Submission, ModelError> {
        let path = self.api().path();
        let body = self.api().submission(&PlannedSubmission {
            record,
            run,
            lines,
            endpoint: &self.endpoint_path(),
        });
        let body = body.map_err(unsendable)?;
        let submitted = retry(self.settings.retry, 0, stop, &|_| {}, || async {
            let repeated = may_have_arrived.load(Ordering::Relaxed);
            if repeated && let Some(id) = self.find_once(record, run, known).await? {
                return Ok(Submission {
                    id,
                    guessed: !self.api().identifies_batches(),
                    repeated: false,
                });
            }
            let send = |client| post(client, path, &body);
            let reply = self.attempt(&send).await;
            let reply = reply.inspect_err(|failed| {
                if failed.error.lost_an_answer() {
                    may_have_arrived.store(true, Ordering::Relaxed);
                }
            })?;
            let id = self.id(&reply);
            let id = id.map_err(|why| FailedAttempt::permanent(unreadable(&why)))?;
            Ok(Submission {
                id,
                guessed: false,
                repeated,
            })
        });
        submitted.await.map_err(|error| {
            let error = named(error, &format!("POST {path}"));
            self.without_batches(self.located(error))
        })
    }

    pub(super) async fn state(&self, batch: &str, stop: &Stop) -> Result<BatchState, ModelError> {
        let path = format!("{}/{batch}", self.api().path());
        let sent = self.get(&path, stop).await;
        let sent = sent.map_err(|error| match error {
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
        let state = self.api().state(batch, &path);
        state.map_err(|why| unreadable(&why))
    }

    pub(super) async fn cancel(&self, batch: &str, stop: &Stop) -> Result<(), ModelError> {
        let path = format!("{}/{batch}/cancel", self.api().path());
        let empty = RawValue::from_string("{}".to_owned());
        let empty = empty.map_err(unsendable)?;
        let send = |client| post(client, &path, &empty);
        // Who asks repeats it at the next look.
        let once = RetryOptions {
            max_attempts: 1,
            ..self.settings.retry
        };
        let sent = retry(once, 0, stop, &|_| {}, || self.attempt(&send)).await;
        sent.map(drop).map_err(|error| self.located(error))
    }

    /// Stores what is at `path` in `file`.
    pub(super) async fn download(
        &self,
        path: &str,
        file: &Arc<File>,
        stop: &Stop,
    ) -> Result<(), ModelError> {
        let transport = self.transport.clone().storing(Arc::clone(file));
        let send = |client| get(client, path, &[]);
        let stored = retry(self.settings.retry, 0, stop, &|_| {}, || {
            self.attempt_over(transport.fresh(None), &send)
        });
        let stored = stored.await.map_err(|error| self.located(error));
        stored.map_err(|error| named(error, &format!("GET {path}")))?;
        Ok(())
    }

    /// The path for the requests of a file. Azure's API versions before `/openai/v1` omit
    /// the version.
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
    pub(super) async fn attempt<'a>(
        &'a self,
        send: &'a SendRequest<'a>,
    ) -> Result<HttpReply, FailedAttempt> {
        self.attempt_over(self.transport.fresh(None), send).await
    }

    async fn attempt_over<'a>(
        &'a self,
        transport: Transport,
        send: &'a SendRequest<'a>,
    ) -> Result<HttpReply, FailedAttempt> {
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
            return Err(classify::classify_attempt(
                &attempt,
                self.settings.key(),
                reached,
            ));
        }
        Ok(attempt.exchange)
    }

    pub(super) fn located(&self, mut error: ModelError) -> ModelError {
        let nowhere = [ErrorKind::Connect, ErrorKind::Tls, ErrorKind::Timeout];
        if nowhere.contains(&error.kind) {
            let address = shown_address(&self.settings.base_url);
            error.message = format!("{address}: {}", error.message);
        }
        error
    }

    pub(super) fn json(&self, reply: &HttpReply) -> Result<Value, String> {
        let mut json: Value =
            serde_json::from_slice(&reply.body).map_err(|error| error.to_string())?;
        redact_json(&mut json, &[self.settings.key()]);
        Ok(json)
    }

    fn id(&self, reply: &HttpReply) -> Result<String, String> {
        id_of(&self.json(reply)?)
    }

    /// The error, if it means that the server has no Batch API.
    fn without_batches(&self, mut error: ModelError) -> ModelError {
        if error.kind == ErrorKind::NotFound {
            let address = shown_address(&self.settings.base_url);
            let words = error.message;
            error.message = format!(
                "{address} has no Batch API ({words}); continue without it: \
                 `convfinqa --resume --engine live`"
            );
        }
        error
    }
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

pub(super) fn get<'a>(
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

pub(super) fn unreadable(why: &str) -> ModelError {
    ModelError::new(ErrorKind::Malformed, format!("of the batch API: {why}"))
}

/// The error of the request that is called `what`.
pub(super) fn named(mut error: ModelError, what: &str) -> ModelError {
    error.message = match error.message.is_empty() {
        true => what.to_owned(),
        false => format!("{what}: {}", error.message),
    };
    error
}
