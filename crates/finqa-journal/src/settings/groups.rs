//! The groups of settings. Each field is an option, with its flag, help and default.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

use finqa_agents::llm::ModelSettings;
use finqa_agents::pair::{AgentSettings, Sampling};
use finqa_score::calibration::ErrorLimit;
use finqa_score::dataset::{HistoryMode, Mode};

use super::budget::BudgetSettings;
use super::error::Origin;
use super::shard_choice::ShardSettings;

/// Everything that decides a run.
///
/// Serialises as the flat table of `convfinqa.toml`; [`super::Layers`] reads it.
#[derive(Args, Clone, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Which model is asked, and how its server is reached.
    #[command(flatten)]
    #[serde(flatten)]
    pub model: ModelSettings,
    /// How replies are sampled.
    #[command(flatten)]
    #[serde(flatten)]
    pub sampling: Sampling,
    /// What decides the agents' answers.
    #[command(flatten)]
    #[serde(flatten)]
    pub agents: AgentSettings,
    /// Which questions are asked.
    #[command(flatten)]
    #[serde(flatten)]
    pub questions: QuestionSettings,
    /// How fast questions are asked, and where results go.
    #[command(flatten)]
    #[serde(flatten)]
    pub run: RunSettings,
    /// What the run may cost and how long it may take.
    #[command(flatten)]
    #[serde(flatten)]
    pub budget: BudgetSettings,
    /// Which part of the run this process asks.
    #[command(flatten)]
    #[serde(flatten)]
    pub shards: ShardSettings,
    /// How requests are sent.
    #[command(flatten)]
    #[serde(flatten)]
    pub batch: BatchSettings,
    /// Which answers are given.
    #[command(flatten)]
    #[serde(flatten)]
    pub calibration: CalibrationSettings,
    /// Log lines.
    #[command(flatten)]
    #[serde(flatten)]
    pub log: LogSettings,
    /// The layer that set each key last. Keys with their default values are absent.
    #[arg(skip)]
    #[serde(skip)]
    pub origins: BTreeMap<String, Origin>,
}

impl Settings {
    /// Resets the settings that have no effect on episodes: those of the agents and of the
    /// calibration, and the selection of records except for `n`.
    pub fn keep_for_episodes(&mut self) {
        self.agents = AgentSettings::default();
        self.calibration = CalibrationSettings::default();
        self.questions = QuestionSettings {
            n: self.questions.n,
            ..QuestionSettings::default()
        };
    }
}

/// Which questions of which data are asked.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Questions")]
#[serde(default, deny_unknown_fields)]
pub struct QuestionSettings {
    /// Use only the first N records [default: 100 with a remote model unless --range or --ids is given, otherwise all]
    #[arg(long, short = 'n', value_name = "N", allow_negative_numbers = true)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<usize>,
    /// File of ConvFinQA records, or `sample` [default: data/train.json if it exists; otherwise the sample, or an error with a remote model]
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_path: Option<String>,
    /// Use only the records of one split of a file such as {"train": […], "dev": […]}
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Use only records FROM (inclusive) to TO (exclusive), counted from 0
    #[arg(long, value_name = "FROM..TO")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<String>,
    /// Use only the records with these ids, comma-separated
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Use only records whose id, or at least one of whose questions, matches this regular expression or contains it literally, ignoring case
    #[arg(long, value_name = "REGEX")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
    /// Ask only the questions that RUN got wrong, answered right in some passes only (flaky) or did not answer; the conversation of such a turn is asked as a whole
    #[arg(long, value_name = "wrong|flaky|unanswered:RUN")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<String>,
    /// Shuffle the records, seeded by --seed, before applying --n
    #[arg(long)]
    pub shuffle: bool,
    /// Ask the stand-alone questions, or the turns of the conversations in order
    #[arg(long, value_name = "MODE", default_value = "questions")]
    pub mode: Mode,
    /// Whose answers to earlier turns the model sees
    #[arg(long, value_name = "WHOSE", default_value = "own")]
    pub history: HistoryMode,
    /// Number of passes over all questions
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub epochs: u32,
}

/// How fast questions are asked, and where results go.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Output")]
#[serde(default, deny_unknown_fields)]
pub struct RunSettings {
    /// Maximum questions or conversations in progress at a time [default: 64 with a remote model, whose rate limits decide how many requests are in flight; 2 with a model on this machine; the number of cores without a chat model]
    #[arg(long, short = 'j', value_name = "N", help_heading = "Requests")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<usize>,
    /// Folder for results
    #[arg(long, short = 'o', value_name = "DIR", default_value = "output")]
    pub output: PathBuf,
    /// MLflow server to log the run to, `off`, or `auto` to use MLFLOW_TRACKING_URI if it is set; MLFLOW_EXPERIMENT_NAME names the experiment
    #[arg(long, value_name = "URI", default_value = "auto")]
    pub mlflow: String,
    /// When to write traces.jsonl to the run's folder
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Logs and traces"
    )]
    pub traces: Traces,
}

/// The settings of batches.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Batches")]
#[serde(default, deny_unknown_fields)]
pub struct BatchSettings {
    /// Send each request as soon as it is ready, or collect requests in batches, which the provider answers within a day at half the price
    #[arg(long, value_name = "ENGINE", default_value = "live")]
    pub engine: ExecutionEngine,
}

/// The way requests are sent (`--engine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionEngine {
    /// Send each request as soon as it is ready, and wait for its reply.
    Live,
    /// Collect requests for the provider's batch API, at half the price.
    Batch,
}

/// Which answers are given, by the probability that they are right.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Stated error")]
#[serde(default, deny_unknown_fields)]
pub struct CalibrationSettings {
    /// File that `convfinqa calibrate` wrote, from which each answer gets the probability that it is right [default: the built-in calibration with a chat model and second opinions]
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<PathBuf>,
    /// Give only answers of which at most this share is wrong, with 95 % confidence, and withhold the others, e.g. 5%; needs --calibration
    #[arg(long, value_name = "SHARE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_error: Option<ErrorLimit>,
}

/// The format of log lines (`--log`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// No log lines.
    #[default]
    Off,
    /// Time, level, spans, target, message, `key=value`.
    Text,
    /// One JSON object per line.
    Json,
}

/// Log lines.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Logs and traces")]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// Format of log lines on stderr; `json` replaces all other output there; RUST_LOG sets the level
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub log: LogFormat,
}

/// The writing of `traces.jsonl` (`--traces`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Traces {
    /// If traces are also sent to a collector or MLflow, or include content.
    Auto,
    /// Always.
    On,
    /// Never; a configured collector still receives traces.
    Off,
}

finqa_core::options::declared_defaults!(
    QuestionSettings, RunSettings, BatchSettings, CalibrationSettings, LogSettings
);
