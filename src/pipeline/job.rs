//! What a run does: which questions are asked, and who answers them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::dataset::Dataset;
use crate::run::{Dealer, Identity, Plan, RunMeta};
use crate::settings::{Settings, Variables};
use finqa_agents::agents::Pair;
use finqa_agents::solve::Solver;

use super::advice::advice;
use super::context::ModelContext;
use super::selection::selected;
use super::setup::{self, pair_setup};
use super::{Notify, PipelineError, RunNotice};

/// What a run does.
pub struct Job {
    /// What is asked, in which order.
    pub plan: Plan,
    pub solver: Arc<dyn Solver>,
    /// Deals the questions that follow those of the plan, where a server decides
    /// them.
    pub dealer: Option<Box<dyn Dealer>>,
    /// Maximum number of conversations in flight.
    pub concurrency: usize,
    /// Whether the first questions are asked before any is answered, to estimate the model's
    /// accuracy.
    pub pilot: bool,
    /// What the run is: identity, data, settings. Id, time, version and commit
    /// are added when it is started.
    pub meta: RunMeta,
    /// The texts that the models are asked with, by their file names; offline
    /// there are none.
    pub prompts: Option<BTreeMap<String, String>>,
    /// The records, or why they are not available.
    pub records: Result<Dataset, String>,
}

/// The questions of the settings' records, answered by the settings' agents.
pub(super) fn questions(
    settings: &Settings,
    variables: &Variables,
    notify: &Notify,
    context: &ModelContext,
) -> Result<Job, PipelineError> {
    let setup = pair_setup(settings, variables, context)?;
    for notice in &setup.notices {
        notify(RunNotice::Warning(notice.clone()));
    }
    for line in advice(settings, variables) {
        notify(RunNotice::Note(line));
    }
    let note = |line: &str| notify(RunNotice::Note(line.to_owned()));
    let dataset = selected(settings, setup.is_remote(), note)?;
    let plan = Plan::new(
        &dataset,
        settings.questions.mode,
        settings.questions.history,
        settings.questions.epochs,
    )?;
    let pair = &setup.pair;
    let meta = RunMeta {
        identity: Identity {
            model: setup.name.clone(),
            critic: setup.critic_name.clone(),
            data: dataset.hash.clone(),
            prompts: pair.prompts.hash(),
            plan: plan.hash(),
            settings: settings.deciding(),
        },
        data: dataset.source.clone(),
        data_file: RunMeta::file_of(&dataset),
        invented: dataset.invented,
        total: Some(plan.total()),
        settings: setup::kept(&setup.resolved(settings))?,
        ..RunMeta::default()
    };
    let prompts = (!settings.model.is_offline()).then(|| pair.prompts.texts(&pair.rendering()));
    Ok(Job {
        plan,
        solver: Arc::new(Pair::new(pair)?),
        dealer: None,
        concurrency: *setup.concurrency(settings).end(),
        pilot: !settings.model.is_offline() && settings.agents.needs_pilot(),
        meta,
        prompts: prompts.transpose()?,
        records: Ok(dataset),
    })
}
