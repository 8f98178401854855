//! From settings and variables to the two agents: which provider, which key,
//! how many questions at a time.

use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::settings::{Origin, Settings, Variables, flag};
use finqa_agents::llm::settings::OFFLINE;
use finqa_agents::llm::{
    self, ChatModel, Endpoint, LimitOptions, ModelSettings, OpenAiApi, Provider, SettingsError,
};
use finqa_agents::pair::{Backend, CriticMode, PairOptions};
use finqa_agents::prompt::Prompts;
use finqa_core::secrets::shown_address;

use super::PipelineError;
use super::accuracy;
use super::model_context::{ModelContext, http_model};

/// The two agents and the servers they use.
pub(crate) struct PairSetup {
    pub pair: PairOptions,
    /// The analyst's server, and the critic's, if it differs; none without a chat model.
    servers: Vec<ModelSetup>,
    /// `offline`, or provider, address and model.
    pub name: String,
    /// `off`, `rules`, or provider, address and model of the critic.
    pub critic_name: String,
    /// Notes to show before a key is sent, one line each.
    pub notices: Vec<String>,
}

/// Sets up the pair that the settings ask for.
pub(crate) fn pair_setup(
    settings: &Settings,
    variables: &Variables,
    context: &ModelContext,
) -> Result<PairSetup, PipelineError> {
    let prompts = Prompts::embedded();
    let prompts = match &settings.agents.prompts {
        Some(folder) => prompts.with_dir(folder)?,
        None => prompts,
    };
    let unused = of_a_model(settings);
    if !unused.is_empty() {
        return Err(PipelineError::OptionsWithoutModel(unused.join(", ")));
    }
    if settings.agents.has_critic_server() && settings.agents.critic_model.is_none() {
        return Err(PipelineError::CriticWithoutModel);
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
    let mut pair = PairOptions {
        backend,
        settings: settings.agents.clone(),
        sampling: settings.sampling.clone(),
        prompts: Arc::new(prompts),
        checks: true,
    };
    let estimated = match settings.model.is_offline() {
        true => None,
        false => accuracy::estimate(&mut pair, &name, &settings.run.output)?,
    };
    let critic_name = match pair.critic() {
        CriticMode::Llm => critic_model.to_owned(),
        CriticMode::Auto => format!("where doubted {critic_model}"),
        CriticMode::Rules => "rules".to_owned(),
        CriticMode::Off => "off".to_owned(),
    };
    let count = 1 + usize::from(settings.agents.has_critic_server());
    let servers: Vec<_> = models.into_iter().flatten().take(count).collect();
    Ok(PairSetup {
        pair,
        notices: servers
            .iter()
            .filter_map(|it| it.notice.clone())
            .chain(estimated)
            .collect(),
        servers,
        name,
        critic_name,
    })
}

/// The options on the command line that say how a chat model is asked, where none is named.
fn of_a_model(settings: &Settings) -> Vec<String> {
    if !settings.model.is_offline() || settings.origins.contains_key("model") {
        return Vec::new();
    }
    let given = |key: &&str| settings.origins.get(*key) == Some(&Origin::CommandLine);
    let keys = ["provider", "api", "max_tokens"].into_iter().filter(given);
    keys.map(flag).collect()
}

impl PairSetup {
    /// True if calls leave this machine, and so may cost money.
    pub(crate) fn is_remote(&self) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|server| is_remote(Some(server.endpoint)))
    }

    /// The settings with the servers that variables of the environment chose, so
    /// that a run can be resumed without them, and with the critic and the accuracy of a
    /// chat model.
    pub(crate) fn resolved(&self, settings: &Settings) -> Settings {
        let Some(analyst) = self.servers.first() else {
            return settings.clone();
        };
        let mut resolved = analyst.resolved(settings);
        resolved.agents.critic = Some(self.pair.critic());
        resolved.agents.model_accuracy = self.pair.settings.model_accuracy;
        if let Some(critic) = self.servers.get(1) {
            resolved.agents.critic_provider = Some(critic.provider);
            resolved.agents.critic_base_url = Some(critic.base_url.clone());
        }
        resolved
    }

    /// Maximum number of conversations in flight, by the slower of the servers.
    pub(crate) fn concurrency(&self, settings: &Settings) -> RangeInclusive<usize> {
        let servers = self.servers.iter();
        let each = servers.map(|server| concurrency(settings, Some(server.endpoint)));
        each.min_by_key(|range| *range.end())
            .unwrap_or_else(|| concurrency(settings, None))
    }
}

