//! The batch engine of a run: whether it may be used, and what its batches are doing.

use std::sync::Arc;

use serde::Serialize;

use crate::run::{Journal, RunFolder, RunKind, command};
use crate::settings::{ExecutionEngine, Layers, Origin, Settings, Variables};
use finqa_agents::llm::{BatchQueue, BatchStage, Cassette, Stop};

use super::PipelineError;
use super::context::ModelContext;
use super::resume::{LockedRun, stored_settings};
use super::setup::models_setup;

/// The queue of a run whose requests are sent in batches.
pub(super) fn queue(
    settings: &Settings,
    cassette: Option<&Cassette>,
    models: &ModelContext,
    waits: bool,
) -> Result<Option<BatchQueue>, PipelineError> {
    check_settings(settings, cassette)?;
    if settings.batch.engine == ExecutionEngine::Live {
        return Ok(None);
    }
    Ok(Some(BatchQueue::new(
        settings.batch.options(waits),
        Arc::clone(&models.budget),
        Arc::clone(&models.observer),
    )))
}

/// Refuses settings that cannot be used with batches.
pub(super) fn check_settings(
    settings: &Settings,
    cassette: Option<&Cassette>,
) -> Result<(), PipelineError> {
    match settings.batch.engine {
        ExecutionEngine::Batch if settings.model.is_offline() => Err(PipelineError::NoBatches(
            "needs a chat model, because the embedded analyst sends no requests; pass --model NAME",
        )),
        ExecutionEngine::Batch if cassette.is_some() => Err(PipelineError::NoBatches(
            "cannot be recorded or replayed; leave --record and --replay out",
        )),
        _ => Ok(()),
    }
}

/// Refuses a run that would send again what is in its batches, and episodes, in which each
/// request depends on the one before.
pub(super) fn check(run: &LockedRun, settings: &Settings) -> Result<(), PipelineError> {
    match settings.batch.engine {
        ExecutionEngine::Batch if run.meta.kind() == RunKind::Episodes => {
            Err(PipelineError::NoBatches(
                "is for questions: an episode would take a batch for each of its steps; pass --engine live",
            ))
        }
        ExecutionEngine::Live if !run.journal.open_batches()?.is_empty() => {
            let fetch = format!("batch fetch {}", run.meta.id);
            Err(PipelineError::OpenBatches {
                fetch: command(&fetch, run.folder.output()),
                id: run.meta.id.clone(),
            })
        }
        _ => Ok(()),
    }
}

/// A batch of a run.
#[derive(Debug, Serialize)]
pub(crate) struct BatchStatusRow {
    pub wave: u32,
    pub part: u32,
    /// The provider's id; absent before it is submitted.
    pub batch: Option<String>,
    pub stage: BatchStage,
    pub requests: usize,
    /// Requests with a result at the provider, where it was asked.
    pub done: Option<u64>,
    /// The provider's final status.
    pub outcome: Option<String>,
    /// The provider may have received it twice.
    pub repeated: bool,
    /// The batch may belong to another run; its results will show.
    pub guessed: bool,
}

/// The batches of a run, those that are open as the provider describes them.
pub(crate) async fn batch_status(
    folder: &RunFolder,
    variables: &Variables,
) -> Result<Vec<BatchStatusRow>, PipelineError> {
    let journal = Journal::read(&folder.journal())?;
    let mut batches = journal.batches()?;
    // A process that was killed before it noted the end of its last batches.
    if journal.is_complete()? {
        for batch in &mut batches {
            batch.stage = BatchStage::Ended;
        }
    }
    let mut context = ModelContext::silent();
    if batches.iter().any(|it| it.stage == BatchStage::Submitted) {
        let settings = stored_settings(&journal.meta()?);
        let settings = Layers::default().table(settings, Origin::Run)?.settings()?;
        context.batches = queue(&settings, None, &context, false)?;
        models_setup(&settings, variables, &context)?;
    }
    let mut rows = Vec::new();
    for record in batches {
        let state = match &context.batches {
            Some(queue) => {
                let looked_up = queue.look_up(&record, &Stop::default()).await;
                looked_up.map_err(|error| PipelineError::BatchState(error.to_string()))?
            }
            None => None,
        };
        rows.push(BatchStatusRow {
            wave: record.wave,
            part: record.part,
            batch: record.batch,
            stage: record.stage,
            requests: record.count,
            done: state,
            outcome: record.outcome,
            repeated: record.repeated,
            guessed: record.guessed,
        });
    }
    Ok(rows)
}
