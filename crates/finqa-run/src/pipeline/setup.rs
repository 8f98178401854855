//! Sets up the two agents from settings and variables: providers, addresses, keys, and the number
//! of questions in flight.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

use finqa_agents::llm::settings::{ALLOW_HTTP, OFFLINE};
use finqa_agents::llm::{
    self, ChatModel, Endpoint, HttpModel, LimitOptions, ModelConnection, ModelSettings, OpenAiApi,
    Provider, SettingsError,
};
use finqa_agents::pair::{Backend, CriticMode, OpinionUse, PairOptions};
use finqa_agents::prompt::Prompts;
use finqa_core::secrets::shown_address;
use finqa_journal::settings::{ExecutionEngine, Origin, Settings, Variables};

use crate::engine::RunModels;

use super::PipelineError;
use super::unused_settings::unused_variables;

/// The two agents and the servers they use.
pub struct PairSetup {
    pub pair: PairOptions,
    /// The analyst's server, and the critic's if it has one of its own. Empty without a chat
    /// model.
    servers: Vec<ModelSetup>,
    /// `offline`, or provider, address and model.
    pub name: String,
    /// `off`, `rules`, or provider, address and model of the critic.
    pub critic_name: String,
    /// Warnings to show before a key is sent, one line each.
    pub notices: Vec<String>,
}

/// Sets up the two agents that the settings ask for.
pub fn pair_setup(
    settings: &Settings,
    variables: &Variables,
    context: &RunModels,
) -> Result<PairSetup, PipelineError> {
    let prompts = Prompts::embedded();
    let prompts = match &settings.agents.prompts {
        Some(folder) => prompts.with_dir(folder)?,
        None => prompts,
    };
    if settings.agents.has_critic_server() && settings.agents.critic_model.is_none() {
        return Err(PipelineError::CriticWithoutModel);
    }
    if settings.batch.engine == ExecutionEngine::Batch && settings.model.is_offline() {
        return Err(PipelineError::NoBatches(
            "needs a chat model, because the embedded analyst sends no requests; pass --model NAME",
        ));
    }
    let models = match settings.model.is_offline() {
        true => None,
        false => Some(models_setup(settings, variables, context)?),
    };
    let (backend, name, critic_model) = match &models {
        None => (Backend::Embedded, OFFLINE.to_owned(), ""),
        Some([analyst, critic]) => {
            let backend = Backend::Llm {
                analyst: Arc::clone(&analyst.model),
                critic: Arc::clone(&critic.model),
            };
            (backend, analyst.name.clone(), critic.name.as_str())
        }
    };
    let lacks_accuracy = settings.agents.second_opinion == OpinionUse::Arbitrate
        && settings.agents.model_accuracy.is_none();
    if lacks_accuracy && models.is_some() {
        return Err(PipelineError::NoAccuracy);
    }
    let pair = PairOptions {
        backend,
        settings: settings.agents.clone(),
        sampling: settings.sampling.clone(),
        prompts: Arc::new(prompts),
        checks: true,
    };
    let critic_name = match pair.critic() {
        CriticMode::Llm => critic_model.to_owned(),
        CriticMode::Auto => format!("where doubted {critic_model}"),
        CriticMode::Rules => "rules".to_owned(),
        CriticMode::Off => "off".to_owned(),
    };
    let count = 1 + usize::from(settings.agents.has_critic_server());
    let servers: Vec<_> = models.into_iter().flatten().take(count).collect();
    let notices = servers.iter().flat_map(|it| it.notices.clone());
    // A set, because two servers of one provider have the same notices about unused variables.
    let notices: BTreeSet<String> = notices.collect();
    Ok(PairSetup {
        pair,
        notices: notices.into_iter().collect(),
        servers,
        name,
        critic_name,
    })
}

impl PairSetup {
    /// True if calls leave this machine, and so may cost money.
    pub(crate) fn is_remote(&self) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|server| is_remote(Some(server.endpoint)))
    }

    /// The settings with the servers that environment variables chose, so that a run can be
    /// resumed without these variables, and with the critic mode that applies.
    pub(crate) fn resolved(&self, settings: &Settings) -> Settings {
        let Some(analyst) = self.servers.first() else {
            return settings.clone();
        };
        let mut resolved = analyst.resolved(settings);
        resolved.agents.critic = Some(self.pair.critic());
        if let Some(critic) = self.servers.get(1) {
            resolved.agents.critic_provider = Some(critic.provider);
            resolved.agents.critic_base_url = Some(critic.address.clone());
        }
        resolved
    }

    /// Maximum tokens of a reply of the analyst's model; `None` without a chat model.
    pub(crate) fn reply_limit(&self) -> Option<u32> {
        Some(self.servers.first()?.reply_limit)
    }

    /// The location of the analyst's server; `None` without a chat model.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        Some(self.servers.first()?.endpoint)
    }
}

