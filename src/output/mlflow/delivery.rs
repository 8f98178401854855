//! The delivery of a run to a server: it asks what the server has and sends the rest.
//! Every step can be interrupted and repeated.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::run::{Finish, Journal, RunFolder, RunKind, RunMeta, Summary};
use finqa_agents::pair::{Backend, Pair, PairOptions};

use super::artifact::{Artifact, ArtifactContent, encoded_path, proxy_path};
use super::content;
use super::error::MlflowError;
use super::points::{MetricPoint, MetricSeries, RowMetrics, start_millis, totals};
use super::record::{DeliveryLock, DeliveryRecord};
use super::server::TrackingServer;
use super::table::{TABLE, table};
use super::traces::PendingTraces;
use super::wire::{
    CreatedExperiment, ExperimentReply, KeyValue, LogBatch, Metric, MlflowRun, RunReply, RunsReply,
};

/// Metrics in one call: MLflow's limit.
const BATCH: usize = 1000;

/// The result of a run, besides its journal.
#[derive(Clone, Debug)]
pub(crate) struct FinishedRun {
    pub finish: Finish,
    /// Scores and cost.
    pub summary: Summary,
}

/// A run that was delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredRun {
    /// The address of the run's page.
    pub page: String,
    /// The parts that the server could not store, one line each.
    pub shortfalls: Vec<String>,
}

/// The delivery of a run to a server.
#[derive(Debug)]
pub(crate) struct RunDelivery {
    server: TrackingServer,
    folder: PathBuf,
    meta: RunMeta,
    prompts: BTreeMap<String, String>,
    record: DeliveryRecord,
    /// The newest step of each metric on the server; unknown until asked, and
    /// again after a call whose end is not known.
    latest: Option<HashMap<String, i64>>,
    _hold: DeliveryLock,
}

impl RunDelivery {
    /// Locks the delivery of the run in `folder`. With `anew`, earlier
    /// deliveries are ignored.
    pub(crate) fn open(
        server: TrackingServer,
        folder: &Path,
        anew: bool,
    ) -> Result<Self, MlflowError> {
        let hold = DeliveryLock::take(folder)?;
        let journal = Journal::read(&folder.join(RunFolder::JOURNAL))?;
        let target = server.target();
        let (uri, experiment) = (&target.shown, &target.experiment);
        let record = DeliveryRecord::read(folder)?
            .filter(|record| !anew && record.uri == *uri && record.experiment == *experiment)
            .unwrap_or_else(|| DeliveryRecord::new(uri, experiment));
        Ok(Self {
            meta: journal.meta()?,
            prompts: journal.prompts()?,
            folder: folder.to_owned(),
            server,
            record,
            latest: None,
            _hold: hold,
        })
    }

    /// The description of the run.
    pub(crate) fn meta(&self) -> &RunMeta {
        &self.meta
    }

    pub(crate) fn server(&self) -> &TrackingServer {
        &self.server
    }

    /// Sends points, and spans in the folder, while the run continues.
    ///
    /// # Errors
    /// [`MlflowError`]; nothing is lost by it.
    pub(crate) async fn send_points(&mut self, points: &[MetricPoint]) -> Result<(), MlflowError> {
        self.attach(true).await?;
        self.points(points).await?;
        self.traces().await
    }

    /// Sends all that is missing of a run that has ended, or is no longer run.
    ///
    /// # Errors
    /// [`MlflowError`]; what was sent before it stays sent.
    pub(crate) async fn finish(
        &mut self,
        ending: &FinishedRun,
    ) -> Result<DeliveredRun, MlflowError> {
        self.record.shortfalls.clear();
        self.attach(false).await?;
        let journal = Journal::read(&self.folder.join(RunFolder::JOURNAL))?;
        let mut series = MetricSeries::new(&self.meta);
        let mut points = Vec::new();
        journal.for_each_row(|row| points.extend(series.add(RowMetrics::from(&row))))?;
        points.extend(series.last());
        points.extend(totals(&ending.summary, series.place()));
        self.points(&points).await?;
        self.tags(&content::outcome_tags(&self.meta, &ending.summary, TABLE))
            .await?;
        let (answered, at) = series.place();
        self.status(content::status(&ending.finish), Some(at))
            .await?;
        self.traces().await?;
        self.files(&journal).await?;
        self.record.complete_at = usize::try_from(answered).ok();
        self.record.write(&self.folder)?;
        let target = self.server.target();
        Ok(DeliveredRun {
            page: target.page(&self.record.experiment_id, &self.record.run_id),
            shortfalls: self.record.shortfalls.clone(),
        })
    }

