//! The pipeline: from settings to a run, its events, and its results.
//!
//! [`Run::start`] loads the records, sets up the agents, creates or resumes the run's folder and
//! begins to ask the questions. [`Run::next`] returns the events, and [`Run::finish`] writes the
//! files from the journal. Each step of a run has one type:
//!
//! 1. [`RunContext`]: the caller provides everything that a run needs besides its settings.
//! 2. [`RunModels`](crate::engine::RunModels): the models are connected to their servers.
//! 3. [`Job`]: the questions are chosen, and the solver that answers them is made.
//! 4. [`LockedRun`]: the run's folder is created or opened, and locked by this process.
//! 5. [`Run`]: the questions are asked; at the end the files are written.
//!
//! Reading order: this file, `start` (`Run::start`, and the state that the models of a run share),
//! `job` (the questions, and the agents that answer them), `setup` (connects the models),
//! `selection` (loads and selects the records), `locked_run` (runs on disk), `files` (the files of
//! a run), `live_page` (its report while it is in progress). The pipeline knows the outputs, which
//! `engine` does not.

mod batches;
mod calibrated;
mod dry_run;
mod error;
mod files;
mod job;
mod live_page;
mod locked_run;
mod merge_shards;
mod only;
mod prices;
mod replies;
mod run_context;
mod selection;
mod setup;
mod start;
mod start_shard;
mod tracking;
mod unused_settings;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Interval, MissedTickBehavior, interval};

use finqa_agents::llm::{LimitStatus, Limits, Stop};
use finqa_agents::pair::Fault;
use finqa_journal::settings::Settings;
use finqa_report::output::mlflow::{self, DeliveredRun, MlflowError, RunContent, TrackingServer};
use finqa_score::dataset::Dataset;

use finqa_journal::run::{self, Event, Finish, Journal, JournalError, RunFolder, RunLock, Summary};

pub use calibrated::{judge, judge_of_own_document};
pub use dry_run::dry_run;
pub use error::PipelineError;
pub use files::write_results;
pub use job::{Job, questions_job};
use live_page::LivePage;
pub use locked_run::LockedRun;
pub use merge_shards::merge;
pub(crate) use prices::user_prices;
pub use replies::{recorded_run, replay_settings, stored_replies};
pub use run_context::{Notify, RunContext, RunNotice};
pub(crate) use setup::{concurrency, settings_to_store};
pub use tracking::{server, tracking_server};
pub use unused_settings::{advice, unused_server, unused_variables};

/// Time after which [`Run::next`] looks again for a change of the request limits. A progress line
/// is at most this late. Set by hand.
const LIMITS_INTERVAL: Duration = Duration::from_millis(250);

/// Step 5 of a run: it is in progress. [`Run::next`] returns its events, and [`Run::finish`] its
/// results.
pub struct Run {
    folder: RunFolder,
    records: Result<Arc<Dataset>, String>,
    events: mpsc::Receiver<Event>,
    limits: Limits,
    reported_limits: Option<LimitStatus>,
    limits_tick: Interval,
    scheduler: Option<JoinHandle<Result<Finish, JournalError>>>,
    /// Writes the report while questions are being asked; `None` if no questions are asked.
    live_page: Option<LivePage>,
    tracking: Option<TrackingServer>,
    stop: Stop,
    lock: RunLock,
    /// True if this process started the run, so that its folder may be removed if nothing was
    /// asked. Always false for a batch run. Also false for a shard, because its command may be
    /// repeated, for example by Slurm, and then continues the shard from this folder.
    is_new: bool,
}

/// The results of a run that has ended.
pub struct RunResults {
    /// The way in which the run ended.
    pub finish: Finish,
    /// The scores and the cost.
    pub summary: Summary,
    /// All rows and calls of the run.
    pub journal: Journal,
    /// The run's folder, with all its files.
    pub folder: RunFolder,
    /// A line that says why the report has no pages, or why an earlier report was kept.
    pub note: Option<String>,
    /// The result of the delivery to a tracking server; `None` if there is no server.
    pub tracked: Option<Result<DeliveredRun, MlflowError>>,
    /// Keeps other processes from working on the run until the results are dropped.
    _lock: RunLock,
}

