//! Starts a run: creates or resumes it, and sets up the state that its models share.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::engine::{RunModels, Scheduler};
use finqa_agents::llm::{BatchQueue, Budget, CallEvent, Observer};
use finqa_journal::run::Event;
use finqa_journal::settings::{ChosenShard, ExecutionEngine, Settings};

use super::job::{Job, questions_job};
use super::live_page::LivePage;
use super::locked_run::{self, LockedRun, differences};
use super::run_context::{RunContext, RunNotice};
use super::{PipelineError, Run, batches, prices, replies, start_shard};

/// Maximum number of events in the queue. When it is full, answered questions wait for the reader.
/// Set by hand.
const EVENT_QUEUE: usize = 1024;

impl Run {
    /// Starts or continues the run that the settings describe. Needs a Tokio runtime.
    ///
    /// # Errors
    /// [`PipelineError`] if the run cannot be started.
    pub async fn start(settings: &Settings, context: RunContext) -> Result<Self, PipelineError> {
        Self::start_with(settings, context, |context, models| {
            questions_job(settings, context, models)
        })
    }

    /// Like [`Run::start`], with the job that `make_job` makes. If every question of the resumed run
    /// has an outcome, `make_job` is not called and only the run's files are written.
    ///
    /// # Errors
    /// [`PipelineError`] if the run cannot be started.
    pub fn start_with(
        settings: &Settings,
        mut context: RunContext,
        make_job: impl FnOnce(&RunContext, &mut RunModels) -> Result<Job, PipelineError>,
    ) -> Result<Self, PipelineError> {
        let chosen = settings.shards.resolve(&context.variables)?;
        let (sender, events) = mpsc::channel(EVENT_QUEUE);
        let resumed = match context.resumed.take() {
            Some(run) if run.journal.is_complete()? => {
                let records = run.records(settings)?;
                (context.notify)(RunNotice::Note(format!(
                    "every question of run {} is answered; writing its files",
                    run.meta.id
                )));
                let (run, _) = Run::new(settings, context, run, records, events)?;
                return Ok(run);
            }
            resumed => resumed,
        };
        let prices = prices::user_prices(settings, resumed.as_ref(), context.recorded.as_ref())?;
        let shards = chosen.as_ref().map_or(1, |chosen| chosen.shard.count());
        let mut models = RunModels {
            observer: observer(sender.clone()),
            replies: replies::stored_replies(settings, context.replay.as_ref(), &context.notify)?,
            prices: Arc::new(prices.clone().unwrap_or_default()),
            // Each shard gets an equal part of the cost limit.
            budget: Arc::new(Budget::new(settings.budget.limits().for_each_of(shards))),
            ..RunModels::default()
        };
        // A replay sends no requests, so it needs no queue.
        if settings.batch.engine == ExecutionEngine::Batch && !models.is_replayed() {
            let (budget, observer) = (Arc::clone(&models.budget), Arc::clone(&models.observer));
            models.batches = Some(BatchQueue::new(budget, observer));
        }
        let mut job = make_job(&context, &mut models)?;
        job.meta.prices = prices;
        let is_new =
            resumed.is_none() && chosen.is_none() && settings.batch.engine == ExecutionEngine::Live;
        let mut locked = open_or_create(settings, &context, resumed, chosen, &mut job)?;
        locked.record_models(&job.meta.identity)?;
        batches::check(&locked, settings)?;
        replies::describe_run(models.replies.as_ref(), &locked.meta)?;
        prices::count_earlier(&models.budget, &locked)?;
        let limits = models.limits.clone();
        let scheduler = Scheduler {
            plan: job.plan,
            solver: job.solver,
            concurrency: job.concurrency,
            models,
            stop: context.stop.clone(),
        };
        let notify = Arc::clone(&context.notify);
        let (mut run, journal) = Run::new(settings, context, locked, job.records, events)?;
        run.limits = limits;
        run.is_new = is_new;
        run.live_page = Some(LivePage::start(&run.folder, &run.records, notify));
        run.scheduler = Some(tokio::spawn(scheduler.run(journal, sender)));
        Ok(run)
    }
}

/// Opens the run to which a job belongs: the resumed run, that of a shard, or a new one.
fn open_or_create(
    settings: &Settings,
    context: &RunContext,
    resumed: Option<LockedRun>,
    chosen: Option<ChosenShard>,
    job: &mut Job,
) -> Result<LockedRun, PipelineError> {
    match (resumed, chosen) {
        (Some(run), _) => {
            if let Some(shard) = &run.meta.shard {
                start_shard::reduce(job, shard.clone());
            }
            run.refuse(&differences(&run.meta, &job.meta))?;
            Ok(run)
        }
        (None, Some(chosen)) => start_shard::start_or_resume(settings, &chosen, job),
        (None, None) => {
            let (output, mut meta) = (&settings.run.output, job.meta.clone());
            // If the id is empty, `create_run` generates one.
            meta.id = context.name.clone().unwrap_or_default();
            if let Some(line) = locked_run::unfinished_run_note(output, &meta.identity) {
                (context.notify)(RunNotice::Note(line));
            }
            locked_run::create_run(output, None, meta, job.prompts.as_ref())
        }
    }
}

/// An observer that turns retries and notices about batches into events.
fn observer(events: mpsc::Sender<Event>) -> Observer {
    Arc::new(move |event| {
        let event = match event {
            CallEvent::Retry(notice) => Event::Retry {
                attempt: notice.attempt,
                delay: notice.delay,
                reason: notice.words(),
            },
            CallEvent::Batch(notice) => Event::Batch(notice.clone()),
        };
        // `try_send` does not wait. If the display is slow, a notice is lost, but no retry is
        // delayed.
        let _ = events.try_send(event);
    })
}
