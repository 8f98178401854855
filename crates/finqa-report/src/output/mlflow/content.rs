//! The part of a run that a server gets in addition to files and traces. It is made only from the
//! journal.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use finqa_agents::pair::{ANALYST, Backend, CRITIC, PairOptions, TwoAgentSolver};
use finqa_core::text::head;
use finqa_journal::run::{Finish, Journal, RunKind, RunMeta, Summary, short_id};

use super::error::MlflowError;
use super::metrics::metrics;
use super::table::{TABLE, table};

/// The tag by which a run is found on a server.
pub(super) const RUN_TAG: &str = "convfinqa.run";
/// Maximum number of characters that current MLflow accepts in a parameter's value.
const PARAM_LIMIT: usize = 6000;

/// A run in the form in which it is described to a server.
#[derive(Debug)]
pub struct RunContent {
    /// The value of the tag [`RUN_TAG`], the same on every server.
    pub(super) key: String,
    /// The run's name in MLflow's lists: its model and its short id.
    pub(super) name: String,
    /// Start in milliseconds since 1970 UTC.
    pub(super) started: i64,
    /// End in milliseconds since 1970 UTC. It is also the time of all metrics.
    pub(super) ended: i64,
    /// MLflow's word for how the run ended.
    pub(super) status: &'static str,
    /// Number of questions that have an outcome. It is also the step of all metrics.
    pub(super) answered: usize,
    /// The time at which the golds were last renewed (`score --save`); `None` if they never were.
    pub(super) gold_at: Option<String>,
    pub(super) params: Vec<Value>,
    pub(super) dataset: Value,
    pub(super) tags: Vec<Value>,
    pub(super) metrics: Vec<(String, f64)>,
    /// Texts of files that are not in the run's folder, by their path on the server.
    pub(super) texts: BTreeMap<String, String>,
}

impl RunContent {
    /// Collects the content from the journal, how the run ended, and its summary. An error if the
    /// journal cannot be read.
    pub fn of(journal: &Journal, finish: &Finish, summary: &Summary) -> Result<Self, MlflowError> {
        let meta = &summary.run;
        let prompts = journal.prompts()?;
        let params = params(meta, &prompts);
        let prompts = prompts.into_iter();
        let mut texts: BTreeMap<_, _> = prompts
            .map(|(name, text)| (format!("prompts/{name}"), text))
            .collect();
        // The tool-using agent has no state machine to draw.
        if meta.kind() == RunKind::Questions {
            // The embedded backend needs no model, and the graph is the same for every backend.
            let pair = TwoAgentSolver::new(&PairOptions::new(Backend::Embedded))?;
            texts.insert("graph.mmd".to_owned(), pair.graph().mermaid());
        }
        let (table, last_answer) = table(journal)?;
        texts.insert(TABLE.to_owned(), table);
        let milliseconds = |at: &str| {
            // This program has written the time itself, so the default is never used.
            let at = at.parse::<jiff::Timestamp>();
            at.map_or(0, jiff::Timestamp::as_millisecond)
        };
        let started = milliseconds(&meta.started);
        let gold_at = meta.gold.as_ref().map(|gold| gold.at.clone());
        // MLflow shows the newest point of a metric, so renewed scores need a later time than the
        // old ones.
        let scored = gold_at.as_deref().map_or(last_answer, milliseconds);
        Ok(Self {
            key: meta.tracked_as(),
            name: name(meta),
            started,
            ended: started.max(last_answer).max(scored),
            status: status(finish),
            answered: summary.scores.questions,
            gold_at,
            // For servers that accept less, `delivery` shortens values further.
            params: pairs(params.iter().map(|(key, value)| {
                let value = value.chars().take(PARAM_LIMIT);
                (key.as_str(), value.collect())
            })),
            dataset: dataset(meta),
            tags: tags(meta, summary),
            metrics: metrics(summary),
            texts,
        })
    }
}

/// The parameters by name, with complete values: every setting, and the parameters that the
/// LangGraph baseline logs.
fn params(meta: &RunMeta, prompts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let settings = meta.settings.iter();
    let mut params: BTreeMap<String, String> = settings
        .map(|(key, value)| (key.clone(), plain(value)))
        .collect();
    params.entry("model".to_owned()).or_default();
    params
        .entry("temperature".to_owned())
        .or_insert_with(|| "default".to_owned());
    params.insert("data_path".to_owned(), meta.data.clone());
    params.insert("critic_model".to_owned(), meta.identity.critic.clone());
    params.insert("questions_planned".to_owned(), meta.total.to_string());
    for agent in [ANALYST, CRITIC] {
        let text = prompts.get(&format!("{agent}_system.txt"));
        let text = text.map_or("none: the embedded pair", String::as_str);
        params.insert(format!("{agent}_prompt"), text.to_owned());
    }
    params
}

fn tags(meta: &RunMeta, summary: &Summary) -> Vec<Value> {
    let identity = &meta.identity;
    let table = json!([{"path": TABLE, "type": "table"}]);
    let tags = [
        (RUN_TAG, meta.tracked_as()),
        ("convfinqa.version", meta.version.clone()),
        ("convfinqa.data_hash", identity.data.clone()),
        ("convfinqa.prompt_hash", identity.prompts.clone()),
        ("convfinqa.plan_hash", identity.plan.clone()),
        ("convfinqa.invented_data", meta.invented.to_string()),
        ("convfinqa.complete", summary.complete.to_string()),
        ("mlflow.source.name", "convfinqa".to_owned()),
        ("mlflow.source.type", "LOCAL".to_owned()),
        ("mlflow.loggedArtifacts", table.to_string()),
    ];
    pairs(tags.into_iter())
}

fn name(meta: &RunMeta) -> String {
    let model = meta.settings.get("model").map_or_else(String::new, plain);
    // The oldest servers accept 250 characters.
    format!("{} {}", head(&model, 200), short_id(&meta.id))
}

/// The data, in the form of MLflow's dataset inputs.
fn dataset(meta: &RunMeta) -> Value {
    let source = json!({"uri": meta.data}).to_string();
    let profile = json!({"questions": meta.total, "blake3": meta.identity.data}).to_string();
    let file = meta.data.rsplit(['/', '\\']).next().unwrap_or_default();
    json!([{
        "tags": [{"key": "mlflow.data.context", "value": "eval"}],
        "dataset": {
            "name": file,
            // MLflow accepts at most 36 characters.
            "digest": meta.identity.data.get(..32).unwrap_or(&meta.identity.data),
            "source_type": "local",
            "source": source,
            "profile": profile,
        },
    }])
}

fn status(finish: &Finish) -> &'static str {
    match finish {
        Finish::Complete => "FINISHED",
        Finish::Interrupted | Finish::BudgetReached { .. } => "KILLED",
        Finish::Partial { .. } | Finish::Fatal(_) | Finish::Bug(_) => "FAILED",
    }
}

/// Parameters or tags in MLflow's form.
fn pairs<'k>(pairs: impl Iterator<Item = (&'k str, String)>) -> Vec<Value> {
    pairs
        .map(|(key, value)| json!({"key": key, "value": value}))
        .collect()
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