impl Run {
    /// Creates a run that does not ask questions yet. Returns the run and its journal.
    fn new(
        settings: &Settings,
        context: RunContext,
        run: LockedRun,
        records: Result<Dataset, String>,
        events: mpsc::Receiver<Event>,
    ) -> Result<(Self, Journal), PipelineError> {
        let tracking = match (context.tracking, &run.meta.shard) {
            (Some(_), Some(shard)) => {
                let command = run::command(&format!("merge {}", shard.run), &settings.run.output);
                let line = format!("MLflow: `{command}` delivers the run");
                (context.notify)(RunNotice::Note(line));
                None
            }
            (tracking, _) => tracking,
        };
        context
            .traces
            .write_to(&run.folder.file(RunFolder::TRACES))?;
        let mut limits_tick = interval(LIMITS_INTERVAL);
        // If the caller was slow, the next tick comes late, instead of several ticks at once.
        limits_tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let new = Self {
            folder: run.folder,
            records: records.map(Arc::new),
            events,
            limits: Limits::default(),
            reported_limits: None,
            limits_tick,
            scheduler: None,
            live_page: None,
            tracking,
            stop: context.stop,
            lock: run.lock,
            is_new: false,
        };
        Ok((new, run.journal))
    }

    /// The next event; `None` once every question has its outcome or the run was stopped.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            tokio::select! {
                event = self.events.recv() => return event,
                _ = self.limits_tick.tick() => {
                    let status = self.limits.status();
                    if status != self.reported_limits {
                        self.reported_limits.clone_from(&status);
                        return status.map(Event::Limits);
                    }
                }
            }
        }
    }

    /// Waits for the end of the run and writes its files from the journal, even if the run failed.
    /// If there are several errors, returns the one that ended the run.
    ///
    /// # Errors
    /// [`PipelineError::Stopped`] if the journal failed, [`PipelineError::Unwritten`] if a file
    /// could not be written, [`PipelineError::NothingAsked`] if a new run failed before it had an
    /// answer, for example because of a wrong key; its folder is removed.
    pub async fn finish(mut self) -> Result<RunResults, PipelineError> {
        while self.next().await.is_some() {}
        let finish = match self.scheduler {
            Some(scheduler) => scheduler.await?.map_err(PipelineError::Stopped),
            None => Ok(Finish::Complete),
        };
        // Stop the live page first, so that it does not replace the final report.
        drop(self.live_page.take());
        let records = self.records.as_deref().map_err(String::as_str);
        let written = files::write_run(&self.folder, records);
        let finish = finish?;
        let (journal, written) = written.map_err(PipelineError::Unwritten)?;
        let summary = written.summary;
        // A folder with traces is kept, because the user asked for the traces.
        if self.is_new
            && let Finish::Fatal(failure) = &finish
            // A run whose provider only reported failures is kept: its questions wait for
            // `--resume`.
            && failure.fault != Fault::Failing
            && summary.is_empty()
            && !self.folder.file(RunFolder::TRACES).is_file()
        {
            // Closed first, because Windows does not remove open files. If the folder cannot be
            // removed, the failure that ended the run is still the one to report.
            drop((journal, self.lock));
            let _ = std::fs::remove_dir_all(self.folder.path());
            return Err(PipelineError::NothingAsked(failure.clone()));
        }
        let tracked = match &self.tracking {
            None => None,
            Some(server) => {
                let content = RunContent::of(&journal, &finish, &summary);
                let folder = self.folder.path();
                Some(mlflow::deliver_at_end(server, folder, content, self.stop.abort).await)
            }
        };
        Ok(RunResults {
            finish,
            summary,
            journal,
            folder: self.folder,
            note: written.note,
            tracked,
            _lock: self.lock,
        })
    }
}
