//! The description of a run, including the part that must not change on resume.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use finqa_agents::llm::settings::OFFLINE;
use finqa_agents::llm::{BudgetLimit, Endpoint, PriceList};

use crate::settings::{RunSettings, Shard, change};
use finqa_core::text::{counted, to_minute};
use finqa_score::calibration::Scope;
use finqa_score::dataset::Dataset;

use super::command::command;
use super::stored_file::StoredFile;

/// The inputs that must not change when a run is resumed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// `offline`, or provider and model of the analyst.
    pub model: String,
    /// Provider and model of the critic, after the words `where doubted` if only doubted answers
    /// are reviewed; `rules` or `off` without a model.
    pub critic: String,
    /// blake3 hash of the data file.
    pub data: String,
    /// blake3 hash of the templates.
    pub prompts: String,
    /// blake3 hash of the plan: keys in order, mode, history, epochs.
    pub plan: String,
    /// blake3 hash of the file of `--calibration`; empty without one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub calibration: String,
    /// All other settings that change answers, on one line: rounds, temperature, seed, …
    pub settings: String,
}

impl Identity {
    /// The identity with the word `local` in place of each address on this machine, because a local
    /// server may move to another port.
    pub fn unplaced(&self) -> Self {
        let name = |name: &str| {
            let words = name.split(' ');
            let words = words.map(|word| match Endpoint::of(word) {
                Endpoint::Loopback => "local",
                _ => word,
            });
            words.collect::<Vec<_>>().join(" ")
        };
        Self {
            model: name(&self.model),
            critic: name(&self.critic),
            ..self.clone()
        }
    }

    /// One line for each input that differs in `now`. `data` names the source of the data.
    pub fn changes(&self, now: &Self, data: &str) -> Vec<String> {
        let words = [
            change("the model", &self.model, &now.model),
            change("the critic", &self.critic, &now.critic),
        ];
        let file = format!("the data file {data} has");
        let hashes = [
            (file.as_str(), &self.data, &now.data),
            ("the prompts have", &self.prompts, &now.prompts),
            ("the selected questions have", &self.plan, &now.plan),
            (
                "the file of --calibration has", &self.calibration, &now.calibration,
            ),
            ("the settings have", &self.settings, &now.settings),
        ];
        let hashes = hashes.into_iter().filter(|(_, was, now)| was != now);
        let hashes = hashes.map(|(what, ..)| format!("{what} changed since the run was started"));
        words.into_iter().flatten().chain(hashes).collect()
    }
}

/// The parameters of an episode run that are not among its settings, and copies of `n` and `seed`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeMeta {
    /// The environment's directory, the word `sample`, or the address of a server.
    pub environment: String,
    pub server: bool,
    /// Maximum number of questions to play; `None` for all.
    pub n: Option<usize>,
    /// The seed for the order of questions; `None` for the order of the file.
    pub seed: Option<u64>,
    /// Number of tool calls after which an episode is given up.
    pub max_steps: u32,
}

impl EpisodeMeta {
    /// The options whose values differ in `now`. Seed and number of questions are left out, because
    /// they are settings too, and `Settings::changes` lists those.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let place = if self.server { "--url" } else { "--data-path" };
        let [was_steps, now_steps] = [self, now].map(|meta| meta.max_steps.to_string());
        let changes = [
            change(place, &self.environment, &now.environment),
            change("--max-steps", &was_steps, &now_steps),
        ];
        changes.into_iter().flatten().collect()
    }
}

/// The part of a run that one shard asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunShard {
    /// The name of the run that the shards share.
    pub run: String,
    #[serde(flatten)]
    pub part: Shard,
}

impl std::fmt::Display for RunShard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "shard {} of run {}", self.part, self.run)
    }
}

/// The shards that a merged run consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MergedShards {
    pub shards: u32,
    /// The shards with missing questions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingPart>,
    /// Requests that killed processes had in flight. The cost of each is unknown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unrecorded: u64,
}