/// The settings as a run stores them: parts of addresses that may be keys are hidden.
pub(crate) fn settings_to_store(settings: &Settings) -> Result<toml::Table, toml::ser::Error> {
    let mut table = toml::Table::try_from(settings)?;
    // A shard stores the settings of the whole run.
    for key in ["shard", "run"] {
        table.remove(key);
    }
    for key in ["base_url", "critic_base_url", "mlflow"] {
        if let Some(toml::Value::String(address)) = table.get_mut(key) {
            *address = shown_address(address);
        }
    }
    Ok(table)
}

/// True if calls to the endpoint leave this machine, and so may cost money.
pub(crate) fn is_remote(endpoint: Option<Endpoint>) -> bool {
    endpoint.is_some_and(|endpoint| endpoint != Endpoint::Loopback)
}

/// The number of requests in flight, at first and at most; the second is also the number of
/// conversations in flight. `--concurrency` fixes both. By default it is the number of cores
/// without a chat model, two for a model on this machine, which shares the cores, and 8 to 64 for
/// a remote model, as far as the provider allows (`llm::limits`).
pub fn concurrency(settings: &Settings, endpoint: Option<Endpoint>) -> RangeInclusive<usize> {
    let fixed = |n| n..=n;
    match (settings.run.concurrency, endpoint) {
        (Some(n), _) => fixed(n),
        (None, None) => fixed(std::thread::available_parallelism().map_or(1, usize::from)),
        (None, Some(Endpoint::Loopback)) => fixed(2),
        (None, Some(_)) => 8..=64,
    }
}

/// A model with its server.
#[derive(Clone)]
pub struct ModelSetup {
    pub model: Arc<dyn ChatModel>,
    /// The location of the server.
    pub endpoint: Endpoint,
    provider: Provider,
    /// The address that resolves to this server if it is put into the settings.
    address: String,
    /// Provider, address and model.
    pub name: String,
    /// Warnings, one line each: a key that is sent to an address which may come from a file, and
    /// variables that are not used.
    pub notices: Vec<String>,
    /// Maximum tokens of a reply.
    pub reply_limit: u32,
}

impl ModelSetup {
    /// The settings with the server that environment variables chose, so that a run can be resumed
    /// without these variables.
    pub(crate) fn resolved(&self, settings: &Settings) -> Settings {
        let mut resolved = settings.clone();
        resolved.model.provider = Some(self.provider);
        resolved.model.base_url = Some(self.address.clone());
        resolved
    }
}

/// The critic's model and the setting that names its address; `None` if the critic uses the
/// analyst's model.
fn critic_choice(
    settings: &Settings,
    analyst: &ModelSetup,
) -> Option<(ModelSettings, &'static str)> {
    let agents = &settings.agents;
    let named = ModelSettings {
        name: agents.critic_model.clone()?,
        ..settings.model.clone()
    };
    if !agents.has_critic_server() {
        return (named != settings.model).then_some((named, "base_url"));
    }
    let on_own_server = ModelSettings {
        provider: agents.critic_provider.or(Some(analyst.provider)),
        base_url: agents.critic_base_url.clone(),
        api: None,
        ..named
    };
    Some((on_own_server, "critic_base_url"))
}

/// Sets up the settings' model, with `variables` instead of the environment.
pub fn model_setup(
    settings: &Settings,
    variables: &Variables,
    context: &RunModels,
) -> Result<ModelSetup, PipelineError> {
    server_setup(settings, &settings.model, "base_url", variables, context)
}

/// Sets up the models of analyst and critic, with `variables` instead of the environment.
fn models_setup(
    settings: &Settings,
    variables: &Variables,
    context: &RunModels,
) -> Result<[ModelSetup; 2], PipelineError> {
    let analyst = model_setup(settings, variables, context)?;
    let critic = match critic_choice(settings, &analyst) {
        Some((model, key)) => server_setup(settings, &model, key, variables, context)?,
        None => analyst.clone(),
    };
    Ok([analyst, critic])
}

