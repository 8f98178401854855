//! The job of an episode run: its questions, its environment and its model.

use std::sync::Arc;

use super::{EmbeddedModel, LocalEnvironment, ServerEnvironment, tool_specs};
use crate::engine::RunModels;
use crate::pipeline::{Job, PipelineError, RunContext, RunNotice, concurrency, settings_to_store};
use finqa_agents::llm::ChatModel;
use finqa_agents::pair::AgentSettings;
use finqa_agents::solve::{
    SHOWN_CHARS, ToolAgent, ToolAgentOptions, ToolEnvironment, instructions_hash,
};
use finqa_core::text::counted;
use finqa_journal::run::{EpisodeMeta, Identity, Plan, RunMeta};
use finqa_journal::settings::{QuestionSettings, Settings};

/// Default number of episodes with a remote model, because its calls may cost money. Set by hand.
const PAID_DEFAULT_EPISODES: usize = 100;

/// The environment, in this process or on a server.
#[derive(Clone)]
pub enum EpisodePlace {
    Local(Arc<LocalEnvironment>),
    Server(Arc<ServerEnvironment>),
}

/// An environment, and its description in a run.
#[derive(Clone)]
pub struct EpisodeEnvironment {
    pub place: EpisodePlace,
    /// The data's directory, the word `sample`, or the server's address. A resumed run opens the
    /// environment by this name.
    pub name: String,
    /// True if the user named the environment.
    pub is_named_by_user: bool,
    /// blake3 hash of the data, or the server's address.
    pub hash: String,
    /// True if the companies are fictional.
    pub invented: bool,
}

/// The options of an episode run.
#[derive(Clone)]
pub struct EpisodeOptions {
    pub environment: EpisodeEnvironment,
    /// Maximum number of episodes. The default is all, or 100 with a remote model.
    pub n: Option<usize>,
    /// Number of tool calls after which an episode is given up.
    pub max_steps: u32,
}

/// The job of an episode run, in which the settings' model plays the episodes.
pub fn job(
    settings: &Settings,
    options: &EpisodeOptions,
    context: &RunContext,
    models: &mut RunModels,
) -> Result<Job, PipelineError> {
    let environment = &options.environment;
    let notify = &context.notify;
    let model: Arc<dyn ChatModel> = if settings.model.is_offline() {
        Arc::new(EmbeddedModel::default())
    } else {
        models.connect(settings, &context.variables)?
    };
    for notice in models.notices(settings, &context.variables) {
        notify(RunNotice::Warning(notice));
    }
    let endpoint = models.endpoint();
    let note = |line: String| notify(RunNotice::Note(line));
    let paid = models.is_remote();
    if paid && !environment.is_named_by_user {
        return Err(PipelineError::NoEpisodeData);
    }
    if options.n.is_none() && paid {
        note(format!(
            "playing at most {PAID_DEFAULT_EPISODES} episodes because the model is remote; pass --n to change this"
        ));
    }
    let n = options.n.or(paid.then_some(PAID_DEFAULT_EPISODES));
    let plan = plan(settings, environment, n)?;
    let total = plan.total();
    note(format!(
        "playing {} of {} with model {}",
        counted(total, "episode"),
        environment.name,
        settings.model.name
    ));
    let meta = meta(settings, options, models, total, n)?;
    let agent = agent(settings, options, model, endpoint.is_some());
    Ok(Job {
        plan,
        solver: Arc::new(agent),
        concurrency: *concurrency(settings, endpoint).end(),
        meta,
        prompts: None,
        records: Err(
            "the questions were played in an environment, whose tools show the pages".to_owned(),
        ),
    })
}

/// The episodes to play, at most `n`.
fn plan(
    settings: &Settings,
    environment: &EpisodeEnvironment,
    n: Option<usize>,
) -> Result<Plan, PipelineError> {
    if let EpisodePlace::Server(server) = &environment.place
        && !server.lists_tasks()
        && settings.shards.shard.is_some()
    {
        return Err(PipelineError::ShardOfServer);
    }
    let plan = Plan::from_questions(match &environment.place {
        EpisodePlace::Local(local) => local.plan(settings.sampling.seed, n),
        EpisodePlace::Server(server) => server.plan(n),
    });
    if plan.total() == 0 {
        return Err(PipelineError::NoTasks(environment.name.clone()));
    }
    Ok(plan)
}

/// The agent with which the model plays. `is_chat_model` is false for the embedded analyst.
fn agent(
    settings: &Settings,
    options: &EpisodeOptions,
    model: Arc<dyn ChatModel>,
    is_chat_model: bool,
) -> ToolAgent {
    let player: Arc<dyn ToolEnvironment> = match &options.environment.place {
        EpisodePlace::Local(local) => Arc::clone(local) as _,
        EpisodePlace::Server(server) => Arc::clone(server) as _,
    };
    let (result_chars, total_chars) = if is_chat_model {
        SHOWN_CHARS
    } else {
        // The embedded analyst parses results as JSON, so it could not use a shortened result. It
        // pays for no tokens either.
        (usize::MAX, usize::MAX)
    };
    let agent = ToolAgentOptions {
        tools: tool_specs(),
        max_steps: options.max_steps,
        sampling: settings.sampling.clone(),
        result_chars,
        total_chars,
        recorded: is_chat_model,
    };
    ToolAgent::new(model, player, agent)
}

/// The description of a run that plays at most `n` episodes.
fn meta(
    settings: &Settings,
    options: &EpisodeOptions,
    models: &RunModels,
    total: usize,
    n: Option<usize>,
) -> Result<RunMeta, PipelineError> {
    let environment = &options.environment;
    // Like the data, the seed and the number determine which episodes are planned.
    let order = format!("{:?} {n:?}", settings.sampling.seed);
    let answers = settings.answer_settings();
    let mut stored = settings_to_store(&models.resolved(settings, None))?;
    // A run's stored settings are only those that take effect; these have none on episodes.
    for without_effect in [
        toml::Table::try_from(AgentSettings::default())?,
        toml::Table::try_from(QuestionSettings::default())?,
    ] {
        stored.retain(|key, _| !without_effect.contains_key(key));
    }
    Ok(RunMeta {
        identity: Identity {
            model: models.name(),
            critic: "none".to_owned(),
            data: environment.hash.clone(),
            prompts: if settings.model.is_offline() {
                String::new()
            } else {
                instructions_hash()
            },
            plan: blake3::hash(order.as_bytes()).to_hex().to_string(),
            settings: format!("{answers}, max_steps = {}", options.max_steps),
            ..Identity::default()
        },
        data: environment.name.clone(),
        invented: environment.invented,
        total,
        reply_limit: models.reply_limit(settings),
        episodes: Some(EpisodeMeta {
            environment: environment.name.clone(),
            server: matches!(environment.place, EpisodePlace::Server(_)),
            n: options.n,
            seed: settings.sampling.seed,
            max_steps: options.max_steps,
        }),
        settings: stored,
        ..RunMeta::default()
    })
}
