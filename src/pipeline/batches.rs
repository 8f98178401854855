//! The batch engine of a run, and whether it may be used.

use std::sync::Arc;

use crate::run::RunKind;
use crate::settings::{ExecutionEngine, Settings};
use finqa_agents::llm::{BatchQueue, BatchStage};

use super::PipelineError;
use super::locked_run::LockedRun;
use super::model_context::ModelContext;

/// The queue of a run whose requests are sent in batches; those of a replay are not sent.
pub(super) fn queue(
    settings: &Settings,
    models: &ModelContext,
) -> Result<Option<BatchQueue>, PipelineError> {
    check_settings(settings)?;
    if settings.batch.engine == ExecutionEngine::Live || models.is_replayed() {
        return Ok(None);
    }
    Ok(Some(BatchQueue::new(
        Arc::clone(&models.budget),
        Arc::clone(&models.observer),
    )))
}

/// Refuses settings that cannot be used with batches.
pub(super) fn check_settings(settings: &Settings) -> Result<(), PipelineError> {
    match settings.batch.engine {
        ExecutionEngine::Batch if settings.model.is_offline() => Err(PipelineError::NoBatches(
            "needs a chat model, because the embedded analyst sends no requests; pass --model NAME",
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
        ExecutionEngine::Live => {
            let mut batches = run.journal.batches()?.into_iter();
            match batches.all(|batch| batch.stage == BatchStage::Ended) {
                true => Ok(()),
                false => Err(PipelineError::OpenBatches {
                    resume: run.meta.resume_command(run.folder.output()),
                    id: run.meta.id.clone(),
                }),
            }
        }
        ExecutionEngine::Batch => Ok(()),
    }
}
