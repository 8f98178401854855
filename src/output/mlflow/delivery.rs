//! The delivery of a run to a server: it asks what the server has and sends the rest.
//! Every step can be interrupted and repeated.

use std::path::Path;
use std::time::Duration;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use prost::Message;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::run::RunFolder;
use crate::telemetry::read_traces;

use super::content::{RUN_TAG, RunContent};
use super::error::MlflowError;
use super::record::DeliveryRecord;
use super::server::TrackingServer;

/// For a whole delivery at the end of a run, which must not hang.
const AT_END: Duration = Duration::from_secs(30);
/// Tries of a delivery that fails for a reason that may pass, and the pause between them.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_millis(500);
/// Traces in one request: MLflow stores a request in one transaction.
const TRACES: usize = 50;
/// The attribute of a question's root span. The run's own trace has none: it
/// says nothing that the MLflow run does not say.
const QUESTION: &str = "convfinqa.question.id";
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
    content: &RunContent,
    give_up: CancellationToken,
) -> Result<DeliveredRun, MlflowError> {
    let missing = |reason: &str| MlflowError::Unreachable {
        uri: server.target().shown.clone(),
        reason: reason.to_owned(),
    };
    let delivered = async {
        server.sign_of_life().await?;
        deliver(server, folder, content).await
    };
    tokio::select! {
        biased;
        () = give_up.cancelled() => Err(missing("stopped before the rest arrived")),
        delivered = tokio::time::timeout(AT_END, delivered) => {
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
    let target = server.target();
    let (uri, experiment) = (&target.shown, &target.experiment);
    let record = DeliveryRecord::read(folder)?
        .filter(|record| record.uri == *uri && record.experiment == *experiment)
        .unwrap_or_else(|| DeliveryRecord::new(uri, experiment));
    let mut delivery = Delivery {
        server,
        folder,
        content,
        record,
        experiment: String::new(),
        shortfalls: Vec::new(),
    };
    for attempt in 1..TRIES {
        match delivery.send().await {
            Err(error) if error.is_temporary() => tokio::time::sleep(PAUSE * attempt).await,
            sent => return sent,
        }
    }
    delivery.send().await
}

struct Delivery<'a> {
    server: &'a TrackingServer,
    folder: &'a Path,
    content: &'a RunContent,
    record: DeliveryRecord,
    /// The experiment's id on the server.
    experiment: String,
    shortfalls: Vec<String>,
}

impl Delivery<'_> {
    async fn send(&mut self) -> Result<DeliveredRun, MlflowError> {
        self.shortfalls.clear();
        let run = self.run().await?;
        self.describe(&run).await?;
        self.metrics(&run).await?;
        self.traces().await?;
        let files = self.server.text("runs/get", &run, "/info/artifact_uri")?;
        self.files(&files).await?;
        self.record.complete_at = Some(self.content.answered);
        self.record.write(self.folder)?;
        let page = self
            .server
            .target()
            .page(&self.experiment, &self.record.run_id);
        Ok(DeliveredRun {
            page,
            shortfalls: self.shortfalls.clone(),
        })
    }

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
        let run = match found.pointer("/runs/0") {
            Some(run) => run.clone(),
            None => {
                let create = json!({
                    "experiment_id": self.experiment,
                    "start_time": content.started,
                    "run_name": content.name,
                    "tags": content.tags,
                });
                let made = self.server.post("runs/create", &create).await?;
                made.pointer("/run").cloned().unwrap_or_default()
            }
        };
        let id = self.server.text("runs/create", &run, "/info/run_id")?;
        if self.record.run_id != id {
            // Another run has none of the traces.
            let target = self.server.target();
            self.record = DeliveryRecord::new(&target.shown, &target.experiment);
            self.record.run_id = id;
            self.record.write(self.folder)?;
        }
        Ok(run)
    }

    /// The id of the experiment, which is made if it is not there.
    async fn experiment(&self) -> Result<String, MlflowError> {
        const CALL: &str = "experiments/get-by-name";
        let target = self.server.target();
        let query = [("experiment_name", target.experiment.as_str())];
        let mut found = self.server.get(CALL, &query).await;
        if found.as_ref().is_err_and(|error| error.has_code(NOT_THERE)) {
            let body = json!({ "name": target.experiment });
            match self.server.post("experiments/create", &body).await {
                Err(error) if !error.has_code("RESOURCE_ALREADY_EXISTS") => return Err(error),
                // By us, or by somebody else in between.
                _ => found = self.server.get(CALL, &query).await,
            }
        }
        let found = found?;
        let id = self
            .server
            .text(CALL, &found, "/experiment/experiment_id")?;
        let stage = found.pointer("/experiment/lifecycle_stage");
        match stage.is_some_and(|stage| stage == "deleted") {
            true => Err(MlflowError::ExperimentDeleted {
                uri: target.shown.clone(),
                name: target.experiment.clone(),
                id,
            }),
            false => Ok(id),
        }
    }

    /// Sends the parameters and the data set, if the run has none, the tags and the status.
    async fn describe(&self, run: &Value) -> Result<(), MlflowError> {
        let (id, content) = (&self.record.run_id, self.content);
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

    /// Sends the metrics that the server has not got at this step.
    async fn metrics(&self, run: &Value) -> Result<(), MlflowError> {
        let known = run.pointer("/data/metrics").and_then(Value::as_array);
        let is_known = |name: &str| {
            let mut known = known.into_iter().flatten();
            known.any(|metric| {
                // Protobuf's JSON writes 64-bit integers as numbers or as text.
                let step = metric.get("step").and_then(|step| match step {
                    Value::String(text) => text.parse().ok(),
                    other => other.as_u64(),
                });
                metric.get("key").is_some_and(|key| key == name)
                    && step == Some(self.content.answered as u64)
            })
        };
        let missing = self.content.metrics.iter();
        let missing: Vec<Value> = missing
            .filter(|(name, _)| !is_known(name))
            .map(|(name, value)| {
                json!({
                    "key": name, "value": value,
                    "timestamp": self.content.ended, "step": self.content.answered,
                })
            })
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let batch = json!({"run_id": self.record.run_id, "metrics": missing});
        self.server.post("runs/log-batch", &batch).await.map(drop)
    }

    /// Sends the traces that have come since the last time. Those that the
    /// server refuses hold up nothing else.
    async fn traces(&mut self) -> Result<(), MlflowError> {
        let path = self.folder.join(RunFolder::TRACES);
        let (mut unreadable, mut refused) = (0, 0);
        loop {
            let read = read_traces(&path, self.record.traces, TRACES).map_err(|source| {
                let path = path.clone();
                MlflowError::File { path, source }
            })?;
            if read.next == self.record.traces {
                break;
            }
            unreadable += read.unreadable;
            let questions = read.traces.iter().filter(|trace| is_question(trace));
            let bodies: Vec<_> = questions.map(Message::encode_to_vec).collect();
            // The only field of a request repeats, so that requests joined end to end are one.
            match self.spans(bodies.concat()).await {
                // All or nothing is taken of a request: find the bad ones.
                Err(error) if error.is_content_error() => {
                    for body in bodies {
                        match self.spans(body).await {
                            Err(error) if error.is_temporary() => return Err(error),
                            Err(_) => refused += 1,
                            Ok(()) => {}
                        }
                    }
                }
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => {
                    // Too old a server, or not allowed: none would be taken, and none is
                    // given up.
                    self.shortfalls.push(format!("traces: {error}"));
                    break;
                }
                Ok(()) => {}
            }
            self.record.traces = read.next;
            self.record.write(self.folder)?;
        }
        for (count, why) in [(unreadable, "could not be read"), (refused, "were refused")] {
            if count > 0 {
                let line = format!("traces: {count} of traces.jsonl {why}");
                self.shortfalls.push(line);
            }
        }
        Ok(())
    }

    async fn spans(&self, body: Vec<u8>) -> Result<(), MlflowError> {
        let run = &self.record.run_id;
        match body.is_empty() {
            true => Ok(()),
            false => self.server.put_spans(&self.experiment, run, body).await,
        }
    }

    async fn files(&mut self, artifact_uri: &str) -> Result<(), MlflowError> {
        let Some(root) = self.server.target().proxy_path(artifact_uri) else {
            self.shortfalls.push(format!(
                "files: this server does not pass them on to {artifact_uri}; start it with --serve-artifacts and --artifacts-destination, and use a new experiment"
            ));
            return Ok(());
        };
        let mut refused: Vec<(&str, MlflowError)> = Vec::new();
        for (name, text) in &self.content.texts {
            let (path, size) = (format!("{root}/{name}"), text.len() as u64);
            let put = self.server.put(&path, text.clone(), size).await;
            check(put, name, &mut refused)?;
        }
        for name in RunFolder::RESULTS {
            let file = self.folder.join(name);
            let unread = |source| {
                let path = file.clone();
                MlflowError::File { path, source }
            };
            let open = tokio::fs::File::open(&file).await.map_err(unread)?;
            let (path, size) = (format!("{root}/{name}"), open.metadata().await);
            let size = size.map_err(unread)?.len();
            let put = self.server.put(&path, open, size).await;
            check(put, name, &mut refused)?;
        }
        if let Some((_, error)) = refused.first() {
            let names: Vec<&str> = refused.iter().map(|(name, _)| *name).collect();
            self.shortfalls
                .push(format!("{}: {error}", names.join(", ")));
        }
        Ok(())
    }
}

/// Keeps the error of a file that the server refuses; the others may arrive.
fn check<'n>(
    put: Result<(), MlflowError>,
    name: &'n str,
    refused: &mut Vec<(&'n str, MlflowError)>,
) -> Result<(), MlflowError> {
    match put {
        Err(error) if error.is_temporary() => Err(error),
        Err(error) => {
            refused.push((name, error));
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn is_question(trace: &ExportTraceServiceRequest) -> bool {
    let scopes = trace.resource_spans.iter();
    let spans = scopes
        .flat_map(|resource| &resource.scope_spans)
        .flat_map(|scope| &scope.spans);
    spans
        .flat_map(|span| &span.attributes)
        .any(|attribute| attribute.key == QUESTION)
}
