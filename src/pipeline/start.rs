//! The start of a run with questions to ask: what its models share, and which run it is.

use std::sync::Arc;

use crate::run::{RunFolder, RunModels};
use crate::settings::{ChosenShard, Settings};
use finqa_agents::llm::{Budget, Cassette, Observer, PriceList};

use super::context::{self, ModelContext};
use super::job::Job;
use super::resume::{self, LockedRun, ResumedRun};
use super::{Notify, PipelineError, RunContext, RunNotice, batches, cassette, prices, shard};

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
    let prices = prices::user_prices(settings, resumed.as_ref(), context.cassette.as_ref())?;
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
        (Some(resumed), _) => continue_run(settings, context, resumed, &mut job)?,
        (None, Some(chosen)) => {
            shard::start_or_resume(settings, &chosen, &mut job, context.commit.clone())?
        }
        (None, None) => new_run(settings, context, &job)?,
    };
    batches::check(&run, settings)?;
    prices::count_earlier(&models.budget, &run)?;
    show();
    let models = RunModels {
        limits: models.limits,
        budget: models.budget,
        batches: models.batches,
        recording: context
            .cassette
            .as_ref()
            .and_then(Cassette::replay)
            .cloned(),
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
    let cassette = context.cassette.as_ref();
    let mut models = ModelContext {
        cassette: context.cassette.clone(),
        cache: context::cache(settings, cassette, &context.notify)?,
        prices: Arc::new(prices.unwrap_or_default()),
        budget: Arc::new(Budget::new(settings.budget.limits().for_each_of(shards))),
        ..ModelContext::new(observer)
    };
    models.batches = batches::queue(settings, cassette, &models)?;
    Ok(models)
}

/// The resumed run, if the job continues it.
fn continue_run(
    settings: &Settings,
    context: &RunContext,
    resumed: ResumedRun,
    job: &mut Job,
) -> Result<LockedRun, PipelineError> {
    if let Some(shard) = &resumed.meta().shard {
        shard::reduce(job, shard.clone());
    }
    cassette::check_same_run(context.cassette.as_ref(), resumed.meta())?;
    resumed.into_continued_run(settings, &job.meta.identity)
}

/// A new run, with the id of the recording that it replays, if that is free.
fn new_run(
    settings: &Settings,
    context: &RunContext,
    job: &Job,
) -> Result<LockedRun, PipelineError> {
    let output = &settings.run.output;
    let note = |line| (context.notify)(RunNotice::Note(line));
    let cassette = context.cassette.as_ref();
    let mut meta = cassette::apply_recording(cassette, job.meta.clone())?;
    if !meta.id.is_empty() && RunFolder::new(output, &meta.id).path().exists() {
        note(format!(
            "run {} is already in {}: the replay gets its own id and start",
            meta.id,
            output.display()
        ));
        meta.id.clear();
    }
    if let Some(line) = resume::unfinished_run_note(output, &meta.identity) {
        note(line);
    }
    let commit = context.commit.clone();
    let run = resume::create_run(output, None, meta, job.prompts.as_ref(), commit)?;
    cassette::record_run(cassette, &run.meta);
    Ok(run)
}
