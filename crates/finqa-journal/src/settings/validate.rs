//! Checks the values of settings, before a run starts.

use finqa_core::secrets::{HIDDEN, api_version_of};

use super::groups::Settings;
use super::shard_choice::name_error;

const MODEL_KEYS: &str = "give an address without it, and the key in OPENAI_API_KEY, AZURE_OPENAI_API_KEY or ANTHROPIC_API_KEY";
const MLFLOW_KEYS: &str =
    "put them in MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD, or MLFLOW_TRACKING_TOKEN";

/// Names the part of an address that may be secret; `None` if there is none. Such an address is
/// refused, because addresses are written into every run's `config.toml`.
fn secret_in(address: &str) -> Option<&'static str> {
    let (before, query) = match address.split_once(['?', '#']) {
        Some((before, query)) => (before, Some(query)),
        None => (address, None),
    };
    // A value without a scheme, such as `auto` of --mlflow, is checked as a whole.
    let (_, rest) = before.split_once("://").unwrap_or(("", before));
    if rest
        .split('/')
        .next()
        .is_some_and(|host| host.contains('@'))
    {
        Some("a user or password")
    } else {
        // The query of an address of Azure is the API's version, which is not a secret.
        let query = query.filter(|_| api_version_of(address).is_none());
        query.map(|_| "a query string or fragment")
    }
}

/// A setting whose value a run cannot use.
#[derive(Debug)]
pub struct SettingFault {
    pub key: &'static str,
    /// The error and the allowed values, as words that follow the setting's name.
    pub problem: String,
}

fn fault(key: &'static str, problem: impl Into<String>) -> Result<(), SettingFault> {
    Err(SettingFault {
        key,
        problem: problem.into(),
    })
}

impl Settings {
    /// Checks the values of all settings.
    ///
    /// # Errors
    /// The first setting whose value a run cannot use.
    pub fn validate(&self) -> Result<(), SettingFault> {
        self.check_shares()?;
        self.check_counts()?;
        self.check_addresses()?;
        self.check_names()
    }

    /// Checks the settings with a range that begins at 0, such as the temperature.
    fn check_shares(&self) -> Result<(), SettingFault> {
        let agents = &self.agents;
        for (key, share, most) in [
            // The highest temperature that OpenAI's API accepts.
            ("temperature", self.sampling.temperature, 2.0),
            ("min_confidence", Some(agents.min_confidence), 1.0),
            ("model_accuracy", agents.model_accuracy, 1.0),
        ] {
            if let Some(share) = share.filter(|share| !(0.0..=most).contains(share)) {
                return fault(key, format!("is {share}; it must be between 0 and {most}"));
            }
        }
        Ok(())
    }

    /// Checks the whole numbers, and that the highest cost is above 0.
    fn check_counts(&self) -> Result<(), SettingFault> {
        const ANY: u64 = u64::MAX;
        let size = |count: Option<usize>| count.map(|count| count as u64);
        // The upper bounds (30 days for the timeout) are set by hand, far above any useful value.
        // When there was none, a concurrency above a semaphore's limit ended in a panic.
        let counts = [
            ("max_rounds", Some(self.agents.max_rounds.into()), 1..=ANY),
            ("timeout", self.model.timeout, 1..=30 * 24 * 60 * 60),
            ("attempts", Some(self.model.attempts.into()), 1..=ANY),
            ("rpm", self.model.rpm, 1..=ANY),
            ("tpm", self.model.tpm, 1..=ANY),
            ("epochs", Some(self.questions.epochs.into()), 1..=1_000),
            ("samples", Some(self.agents.samples.into()), 1..=1_000),
            ("n", size(self.questions.n), 1..=ANY),
            ("concurrency", size(self.run.concurrency), 1..=10_000),
            (
                "max_tokens",
                self.sampling.max_tokens.map(u64::from),
                1..=ANY,
            ),
        ];
        for (key, count, allowed) in counts {
            let Some(count) = count.filter(|count| !allowed.contains(count)) else {
                continue;
            };
            let bound = if count < *allowed.start() {
                format!("at least {}", allowed.start())
            } else {
                format!("at most {}", allowed.end())
            };
            return fault(key, format!("is {count}; it must be {bound}"));
        }
        if self.budget.max_cost.is_some_and(|most| most.0.is_zero()) {
            return fault("max_cost", "is 0; it must be above 0");
        }
        Ok(())
    }

    /// Refuses an address with a secret in it, or one whose secret was replaced when it was stored.
    fn check_addresses(&self) -> Result<(), SettingFault> {
        let critic = self.agents.critic_base_url.as_deref();
        for (key, address, advice) in [
            ("mlflow", Some(self.run.mlflow.as_str()), MLFLOW_KEYS),
            ("base_url", self.model.base_url.as_deref(), MODEL_KEYS),
            ("critic_base_url", critic, MODEL_KEYS),
        ] {
            let address = address.unwrap_or_default();
            if address.contains(HIDDEN) {
                let problem = format!(
                    "is {address}, which was written without its key; give the whole address"
                );
                return fault(key, problem);
            }
            if let Some(secret) = secret_in(address) {
                return fault(key, format!("holds {secret}; {advice}"));
            }
        }
        Ok(())
    }

    /// Checks the names of the run and the model, and the ids of records.
    fn check_names(&self) -> Result<(), SettingFault> {
        if let Some(name) = &self.shards.run_name
            && let Some(reason) = name_error(name)
        {
            let problem = format!("is `{name}`, which cannot name a run: {reason}");
            return fault("run", problem);
        }
        if self.questions.ids.iter().any(|id| id.trim().is_empty()) {
            let problem =
                "holds a blank id; write one comma between two ids, and none after the last";
            return fault("ids", problem);
        }
        if self.model.name.trim().is_empty() {
            let problem = "is empty; name a model, or `offline` for the embedded analyst";
            return fault("model", problem);
        }
        Ok(())
    }
}
