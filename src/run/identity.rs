//! What a run is, and what must not change when it is resumed.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::{Affects, Change};

/// What must not change when a run is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `offline`, or provider and model of the analyst.
    pub model: String,
    /// The critic's model, or how it criticises.
    pub critic: String,
    /// blake3 of the data file.
    pub data: String,
    /// blake3 of the templates.
    pub prompts: String,
    /// blake3 of the plan: keys in order, mode, history, epochs.
    pub plan: String,
    /// Everything else that changes answers: rounds, temperature, seed, table style, …
    pub settings: String,
}

impl Identity {
    /// How `now` differs from this run, a line each: options by their names
    /// with both values, and only where no option explains a difference what
    /// has changed behind them. `changes` are the settings that differ.
    #[must_use]
    pub fn differences(&self, now: &Self, changes: &[Change]) -> Vec<String> {
        let parts = [
            (Affects::Model, "the model", &self.model, &now.model),
            (Affects::Critic, "the critic", &self.critic, &now.critic),
            (Affects::Data, "the data file's hash", &self.data, &now.data),
            (
                Affects::Prompts,
                "the hash of the prompts",
                &self.prompts,
                &now.prompts,
            ),
            (
                Affects::Plan,
                "the hash of the selected questions",
                &self.plan,
                &now.plan,
            ),
        ];
        let differs = |affects| {
            affects == Affects::Answers
                || parts
                    .iter()
                    .any(|(part, _, was, is)| *part == affects && was != is)
        };
        let named = changes.iter().filter(|change| differs(change.affects));
        let named: Vec<String> = named.map(ToString::to_string).collect();
        if !named.is_empty() {
            return named;
        }
        parts
            .iter()
            .filter(|(_, _, was, is)| was != is)
            .map(|(_, name, was, is)| format!("{name} was {was}, now {is}"))
            .collect()
    }
}

/// What a run is: written once, when its journal is made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunMeta {
    /// UUID v7, which sorts by time.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    /// This program's version.
    pub version: String,
    /// The commit that it was built from, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Other versions that have resumed it (`--allow-version`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resumed_by: Vec<String>,
    /// What must not change on resume.
    pub identity: Identity,
    /// Where the data come from, for people.
    pub data: String,
    /// The whole path of their file; absent for the sample and in journals of
    /// earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<PathBuf>,
    /// Whether they are the invented sample.
    pub invented: bool,
    /// Questions in the plan.
    pub total: usize,
    /// The settings in the form of `convfinqa.toml`, no secret among them.
    pub settings: toml::Table,
}

impl RunMeta {
    /// The model as it was asked for; where it is, is no part of its name.
    #[must_use]
    pub fn model(&self) -> &str {
        let named = self.settings.get("model").and_then(toml::Value::as_str);
        named.unwrap_or(&self.identity.model)
    }
}
