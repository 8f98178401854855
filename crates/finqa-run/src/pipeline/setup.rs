//! Connects a run's models as settings and variables describe them: providers, addresses, keys, and
//! the number of questions in flight.

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

impl RunModels {
    /// Connects the models of analyst and critic. Returns the options of the two agents.
    ///
    /// # Errors
    /// The settings contradict each other, or a model cannot be connected.
    pub fn connect_pair(
        &mut self,
        settings: &Settings,
        variables: &Variables,
    ) -> Result<PairOptions, PipelineError> {
        let prompts = Prompts::embedded();
        let prompts = match &settings.agents.prompts {
            Some(folder) => prompts.with_dir(folder)?,
            None => prompts,
        };
        if settings.agents.has_critic_server() && settings.agents.critic_model.is_none() {
            return Err(PipelineError::CriticWithoutModel);
        }
        if settings.batch.engine == ExecutionEngine::Batch && settings.model.is_offline() {
            return Err(PipelineError::BatchesWithoutModel);
        }
        let backend = if settings.model.is_offline() {
            Backend::Embedded
        } else {
            let analyst = self.connect(settings, variables)?;
            let critic = match self.critic_choice(settings) {
                Some(model) => self
                    .connect_to(settings, &model, variables)
                    .map_err(|error| match error {
                        PipelineError::Provider(error) => PipelineError::CriticProvider(error),
                        error => error,
                    })?,
                None => Arc::clone(&analyst),
            };
            Backend::Llm { analyst, critic }
        };
        // Only the answers of a chat model have a second opinion.
        let lacks_accuracy = settings.agents.second_opinion == OpinionUse::Arbitrate
            && settings.agents.model_accuracy.is_none();
        if lacks_accuracy && !self.servers.is_empty() {
            return Err(PipelineError::NoAccuracy);
        }
        Ok(PairOptions {
            backend,
            settings: settings.agents.clone(),
            sampling: settings.sampling.clone(),
            prompts: Arc::new(prompts),
            checks: true,
        })
    }

    /// Connects the settings' model.
    ///
    /// # Errors
    /// The model cannot be connected, for example without a key.
    pub fn connect(
        &mut self,
        settings: &Settings,
        variables: &Variables,
    ) -> Result<Arc<dyn ChatModel>, PipelineError> {
        self.connect_to(settings, &settings.model, variables)
    }

    /// The settings of the critic's model; `None` if the critic uses the analyst's.
    fn critic_choice(&self, settings: &Settings) -> Option<ModelSettings> {
        let agents = &settings.agents;
        let named = ModelSettings {
            name: agents.critic_model.clone()?,
            ..settings.model.clone()
        };
        if !agents.has_critic_server() {
            return (named != settings.model).then_some(named);
        }
        let of_analyst = self.servers.first().map(|analyst| analyst.provider);
        Some(ModelSettings {
            provider: agents.critic_provider.or(of_analyst),
            base_url: agents.critic_base_url.clone(),
            // `--api` is about the analyst's server; the critic's has the default of its model.
            api: None,
            ..named
        })
    }

    /// Connects a model. `variables` replace the environment.
    fn connect_to(
        &mut self,
        settings: &Settings,
        model: &ModelSettings,
        variables: &Variables,
    ) -> Result<Arc<dyn ChatModel>, PipelineError> {
        let replayed = self.is_replayed();
        let none = || Some("none".to_owned());
        // A replay sends nothing, so it needs no key and must not read one. Instead, the variable
        // of a key gets the placeholder `none`.
        let variable = |name: &str| {
            if replayed && Provider::key_variables().any(|key| key == name) {
                none()
            } else if replayed && name == ALLOW_HTTP {
                Some("true".to_owned())
            } else {
                variables.get(name)
            }
        };
        let mut server = match ModelConnection::resolve(&variable, model) {
            Err(SettingsError::NoKey { variable: key, .. }) if self.measure_only => {
                // Nothing is sent, so any key will do.
                let with_key = |name: &str| if name == key { none() } else { variable(name) };
                ModelConnection::resolve(&with_key, model)?
            }
            resolved => resolved?,
        };
        server.retry.give_up_after = settings.budget.give_up_after.into();
        // The range is the same as for conversations, because each has one call in flight at a
        // time. The samples of a draft are several calls, which wait for slots.
        let concurrency = concurrency(settings, Some(server.endpoint()));
        let mut model = self.http_model(server.clone())?;
        model.limiter = self.limits.limiter(LimitOptions {
            start: *concurrency.start(),
            max: *concurrency.end(),
            rpm: settings.model.rpm,
            tpm: settings.model.tpm,
        });
        let name = full_name(&server);
        self.servers.push(server);
        let model = Arc::new(model);
        Ok(match &self.replies {
            Some(replies) => replies.wrap(model, &name),
            None => model,
        })
    }