    /// Forgets what the server has, because a call was cancelled.
    pub(crate) fn forget(&mut self) {
        self.latest = None;
    }

    /// Finds or makes the experiment and the run, and describes the run.
    async fn attach(&mut self, running: bool) -> Result<(), MlflowError> {
        if self.latest.is_some() {
            return Ok(());
        }
        if self.record.experiment_id.is_empty() {
            self.record.experiment_id = self.experiment().await?;
        }
        let mut run = self.find_or_create().await?;
        self.record.run_id.clone_from(&run.info.run_id);
        self.record.artifact_uri.clone_from(&run.info.artifact_uri);
        self.record.write(&self.folder)?;
        if !self.record.described {
            if run.data.params.is_empty() {
                self.describe().await?;
            }
            self.record.described = true;
            self.record.write(&self.folder)?;
        }
        if running && run.info.status != "RUNNING" {
            self.status("RUNNING", None).await?;
        }
        let metrics = run.data.metrics.drain(..);
        self.latest = Some(metrics.map(|metric| (metric.key, metric.step)).collect());
        Ok(())
    }

    async fn find_or_create(&self) -> Result<MlflowRun, MlflowError> {
        let id = &self.record.run_id;
        if !id.is_empty() {
            return self.known_run(id).await;
        }
        // An earlier call may have made it and its answer been lost.
        let search = json!({
            "experiment_ids": [self.record.experiment_id],
            "filter": format!("tags.`{}` = '{}'", content::RUN_TAG, self.meta.tracked_as()),
            "run_view_type": "ACTIVE_ONLY",
            "max_results": 1,
        });
        let found: RunsReply = self.server.post("runs/search", &search).await?;
        if let Some(run) = found.runs.into_iter().next() {
            return Ok(run);
        }
        let create = json!({
            "experiment_id": self.record.experiment_id,
            "start_time": start_millis(&self.meta),
            "run_name": content::name(&self.meta),
            "tags": content::tags(&self.meta),
        });
        let made: RunReply = self.server.post("runs/create", &create).await?;
        Ok(made.run)
    }

    async fn known_run(&self, id: &str) -> Result<MlflowRun, MlflowError> {
        let deleted = || MlflowError::RunDeleted {
            uri: self.server.target().shown.clone(),
            run: id.to_owned(),
        };
        let reply: Result<RunReply, _> = self.server.get("runs/get", &[("run_id", id)]).await;
        let run = match reply {
            Ok(reply) => reply.run,
            Err(error) if error.has_code("RESOURCE_DOES_NOT_EXIST") => return Err(deleted()),
            Err(error) => return Err(error),
        };
        if run.info.lifecycle_stage == "deleted" {
            // With its experiment, or alone: what is to be restored differs.
            self.experiment().await?;
            return Err(deleted());
        }
        Ok(run)
    }

    async fn experiment(&self) -> Result<String, MlflowError> {
        let name = &self.server.target().experiment;
        for _ in 0..2 {
            let query = [("experiment_name", name.as_str())];
            let found: Result<ExperimentReply, _> =
                self.server.get("experiments/get-by-name", &query).await;
            match found {
                Ok(found) if found.experiment.lifecycle_stage == "deleted" => {
                    return Err(MlflowError::ExperimentDeleted {
                        uri: self.server.target().shown.clone(),
                        name: name.clone(),
                        id: found.experiment.experiment_id,
                    });
                }
                Ok(found) => return Ok(found.experiment.experiment_id),
                Err(error) if error.has_code("RESOURCE_DOES_NOT_EXIST") => {}
                Err(error) => return Err(error),
            }
            let body = json!({ "name": name });
            let made: Result<CreatedExperiment, _> =
                self.server.post("experiments/create", &body).await;
            match made {
                Ok(made) => return Ok(made.experiment_id),
                // Somebody else made it in between.
                Err(error) if error.has_code("RESOURCE_ALREADY_EXISTS") => {}
                Err(error) => return Err(error),
            }
        }
        Err(MlflowError::NotMlflow {
            uri: self.server.target().shown.clone(),
            status: 404,
            call: "experiments/get-by-name".to_owned(),
            found: "an experiment that it says exists".to_owned(),
        })
    }

