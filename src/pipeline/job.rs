//! The job of a run: its questions and the agents that answer them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dataset::Dataset;
use crate::run::{Identity, Plan, RunMeta, Workload};
use crate::settings::Settings;
use finqa_agents::pair::Pair;

use super::PipelineError;
use super::model_context::ModelContext;
use super::notice::RunNotice;
use super::run_context::RunContext;
use super::selection::load_selected;
use super::setup::{self, pair_setup};
use super::unused_settings::advice;

/// The job of a run.
pub struct Job {
    pub workload: Workload,
    /// The run's identity, data and settings. Id, time, version and commit are added when
    /// it is started.
    pub meta: RunMeta,
    /// The prompt templates by file name; `None` without a chat model.
    pub prompts: Option<BTreeMap<String, String>>,
    /// The records, or why they are not available.
    pub records: Result<Dataset, String>,
}

/// The questions of the settings' records, answered by the settings' agents.
pub(super) fn questions(
    settings: &Settings,
    context: &RunContext,
    models: &ModelContext,
) -> Result<Job, PipelineError> {
    let (variables, notify) = (&context.variables, &context.notify);
    let setup = pair_setup(settings, variables, models)?;
    for notice in &setup.notices {
        notify(RunNotice::Warning(notice.clone()));
    }
    for line in advice(settings, variables) {
        notify(RunNotice::Note(line));
    }
    let note = |line: &str| notify(RunNotice::Note(line.to_owned()));
    let dataset = load_selected(settings, setup.is_remote(), note)?;
    let plan = Plan::of(&dataset, &settings.questions)?;
    let pair = &setup.pair;
    let resolved = setup.resolved(settings);
    let meta = RunMeta {
        identity: Identity {
            model: setup.name.clone(),
            critic: setup.critic_name.clone(),
            data: dataset.hash.clone(),
            prompts: pair.prompts.hash(),
            plan: plan.hash(),
            settings: resolved.answer_settings(),
        },
        data: dataset.source.clone(),
        data_file: RunMeta::file_of(&dataset),
        invented: dataset.invented,
        total: plan.total(),
        settings: setup::settings_to_store(&resolved)?,
        ..RunMeta::default()
    };
    let prompts = (!settings.model.is_offline()).then(|| pair.prompts.texts());
    Ok(Job {
        workload: Workload {
            concurrency: *setup.concurrency(settings).end(),
            ..Workload::new(plan, Arc::new(Pair::new(pair)?))
        },
        meta,
        prompts: prompts.transpose()?,
        records: Ok(dataset),
    })
}