/// Questions of a shard that have no outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingPart {
    pub shard: u32,
    pub questions: usize,
    /// Number of questions of the shard.
    pub of: usize,
}

impl MergedShards {
    /// The number of missing questions.
    pub fn left(&self) -> usize {
        self.missing.iter().map(|part| part.questions).sum()
    }

    /// A line about the missing questions; `None` if none are missing.
    pub fn missing_line(&self) -> Option<String> {
        let parts = self.missing.iter().map(|part| {
            let MissingPart {
                shard,
                questions,
                of,
            } = part;
            if questions == of {
                format!("all {of} of shard {shard}")
            } else {
                format!("{questions} of {of} of shard {shard}")
            }
        });
        let parts: Vec<_> = parts.collect();
        (!parts.is_empty()).then(|| {
            format!(
                "{} missing ({})",
                counted(self.left(), "question"),
                parts.join(", ")
            )
        })
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The models of a process that continued a run with models at other addresses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedModels {
    /// The time from which these models were asked, RFC 3339, UTC.
    pub at: String,
    /// As in [`Identity`].
    pub model: String,
    /// As in [`Identity`].
    pub critic: String,
    /// True if no model at an earlier address had answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first: bool,
}

/// The description of a run. It is written once, when its journal is created.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunMeta {
    /// UUID v7, which sorts by time.
    pub id: String,
    /// RFC 3339, UTC.
    pub started: String,
    pub version: String,
    /// The inputs that must not change on resume.
    pub identity: Identity,
    /// The source of the data, in text for people.
    pub data: String,
    /// The full path of the data file; absent for the sample.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_file: Option<PathBuf>,
    /// True for the built-in sample, whose companies are fictional.
    pub invented: bool,
    /// Number of questions in the plan.
    pub total: usize,
    /// Maximum tokens of a reply of the analyst's model; absent without a chat model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_limit: Option<u32>,
    /// The user's prices (`--prices`), which apply to every process of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prices: Option<PriceList>,
    /// The limit that paused the run; absent again after a resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<BudgetLimit>,
    /// The calibration from which the answers' probabilities come, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<String>,
    /// The part of the run that this shard asks; absent for a whole run. The identity of a shard is
    /// that of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<RunShard>,
    /// The shards that the run was merged from; absent for any other run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<MergedShards>,
    /// The golds that `score --save` saved; absent if the golds of the run's data are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gold: Option<StoredFile>,
    /// The models of later processes, or of shards, if they were at other addresses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<MovedModels>,
    /// The environment, if the questions are played as episodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episodes: Option<EpisodeMeta>,
    /// The settings in the form of `convfinqa.toml`, without secrets.
    pub settings: toml::Table,
}

/// The short form of a run's id, used wherever an id is shown. For a UUID v7, it is the first 13
/// characters, which are the time of the start to the millisecond. A name that the user chose is
/// not shortened. Commands accept the short form, because they accept every prefix of an id.
pub fn short_id(id: &str) -> &str {
    let of_uuid = id.get(..13).filter(|_| id.len() == 36);
    of_uuid.unwrap_or(id)
}

/// The kind of questions that a run asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// Questions about pages.
    Questions,
    /// Episodes in an environment.
    Episodes,
}

impl RunKind {
    /// The command that starts a run of this kind.
    pub fn command(self) -> &'static str {
        match self {
            Self::Questions => "run",
            Self::Episodes => "env play",
        }
    }
}

impl RunMeta {
    pub fn kind(&self) -> RunKind {
        match self.episodes {
            None => RunKind::Questions,
            Some(_) => RunKind::Episodes,
        }
    }

    /// The run's start in seconds since 1970 UTC; 0 if unknown.
    pub(crate) fn started_at(&self) -> i64 {
        let at = self.started.parse();
        at.map_or(0, jiff::Timestamp::as_second)
    }

