//! The delivery of a run to a server: it asks what the server has and sends the rest.
//! Every step can be interrupted and repeated.

use std::path::Path;
use std::time::Duration;

use prost::Message;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::run::RunFolder;
use crate::telemetry::read_traces;

use super::content::{RUN_TAG, RunContent};
use super::error::MlflowError;
use super::record::{DeliveryRecord, FORMAT};
use super::server::TrackingServer;
use super::target::TrackingTarget;

/// For a whole delivery at the end of a run, which must not hang.
const AT_END: Duration = Duration::from_secs(30);
/// Traces in one request: MLflow stores a request in one transaction.
const TRACES: usize = 50;
const NOT_THERE: &str = "RESOURCE_DOES_NOT_EXIST";

/// A run that was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredRun {
    /// The address of the run's page.
    pub page: String,
    /// The parts that the server could not store, one line each.
    pub shortfalls: Vec<String>,
}

/// Delivers a run at its end: it waits a bounded time for the server, or until `give_up`.
pub(crate) async fn deliver_at_end(
    server: &TrackingServer,
    folder: &Path,
    content: Result<RunContent, MlflowError>,
    give_up: CancellationToken,
) -> Result<DeliveredRun, MlflowError> {
    let content = &content?;
    let missing = |reason: &str| MlflowError::Unreachable {
        uri: server.target().shown.clone(),
        reason: reason.to_owned(),
    };
    tokio::select! {
        biased;
        () = give_up.cancelled() => Err(missing("stopped before the rest arrived")),
        delivered = tokio::time::timeout(AT_END, deliver(server, folder, content)) => {
            delivered.unwrap_or_else(|_| Err(missing("the rest did not arrive in time")))
        }
    }
}

/// Delivers the run in `folder`, whose lock the caller holds.
///
/// # Errors
/// [`MlflowError`]; what was sent before it stays sent.
pub(crate) async fn deliver(
    server: &TrackingServer,
    folder: &Path,
    content: &RunContent,
) -> Result<DeliveredRun, MlflowError> {
    let mut delivery = Delivery {
        server,
        folder,
        content,
        experiment: String::new(),
        shortfalls: Vec::new(),
    };
    let run = delivery.run().await?;
    let id = server.text("runs/create", &run, "/info/run_id")?;
    delivery.describe(&id, &run).await?;
    delivery.metrics(&id).await?;
    delivery.traces(&id).await?;
    let files = server.text("runs/get", &run, "/info/artifact_uri")?;
    delivery.files(&files).await?;
    let page = server.target().page(&delivery.experiment, &id);
    let record = DeliveryRecord {
        format: FORMAT,
        uri: server.target().shown.clone(),
        experiment: server.target().experiment.clone(),
        run_id: id,
        complete_at: content.answered,
    };
    record.write(folder)?;
    Ok(DeliveredRun {
        page,
        shortfalls: delivery.shortfalls,
    })
}

struct Delivery<'a> {
    server: &'a TrackingServer,
    folder: &'a Path,
    content: &'a RunContent,
    /// The experiment's id on the server.
    experiment: String,
    shortfalls: Vec<String>,
}