/// The settings as a run keeps them: without what may be a key in an address.
pub(crate) fn settings_to_store(settings: &Settings) -> Result<toml::Table, toml::ser::Error> {
    let mut table = toml::Table::try_from(settings)?;
    // A shard has the settings of the whole run.
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

/// Conversations in flight at a time, at first and at most: as many as the user says, else
/// the cores without a chat model, two for a model on this machine, which shares its cores, and
/// elsewhere what the provider turns out to allow.
pub(crate) fn concurrency(
    settings: &Settings,
    endpoint: Option<Endpoint>,
) -> RangeInclusive<usize> {
    let fixed = |n| n..=n;
    match (settings.run.concurrency, endpoint) {
        (Some(n), _) => fixed(n),
        (None, None) => fixed(std::thread::available_parallelism().map_or(1, usize::from)),
        (None, Some(Endpoint::Loopback)) => fixed(2),
        (None, Some(_)) => 8..=64,
    }
}

/// One model, by itself.
#[derive(Clone)]
pub(crate) struct ModelSetup {
    pub model: Arc<dyn ChatModel>,
    /// The location of the server.
    pub endpoint: Endpoint,
    provider: Provider,
    base_url: String,
    /// Provider, address and model.
    pub name: String,
    /// Warning if the key is sent to an address that comes from a file.
    pub notice: Option<String>,
}

impl ModelSetup {
    /// The settings with the server that variables of the environment chose, so
    /// that a run can be resumed without them.
    pub(crate) fn resolved(&self, settings: &Settings) -> Settings {
        let mut resolved = settings.clone();
        resolved.model.provider = Some(self.provider);
        resolved.model.base_url = Some(self.base_url.clone());
        resolved
    }
}

/// A model and its server as the settings ask for them.
struct ServerChoice {
    model: ModelSettings,
    /// The setting that names the address.
    address_key: &'static str,
}

impl ServerChoice {
    /// `error` with the setting that holds the address, if that is what is wrong.
    fn named(&self, error: SettingsError, settings: &Settings) -> SettingsError {
        let key = self.address_key;
        match error {
            SettingsError::Url { value, reason, .. } if self.model.base_url.is_some() => {
                let variable = match settings.origins.get(key) {
                    Some(Origin::File(path)) => format!("{}: {key}", path.display()),
                    Some(Origin::Environment) => format!("CONVFINQA_{}", key.to_uppercase()),
                    Some(Origin::Run) => format!("the run's {key}"),
                    Some(Origin::CommandLine) | None => format!("--{}", key.replace('_', "-")),
                };
                SettingsError::Url {
                    variable,
                    value,
                    reason,
                }
            }
            error => error,
        }
    }
}

/// The critic's model, if it is not the analyst's.
fn critic_choice(settings: &Settings, analyst: &ModelSetup) -> Option<ServerChoice> {
    let agents = &settings.agents;
    let named = ModelSettings {
        name: agents.critic_model.clone()?,
        ..settings.model.clone()
    };
    if named == settings.model && !agents.has_critic_server() {
        return None;
    }
    Some(if agents.has_critic_server() {
        ServerChoice {
            model: ModelSettings {
                provider: agents.critic_provider.or(Some(analyst.provider)),
                base_url: agents.critic_base_url.clone(),
                api: None,
                ..named
            },
            address_key: "critic_base_url",
        }
    } else {
        ServerChoice {
            model: named,
            address_key: "base_url",
        }
    })
}

/// The settings' model, with `variables` instead of the environment.
pub(crate) fn model_setup(
    settings: &Settings,
    variables: &Variables,
    context: &ModelContext,
) -> Result<ModelSetup, PipelineError> {
    let choice = ServerChoice {
        model: settings.model.clone(),
        address_key: "base_url",
    };
    server_setup(settings, &choice, variables, context)
}

/// The models of analyst and critic, with `variables` instead of the environment.
pub(super) fn models_setup(
    settings: &Settings,
    variables: &Variables,
    context: &ModelContext,
) -> Result<[ModelSetup; 2], PipelineError> {
    let analyst = model_setup(settings, variables, context)?;
    let critic = match critic_choice(settings, &analyst) {
        Some(choice) => server_setup(settings, &choice, variables, context)?,
        None => analyst.clone(),
    };
    Ok([analyst, critic])
}

fn server_setup(
    settings: &Settings,
    choice: &ServerChoice,
    variables: &Variables,
    context: &ModelContext,
) -> Result<ModelSetup, PipelineError> {
    let replayed = context.is_replayed();
    let asked = ModelSettings {
        allow_http: replayed || choice.model.allow_http,
        ..choice.model.clone()
    };
    let variable = |name: &str| match replayed && Provider::key_variables().any(|key| key == name) {
        // Nothing is sent, so no key is needed, and none is read.
        true => Some("none".to_owned()),
        false => variables.get(name),
    };
    let (resolved, no_key) = match llm::ModelConnection::resolve(&variable, &asked) {
        Err(error @ SettingsError::NoKey { variable: key, .. }) if context.measure_only => {
            let with_key = |name: &str| match name == key {
                true => Some("none".to_owned()),
                false => variable(name),
            };
            let resolved = llm::ModelConnection::resolve(&with_key, &asked)?;
            (
                resolved,
                Some(format!("note: the run itself needs a key: {error}")),
            )
        }
        resolved => {
            let resolved = resolved.map_err(|error| choice.named(error, settings))?;
            (resolved, None)
        }
    };
    let address = shown_address(&resolved.base_url);
    // A conversation has one call in flight at a time, but for samples, which wait for slots.
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
    // Part of a run's identity.
    let name = format!("{} {address} {}{api}", resolved.provider, resolved.model);
    Ok(ModelSetup {
        endpoint: resolved.endpoint(),
        provider: resolved.provider,
        base_url: resolved.base_url.clone(),
        notice: match replayed || context.measure_only {
            true => no_key,
            false => foreign_address(settings, choice, variables, &resolved, &address),
        },
        model: {
            let model = Arc::new(http_model(resolved, context)?.with_limiter(limiter));
            match &context.replies {
                Some(replies) => replies.wrap(model, &name),
                None => model,
            }
        },
        name,
    })
}

/// The note for a base URL from a file and a key from elsewhere: the file may come from
/// someone else, and the key is sent to the address in it.
fn foreign_address(
    settings: &Settings,
    choice: &ServerChoice,
    variables: &Variables,
    resolved: &llm::ModelConnection,
    shown: &str,
) -> Option<String> {
    resolved.api_key.as_ref()?;
    let dotenv = |name: &str| variables.is_from_file(name).then(|| ".env".to_owned());
    let [key, variable] = resolved.provider.variables();
    let origin = settings.origins.get(choice.address_key);
    let file = match (&choice.model.base_url, origin) {
        (Some(_), Some(Origin::File(path))) => Some(path.display().to_string()),
        (Some(_), Some(Origin::Environment)) => {
            dotenv(&format!("CONVFINQA_{}", choice.address_key.to_uppercase()))
        }
        (Some(_), Some(Origin::CommandLine) | None) => None,
        (Some(url), Some(Origin::Run)) => {
            let chosen = variables.get(variable);
            let chosen = chosen.as_deref().or(resolved.provider.default_base_url());
            // It may have been set with a path that the run's address lacks.
            if chosen.is_some_and(|chosen| chosen.trim().starts_with(url)) {
                dotenv(variable)
            } else {
                Some("the run's own settings".to_owned())
            }
        }
        (None, _) => dotenv(variable),
    }?;
    let whose = match dotenv(key) {
        None => "the environment".to_owned(),
        Some(same) if same == file => return None,
        Some(other) => other,
    };
    Some(format!(
        "note: the key from {whose} is sent to {shown}, the base URL in {file}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(base_url: &str, timeout: Option<u64>) -> u64 {
        let settings = ModelSettings {
            base_url: Some(base_url.to_owned()),
            timeout,
            ..ModelSettings::default()
        };
        let key = |_: &str| Some("k".to_owned());
        let resolved = llm::ModelConnection::resolve(&key, &settings).unwrap();
        resolved.timeouts.attempt.as_secs()
    }

    #[test]
    fn a_local_model_gets_ten_minutes_unless_the_user_says_otherwise() {
        assert_eq!(seconds("http://127.0.0.1:8080/v1", None), 600);
        assert_eq!(seconds("https://models.example/v1", None), 120);
        assert_eq!(seconds("http://127.0.0.1:8080/v1", Some(120)), 120);
        assert_eq!(seconds("https://models.example/v1", Some(7)), 7);
    }

    #[test]
    fn a_local_model_gets_two_conversations_and_a_remote_one_what_it_allows() {
        let mut settings = Settings::default();
        let at = |settings: &_, endpoint| concurrency(settings, Some(endpoint));
        assert_eq!(at(&settings, Endpoint::Loopback), 2..=2);
        assert_eq!(at(&settings, Endpoint::Own(Provider::OpenAi)), 8..=64);
        settings.run.concurrency = Some(128);
        assert_eq!(at(&settings, Endpoint::Loopback), 128..=128);
        assert_eq!(at(&settings, Endpoint::Own(Provider::OpenAi)), 128..=128);
    }

    #[test]
    fn an_unusable_address_names_the_setting_that_holds_it() {
        let shown = |key: &str, origin: Origin| {
            let mut settings = Settings::default();
            settings.model.name = "m".to_owned();
            settings.agents.critic_model = Some("c".to_owned());
            settings.model.base_url = Some("http://127.0.0.1:9/v1".to_owned());
            let critic = key == "critic_base_url";
            let address = match critic {
                true => &mut settings.agents.critic_base_url,
                false => &mut settings.model.base_url,
            };
            *address = Some("nonsense".to_owned());
            settings.origins.insert(key.to_owned(), origin);
            let context = ModelContext::new(Arc::new(|_, _| {}));
            let setup = models_setup(&settings, &Variables::none(), &context);
            setup.err().unwrap().to_string()
        };
        for (key, origin, name) in [
            ("critic_base_url", Origin::CommandLine, "--critic-base-url"),
            (
                "critic_base_url",
                Origin::Environment,
                "CONVFINQA_CRITIC_BASE_URL",
            ),
            (
                "critic_base_url",
                Origin::File("c.toml".into()),
                "c.toml: critic_base_url",
            ),
            ("base_url", Origin::CommandLine, "--base-url"),
            ("base_url", Origin::Environment, "CONVFINQA_BASE_URL"),
            (
                "base_url",
                Origin::File("c.toml".into()),
                "c.toml: base_url",
            ),
        ] {
            let error = shown(key, origin);
            let start = format!("{name} `nonsense` is not a usable address");
            assert!(error.starts_with(&start), "{error}");
        }
    }
}