    /// True if the CSV of this run is copied to `output/output.csv`. For a shard it is not, because
    /// `merge` writes the CSV of the whole run.
    pub fn is_for_last_csv(&self) -> bool {
        self.kind() == RunKind::Questions && self.shard.is_none()
    }

    /// The run's key on a tracking server. The id of a merged run is a name that the user chose and
    /// that another machine may use too, so the start is added.
    pub fn tracked_as(&self) -> String {
        match &self.merged {
            None => self.id.clone(),
            Some(_) => format!("{} {}", self.id, self.started),
        }
    }

    /// The records of this run with the current golds. They are the built-in sample, or the records
    /// of the run's file if it still exists with the same hash. If golds were saved by `score
    /// --save` and their file is lost, the records have no golds, because the golds in the journal
    /// are used; a note says so.
    ///
    /// # Errors
    /// The reason why the records cannot be read, in one line.
    pub fn records(&self) -> Result<Dataset, String> {
        if self.kind() == RunKind::Episodes {
            return Err("the questions were played in an environment".to_owned());
        }
        let split = self.settings.get("split").and_then(toml::Value::as_str);
        let data = StoredFile {
            at: self.started.clone(),
            data: self.data.clone(),
            data_file: self.data_file.clone(),
            hash: self.identity.data.clone(),
            split: split.map(str::to_owned),
        };
        let own = || data.records(self.invented, "data file", "the questions were asked");
        let Some(gold) = &self.gold else { return own() };
        let is_sample = gold.data_file.is_none();
        let golds = gold.records(is_sample, "gold file", "its golds were saved");
        golds.or_else(|lost| {
            let mut pages = own().map_err(|reason| format!("{lost}; {reason}"))?;
            pages.drop_golds();
            pages.notes = vec![format!("{lost}; the golds that were saved from it count")];
            Ok(pages)
        })
    }

    /// The kind of answers that the run gives. A calibration applies only to answers of the same
    /// kind.
    pub fn scope(&self) -> Scope {
        let word = |key: &str| self.settings.get(key).and_then(toml::Value::as_str);
        let questions = match (word("mode"), word("history")) {
            (Some("conversations"), Some("gold")) => "turns with gold history",
            (Some("conversations"), _) => "turns with own history",
            _ => "stand-alone questions",
        };
        let settings = Scope::SETTINGS.into_iter().filter_map(|key| {
            let value = self.settings.get(key)?;
            let text = value.as_str().map(str::to_owned);
            Some((key.to_owned(), text.unwrap_or_else(|| value.to_string())))
        });
        let identity = self.identity.unplaced();
        Scope {
            model: identity.model,
            critic: identity.critic,
            prompts: identity.prompts,
            settings: settings.collect(),
            data: identity.data,
            questions: questions.to_owned(),
        }
    }

    /// The output folder, as the settings named it.
    pub fn output(&self) -> PathBuf {
        let named = self.settings.get("output").and_then(toml::Value::as_str);
        named.map_or_else(|| RunSettings::default().output, PathBuf::from)
    }

    /// The command that resumes this run in the folder `output`.
    pub fn resume_command(&self, output: &Path) -> String {
        self.resume(&format!(" {}", self.id), output)
    }

    /// The command that continues the run, which must be the newest in `output`. For a shard, the
    /// words "the same command".
    pub fn continuation(&self, output: &Path) -> String {
        match &self.shard {
            Some(_) => "the same command".to_owned(),
            None => self.resume("", output),
        }
    }

    fn resume(&self, run: &str, output: &Path) -> String {
        let words = match self.kind() {
            RunKind::Questions => "--resume",
            RunKind::Episodes => "env play --resume",
        };
        command(&format!("{words}{run}"), output)
    }