impl Delivery<'_> {
    /// The run on the server, which is made if it is not there, or was deleted.
    async fn run(&mut self) -> Result<Value, MlflowError> {
        let content = self.content;
        self.experiment = self.experiment().await?;
        let search = json!({
            "experiment_ids": [self.experiment],
            "filter": format!("tags.`{RUN_TAG}` = '{}'", content.key),
            "run_view_type": "ACTIVE_ONLY",
            "max_results": 1,
        });
        let found = self.server.post("runs/search", &search).await?;
        if let Some(run) = found.pointer("/runs/0") {
            return Ok(run.clone());
        }
        let create = json!({
            "experiment_id": self.experiment,
            "start_time": content.started,
            "run_name": content.name,
            "tags": content.tags,
        });
        let made = self.server.post("runs/create", &create).await?;
        Ok(made.pointer("/run").cloned().unwrap_or_default())
    }

    /// The id of the experiment, which is made if it is not there.
    async fn experiment(&self) -> Result<String, MlflowError> {
        const CALL: &str = "experiments/get-by-name";
        let name = self.server.target().experiment.as_str();
        let query = [("experiment_name", name)];
        let mut found = self.server.get(CALL, &query).await;
        if found.as_ref().is_err_and(|error| error.has_code(NOT_THERE)) {
            let body = json!({ "name": name });
            match self.server.post("experiments/create", &body).await {
                Err(error) if !error.has_code("RESOURCE_ALREADY_EXISTS") => return Err(error),
                // By us, or by somebody else in between.
                _ => found = self.server.get(CALL, &query).await,
            }
        }
        self.server.text(CALL, &found?, "/experiment/experiment_id")
    }

    /// Sends the parameters and the data set, if the run has none, the tags and the status.
    async fn describe(&self, id: &str, run: &Value) -> Result<(), MlflowError> {
        let content = self.content;
        let params = run.pointer("/data/params").and_then(Value::as_array);
        if params.is_none_or(Vec::is_empty) {
            let batch = json!({"run_id": id, "params": content.params});
            self.server.post("runs/log-batch", &batch).await?;
            let inputs = json!({"run_id": id, "datasets": content.dataset});
            self.server.post("runs/log-inputs", &inputs).await?;
        }
        let batch = json!({"run_id": id, "tags": content.tags});
        self.server.post("runs/log-batch", &batch).await?;
        let update = json!({"run_id": id, "status": content.status, "end_time": content.ended});
        self.server.post("runs/update", &update).await.map(drop)
    }

    /// Sends the metrics; what is sent again is the same point.
    async fn metrics(&self, id: &str) -> Result<(), MlflowError> {
        let (at, step) = (self.content.ended, self.content.answered);
        let points = self.content.metrics.iter().map(
            |(name, value)| json!({"key": name, "value": value, "timestamp": at, "step": step}),
        );
        let points: Vec<Value> = points.collect();
        let batch = json!({"run_id": id, "metrics": points});
        self.server.post("runs/log-batch", &batch).await.map(drop)
    }

    /// Sends the traces; those that the server has are the same again. Those that it refuses
    /// hold up nothing else.
    async fn traces(&mut self, id: &str) -> Result<(), MlflowError> {
        let path = self.folder.join(RunFolder::TRACES);
        let traces = read_traces(&path).map_err(|source| MlflowError::File { path, source })?;
        let mut bodies = traces.map(|trace| trace.encode_to_vec());
        let mut refused = 0;
        loop {
            let batch: Vec<_> = bodies.by_ref().take(TRACES).collect();
            if batch.is_empty() {
                break;
            }
            // The only field of a request repeats, so that requests joined end to end are one.
            let sent = self.server.put_spans(&self.experiment, id, batch.concat());
            match sent.await {
                Err(MlflowError::Answer {
                    status: 400 | 413 | 422,
                    ..
                }) => refused += batch.len(),
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => {
                    // Too old a server, or not allowed: none would be taken.
                    self.shortfalls.push(format!("traces: {error}"));
                    break;
                }
                Ok(()) => {}
            }
        }
        if refused > 0 {
            let line = format!("traces: {refused} of traces.jsonl were refused");
            self.shortfalls.push(line);
        }
        Ok(())
    }

    /// Sends the files. Those that the server refuses hold up no other.
    async fn files(&mut self, artifact_uri: &str) -> Result<(), MlflowError> {
        let Some(root) = TrackingTarget::proxy_path(artifact_uri) else {
            self.shortfalls.push(format!(
                "files: this server does not pass them on to {artifact_uri}; start it with --serve-artifacts and --artifacts-destination, and use a new experiment"
            ));
            return Ok(());
        };
        let texts = self.content.texts.iter();
        let texts = texts.map(|(name, text)| (name.as_str(), Some(text)));
        let files = RunFolder::RESULTS.into_iter().map(|name| (name, None));
        for (name, text) in texts.chain(files) {
            match self.file(&format!("{root}/{name}"), name, text).await {
                Err(error) if error.is_temporary() || error.is_local() => return Err(error),
                Err(error) => self.shortfalls.push(format!("{name}: {error}")),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Sends a text, or the file of this name.
    async fn file(&self, to: &str, name: &str, text: Option<&String>) -> Result<(), MlflowError> {
        if let Some(text) = text {
            let size = text.len() as u64;
            return self.server.put(to, text.clone(), size).await;
        }
        let path = self.folder.join(name);
        let unread = |source| MlflowError::File {
            path: path.clone(),
            source,
        };
        let open = tokio::fs::File::open(&path).await.map_err(unread)?;
        let size = open.metadata().await.map_err(unread)?.len();
        self.server.put(to, open, size).await
    }
}
