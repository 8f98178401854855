//! The pipeline: from settings to a run, its events, and its results.
//!
//! [`Run::start`] loads the records, sets the agents up, makes or resumes the
//! run's folder and asks the questions; [`Run::next`] gives what happens, and
//! [`Run::finish`] writes the files from the journal. Reading order: this file,
//! `job` (what is asked, and who answers), `resume` (new and earlier runs),
//! `files` (what a run leaves behind). It knows the outputs, which `run` does not.

mod accuracy;
mod advice;
mod batches;
mod context;
mod dry_run;
mod error;
mod files;
mod job;
mod merge;
mod prices;
mod replies;
mod resume;
mod selection;
mod setup;
mod shard;
mod start;
mod tracking;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval};

use crate::dataset::Dataset;
use crate::output::mlflow::{self, DeliveredRun, MlflowError, RunContent, TrackingServer};
use crate::settings::{Settings, Variables};
use crate::telemetry::Telemetry;
use finqa_agents::llm::{CallEvent, LimitStatus, Limits, Observer, Stop, StoredReplies};

use crate::run::{
    self, Event, Finish, Journal, JournalError, RunFolder, RunLock, RunMeta, Scheduler, Summary,
};

pub(crate) use advice::{advice, ignored_in_episodes, unused_server};
pub(crate) use context::ModelContext;
pub(crate) use dry_run::dry_run;
pub use error::PipelineError;
pub(crate) use files::{without_pages, write_report, write_results};
pub use job::Job;
pub use merge::merge;
pub(crate) use replies::{recorded_run, replay_settings, stored_replies};
pub use resume::ResumedRun;
pub(crate) use setup::{concurrency, is_remote, model_setup, pair_setup, settings_to_store};
pub(crate) use tracking::{server, tracking_server};

/// Maximum number of events in the queue; a full queue blocks the questions.
const EVENT_QUEUE: usize = 1024;

/// The interval at which a change of the limits is reported.
const LIMITS_INTERVAL: Duration = Duration::from_millis(250);

/// A line for the user outside of a run's events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunNotice {
    /// Information.
    Note(String),
    /// A warning, shown even with `--quiet`.
    Warning(String),
}

/// Shows a notice.
pub type Notify = Arc<dyn Fn(RunNotice) + Send + Sync>;

/// The surroundings of a run: everything but its settings.
pub struct RunContext {
    /// The earlier run that is continued.
    pub resumed: Option<ResumedRun>,
    /// The source of keys and addresses.
    pub variables: Variables,
    /// The tracking server, if any.
    pub tracking: Option<TrackingServer>,
    /// The traces to record.
    pub traces: Telemetry,
    pub notify: Notify,
    /// Stops the run.
    pub stop: Stop,
    /// The commit that this program was built from, where known.
    pub commit: Option<String>,
    /// The stored replies that answer every call instead of a server.
    pub replay: Option<Arc<StoredReplies>>,
    /// The run that is replayed.
    pub recorded: Option<RunMeta>,
}

impl Default for RunContext {
    fn default() -> Self {
        Self {
            resumed: None,
            variables: Variables::none(),
            tracking: None,
            traces: Telemetry::default(),
            notify: Arc::new(|_| {}),
            stop: Stop::default(),
            commit: None,
            replay: None,
            recorded: None,
        }
    }
}

/// A run whose questions are being asked.
pub struct Run {
    folder: RunFolder,
    records: Result<Dataset, String>,
    events: mpsc::Receiver<Event>,
    limits: Limits,
    reported_limits: Option<LimitStatus>,
    limits_tick: Interval,
    scheduler: Option<JoinHandle<Result<Finish, JournalError>>>,
    tracking: Option<TrackingServer>,
    stop: Stop,
    lock: RunLock,
}

/// The results of a run.
pub struct RunResults {
    /// The way it ended.
    pub finish: Finish,
    /// The scores and the cost.
    pub summary: Summary,
    /// Every row and call.
    pub journal: Journal,
    /// The folder with its files.
    pub folder: RunFolder,
    /// The records, or why they cannot be read.
    pub records: Result<Dataset, String>,
    /// The result of the delivery to a tracking server; `None` without one.
    pub tracked: Option<Result<DeliveredRun, MlflowError>>,
    /// Keeps other processes from working on the run.
    _lock: RunLock,
}

impl Run {
    /// Starts, or continues, the run that the settings describe. Needs a Tokio
    /// runtime.
    ///
    /// # Errors
    /// [`PipelineError`] if the run cannot be started.
    pub async fn start(settings: &Settings, context: RunContext) -> Result<Self, PipelineError> {
        let variables = context.variables.clone();
        Self::start_job(settings, context, |settings, notify, models| {
            job::questions(settings, &variables, notify, models)
        })
    }