    /// Parameters and the data set. A parameter that is too long for an older
    /// server is cut shorter.
    async fn describe(&self) -> Result<(), MlflowError> {
        let params = content::params(&self.meta, &self.prompts);
        let mut result = Ok(Value::Null);
        for limit in [content::PARAM_LIMIT, content::PARAM_LIMIT_OLD] {
            let (params, _) = content::fit_params(&params, limit);
            let batch = LogBatch {
                run_id: &self.record.run_id,
                params: &params,
                ..LogBatch::default()
            };
            result = self.server.post("runs/log-batch", &batch).await;
            match &result {
                Err(error) if error.has_code("INVALID_PARAMETER_VALUE") => {}
                _ => break,
            }
        }
        result?;
        let inputs = json!({
            "run_id": self.record.run_id,
            "datasets": content::dataset(&self.meta),
        });
        match self.server.post::<Value>("runs/log-inputs", &inputs).await {
            // Servers before 2.4 have no endpoint for data sets.
            Err(
                MlflowError::NotMlflow { status: 404, .. } | MlflowError::Api { status: 404, .. },
            ) => Ok(()),
            result => result.map(|_| ()),
        }
    }

    /// Sends the points that the server has not: the steps of a metric arrive
    /// in order, so what is not newer than the newest is there.
    async fn points(&mut self, points: &[MetricPoint]) -> Result<(), MlflowError> {
        let Some(mut latest) = self.latest.take() else {
            return Ok(());
        };
        let missing: Vec<&MetricPoint> = points
            .iter()
            .filter(|point| latest.get(&point.key).is_none_or(|step| *step < point.step))
            .collect();
        for chunk in missing.chunks(BATCH) {
            let metrics = chunk.iter().map(|point| Metric {
                key: &point.key,
                value: point.value,
                timestamp: point.at,
                step: point.step,
            });
            let batch = LogBatch {
                run_id: &self.record.run_id,
                metrics: metrics.collect(),
                ..LogBatch::default()
            };
            self.server.post::<Value>("runs/log-batch", &batch).await?;
            for point in chunk {
                latest.insert(point.key.clone(), point.step);
            }
        }
        self.latest = Some(latest);
        Ok(())
    }

    async fn tags(&self, tags: &[KeyValue]) -> Result<(), MlflowError> {
        let batch = LogBatch {
            run_id: &self.record.run_id,
            tags,
            ..LogBatch::default()
        };
        self.server.post::<Value>("runs/log-batch", &batch).await?;
        Ok(())
    }

    async fn status(&self, status: &str, ended: Option<i64>) -> Result<(), MlflowError> {
        let mut update = json!({"run_id": self.record.run_id, "status": status});
        if let (Some(at), Some(fields)) = (ended, update.as_object_mut()) {
            fields.insert("end_time".to_owned(), json!(at));
        }
        self.server.post::<Value>("runs/update", &update).await?;
        Ok(())
    }

