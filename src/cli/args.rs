//! The arguments of the main job and of `ask`, as typed; absent means "as
//! configured".

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::gate::GateArgs;

/// Which model is asked, and how: the arguments of every command that asks one.
/// What is serialised is a layer of settings: keys are those of
/// `convfinqa.toml`.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct ModelArgs {
    /// `offline` (the embedded pair, the default) or a chat model; on Azure the deployment
    #[arg(long, short = 'm', value_name = "MODEL")]
    pub model: Option<String>,
    /// Sampling temperature, 0 to 1
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    pub temperature: Option<f64>,
    /// Seed of shuffling, and of sampling where the provider has one: S + epoch × samples + sample, both from 0
    #[arg(long, value_name = "S")]
    pub seed: Option<u64>,

    /// Which API [default: Azure if its variables are set and OPENAI_API_KEY is not, else OpenAI]
    #[arg(long, value_name = "API", value_parser = ["openai", "azure"], help_heading = "Provider")]
    pub provider: Option<String>,
    /// Base URL of any compatible server; only OpenAI and Azure need a key
    #[arg(long, value_name = "URL", help_heading = "Provider")]
    pub base_url: Option<String>,
    /// Send keys and tokens over http:// to other machines too
    #[arg(long, help_heading = "Provider")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub allow_http: bool,
    /// Limit on output tokens of one reply
    #[arg(long, value_name = "N", help_heading = "Provider")]
    pub max_tokens: Option<u32>,
    /// Seconds for one HTTP request [default: 120, on loopback 600]
    #[arg(long, value_name = "S", help_heading = "Provider")]
    pub timeout: Option<u64>,
    /// HTTP requests for one call, at most [default: 6]
    #[arg(long, value_name = "N", help_heading = "Provider")]
    pub attempts: Option<u32>,

    /// Settings file [default: convfinqa.toml, if it is there]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

/// Who answers and how: the arguments that every command with agents shares.
/// What is serialised is a layer of settings: keys are those of
/// `convfinqa.toml`.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct PairArgs {
    /// Which model.
    #[command(flatten)]
    #[serde(flatten)]
    pub model: ModelArgs,

    /// Who criticises: an LLM beside the checks, the checks alone, nobody
    #[arg(long, value_name = "WHO", value_parser = ["llm", "rules", "off"], help_heading = "Agents")]
    pub critic: Option<String>,
    /// The critic's model, if it differs from the analyst's
    #[arg(long, value_name = "MODEL", help_heading = "Agents")]
    pub critic_model: Option<String>,
    /// Analyst replies with their verdicts, at most [default: 3]
    #[arg(long, value_name = "N", help_heading = "Agents")]
    pub max_rounds: Option<u32>,
    /// Leave out the deterministic checks
    #[arg(long, help_heading = "Agents")]
    #[serde(
        rename = "verify",
        serialize_with = "inverted",
        skip_serializing_if = "std::ops::Not::not"
    )]
    pub no_verify: bool,
    /// What decides the value: the executed program, or the printed answer
    #[arg(long, value_name = "WHAT", value_parser = ["program", "text"], help_heading = "Agents")]
    pub answer_from: Option<String>,
    /// Below this confidence (0 to 1) the offline pair abstains
    #[arg(long, value_name = "P", help_heading = "Agents")]
    pub min_confidence: Option<f64>,
    /// A second opinion by the embedded rules beside a chat model: none, recorded with the
    /// answer, also shown to the critic where it is sure, or required to agree [default: show]
    #[arg(long, value_name = "USE", value_parser = ["off", "record", "show", "require"], help_heading = "Agents")]
    pub second_opinion: Option<String>,
    /// From this confidence (0 to 1) the critic is shown a second opinion that differs [default: 0.85]
    #[arg(long, value_name = "P", help_heading = "Agents")]
    pub opinion_confidence: Option<f64>,
    /// Analyses drawn per question, of which the commonest value is taken [default: 1]
    #[arg(long, value_name = "K", help_heading = "Agents")]
    pub samples: Option<u32>,
    /// How the table is shown: as filed, or repaired
    #[arg(long, value_name = "STYLE", value_parser = ["reference", "repaired"], help_heading = "Agents")]
    pub table_style: Option<String>,
    /// A folder whose .j2 files replace the built-in templates
    #[arg(long, value_name = "DIR", help_heading = "Agents")]
    pub prompts: Option<PathBuf>,

    /// Logs, and what of a question traces hold.
    #[command(flatten)]
    #[serde(flatten)]
    pub log: LogArgs,
    /// Record questions, prompts and replies in traces too
    #[arg(long, help_heading = "Logs and traces")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub trace_content: bool,
}

