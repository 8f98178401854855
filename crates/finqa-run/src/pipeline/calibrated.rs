//! A solver that gives each answer the probability that it is right, and withholds answers whose
//! probability is too low for `--max-error`.

use std::sync::Arc;

use async_trait::async_trait;
use tracing::Span;

use crate::engine::RunModels;
use finqa_agents::llm::Stop;
use finqa_agents::pair::{
    CallMemory, Interruption, OpinionUse, PairOptions, Round, Solution, Solver,
};
use finqa_journal::run::{Identity, RunMeta};
use finqa_journal::settings::Settings;
use finqa_score::calibration::{Calibration, CalibrationError, Calibrator, Scope};
use finqa_score::dataset::Question;

use super::PipelineError;
use super::setup::settings_to_store;

/// A solver whose answers get a probability, and are withheld if it is too low.
struct CalibratedSolver {
    solver: Arc<dyn Solver>,
    judge: Calibrator,
}

#[async_trait]
impl Solver for CalibratedSolver {
    async fn solve(
        &self,
        question: Arc<Question>,
        epoch: u32,
        memory: CallMemory,
        stop: Stop,
        on_round: &(dyn for<'r> Fn(&'r Round) + Send + Sync),
    ) -> Result<Solution, Interruption> {
        let solved = self.solver.solve(question, epoch, memory, stop, on_round);
        Ok(self.judge.judge(solved.await?))
    }

    fn span(&self, question: &Question, run: Option<&str>) -> Span {
        self.solver.span(question, run)
    }
}

/// Wraps a solver so that `judge` judges its answers. Without a judge, returns the solver
/// unchanged.
pub(super) fn with_judge(solver: Arc<dyn Solver>, judge: Option<Calibrator>) -> Arc<dyn Solver> {
    match judge {
        Some(judge) => Arc::new(CalibratedSolver { solver, judge }),
        None => solver,
    }
}

/// The calibration to use: the file that the settings name, otherwise the built-in one if a chat
/// model answers with second opinions, because it uses only them and the kind of calculation
/// (docs/scoring.md). `None` in all other cases.
///
/// # Errors
/// The file cannot be read.
fn calibration(settings: &Settings) -> Result<Option<Calibration>, CalibrationError> {
    if let Some(path) = &settings.calibration.calibration {
        return Calibration::read(path).map(Some);
    }
    let has_opinions = settings.agents.second_opinion != OpinionUse::Off;
    let is_used = !settings.model.is_offline() && has_opinions;
    Ok(is_used.then(|| Calibration::built_in().clone()))
}

/// The judge for answers of this scope; `None` without a calibration. Also returns a warning if the
/// calibration was fitted on answers of another scope.
///
/// # Errors
/// The file cannot be read, `--max-error` is given without a calibration file, or the calibration
/// cannot keep the `--max-error`.
pub fn judge(
    settings: &Settings,
    scope: &Scope,
) -> Result<(Option<Calibrator>, Option<String>), CalibrationError> {
    let limit = settings.calibration.max_error;
    let Some(calibration) = calibration(settings)? else {
        return match limit {
            Some(_) => Err(CalibrationError::NoCalibration),
            None => Ok((None, None)),
        };
    };
    let is_named = settings.calibration.calibration.is_some();
    if limit.is_some() && !is_named {
        return Err(CalibrationError::NoCalibration);
    }
    // The built-in calibration is always of other models, so it is named wherever it is used.
    let difference = calibration.difference(scope).filter(|_| is_named);
    let warning = difference.map(|difference| {
        let name = calibration.name();
        format!("{name}: {difference}; the probabilities may be wrong")
    });
    Ok((Some(Calibrator::new(calibration, scope, limit)?), warning))
}

/// The judge for answers about the user's own document, and a warning as in [`judge`]. This judge
/// withholds no answer. Its scope has no questions, because the calibration was fitted on other
/// questions anyway; only the way in which answers are made is compared.
///
/// # Errors
/// The file cannot be read.
pub fn judge_of_own_document(
    settings: &Settings,
    models: &RunModels,
    options: &PairOptions,
) -> Result<(Option<Calibrator>, Option<String>), PipelineError> {
    let mut settings = models.resolved(settings, Some(options));
    settings.calibration.max_error = None;
    let meta = RunMeta {
        identity: Identity {
            model: models.name(),
            critic: models.critic_name(options),
            prompts: options.prompts.hash(),
            ..Identity::default()
        },
        settings: settings_to_store(&settings)?,
        ..RunMeta::default()
    };
    let scope = Scope {
        questions: String::new(),
        ..meta.scope()
    };
    Ok(judge(&settings, &scope)?)
}
