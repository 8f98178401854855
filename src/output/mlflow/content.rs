//! A run's description on the server: parameters, tags and the data set, made
//! from the journal alone.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::run::Summary;
use crate::run::{Finish, RunMeta};
use finqa_agents::llm::settings::OFFLINE;
use finqa_core::text::counted;

use super::wire::KeyValue;

/// Characters in a parameter's value on a server of version 2.9 or newer.
pub(super) const PARAM_LIMIT: usize = 6000;
/// On older ones.
pub(super) const PARAM_LIMIT_OLD: usize = 500;
/// The tag that identifies a run.
pub(super) const RUN_TAG: &str = "convfinqa.run";
/// Characters in a tag's value that every server takes.
const TAG_LIMIT: usize = 4000;

/// Whole parameters by name: the LangGraph baseline's, then every setting.
pub(super) fn params(
    meta: &RunMeta,
    prompts: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut params: BTreeMap<String, String> = meta
        .settings
        .iter()
        .map(|(key, value)| (key.clone(), plain(value)))
        .collect();
    params.entry("model".to_owned()).or_default();
    params
        .entry("temperature".to_owned())
        .or_insert_with(|| "default".to_owned());
    params.insert("data_path".to_owned(), meta.data.clone());
    params.insert("critic_model".to_owned(), meta.identity.critic.clone());
    if let Some(total) = meta.total {
        params.insert("questions_planned".to_owned(), total.to_string());
    }
    let offline = params.get("model").is_some_and(|model| model == OFFLINE);
    for agent in ["analyst", "critic"] {
        let text = prompts.get(&format!("{agent}_system.txt")).cloned();
        let none = if offline {
            "none: the embedded pair"
        } else {
            "not in the journal"
        };
        params.insert(
            format!("{agent}_prompt"),
            text.unwrap_or_else(|| none.to_owned()),
        );
    }
    params
}

/// Parameters as a server takes them, no value longer than `limit` characters,
/// and the names of those that had to be cut.
pub(super) fn fit_params(
    params: &BTreeMap<String, String>,
    limit: usize,
) -> (Vec<KeyValue>, Vec<&str>) {
    let mut cut = Vec::new();
    let entries = params
        .iter()
        .map(|(key, value)| {
            let shown = shortened(value, limit);
            if shown.len() < value.len() {
                cut.push(key.as_str());
            }
            KeyValue::new(key, shown)
        })
        .collect();
    (entries, cut)
}

/// The path of a parameter's whole text among the files.
pub(super) fn whole_text(param: &str) -> String {
    format!("params/{param}.txt")
}

/// A text cut to the limit, with what it was and where the whole is.
fn shortened(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    if length <= limit {
        return text.to_owned();
    }
    let hash = blake3::hash(text.as_bytes()).to_hex();
    let mark = format!(
        " … [{length} characters, blake3 {}; whole in params/]",
        hash.get(..16).unwrap_or_default()
    );
    let keep = limit.saturating_sub(mark.chars().count());
    text.chars().take(keep).chain(mark.chars()).collect()
}

/// Tags that a run has from its beginning.
pub(super) fn tags(meta: &RunMeta) -> Vec<KeyValue> {
    let identity = &meta.identity;
    let mut tags = vec![
        KeyValue::new(RUN_TAG, meta.tracked_as()),
        KeyValue::new("convfinqa.version", &meta.version),
        KeyValue::new("convfinqa.data_hash", &identity.data),
        KeyValue::new("convfinqa.prompt_hash", &identity.prompts),
        KeyValue::new("convfinqa.plan_hash", &identity.plan),
        KeyValue::new("convfinqa.invented_data", meta.invented.to_string()),
        KeyValue::new("mlflow.runName", name(meta)),
        KeyValue::new("mlflow.source.name", "convfinqa"),
        KeyValue::new("mlflow.source.type", "LOCAL"),
    ];
    if let Some(commit) = &meta.commit {
        tags.push(KeyValue::new("mlflow.source.git.commit", commit));
    }
    tags
}

