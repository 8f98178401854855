//! Delivers a run to a server: asks what the server already has, and sends the rest. Every step can
//! be interrupted and repeated.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use prost::Message;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::telemetry::read_traces;
use finqa_core::error::{Kind, Kinded};
use finqa_core::text::head;
use finqa_journal::run::RunFolder;

use super::content::{RUN_TAG, RunContent};
use super::error::MlflowError;
use super::record::{DeliveryRecord, FORMAT};
use super::server::TrackingServer;
use super::target::TrackingTarget;

/// Timeout of the whole delivery at the end of a run, so that a slow server does not keep the
/// process from ending. Set by hand; `track sync` sends the rest.
const AT_END: Duration = Duration::from_secs(30);
/// Number of traces in one request. MLflow stores each request in one transaction. Set by hand.
const TRACES: usize = 50;
/// The error code with which MLflow says that an experiment does not exist.
const NOT_THERE: &str = "RESOURCE_DOES_NOT_EXIST";
/// Number of characters that every server accepts in a value. MLflow 1.0 accepted 250, 1.30
/// accepted 500 in a parameter and 5,000 in a tag, and 3.17 accepts 6,000 and 8,000.
const OLDEST_LIMIT: usize = 250;

/// A run that is stored on an MLflow server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredRun {
    /// The address of the run's page.
    pub page: String,
    /// Parts of the run that the server did not store, one line each.
    pub shortfalls: Vec<String>,
}

/// Delivers a run at its end. Stops after 30 seconds, or when `give_up` is cancelled.
pub async fn deliver_at_end(
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
        // `biased` checks `give_up` first, so that nothing is sent after it is cancelled.
        biased;
        () = give_up.cancelled() => Err(missing("stopped before the rest arrived")),
        delivered = tokio::time::timeout(AT_END, deliver(server, folder, content)) => {
            delivered.unwrap_or_else(|_| Err(missing("the rest did not arrive in time")))
        }
    }
}

/// Delivers the run in `folder`. The caller holds the run's lock.
///
/// # Errors
/// [`MlflowError`]. The parts that were already sent remain on the server.
pub async fn deliver(
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
    // If one of these two fails, the other, the traces and the files are still sent. The error is
    // returned at the end.
    let described = unless_away(delivery.describe(&id, &run).await)?;
    let measured = unless_away(delivery.metrics(&id).await)?;
    delivery.traces(&id).await?;
    let files = server.text("runs/get", &run, "/info/artifact_uri")?;
    delivery.files(&files).await?;
    described.and(measured)?;
    let page = server.target().page(&delivery.experiment, &id);
    let record = DeliveryRecord {
        format: FORMAT,
        uri: server.target().shown.clone(),
        experiment: server.target().experiment.clone(),
        run_id: id,
        complete_at: content.answered,
        gold_at: content.gold_at.clone(),
    };
    // Written last, because the record says that the server has all of the run.
    record.write(folder)?;
    Ok(DeliveredRun {
        page,
        shortfalls: delivery.shortfalls,
    })
}

/// Splits the errors of one part of a delivery. The outer error means that the server cannot be
/// reached; it ends the delivery at once, because every later part would wait for the server too.
fn unless_away(done: Result<(), MlflowError>) -> Result<Result<(), MlflowError>, MlflowError> {
    match done {
        Err(error @ MlflowError::Unreachable { .. }) => Err(error),
        done => Ok(done),
    }
}

/// Shortens values to `limit` characters, and adds the keys of the shortened ones to `cut`. Returns
/// true if any value was shortened.
fn shorten(batch: &mut [Value], limit: usize, cut: &mut BTreeSet<String>) -> bool {
    let mut is_shorter = false;
    for value in batch {
        let text = |name| value.get(name).and_then(Value::as_str);
        if let Some((key, whole)) = text("key").zip(text("value"))
            && head(whole, limit).len() < whole.len()
        {
            is_shorter = true;
            cut.insert(key.to_owned());
            *value = json!({"key": key, "value": head(whole, limit)});
        }
    }
    is_shorter
}

struct Delivery<'a> {
    server: &'a TrackingServer,
    folder: &'a Path,
    content: &'a RunContent,
    /// The id of the experiment on the server.
    experiment: String,
    shortfalls: Vec<String>,
}

