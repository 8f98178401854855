//! Which values a run can work with.

use std::path::Path;

use finqa_agents::agents::SampleCount;
use finqa_core::secrets::HIDDEN;

use super::Settings;
use super::shards::fault_of_name;

const MODEL_KEYS: &str =
    "give an address without it, and the key in OPENAI_API_KEY or AZURE_OPENAI_API_KEY";
const MLFLOW_KEYS: &str =
    "put them into MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN";

/// What an address holds that may be secret and would be written into every run's
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

/// Whether a query is the one that Azure's portal shows behind an endpoint.
fn is_api_version(query: &str) -> bool {
    query.starts_with("api-version=") && !query.contains(['&', '#'])
}

impl Settings {
    /// Whether every value is one that a run can work with.
    ///
    /// # Errors
    /// Which setting is wrong and what it may be, in one line.
    pub fn validate(&self) -> Result<(), String> {
        let path = |path: &Path| path.to_string_lossy().into_owned();
        let texts = [
            ("data-path", self.questions.data_path.clone()),
            ("critic-model", self.agents.critic_model.clone()),
            ("prompts", self.agents.prompts.as_deref().map(path)),
            ("output", Some(path(&self.run.output))),
            ("cache", self.model.cache.as_deref().map(path)),
        ];
        let is_blank = |text: &String| text.trim().is_empty();
        if let Some((name, _)) = texts
            .iter()
            .find(|(_, text)| text.as_ref().is_some_and(is_blank))
        {
            return Err(format!("{name} is empty; give it a value, or leave it out"));
        }
        if self.questions.ids.iter().any(is_blank) {
            return Err("ids holds an empty id; separate the ids by single commas".to_owned());
        }
        let temperature = self.sampling.temperature.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&temperature) {
            return Err(format!(
                "temperature is {temperature}; it must be between 0 and 1"
            ));
        }
        let chances = [
            ("min-confidence", self.agents.min_confidence),
            ("opinion-confidence", self.agents.opinion_confidence),
            (
                "model-accuracy",
                self.agents.model_accuracy.unwrap_or_default(),
            ),
        ];
        if let Some((name, p)) = chances.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            return Err(format!("{name} is {p}; it must be between 0 and 1"));
        }
        let samples = match self.agents.samples {
            SampleCount::Fixed(count) => u64::from(count),
            SampleCount::Auto(_) => 1,
        };
        let least_one = [
            ("max-rounds", u64::from(self.agents.max_rounds)),
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
                "max-tokens-total",
                self.budget.max_tokens_total.unwrap_or(1),
            ),
            (
                "max-tokens",
                u64::from(self.sampling.max_tokens.unwrap_or(1)),
            ),
        ];
        if let Some((name, _)) = least_one.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name} is 0; it must be at least 1"));
        }
        if self.budget.max_cost.is_some_and(|most| most.0.is_zero()) {
            return Err("max-cost is 0; it must be above 0".to_owned());
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
            return Err(format!("{name} is {value}; it must be at most {most}"));
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
                return Err(format!(
                    "{name} is {address}, which was written without its key; give the whole address"
                ));
            }
            if let Some(fault) = secret_in(address) {
                return Err(format!("{name} holds {fault}; {variables}"));
            }
        }
        if let Some(name) = &self.shards.run_name
            && let Some(fault) = fault_of_name(name)
        {
            return Err(format!("run is `{name}`, which cannot name a run: {fault}"));
        }
        let experiment = self.run.experiment.as_deref();
        if experiment.is_some_and(|name| name.trim().is_empty() || name.chars().count() > 500) {
            return Err("experiment is empty or longer than MLflow's 500 characters".to_owned());
        }
        if self.model.name.trim().is_empty() {
            return Err(
                "model is empty; name a model, or `offline` for the embedded analyst".to_owned(),
            );
        }
        Ok(())
    }
}