    /// The models of this run's processes, including the first one, that differ from the models of
    /// `known`.
    pub(super) fn models_besides(&self, known: &Identity) -> Vec<MovedModels> {
        let first = MovedModels {
            at: self.started.clone(),
            model: self.identity.model.clone(),
            critic: self.identity.critic.clone(),
            first: false,
        };
        let all = [first].into_iter().chain(self.moved.iter().cloned());
        let is_other = |it: &MovedModels| (&it.model, &it.critic) != (&known.model, &known.critic);
        all.filter(is_other).collect()
    }

    /// One line if the gold of the data was replaced, and one for each further address of the
    /// models.
    pub fn change_lines(&self) -> Vec<String> {
        let gold = self.gold.iter().map(|gold| {
            format!(
                "scored by the gold of {} since {} (score --save)",
                gold.data,
                to_minute(&gold.at)
            )
        });
        let mut known = vec![(&self.identity.model, &self.identity.critic)];
        // No model at an address before the last `first` had answered, so these are left out.
        let first = self.moved.iter().rposition(|moved| moved.first);
        let answering = self.moved.iter().skip(first.unwrap_or_default());
        let moved = answering.filter_map(|moved| {
            let models = (&moved.model, &moved.critic);
            let is_new = !known.contains(&models);
            known.push(models);
            is_new.then(|| {
                let critic = if models.0 == models.1 || moved.critic == self.identity.critic {
                    String::new()
                } else {
                    format!(", critic {}", moved.critic)
                };
                let (model, at) = (&moved.model, to_minute(&moved.at));
                let part = if moved.first { "" } else { " in part" };
                format!("answered{part} at {model}{critic}, since {at}")
            })
        });
        gold.chain(moved).collect()
    }

    /// The number of answered questions and of all questions, such as `3/12`.
    pub fn progress(&self, answered: usize) -> String {
        format!("{answered}/{}", self.total)
    }

    /// The name of the model as the user gave it, without the server's address.
    pub fn model(&self) -> &str {
        let named = self.settings.get("model").and_then(toml::Value::as_str);
        named.unwrap_or(&self.identity.model)
    }

    /// Who reviews the answers, in the words of `--critic`; `None` for episodes.
    pub fn critic(&self) -> Option<&'static str> {
        let mode = self.settings.get("critic").and_then(toml::Value::as_str);
        let critic = match self.identity.critic.as_str() {
            "off" => "off",
            "rules" => "rules",
            // Otherwise the identity names the critic's model.
            _ if mode == Some("auto") => "auto",
            _ => "llm",
        };
        (self.kind() == RunKind::Questions).then_some(critic)
    }

    /// A setting that is a text and affects only the answers of a chat model; `None` without one.
    pub fn chat_setting(&self, key: &str) -> Option<&str> {
        let value = self.settings.get(key).and_then(toml::Value::as_str);
        value.filter(|_| self.model() != OFFLINE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_alike_on_another_port_and_not_with_other_data_or_sampling() {
        let scope = |model: &str, data: &str, temperature: f64| {
            let meta = RunMeta {
                identity: Identity {
                    model: model.to_owned(),
                    data: data.to_owned(),
                    ..Identity::default()
                },
                settings: toml::Table::from_iter([("temperature".to_owned(), temperature.into())]),
                ..RunMeta::default()
            };
            meta.scope()
        };
        let local = "openai http://127.0.0.1:8000/v1 m";
        let was = scope(local, "hash", 0.2);
        let other = "openai http://10.0.0.1/v1 m";
        let other_model = "its model is openai local m, not openai http://10.0.0.1/v1 m";
        for (now, difference) in [
            (
                scope("openai http://localhost:9000/v1 m", "hash", 0.2),
                None,
            ),
            (scope(other, "hash", 0.2), Some(other_model)),
            (scope(local, "other", 0.2), Some("its data differ")),
            (
                scope(local, "hash", 0.7),
                Some("its --temperature is 0.2, not 0.7"),
            ),
        ] {
            assert_eq!(was.difference(&now).as_deref(), difference);
        }
    }
}
