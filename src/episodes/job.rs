//! The job of an episode run: its questions, its environment, and its model.

use std::sync::Arc;

use super::{
    Baseline, LocalEnvironment, ServerEnvironment, ServerQuestions, SessionPool, tool_specs,
};
use crate::pipeline::{Job, Notify, PipelineError, RunNotice};
use crate::pipeline::{ModelContext, concurrency, is_remote, model_setup, settings_to_store};
use crate::run::{EpisodeMeta, Identity, Plan, QuestionSource, RunMeta, Workload};
use crate::settings::{Settings, Variables};
use finqa_agents::models::{ChatModel, Feature, Support};
use finqa_agents::solve::{
    SHOWN_CHARS, ToolAgent, ToolAgentOptions, ToolEnvironment, instructions_hash,
};
use finqa_core::text::counted;

/// Episodes by default with a model that may cost money.
const PAID_DEFAULT_EPISODES: usize = 100;

/// Episodes by default on a server, which does not say how many questions it has
/// and might invent one after the other.
const SERVER_DEFAULT_EPISODES: usize = 10_000;

/// The part of a server's results that the baseline sees, which pays for no tokens: those
/// of an honest server whole, and of any server no more than memory and the journal can
/// hold.
const BASELINE_CHARS: (usize, usize) = (2_000_000, 8_000_000);

/// The location of the environment.
#[derive(Clone)]
pub(crate) enum EpisodePlace {
    /// In this process.
    Local(Arc<LocalEnvironment>),
    /// On a server.
    Server(Arc<SessionPool>),
}

/// An environment as a run names it.
#[derive(Clone)]
pub(crate) struct EpisodeEnvironment {
    /// The location.
    pub place: EpisodePlace,
    /// Its directory, `sample`, or its server's address, from which a resumed run finds it.
    pub name: String,
    /// The user named it.
    pub is_named_by_user: bool,
    /// blake3 of its data, or its server's address.
    pub hash: String,
    /// Its companies are invented.
    pub invented: bool,
}

/// The options of an episode run.
#[derive(Clone)]
pub(crate) struct EpisodeOptions {
    /// The environment.
    pub environment: EpisodeEnvironment,
    /// The most questions that are played; by default all, or 100 where the model
    /// is not on loopback.
    pub n: Option<usize>,
    /// Tool calls after which an episode is given up.
    pub max_steps: u32,
}

impl EpisodeOptions {
    /// The options as stored with a run.
    pub(crate) fn meta(&self, settings: &Settings) -> EpisodeMeta {
        EpisodeMeta {
            environment: self.environment.name.clone(),
            server: matches!(self.environment.place, EpisodePlace::Server(_)),
            n: self.n,
            seed: settings.sampling.seed,
            max_steps: self.max_steps,
        }
    }
}

/// The job of playing these episodes by the settings' model.
pub(crate) fn job(
    settings: &Settings,
    options: &EpisodeOptions,
    variables: &Variables,
    notify: &Notify,
    context: &ModelContext,
) -> Result<Job, PipelineError> {
    let played = &options.environment;
    let (model, endpoint, name, resolved): (Arc<dyn ChatModel>, _, _, _) =
        if settings.model.is_offline() {
            let offline = "offline".to_owned();
            (Arc::new(Baseline::new()), None, offline, settings.clone())
        } else {
            let model_setup = model_setup(settings, variables, context)?;
            if let Some(notice) = &model_setup.notice {
                notify(RunNotice::Warning(notice.clone()));
            }
            if model_setup.model.supports(Feature::Tools) == Support::No {
                return Err(PipelineError::NoTools(settings.model.name.clone()));
            }
            let resolved = model_setup.resolved(settings);
            (
                model_setup.model,
                Some(model_setup.endpoint),
                model_setup.name,
                resolved,
            )
        };
    let note = |line: String| notify(RunNotice::Note(line));
    let paid = is_remote(endpoint);
    if paid && !played.is_named_by_user {
        return Err(PipelineError::NoEpisodeData);
    }
    if options.n.is_none() && paid {
        note(format!(
            "playing at most {PAID_DEFAULT_EPISODES} episodes because the model is remote; pass --n to change this"
        ));
    }
    let n = options.n.or(paid.then_some(PAID_DEFAULT_EPISODES));
    let seed = settings.sampling.seed;
    let (environment, plan, question_source): (
        Arc<dyn ToolEnvironment>,
        _,
        Option<Box<dyn QuestionSource>>,
    ) = match &played.place {
        EpisodePlace::Local(local) => {
            let plan = Plan::from_questions(local.plan(seed, n));
            (Arc::clone(local) as _, plan, None)
        }
        EpisodePlace::Server(server) => {
            let n = n.unwrap_or(SERVER_DEFAULT_EPISODES);
            let question_source = ServerQuestions::new(Arc::clone(server), n);
            let environment = ServerEnvironment(Arc::clone(server));
            let plan = Plan::from_questions(Vec::new());
            (Arc::new(environment), plan, Some(Box::new(question_source)))
        }
    };
    let total = question_source.is_none().then(|| plan.total());
    let count = match (total, n) {
        (Some(total), _) => counted(total, "episode"),
        (None, Some(n)) => format!("at most {}", counted(n, "episode")),
        (None, None) => "all episodes".to_owned(),
    };
    note(format!(
        "{} plays {count} of {}",
        settings.model.name, played.name
    ));
    let (result_chars, total_chars) = match (endpoint, &question_source) {
        (Some(_), _) => SHOWN_CHARS,
        (None, Some(_)) => BASELINE_CHARS,
        // The baseline reads results whole or not at all.
        (None, None) => (usize::MAX, usize::MAX),
    };
    let offline = settings.model.is_offline();
    Ok(Job {
        meta: RunMeta {
            identity: Identity {
                model: name,
                critic: "none".to_owned(),
                data: played.hash.clone(),
                prompts: if offline {
                    String::new()
                } else {
                    instructions_hash()
                },
                plan: blake3::hash(format!("{seed:?} {n:?}").as_bytes())
                    .to_hex()
                    .to_string(),
                settings: format!(
                    "{}, max_steps = {}",
                    settings.answer_settings(),
                    options.max_steps
                ),
            },
            data: played.name.clone(),
            invented: played.invented,
            total,
            episodes: Some(options.meta(settings)),
            settings: settings_to_store(&resolved)?,
            ..RunMeta::default()
        },
        workload: Workload {
            pilot: false,
            solver: Arc::new(ToolAgent::new(
                model,
                environment,
                ToolAgentOptions {
                    tools: tool_specs(),
                    max_steps: options.max_steps,
                    temperature: settings.sampling.temperature,
                    max_output_tokens: settings.sampling.max_tokens,
                    seed,
                    result_chars,
                    total_chars,
                    recorded: !offline,
                },
            )),
            plan,
            question_source,
            concurrency: *concurrency(settings, endpoint).end(),
        },
        prompts: None,
        records: Err(
            "the questions were played in an environment, whose tools show the pages".to_owned(),
        ),
    })
}
