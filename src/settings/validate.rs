//! Checks of the settings' values.

use std::path::Path;

use finqa_agents::agents::SampleCount;
use finqa_core::secrets::HIDDEN;

use super::Settings;
use super::shards::name_error;

const MODEL_KEYS: &str =
    "give an address without it, and the key in OPENAI_API_KEY or AZURE_OPENAI_API_KEY";
const MLFLOW_KEYS: &str =
    "put them into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN";

/// The part of an address that may be secret and would be written into every run's
/// `config.toml`.
fn secret_in(address: &str) -> Option<&'static str> {
    let (before, query) = match address.split_once(['?', '#']) {
        Some((before, query)) => (before, Some(query)),
        None => (address, None),
    };
    let (_, rest) = before.split_once("://").unwrap_or(("", before));
    if rest
        .split('/')
        .next()
        .is_some_and(|host| host.contains('@'))
    {
        Some("a user or password")
    } else if query.is_some_and(|query| !is_api_version(query)) {
        Some("a query string or fragment")
    } else {
        None
    }
}

/// True if a query is the one that Azure's portal shows after an endpoint.
fn is_api_version(query: &str) -> bool {
    query.starts_with("api-version=") && !query.contains(['&', '#'])
}

/// A setting with a value that a run cannot work with.
#[derive(Debug)]
pub struct SettingFault {
    /// The setting.
    pub key: &'static str,
    /// What is wrong and what it may be, in words that follow its name.
    pub problem: String,
}

impl Settings {
    /// Checks every value.
    ///
    /// # Errors
    /// The first setting with a value that a run cannot work with.
    pub fn validate(&self) -> Result<(), SettingFault> {
        let fault = |key, problem| Err(SettingFault { key, problem });
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let texts = [
            ("data_path", self.questions.data_path.clone()),
            ("critic_model", self.agents.critic_model.clone()),
            ("prompts", self.agents.prompts.as_deref().map(path)),
            ("output", Some(path(&self.run.output))),
            ("cache", self.model.cache.as_deref().map(path)),
        ];
        let is_blank = |text: &String| text.trim().is_empty();
        if let Some((name, _)) = texts
            .iter()
            .find(|(_, text)| text.as_ref().is_some_and(is_blank))
        {
            return fault(
                name,
                "is empty; give it a value, or leave it out".to_owned(),
            );
        }
        if self.questions.ids.iter().any(is_blank) {
            return fault(
                "ids",
                "holds an empty id; separate the ids by single commas".to_owned(),
            );
        }
        let temperature = self.sampling.temperature.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&temperature) {
            let problem = format!("is {temperature}; it must be between 0 and 1");
            return fault("temperature", problem);
        }
        let chances = [
            ("min_confidence", self.agents.min_confidence),
            ("opinion_confidence", self.agents.opinion_confidence),
            (
                "model_accuracy",
                self.agents.model_accuracy.unwrap_or_default(),
            ),
        ];
        if let Some((name, p)) = chances.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            return fault(name, format!("is {p}; it must be between 0 and 1"));
        }
        let samples = match self.agents.samples {
            SampleCount::Fixed(count) => u64::from(count),
            SampleCount::Auto(_) => 1,
        };
        let least_one = [
            ("max_rounds", u64::from(self.agents.max_rounds)),
            ("timeout", self.model.timeout.unwrap_or(1)),
            ("attempts", u64::from(self.model.attempts)),
            ("rpm", self.model.rpm.unwrap_or(1)),
            ("tpm", self.model.tpm.unwrap_or(1)),
            ("epochs", u64::from(self.questions.epochs)),
            ("samples", samples),
            ("n", self.questions.n.unwrap_or(1) as u64),
            ("shards", u64::from(self.shards.shards.unwrap_or(1))),
            ("concurrency", self.run.concurrency.unwrap_or(1) as u64),
            (
                "max_tokens_total",
                self.budget.max_tokens_total.unwrap_or(1),
            ),
            (
                "max_tokens",
                u64::from(self.sampling.max_tokens.unwrap_or(1)),
            ),
        ];
        if let Some((name, _)) = least_one.iter().find(|(_, value)| *value == 0) {
            return fault(name, "is 0; it must be at least 1".to_owned());
        }
        if self.budget.max_cost.is_some_and(|most| most.0.is_zero()) {
            return fault("max_cost", "is 0; it must be above 0".to_owned());
        }
        // More than any machine can hold at once; a run plans them all in memory.
        let most = [
            (
                "concurrency",
                self.run.concurrency.unwrap_or(1) as u64,
                10_000,
            ),
            ("epochs", u64::from(self.questions.epochs), 1_000),
            ("samples", samples, 1_000),
            ("examples", u64::from(self.agents.examples), 100),
            (
                "timeout",
                self.model.timeout.unwrap_or(1),
                30 * 24 * 60 * 60,
            ),
        ];
        if let Some((name, value, most)) = most.iter().find(|(_, value, most)| value > most) {
            return fault(name, format!("is {value}; it must be at most {most}"));
        }
        let addresses = [
            ("mlflow", Some(self.run.mlflow.as_str()), MLFLOW_KEYS),
            ("base_url", self.model.base_url.as_deref(), MODEL_KEYS),
            (
                "critic_base_url",
                self.agents.critic_base_url.as_deref(),
                MODEL_KEYS,
            ),
        ];
        for (name, address, variables) in addresses {
            let address = address.unwrap_or_default();
            if address.contains(HIDDEN) {
                let problem = format!(
                    "is {address}, which was written without its key; give the whole address"
                );
                return fault(name, problem);
            }
            if let Some(secret) = secret_in(address) {
                return fault(name, format!("holds {secret}; {variables}"));
            }
        }
        if let Some(name) = &self.shards.run_name
            && let Some(reason) = name_error(name)
        {
            let problem = format!("is `{name}`, which cannot name a run: {reason}");
            return fault("run", problem);
        }
        let experiment = self.run.experiment.as_deref();
        if experiment.is_some_and(|name| name.trim().is_empty() || name.chars().count() > 500) {
            let problem = "is empty or longer than MLflow's 500 characters".to_owned();
            return fault("experiment", problem);
        }
        if self.model.name.trim().is_empty() {
            let problem =
                "is empty; name a model, or `offline` for the embedded analyst".to_owned();
            return fault("model", problem);
        }
        Ok(())
    }
}
