//! Checks that a run's execution engine, live or batch, is allowed.

use finqa_agents::llm::BatchStage;
use finqa_journal::run::RunKind;
use finqa_journal::settings::{ExecutionEngine, Settings};

use super::PipelineError;
use super::locked_run::LockedRun;

/// Refuses to continue a run live while it has open batches, because their requests would be sent a
/// second time. Refuses episodes in batches, because each request of an episode depends on the
/// reply before it.
pub(super) fn check(run: &LockedRun, settings: &Settings) -> Result<(), PipelineError> {
    match settings.batch.engine {
        ExecutionEngine::Batch if run.meta.kind() == RunKind::Episodes => {
            Err(PipelineError::BatchesOfEpisodes)
        }
        ExecutionEngine::Live => {
            let mut batches = run.journal.batches()?.into_iter();
            if batches.all(|batch| batch.stage == BatchStage::Ended) {
                Ok(())
            } else {
                Err(PipelineError::OpenBatches {
                    resume: run.meta.resume_command(run.folder.output()),
                    id: run.meta.id.clone(),
                })
            }
        }
        ExecutionEngine::Batch => Ok(()),
    }
}