    /// Starts, or continues, the run of the job that `job` makes from the settings. `job`
    /// is not called if every question is answered. Its notices are shown only if the run
    /// starts; the retries and batches of its models become events of the run.
    pub(crate) fn start_job(
        settings: &Settings,
        mut context: RunContext,
        job: impl FnOnce(&Settings, &Notify, &ModelContext) -> Result<Job, PipelineError>,
    ) -> Result<Self, PipelineError> {
        let chosen = settings.shards.resolve(&context.variables)?;
        let mut resumed = context.resumed.take();
        if let Some(resumed) = &mut resumed {
            shard::note_change(resumed, chosen.as_ref());
        }
        let (sender, events) = mpsc::channel(EVENT_QUEUE);
        let (run, records, scheduler) = match resumed {
            Some(resumed) if resumed.is_answered()? => {
                let (run, records) = resumed.into_answered_run(settings)?;
                (context.notify)(RunNotice::Note(format!(
                    "every question of run {} is answered; writing its files",
                    run.meta.id
                )));
                (run, records, None)
            }
            resumed => {
                let observer = observer(sender.clone());
                let (run, job, models) =
                    start::begin(settings, &context, chosen, resumed, observer, job)?;
                let scheduler = Scheduler {
                    workload: job.workload,
                    models,
                    stop: context.stop.clone(),
                };
                (run, job.records, Some(scheduler))
            }
        };
        let limits = scheduler.as_ref().map(|it| it.models.limits.clone());
        let tracking = match (context.tracking, &run.meta.shard) {
            (Some(_), Some(shard)) => {
                let merge = run::command(&format!("merge {}", shard.run), &settings.run.output);
                let line = format!("MLflow: `{merge}` delivers the run");
                (context.notify)(RunNotice::Note(line));
                None
            }
            (tracking, _) => tracking,
        };
        context
            .traces
            .write_to(&run.folder.file(RunFolder::TRACES))?;
        let mut limits_tick = interval(LIMITS_INTERVAL);
        limits_tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(Self {
            limits: limits.unwrap_or_default(),
            reported_limits: None,
            limits_tick,
            scheduler: scheduler.map(|scheduler| tokio::spawn(scheduler.run(run.journal, sender))),
            folder: run.folder,
            records,
            events,
            tracking,
            stop: context.stop,
            lock: run.lock,
        })
    }

    /// The next event; `None` once every question has its outcome or the run was stopped.
    pub async fn next(&mut self) -> Option<Event> {
        let event = loop {
            tokio::select! {
                event = self.events.recv() => break event?,
                _ = self.limits_tick.tick() => {
                    let status = self.limits.status();
                    if let Some(now) = status.filter(|_| status != self.reported_limits) {
                        self.reported_limits = status;
                        break Event::Limits(now);
                    }
                }
            }
        };
        Some(event)
    }

    /// Waits for the end, and writes the run's files from its journal, even if the run
    /// failed. Of several errors, the one that ended the run is returned.
    ///
    /// # Errors
    /// [`PipelineError::Stopped`] if the journal failed,
    /// [`PipelineError::Unwritten`] if a file could not be written.
    pub async fn finish(mut self) -> Result<RunResults, PipelineError> {
        while self.next().await.is_some() {}
        let finish = match self.scheduler {
            Some(scheduler) => scheduler.await?.map_err(PipelineError::Stopped),
            None => Ok(Finish::Complete),
        };
        let records = self.records.as_ref().map_err(String::as_str);
        let written = files::write_run(&self.folder, records);
        let finish = finish?;
        let (journal, summary) = written.map_err(PipelineError::Unwritten)?;
        let tracked = match &self.tracking {
            None => None,
            Some(server) => Some(match RunContent::of(&journal, &finish, &summary) {
                Ok(content) => {
                    let folder = self.folder.path();
                    mlflow::deliver_at_end(server, folder, &content, self.stop.abort).await
                }
                Err(error) => Err(error),
            }),
        };
        Ok(RunResults {
            finish,
            summary,
            journal,
            folder: self.folder,
            records: self.records,
            tracked,
            _lock: self.lock,
        })
    }
}

/// Turns retries and batch notices into events.
fn observer(events: mpsc::Sender<Event>) -> Observer {
    Arc::new(move |_node, event| {
        let event = match event {
            CallEvent::Retry(notice) => Event::Retry {
                attempt: notice.attempt,
                delay: notice.delay,
                reason: notice.words(),
            },
            CallEvent::Batch(notice) => Event::Batch(notice.clone()),
            CallEvent::Correction(_) => return,
        };
        // A slow display loses a notice, never a retry.
        let _ = events.try_send(event);
    })
}
