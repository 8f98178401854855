//! The settings of a run and their defaults.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::run::{HistoryMode, Mode};
use crate::telemetry::LogFormat;
use finqa_agents::agents::{AnswerFrom, CriticMode, OPINION_CONFIDENCE, OpinionUse};
use finqa_core::secrets::HIDDEN;

use super::layers::Origin;

/// How the table is shown to a model (`--table-style`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TableStyle {
    /// As filed, like the reference system.
    Reference,
    /// Headers repaired, dashes and doubled negatives cleared, rows and columns named.
    #[default]
    Repaired,
}

/// Whether a run writes `traces.jsonl` (`--traces`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traces {
    /// When traces go somewhere: a collector is named, MLflow is on, or
    /// content is asked for.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never; a collector that is named still gets them.
    Off,
}

/// Everything that decides a run, in the form of `convfinqa.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// `offline`, or the name of a chat model (on Azure: of the deployment).
    pub model: String,
    /// `openai` or `azure`; by default by the variables that are set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// Base URL of any compatible server, e.g. `http://127.0.0.1:8080/v1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Whether keys may leave this machine unencrypted.
    pub allow_http: bool,
    /// Who criticises: `llm`, `rules` or `off`.
    pub critic: CriticMode,
    /// The critic's model, if it is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critic_model: Option<String>,
    /// 0 to 1; left to the provider where absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Limit on output tokens of one reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Seed of shuffling, and of sampling where the provider has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// A file of ConvFinQA records, or `sample`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_path: Option<String>,
    /// How many records, from the first; absent: see the README.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// Records `FROM..TO` by place, from 0, TO excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Only these record ids.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Only records whose id or a question matches this regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// In an order drawn by `seed`, before `n` is taken.
    pub shuffle: bool,
    /// `questions` or `conversations`.
    pub mode: Mode,
    /// Which earlier answers a turn sees: `own` or `gold`.
    pub history: HistoryMode,
    /// Analyst replies with their verdicts, at most.
    pub max_rounds: u32,
    /// Whether the deterministic checks run.
    pub verify: bool,
    /// What decides the value: `program` or `text`.
    pub answer_from: AnswerFrom,
    /// Below this confidence the offline pair abstains.
    pub min_confidence: f64,
    /// What a second opinion by the embedded rules is used for beside a chat model:
    /// `off`, `record`, `show` or `require`.
    pub second_opinion: OpinionUse,
    /// From this confidence on the critic is shown a second opinion that differs.
    pub opinion_confidence: f64,
    /// How the table is shown.
    pub table_style: TableStyle,
    /// A folder whose `.j2` files replace the built-in templates of their name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PathBuf>,
    /// Conversations in flight at a time; absent: 2 to a server on this machine, 8 to
    /// others, offline the number of cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// Seconds for one HTTP request; absent: 600 to a server on this machine, else 120.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// HTTP requests for one call, at most.
    pub attempts: u32,
    /// Passes over all questions.
    pub epochs: u32,
    /// Analyses drawn per question, of which the commonest value is taken.
    pub samples: u32,
    /// Where results go.
    pub output: PathBuf,
    /// Where runs are tracked: an MLflow server's address, `off`, or `auto`
    /// (where `MLFLOW_TRACKING_URI` says, if it is set).
    pub mlflow: String,
    /// The MLflow experiment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
    /// Whether a run writes `traces.jsonl`: `auto`, `on` or `off`.
    pub traces: Traces,
    /// Whether traces hold questions, prompts and replies.
    pub trace_content: bool,
    /// Log lines on stderr: `off`, `text` or `json`.
    pub log: LogFormat,
    /// Which: `error` to `trace`, or `target=level,…`; absent: `RUST_LOG`, else `info`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_level: Option<String>,
    /// Where each key that is not at its default was given last.
    #[serde(skip)]
    pub origins: BTreeMap<String, Origin>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            model: "offline".to_owned(),
            provider: None,
            base_url: None,
            allow_http: false,
            critic: CriticMode::default(),
            critic_model: None,
            temperature: None,
            max_tokens: None,
            seed: None,
            data_path: None,
            n: None,
            range: None,
            ids: Vec::new(),
            filter: None,
            shuffle: false,
            mode: Mode::default(),
            history: HistoryMode::default(),
            max_rounds: 3,
            verify: true,
            answer_from: AnswerFrom::default(),
            min_confidence: 0.0,
            second_opinion: OpinionUse::default(),
            opinion_confidence: OPINION_CONFIDENCE,
            table_style: TableStyle::default(),
            prompts: None,
            concurrency: None,
            timeout: None,
            attempts: 6,
            epochs: 1,
            samples: 1,
            output: PathBuf::from("output"),
            mlflow: "auto".to_owned(),
            experiment: None,
            traces: Traces::default(),
            trace_content: false,
            log: LogFormat::default(),
            log_level: None,
            origins: BTreeMap::new(),
        }
    }
}

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
    /// Whether the embedded pair answers.
    #[must_use]
    pub fn is_offline(&self) -> bool {
        self.model == "offline"
    }

    /// Whether every value is one that a run can work with.
    ///
    /// # Errors
    /// Which setting is wrong and what it may be, in one line.
    pub fn validate(&self) -> Result<(), String> {
        let temperature = self.temperature.unwrap_or(0.0);
        if !(0.0..=1.0).contains(&temperature) {
            return Err(format!(
                "temperature is {temperature}; it must lie between 0 and 1"
            ));
        }
        let chances = [
            ("min-confidence", self.min_confidence),
            ("opinion-confidence", self.opinion_confidence),
        ];
        if let Some((name, p)) = chances.iter().find(|(_, p)| !(0.0..=1.0).contains(p)) {
            return Err(format!("{name} is {p}; it must lie between 0 and 1"));
        }
        let least_one = [
            ("max-rounds", u64::from(self.max_rounds)),
            ("timeout", self.timeout.unwrap_or(1)),
            ("attempts", u64::from(self.attempts)),
            ("epochs", u64::from(self.epochs)),
            ("samples", u64::from(self.samples)),
            ("n", self.n.unwrap_or(1) as u64),
            ("concurrency", self.concurrency.unwrap_or(1) as u64),
        ];
        if let Some((name, _)) = least_one.iter().find(|(_, value)| *value == 0) {
            return Err(format!("{name} is 0; it must be at least 1"));
        }
        // More than any machine can hold at once; a run plans them all in memory.
        let most = [
            ("concurrency", self.concurrency.unwrap_or(1) as u64, 10_000),
            ("epochs", u64::from(self.epochs), 1_000),
            ("samples", u64::from(self.samples), 1_000),
            ("timeout", self.timeout.unwrap_or(1), 30 * 24 * 60 * 60),
        ];
        if let Some((name, value, most)) = most.iter().find(|(_, value, most)| value > most) {
            return Err(format!("{name} is {value}; it must be at most {most}"));
        }
        let addresses = [
            ("mlflow", Some(self.mlflow.as_str()), MLFLOW_KEYS),
            ("base_url", self.base_url.as_deref(), MODEL_KEYS),
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
        let experiment = self.experiment.as_deref();
        if experiment.is_some_and(|name| name.trim().is_empty() || name.chars().count() > 500) {
            return Err("experiment is empty or longer than MLflow's 500 characters".to_owned());
        }
        if self.model.trim().is_empty() {
            return Err(
                "model is empty; name a model, or `offline` for the embedded pair".to_owned(),
            );
        }
        Ok(())
    }
}