    /// Creates a model that uses the shared state. The caller sets the limiter.
    ///
    /// # Errors
    /// [`PipelineError::NoPrice`] if the cost is limited and the model has no known price.
    fn http_model(&self, server: ModelConnection) -> Result<HttpModel, PipelineError> {
        let mut model = HttpModel::new(server)?;
        model.observer = Some(Arc::clone(&self.observer));
        model.prices = Arc::clone(&self.prices);
        model.budget = Arc::clone(&self.budget);
        let model = model.with_batches(self.batches.as_ref());
        if self.budget.limits().cost.is_some() && !model.has_price() {
            let server = model.settings();
            return Err(PipelineError::NoPrice {
                model: server.model.clone(),
                address: shown_address(&server.base_url),
            });
        }
        Ok(model)
    }

    /// Warnings to show before a key is sent, one line each. They are about a key that is sent to
    /// an address which may come from a file, and about variables that are not used.
    pub fn notices(&self, settings: &Settings, variables: &Variables) -> BTreeSet<String> {
        if self.is_replayed() || self.measure_only {
            return BTreeSet::new();
        }
        let critic_key = if settings.agents.has_critic_server() {
            "critic_base_url"
        } else {
            "base_url"
        };
        let servers = ["base_url", critic_key].into_iter().zip(&self.servers);
        servers
            .flat_map(|(address_key, server)| {
                let unused = unused_variables(variables, server.provider.prefix());
                unused
                    .into_iter()
                    .chain(key_note(settings, address_key, server))
            })
            .collect()
    }

    /// True if calls leave this machine, because they may then cost money.
    pub(crate) fn is_remote(&self) -> bool {
        let mut servers = self.servers.iter();
        servers.any(|server| server.endpoint() != Endpoint::Loopback)
    }

    /// The place of the analyst's server; `None` without a chat model.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        Some(self.servers.first()?.endpoint())
    }

    /// `offline`, or the provider, address and model of the analyst.
    pub(crate) fn name(&self) -> String {
        let analyst = self.servers.first();
        analyst.map_or_else(|| OFFLINE.to_owned(), full_name)
    }

    /// `off`, `rules`, or the provider, address and model of these agents' critic.
    pub(crate) fn critic_name(&self, pair: &PairOptions) -> String {
        // The last server is the critic's, or the analyst's if both use the same.
        let model = self.servers.last().map(full_name).unwrap_or_default();
        match pair.critic() {
            CriticMode::Llm => model,
            CriticMode::Auto => format!("where doubted {model}"),
            CriticMode::Rules => "rules".to_owned(),
            CriticMode::Off => "off".to_owned(),
        }
    }

    /// Maximum tokens of a reply of the analyst's model; `None` without a chat model.
    pub(crate) fn reply_limit(&self, settings: &Settings) -> Option<u32> {
        let analyst = self.servers.first()?;
        let own = || llm::reply_limit(&analyst.model);
        Some(settings.sampling.max_tokens.unwrap_or_else(own))
    }

    /// The settings with the servers that environment variables chose, so that a run can be resumed
    /// without these variables. The critic mode is the one that applies to these agents.
    pub(crate) fn resolved(&self, settings: &Settings, pair: Option<&PairOptions>) -> Settings {
        let mut resolved = settings.clone();
        let Some(analyst) = self.servers.first() else {
            return resolved;
        };
        resolved.model.provider = Some(analyst.provider);
        resolved.model.base_url = Some(analyst.address.clone());
        if let Some(pair) = pair {
            resolved.agents.critic = Some(pair.critic());
        }
        if let Some(critic) = self.servers.get(1)
            && settings.agents.has_critic_server()
        {
            resolved.agents.critic_provider = Some(critic.provider);
            resolved.agents.critic_base_url = Some(critic.address.clone());
        }
        resolved
    }
}

/// Provider, address and model. They are part of a run's identity, so the same model under another
/// name would count as another model.
fn full_name(server: &ModelConnection) -> String {
    let address = shown_address(&server.base_url);
    let api = match server.api {
        OpenAiApi::Chat => "",
        OpenAiApi::Responses => " (responses)",
    };
    format!("{} {address} {}{api}", server.provider, server.model)
}

/// The settings as a run stores them. Parts of addresses that may be keys are hidden.
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

/// The number of requests in flight, at first and at most. The second is also the number of
/// conversations in flight. `--concurrency` sets both. By default, both are the number of cores
/// without a chat model, and two for a model on this machine, which shares the cores. For a remote
/// model they are 8 and 64, as far as the provider allows (`llm::limits`). Two, 8 and 64 are set by
/// hand.
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

/// A note if the key is sent to an address that is neither the provider's own nor given on the
/// command line. Such an address may come from a file that somebody else wrote.
fn key_note(settings: &Settings, address_key: &str, server: &ModelConnection) -> Option<String> {
    server.api_key.as_ref()?;
    let is_given = settings.origins.get(address_key) == Some(&Origin::CommandLine);
    let is_own = matches!(server.endpoint(), Endpoint::Own(_));
    let shown = shown_address(&server.base_url);
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