pub(super) fn outcome_tags(meta: &RunMeta, summary: &Summary, table: &str) -> Vec<KeyValue> {
    let logged = json!([{"path": table, "type": "table"}]);
    let mut tags = vec![
        KeyValue::new("convfinqa.complete", summary.complete.to_string()),
        KeyValue::new("mlflow.loggedArtifacts", logged.to_string()),
        KeyValue::new("mlflow.note.content", note(meta, summary)),
    ];
    if !summary.left_out.is_empty() {
        // A parameter cannot be taken back.
        let names: Vec<&str> = summary.left_out.iter().map(String::as_str).collect();
        tags.push(KeyValue::new("convfinqa.left_out", names.join(" ")));
    }
    tags
}

/// A run's name in MLflow's lists: its model and the end of its id.
pub(super) fn name(meta: &RunMeta) -> String {
    let model = meta.settings.get("model").map_or_else(String::new, plain);
    let end = meta.id.rsplit('-').next().unwrap_or_default();
    shortened(&format!("{model} {end}"), 250)
}

/// The run's description: the rates with their intervals.
fn note(meta: &RunMeta, summary: &Summary) -> String {
    let mut text = format!(
        "{} of `{}`{}\n\n| rule | rate | 95 % interval | n |\n|---|---|---|---|\n",
        counted(summary.scores.questions, "question"),
        meta.data.replace(['`', '\n'], " "),
        if meta.invented { ", invented data" } else { "" },
    );
    for (rule, rate) in summary.scores.rates.iter() {
        text.push_str(&format!(
            "| {} | {:.1} % | {:.1} to {:.1} | {} |\n",
            rule.name().replace('_', " "),
            100.0 * rate.rate,
            100.0 * rate.low,
            100.0 * rate.high,
            rate.n
        ));
    }
    for line in [summary.missing_line(), summary.left_out_line()]
        .into_iter()
        .flatten()
    {
        text.push_str(&format!("\n{line}\n"));
    }
    shortened(&text, TAG_LIMIT)
}

/// The data as MLflow's `Dataset used`.
pub(super) fn dataset(meta: &RunMeta) -> Value {
    let source = json!({"uri": meta.data}).to_string();
    let profile = json!({"questions": meta.total, "blake3": meta.identity.data}).to_string();
    let file = meta.data.rsplit(['/', '\\']).next().unwrap_or_default();
    json!([{
        "tags": [{"key": "mlflow.data.context", "value": "eval"}],
        "dataset": {
            "name": shortened(file, 250),
            // MLflow takes 36 characters at most.
            "digest": meta.identity.data.get(..32).unwrap_or(&meta.identity.data),
            "source_type": "local",
            "source": source,
            "profile": profile,
        },
    }])
}

/// MLflow's word for how a run ended.
pub(super) fn status(finish: &Finish) -> &'static str {
    match finish {
        Finish::Complete => "FINISHED",
        Finish::Interrupted | Finish::BudgetReached { .. } | Finish::BatchesPending { .. } => {
            "KILLED"
        }
        Finish::Partial { .. } | Finish::Fatal(_) | Finish::Bug(_) => "FAILED",
    }
}

fn plain(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_at_the_limit_and_says_what_it_was() {
        let short = "x".repeat(PARAM_LIMIT);
        assert_eq!(shortened(&short, PARAM_LIMIT), short);
        let long = "é".repeat(PARAM_LIMIT + 1);
        let cut = shortened(&long, PARAM_LIMIT);
        assert_eq!(cut.chars().count(), PARAM_LIMIT);
        assert!(cut.contains("6001 characters, blake3 "), "{cut}");
        let other = shortened(&format!("{long}x"), PARAM_LIMIT);
        assert_ne!(cut, other, "two texts that begin alike stay two");
    }
}
