//! The job of a run: its questions, and the agents that answer them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::engine::RunModels;
use finqa_agents::pair::{PairOptions, Solver, TwoAgentSolver};
use finqa_journal::run::{Identity, Plan, RunMeta};
use finqa_journal::settings::Settings;
use finqa_score::calibration::Calibrator;
use finqa_score::dataset::Dataset;

use super::PipelineError;
use super::calibrated::{judge, with_judge};
use super::run_context::{Notify, RunContext, RunNotice};
use super::selection::{self, Selected};
use super::setup::{concurrency, settings_to_store};
use super::unused_settings::advice;

/// Step 3 of a run: its questions and the solver that answers them. Nothing is on disk yet.
pub struct Job {
    /// The questions in the order in which they are asked.
    pub plan: Plan,
    pub solver: Arc<dyn Solver>,
    /// Maximum number of units in flight, at least 1.
    pub concurrency: usize,
    /// The run's identity, data and settings. Id, time and version are added when the run is
    /// created.
    pub meta: RunMeta,
    /// The prompt templates by file name; `None` without a chat model.
    pub prompts: Option<BTreeMap<String, String>>,
    /// The records, or the reason why they are not available.
    pub records: Result<Dataset, String>,
}

/// The job that the settings describe: their agents answer the questions of their records.
pub fn questions_job(
    settings: &Settings,
    context: &RunContext,
    models: &mut RunModels,
) -> Result<Job, PipelineError> {
    let (variables, notify) = (&context.variables, &context.notify);
    let options = models.connect_pair(settings, variables)?;
    for notice in models.notices(settings, variables) {
        notify(RunNotice::Warning(notice));
    }
    for line in advice(settings, variables)? {
        notify(RunNotice::Note(line));
    }
    let note = |line: &str| notify(RunNotice::Note(line.to_owned()));
    let selected = selection::plan(settings, models.is_remote(), note)?;
    let (meta, judge) = describe(settings, models, &options, &selected, notify)?;
    let Selected { dataset, plan, .. } = selected;
    let prompts = (!settings.model.is_offline()).then(|| options.prompts.texts());
    Ok(Job {
        plan,
        solver: with_judge(Arc::new(TwoAgentSolver::new(&options)?), judge),
        concurrency: *concurrency(settings, models.endpoint()).end(),
        meta,
        prompts: prompts.transpose()?,
        records: Ok(dataset),
    })
}

/// The description of a run that asks these questions, and the judge of its answers, if it has one.
///
/// # Errors
/// The errors of [`judge`], and settings that cannot be stored.
pub(super) fn describe(
    settings: &Settings,
    models: &RunModels,
    options: &PairOptions,
    selected: &Selected,
    notify: &Notify,
) -> Result<(RunMeta, Option<Calibrator>), PipelineError> {
    let Selected {
        dataset,
        plan,
        only,
    } = selected;
    let mut resolved = models.resolved(settings, Some(options));
    resolved.questions.mode = plan.mode;
    resolved.questions.only.clone_from(only);
    let mut meta = RunMeta {
        identity: Identity {
            model: models.name(),
            critic: models.critic_name(options),
            data: dataset.hash.clone(),
            prompts: options.prompts.hash(),
            plan: plan.hash(),
            settings: resolved.answer_settings(),
            ..Identity::default()
        },
        data: dataset.source.clone(),
        // The absolute path, so that the run can be resumed from any working directory.
        data_file: std::fs::canonicalize(&dataset.source)
            .ok()
            .filter(|_| !dataset.invented),
        invented: dataset.invented,
        total: plan.total(),
        reply_limit: models.reply_limit(settings),
        settings: settings_to_store(&resolved)?,
        ..RunMeta::default()
    };
    let (judge, warning) = judge(settings, &meta.scope())?;
    if let Some(warning) = warning {
        notify(RunNotice::Warning(warning));
    }
    if let Some(judge) = &judge {
        let calibration = judge.calibration();
        meta.identity.calibration.clone_from(&calibration.hash);
        meta.calibration = Some(calibration.name());
    }
    Ok((meta, judge))
}
