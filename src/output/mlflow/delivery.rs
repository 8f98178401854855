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
        self.metrics().await?;
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

    /// Sends the metrics; what is sent again is the same point.
    async fn metrics(&self) -> Result<(), MlflowError> {
        let (at, step) = (self.content.ended, self.content.answered);
        let points = self.content.metrics.iter().map(
            |(name, value)| json!({"key": name, "value": value, "timestamp": at, "step": step}),
        );
        let points: Vec<Value> = points.collect();
        let batch = json!({"run_id": self.record.run_id, "metrics": points});
        self.server.post("runs/log-batch", &batch).await.map(drop)
    }

    /// Sends the traces that have come since the last time. Those that the
    /// server refuses hold up nothing else.
    async fn traces(&mut self) -> Result<(), MlflowError> {
        let path = self.folder.join(RunFolder::TRACES);
        let mut refused = 0;
        loop {
            let read = read_traces(&path, self.record.traces, TRACES).map_err(|source| {
                let path = path.clone();
                MlflowError::File { path, source }
            })?;
            if read.next == self.record.traces {
                break;
            }
            let questions = read.traces.iter().filter(|trace| is_question(trace));
            let bodies: Vec<_> = questions.map(Message::encode_to_vec).collect();
            // The only field of a request repeats, so that requests joined end to end are one.
            match self.spans(bodies.concat()).await {
                Err(MlflowError::Answer {
                    status: 400 | 413 | 422,
                    ..
                }) => refused += bodies.len(),
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
        if refused > 0 {
            let line = format!("traces: {refused} of traces.jsonl were refused");
            self.shortfalls.push(line);
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

    /// Sends the files. Those that the server refuses hold up no other.
    async fn files(&mut self, artifact_uri: &str) -> Result<(), MlflowError> {
        let Some(root) = self.server.target().proxy_path(artifact_uri) else {
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

fn is_question(trace: &ExportTraceServiceRequest) -> bool {
    let scopes = trace.resource_spans.iter();
    let spans = scopes
        .flat_map(|resource| &resource.scope_spans)
        .flat_map(|scope| &scope.spans);
    spans
        .flat_map(|span| &span.attributes)
        .any(|attribute| attribute.key == QUESTION)
}