/// Sets up a model whose address is in the setting `address_key`.
fn server_setup(
    settings: &Settings,
    model: &ModelSettings,
    address_key: &str,
    variables: &Variables,
    context: &RunModels,
) -> Result<ModelSetup, PipelineError> {
    let replayed = context.is_replayed();
    let none = || Some("none".to_owned());
    // A replay sends nothing, so it needs no key and reads none.
    let variable = |name: &str| match replayed {
        true if Provider::key_variables().any(|key| key == name) => none(),
        true if name == ALLOW_HTTP => Some("true".to_owned()),
        _ => variables.get(name),
    };
    let mut resolved = match ModelConnection::resolve(&variable, model) {
        Err(SettingsError::NoKey { variable: key, .. }) if context.measure_only => {
            let with_key = |name: &str| match name == key {
                true => none(),
                false => variable(name),
            };
            ModelConnection::resolve(&with_key, model)?
        }
        resolved => resolved?,
    };
    resolved.retry.give_up_after = settings.budget.give_up_after.into();
    let address = shown_address(&resolved.base_url);
    // The same range as for conversations: each has one call in flight at a time, except for
    // samples, which wait for slots.
    let concurrency = concurrency(settings, Some(resolved.endpoint()));
    let limiter = context.limits.limiter(LimitOptions {
        start: *concurrency.start(),
        max: *concurrency.end(),
        rpm: settings.model.rpm,
        tpm: settings.model.tpm,
    });
    let api = match resolved.api {
        OpenAiApi::Chat => "",
        OpenAiApi::Responses => " (responses)",
    };
    // Part of a run's identity: another form of the name would count as another model.
    let name = format!("{} {address} {}{api}", resolved.provider, resolved.model);
    Ok(ModelSetup {
        endpoint: resolved.endpoint(),
        provider: resolved.provider,
        address: resolved.address.clone(),
        reply_limit: settings
            .sampling
            .max_tokens
            .unwrap_or(llm::reply_limit(&resolved.model)),
        notices: match replayed || context.measure_only {
            true => Vec::new(),
            false => {
                let mut notices = unused_variables(variables, resolved.provider.prefix());
                notices.extend(key_note(settings, address_key, &resolved, &address));
                notices
            }
        },
        model: {
            let mut model = http_model(resolved, context)?;
            model.limiter = limiter;
            let model = Arc::new(model);
            match &context.replies {
                Some(replies) => replies.wrap(model, &name),
                None => model,
            }
        },
        name,
    })
}

/// Creates a model from its connection and the shared state. The caller sets the limiter.
///
/// # Errors
/// [`PipelineError::NoPrice`] if the cost is limited and the model has no known price.
fn http_model(
    connection: ModelConnection,
    context: &RunModels,
) -> Result<HttpModel, PipelineError> {
    let mut model = HttpModel::new(connection)?;
    model.observer = Some(Arc::clone(&context.observer));
    model.prices = Arc::clone(&context.prices);
    model.budget = Arc::clone(&context.budget);
    let model = model.with_batches(context.batches.as_ref());
    if context.budget.limits().cost.is_some() && !model.has_price() {
        let connection = model.settings();
        return Err(PipelineError::NoPrice {
            model: connection.model.clone(),
            address: shown_address(&connection.base_url),
        });
    }
    Ok(model)
}

/// A note if the key is sent to an address that is neither the provider's own nor given on the
/// command line, because it may come from a file that somebody else wrote.
fn key_note(
    settings: &Settings,
    address_key: &str,
    resolved: &ModelConnection,
    shown: &str,
) -> Option<String> {
    resolved.api_key.as_ref()?;
    let is_given = settings.origins.get(address_key) == Some(&Origin::CommandLine);
    let is_own = matches!(resolved.endpoint(), Endpoint::Own(_));
    (!is_given && !is_own).then(|| format!("note: the key is sent to {shown}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_model_gets_ten_minutes_and_two_conversations_unless_the_user_says_otherwise() {
        for (url, timeout, seconds) in [
            ("http://127.0.0.1:8080/v1", None, 600),
            ("https://models.example/v1", None, 120),
            ("http://127.0.0.1:8080/v1", Some(120), 120),
        ] {
            let settings = ModelSettings {
                base_url: Some(url.to_owned()),
                timeout,
                ..ModelSettings::default()
            };
            let key = |_: &str| Some("k".to_owned());
            let resolved = ModelConnection::resolve(&key, &settings).unwrap();
            assert_eq!(resolved.timeout.as_secs(), seconds, "{url}");
        }
        let mut settings = Settings::default();
        let at = |settings: &_, endpoint| concurrency(settings, Some(endpoint));
        assert_eq!(at(&settings, Endpoint::Loopback), 2..=2);
        assert_eq!(at(&settings, Endpoint::Own(Provider::OpenAi)), 8..=64);
        settings.run.concurrency = Some(128);
        assert_eq!(at(&settings, Endpoint::Loopback), 128..=128);
        assert_eq!(at(&settings, Endpoint::Own(Provider::OpenAi)), 128..=128);
    }
}
