//! The start of a run with questions to ask: what its models share, and which run it is.

use std::sync::Arc;

use crate::run::RunModels;
use crate::settings::{ChosenShard, Settings};
use finqa_agents::llm::{Budget, Observer, PriceList};

use super::context::ModelContext;
use super::job::Job;
use super::resume::{self, LockedRun, ResumedRun};
use super::{Notify, PipelineError, RunContext, RunNotice, batches, prices, replies, shard};

/// Makes the job, and starts or continues its run. The job's notices are shown only if the run
/// starts, or with the error of the job itself.
pub(super) fn begin(
    settings: &Settings,
    context: &RunContext,
    chosen: Option<ChosenShard>,
    resumed: Option<ResumedRun>,
    observer: Observer,
    job: impl FnOnce(&Settings, &Notify, &ModelContext) -> Result<Job, PipelineError>,
) -> Result<(LockedRun, Job, RunModels), PipelineError> {
    let shards = chosen.as_ref().map_or(1, |chosen| chosen.shard.count());
    let prices = prices::user_prices(settings, resumed.as_ref(), context.recorded.as_ref())?;
    let models = models(settings, context, prices.clone(), shards, observer)?;
    let (notices, held) = std::sync::mpsc::channel();
    let hold: Notify = Arc::new(move |notice| drop(notices.send(notice)));
    let show = || held.try_iter().for_each(|notice| (context.notify)(notice));
    let located = match &resumed {
        Some(resumed) => &resumed.with_current_data_path(settings),
        None => settings,
    };
    let mut job = job(located, &hold, &models).inspect_err(|_| show())?;
    job.meta.prices = prices;
    let run = match (resumed, chosen) {
        (Some(resumed), _) => continue_run(settings, resumed, &mut job)?,
        (None, Some(chosen)) => {
            shard::start_or_resume(settings, &chosen, &mut job, context.commit.clone())?
        }
        (None, None) => new_run(settings, context, &job)?,
    };
    batches::check(&run, settings)?;
    replies::describe_run(models.replies.as_ref(), &run.meta)?;
    prices::count_earlier(&models.budget, &run)?;
    show();
    let models = RunModels {
        limits: models.limits,
        budget: models.budget,
        batches: models.batches,
        replays: models.replies.is_some_and(|replies| replies.replays()),
    };
    Ok((run, job, models))
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
        shard::reduce(job, shard.clone());
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
    if let Some(line) = resume::unfinished_run_note(output, &job.meta.identity) {
        (context.notify)(RunNotice::Note(line));
    }
    let commit = context.commit.clone();
    resume::create_run(output, None, job.meta.clone(), job.prompts.as_ref(), commit)
}