impl Delivery<'_> {
    /// Finds the run on the server by its tag. Creates it if it does not exist there or was
    /// deleted.
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
        // Only the tag that finds the run is sent here. The others follow later, because a server
        // may refuse one of them.
        let create = json!({
            "experiment_id": self.experiment,
            "start_time": content.started,
            "run_name": content.name,
            "tags": [{"key": RUN_TAG, "value": content.key}],
        });
        let made = self.server.post("runs/create", &create).await?;
        // If the reply has no run, `deliver` finds no id in it and returns the error.
        Ok(made.pointer("/run").cloned().unwrap_or_default())
    }

    /// Finds the id of the experiment. Creates the experiment if it does not exist.
    async fn experiment(&self) -> Result<String, MlflowError> {
        const CALL: &str = "experiments/get-by-name";
        let name = self.server.target().experiment.as_str();
        let query = [("experiment_name", name)];
        let mut found = self.server.get(CALL, &query).await;
        if found.as_ref().is_err_and(|error| error.has_code(NOT_THERE)) {
            let body = json!({ "name": name });
            match self.server.post("experiments/create", &body).await {
                Err(error) if !error.has_code("RESOURCE_ALREADY_EXISTS") => return Err(error),
                // The experiment exists now, created by this call or by another client in between.
                _ => found = self.server.get(CALL, &query).await,
            }
        }
        self.server.text(CALL, &found?, "/experiment/experiment_id")
    }

    /// Sends the parameters that the server lacks, the tags and the status. If the server had no
    /// parameters, sends the dataset too.
    async fn describe(&mut self, id: &str, run: &Value) -> Result<(), MlflowError> {
        let content = self.content;
        let known = run.pointer("/data/params").and_then(Value::as_array);
        let known = known.into_iter().flatten();
        let known: Vec<_> = known.filter_map(|param| param.get("key")).collect();
        let is_new = |param: &&Value| param.get("key").is_some_and(|key| !known.contains(&key));
        let params = content.params.iter().filter(is_new).cloned().collect();
        self.values(id, "params", params).await?;
        if known.is_empty() {
            let inputs = json!({"run_id": id, "datasets": content.dataset});
            match self.server.post("runs/log-inputs", &inputs).await {
                Err(error) if error.is_temporary() => return Err(error),
                // Servers before 2.4 do not have datasets.
                Err(error) => self.shortfalls.push(format!("dataset: {error}")),
                Ok(_) => {}
            }
        }
        self.values(id, "tags", content.tags.clone()).await?;
        let update = json!({"run_id": id, "status": content.status, "end_time": content.ended});
        self.server.post("runs/update", &update).await.map(drop)
    }

    /// Sends values in a `runs/log-batch` request; `kind` is `params`, `tags` or `metrics`. A
    /// refused batch is sent again with its values shortened to the limit that the server names. If
    /// the server names no limit, the batch is sent in halves, so that only the refused values are
    /// missing.
    ///
    /// # Errors
    /// Any error that is not a refusal. If the server accepted no value, the last refusal.
    async fn values(
        &mut self,
        id: &str,
        kind: &str,
        values: Vec<Value>,
    ) -> Result<(), MlflowError> {
        let (mut is_any_taken, mut refusal) = (false, None);
        let (mut cut, mut waiting) = (BTreeSet::new(), vec![values]);
        while let Some(mut batch) = waiting.pop().filter(|batch| !batch.is_empty()) {
            let body = json!({"run_id": id, kind: batch});
            let Err(error) = self.server.post("runs/log-batch", &body).await else {
                is_any_taken = true;
                continue;
            };
            if !error.is_refusal() {
                return Err(error.about(kind));
            }
            // A single value is also tried with the oldest limit before it is given up.
            let oldest = (batch.len() == 1).then_some(OLDEST_LIMIT);
            let mut limits = error.named_limit().into_iter().chain(oldest);
            if limits.any(|limit| shorten(&mut batch, limit, &mut cut)) {
                waiting.push(batch);
            } else if batch.len() > 1 {
                let rest = batch.split_off(batch.len() / 2);
                waiting.extend([rest, batch]);
            } else {
                let key = batch.first().and_then(|value| value.get("key")?.as_str());
                let what = format!("{kind}: {}", key.unwrap_or_default());
                self.shortfalls.push(format!("{what}: {error}"));
                refusal = Some(error.about(&what));
            }
        }
        if !cut.is_empty() {
            let keys = Vec::from_iter(cut).join(", ");
            let whole = match kind {
                "tags" => "summary.json",
                _ => "config.toml or prompts/",
            };
            let line = format!("{kind}: the end of {keys}, which {whole} has");
            self.shortfalls.push(line);
        }
        refusal.filter(|_| !is_any_taken).map_or(Ok(()), Err)
    }

    /// Sends the metrics. Sending them again results in the same points.
    async fn metrics(&mut self, id: &str) -> Result<(), MlflowError> {
        let (at, step) = (self.content.ended, self.content.answered);
        let points = self.content.metrics.iter().map(
            |(name, value)| json!({"key": name, "value": value, "timestamp": at, "step": step}),
        );
        let points = points.collect();
        self.values(id, "metrics", points).await
    }

    /// Sends the traces. Sending a trace again does not change it. Refused traces do not keep the
    /// others from being sent.
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
            // Each request has a single repeated field, so in protobuf the concatenated requests
            // are one request.
            let sent = self.server.put_spans(&self.experiment, id, batch.concat());
            match sent.await {
                // The server refused the content of this request, and may accept the others.
                Err(MlflowError::Answer {
                    status: 400 | 413 | 422,
                    ..
                }) => refused += batch.len(),
                Err(error) if error.is_temporary() => return Err(error),
                Err(error) => {
                    // The server is too old for traces or does not allow them, and would refuse the
                    // others too.
                    self.shortfalls.push(format!("traces: {error}"));
                    break;
                }
                Ok(()) => {}
            }
        }
        if refused > 0 {
            let line = format!("traces: {refused} of traces.jsonl refused");
            self.shortfalls.push(line);
        }
        Ok(())
    }

    /// Sends the files. Refused files do not keep the others from being sent.
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
                // A file that cannot be read here is an error and not a refusal by the server.
                Err(error) if error.is_temporary() || error.kind() != Kind::Provider => {
                    return Err(error);
                }
                Err(error) => self.shortfalls.push(format!("{name}: {error}")),
                Ok(()) => {}
            }
        }
        Ok(())
    }

    /// Uploads `text` or, without a text, the file `name` of the run's folder.
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
