//! Whether the batch engine may be used for a run, or must be.

use finqa_agents::llm::BatchStage;
use finqa_journal::run::RunKind;
use finqa_journal::settings::{ExecutionEngine, Settings};

use super::PipelineError;
use super::locked_run::LockedRun;

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
