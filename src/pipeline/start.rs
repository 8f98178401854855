//! The start of a run: which run it is, and what its models share.

use std::sync::Arc;

use tokio::sync::mpsc;

use crate::dataset::Dataset;
use crate::run::{Event, RunModels, Scheduler};
use crate::settings::{ChosenShard, Settings};
use finqa_agents::llm::{Budget, CallEvent, Observer, PriceList};

use super::job::Job;
use super::locked_run::{self, LockedRun, ResumedRun};
use super::model_context::ModelContext;
use super::notice::RunNotice;
use super::run_context::RunContext;
use super::{PipelineError, batches, prices, replies, start_shard};

/// Maximum number of events in the queue; a full queue blocks the questions.
const EVENT_QUEUE: usize = 1024;

/// The start of the run that settings describe.
pub(crate) enum RunStart {
    /// Every question has an outcome: only the files are left to be written.
    Answered(Box<BegunRun>),
    /// A job is needed.
    Open(Box<OpenRun>),
}

/// A run with questions to ask, once it has its job.
pub(crate) struct OpenRun {
    /// The settings, with the data of a resumed run where they are now.
    pub settings: Settings,
    pub context: RunContext,
    /// What the models of the job share.
    pub models: ModelContext,
    prices: Option<PriceList>,
    chosen: Option<ChosenShard>,
    resumed: Option<ResumedRun>,
    sender: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
}

/// A run whose folder this process has locked.
pub(crate) struct BegunRun {
    pub(super) run: LockedRun,
    /// The records, or why they cannot be read.
    pub(super) records: Result<Dataset, String>,
    /// `None` if every question has an outcome.
    pub(super) scheduler: Option<Scheduler>,
    pub(super) context: RunContext,
    pub(super) sender: mpsc::Sender<Event>,
    pub(super) events: mpsc::Receiver<Event>,
}

impl RunStart {
    /// Opens the run that is continued, if there is one, and makes what the models share.
    pub(crate) fn new(settings: &Settings, mut context: RunContext) -> Result<Self, PipelineError> {
        let chosen = settings.shards.resolve(&context.variables)?;
        let (sender, events) = mpsc::channel(EVENT_QUEUE);
        let mut resumed = context.resumed.take();
        if let Some(resumed) = &mut resumed {
            start_shard::note_change(resumed, chosen.as_ref());
        }
        let resumed = match resumed {
            Some(resumed) if resumed.is_answered()? => {
                let (run, records) = resumed.into_answered_run(settings)?;
                (context.notify)(RunNotice::Note(format!(
                    "every question of run {} is answered; writing its files",
                    run.meta.id
                )));
                return Ok(Self::Answered(Box::new(BegunRun {
                    run,
                    records,
                    scheduler: None,
                    context,
                    sender,
                    events,
                })));
            }
            resumed => resumed,
        };
        let prices = prices::user_prices(settings, resumed.as_ref(), context.recorded.as_ref())?;
        let shards = chosen.as_ref().map_or(1, |chosen| chosen.shard.count());
        let observer = observer(sender.clone());
        let located = resumed
            .as_ref()
            .map(|resumed| resumed.with_current_data_path(settings));
        Ok(Self::Open(Box::new(OpenRun {
            models: models(settings, &context, prices.clone(), shards, observer)?,
            settings: located.unwrap_or_else(|| settings.clone()),
            context,
            prices,
            chosen,
            resumed,
            sender,
            events,
        })))
    }
}

impl OpenRun {
    /// Starts or continues the run, as `settings` say, with its job.
    pub(crate) fn begin(
        self,
        settings: &Settings,
        mut job: Job,
    ) -> Result<BegunRun, PipelineError> {
        let Self {
            context, models, ..
        } = self;
        job.meta.prices = self.prices;
        let run = match (self.resumed, self.chosen) {
            (Some(resumed), _) => continue_run(settings, resumed, &mut job)?,
            (None, Some(chosen)) => {
                start_shard::start_or_resume(settings, &chosen, &mut job, context.commit.clone())?
            }
            (None, None) => new_run(settings, &context, &job)?,
        };
        batches::check(&run, settings)?;
        replies::describe_run(models.replies.as_ref(), &run.meta)?;
        prices::count_earlier(&models.budget, &run)?;
        let models = RunModels {
            limits: models.limits,
            budget: models.budget,
            batches: models.batches,
            replays: models.replies.is_some_and(|replies| replies.replays()),
        };
        Ok(BegunRun {
            run,
            records: job.records,
            scheduler: Some(Scheduler {
                workload: job.workload,
                models,
                stop: context.stop.clone(),
            }),
            context,
            sender: self.sender,
            events: self.events,
        })
    }
}

/// The state that the run's models share. Each of `shards` processes has a part of the budget.
fn models(
    settings: &Settings,
    context: &RunContext,
    prices: Option<PriceList>,
    shards: u32,
    observer: Observer,
) -> Result<ModelContext, PipelineError> {
    let mut models = ModelContext {
        replies: replies::stored_replies(settings, context.replay.as_ref(), &context.notify)?,
        prices: Arc::new(prices.unwrap_or_default()),
        budget: Arc::new(Budget::new(settings.budget.limits().for_each_of(shards))),
        ..ModelContext::new(observer)
    };
    models.batches = batches::queue(settings, &models)?;
    Ok(models)
}

/// The resumed run, if the job continues it.
fn continue_run(
    settings: &Settings,
    resumed: ResumedRun,
    job: &mut Job,
) -> Result<LockedRun, PipelineError> {
    if let Some(shard) = &resumed.meta().shard {
        start_shard::reduce(job, shard.clone());
    }
    resumed.into_continued_run(settings, &job.meta.identity)
}

/// A new run.
fn new_run(
    settings: &Settings,
    context: &RunContext,
    job: &Job,
) -> Result<LockedRun, PipelineError> {
    let output = &settings.run.output;
    if let Some(line) = locked_run::unfinished_run_note(output, &job.meta.identity) {
        (context.notify)(RunNotice::Note(line));
    }
    let commit = context.commit.clone();
    locked_run::create_run(output, None, job.meta.clone(), job.prompts.as_ref(), commit)
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