    /// Sends the traces that have come since the last time. Those that the
    /// server refuses hold up nothing else.
    async fn traces(&mut self) -> Result<(), MlflowError> {
        let (mut unread, mut refused) = (0, 0);
        loop {
            let traces = PendingTraces::read(&self.folder, self.record.traces)?;
            unread += traces.unread;
            if traces.next == self.record.traces {
                break;
            }
            if !traces.bodies.is_empty()
                && let Err(error) = self.put_spans(traces.together()).await
            {
                if error.is_temporary() {
                    return Err(error);
                }
                if !error.is_content_error() {
                    // Too old a server, or not allowed: none would be taken,
                    // and none is given up.
                    self.fall_short(format!("traces: {error}"));
                    break;
                }
                // All or nothing is taken of a request: find the bad ones.
                for body in traces.bodies {
                    match self.put_spans(body).await {
                        Err(error) if error.is_temporary() => return Err(error),
                        Err(_) => refused += 1,
                        Ok(()) => {}
                    }
                }
            }
            self.record.traces = traces.next;
            self.record.write(&self.folder)?;
        }
        for (count, why) in [(unread, "could not be read"), (refused, "were refused")] {
            if count > 0 {
                self.fall_short(format!("traces: {count} of traces.jsonl {why}"));
            }
        }
        Ok(())
    }

    async fn put_spans(&self, spans: Vec<u8>) -> Result<(), MlflowError> {
        let record = &self.record;
        self.server
            .put_spans(&record.experiment_id, &record.run_id, spans)
            .await
    }

    async fn files(&mut self, journal: &Journal) -> Result<(), MlflowError> {
        let Some(root) = proxy_path(&self.server.target().uri, &self.record.artifact_uri) else {
            self.fall_short(format!(
                "files: this server does not pass them on to {}; start it with --serve-artifacts and --artifacts-destination, and use a new experiment",
                self.record.artifact_uri
            ));
            return Ok(());
        };
        let artifacts = self.artifacts(journal)?;
        let mut result = Ok(());
        let mut refused: Vec<(String, MlflowError)> = Vec::new();
        for artifact in artifacts {
            let hash = artifact.hash()?;
            if self.record.artifacts.get(&artifact.path) == Some(&hash) {
                continue;
            }
            let address = format!("{root}/{}", encoded_path(&artifact.path));
            let put = match artifact.content {
                ArtifactContent::File(file) => self.server.put_file(&address, &file).await,
                ArtifactContent::Text(text) => self.server.put_text(&address, text).await,
            };
            match put {
                Ok(()) => {
                    self.record.artifacts.insert(artifact.path, hash);
                }
                Err(error) if error.is_temporary() => {
                    result = Err(error);
                    break;
                }
                Err(error) => refused.push((artifact.path, error)),
            }
        }
        if let Some((_, error)) = refused.first() {
            let names: Vec<_> = refused.iter().map(|(path, _)| path.as_str()).collect();
            self.fall_short(format!("{}: {error}", names.join(", ")));
        }
        self.record.write(&self.folder)?;
        result
    }

    fn artifacts(&self, journal: &Journal) -> Result<Vec<Artifact>, MlflowError> {
        let mut artifacts = vec![Artifact::text(TABLE, table(journal)?)];
        // The tool-using agent has none.
        if self.meta.kind() == RunKind::Questions {
            let pair = Pair::new(&PairOptions::new(Backend::Embedded))?;
            let graph = pair.graph();
            artifacts.extend([
                Artifact::text("graph/graph.svg", graph.svg()),
                Artifact::text("graph/graph.mmd", graph.mermaid()),
                Artifact::text("graph/graph.dot", graph.dot()),
            ]);
        }
        let files = RunFolder::RESULTS
            .iter()
            .filter_map(|name| Artifact::file(&self.folder, name));
        artifacts.extend(files);
        for (name, text) in &self.prompts {
            artifacts.push(Artifact::text(format!("prompts/{name}"), text));
        }
        let params = content::params(&self.meta, &self.prompts);
        // By the shorter limit, so that nothing is without its whole text.
        let (_, cut) = content::fit_params(&params, content::PARAM_LIMIT_OLD);
        for name in cut {
            let text = params.get(name).map_or("", String::as_str);
            artifacts.push(Artifact::text(content::whole_text(name), text));
        }
        Ok(artifacts)
    }

    fn fall_short(&mut self, line: String) {
        if !self.record.shortfalls.contains(&line) {
            self.record.shortfalls.push(line);
        }
    }
}