/// Log lines on stderr: the arguments of every command that has some.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct LogArgs {
    /// Log lines on stderr; with `json` nothing else is there, and no progress bar [default: off]
    #[arg(long, value_name = "FORM", value_parser = ["text", "json", "off"], help_heading = "Logs and traces")]
    pub log: Option<String>,
    /// Which log lines: error to trace, or `target=level,…` [default: RUST_LOG, else info]
    #[arg(long, value_name = "LEVEL", help_heading = "Logs and traces")]
    pub log_level: Option<String>,
}

/// The arguments of the main job. What is serialised is a layer of settings:
/// keys are those of `convfinqa.toml`.
#[derive(Args, Clone, Debug, Default, Serialize)]
pub struct RunArgs {
    /// Who answers and how.
    #[command(flatten)]
    #[serde(flatten)]
    pub pair: PairArgs,
    /// Records to take, from the first [default: all offline and on loopback, else 100]
    #[arg(long, short = 'n', value_name = "N")]
    pub n: Option<usize>,
    /// Print every question, its gold and generated answer, and the rounds
    #[arg(long, short = 'v')]
    #[serde(skip)]
    pub verbose: bool,
    /// A file of ConvFinQA records, or `sample` [default: data/train.json if there, else the sample]
    #[arg(long, value_name = "FILE")]
    pub data_path: Option<String>,

    /// Records FROM..TO by place, from 0, TO excluded
    #[arg(long, value_name = "FROM..TO", help_heading = "Questions")]
    pub range: Option<String>,
    /// Only these record ids, comma-separated
    #[arg(
        long,
        value_name = "ID,…",
        value_delimiter = ',',
        help_heading = "Questions"
    )]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<String>,
    /// Only records whose id or a question matches this regular expression
    #[arg(long, value_name = "REGEX", help_heading = "Questions")]
    pub filter: Option<String>,
    /// Draw the order of records by --seed before --n is taken
    #[arg(long, help_heading = "Questions")]
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub shuffle: bool,
    /// Stand-alone questions, or the conversations' turns in order
    #[arg(long, value_name = "MODE", value_parser = ["questions", "conversations"], help_heading = "Questions")]
    pub mode: Option<String>,
    /// Which earlier answers a turn sees: our own answers, or the dataset's
    #[arg(long, value_name = "WHOSE", value_parser = ["own", "gold"], help_heading = "Questions")]
    pub history: Option<String>,
    /// Passes over all questions
    #[arg(long, value_name = "K", help_heading = "Questions")]
    pub epochs: Option<u32>,

    /// Conversations in flight at a time [default: 8, on loopback 2, offline the number of cores]
    #[arg(long, short = 'j', value_name = "N", help_heading = "Provider")]
    pub concurrency: Option<usize>,

    /// Where results go [default: output]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// Track the run on this MLflow server, or `off` [default: auto, where MLFLOW_TRACKING_URI says]
    #[arg(long, value_name = "URI", help_heading = "Output")]
    pub mlflow: Option<String>,
    /// The MLflow experiment [default: MLFLOW_EXPERIMENT_NAME, else financial_qa]
    #[arg(long, value_name = "NAME", help_heading = "Output")]
    pub experiment: Option<String>,
    /// Write traces.jsonl next to the journal [default: auto, when traces are also sent somewhere]
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "on", "off"], help_heading = "Logs and traces")]
    pub traces: Option<String>,
    /// Also write the programs in the format of the leaderboard
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    #[serde(skip)]
    pub export_predictions: Option<PathBuf>,
    /// Continue an unfinished run with its own settings: the last one, or the given one
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", help_heading = "Output")]
    #[serde(skip)]
    pub resume: Option<String>,
    /// Resume a run that another version of convfinqa started
    #[arg(long, requires = "resume", help_heading = "Output")]
    #[serde(skip)]
    pub allow_version: bool,
    /// Print the summary as JSON to stdout, everything else to stderr
    #[arg(long, help_heading = "Output")]
    #[serde(skip)]
    pub json: bool,
    /// Print only errors and the requested output
    #[arg(long, short = 'q', help_heading = "Output")]
    #[serde(skip)]
    pub quiet: bool,

    /// What CI wants
    #[command(flatten)]
    #[serde(skip)]
    pub gate: GateArgs,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn inverted<S: serde::Serializer>(flag: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(!flag)
}
