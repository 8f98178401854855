//! The errors of starting and finishing a run.

use std::path::PathBuf;

use thiserror::Error;

use finqa_agents::graph::GraphError;
use finqa_agents::llm::{PriceError, RepliesError, SettingsError};
use finqa_agents::pair::RunFailure;
use finqa_agents::prompt::PromptError;
use finqa_core::error::{Kind, Kinded};
use finqa_journal::run::{FolderError, JournalError, LockError, PlanError, RunShard, ShardsError};
use finqa_journal::settings::ConfigError;
use finqa_report::output::OutputError;
use finqa_report::output::mlflow::MlflowError;
use finqa_report::telemetry::TelemetryError;
use finqa_score::calibration::CalibrationError;
use finqa_score::dataset::DatasetError;

#[derive(Debug, Error)]
pub enum PipelineError {
    #[error("the critic has a server, and no model is named for it")]
    CriticWithoutModel,
    #[error("{0} is for a model's server, and no model is named")]
    ServerWithoutModel(String),
    #[error(
        "no data: data/train.json does not exist, and a remote model is not run on the built-in sample by default"
    )]
    NoData,
    #[error("no data: a remote model is not run on the built-in sample by default")]
    NoEpisodeData,
    #[error("{0}: give wrong, flaky or unanswered, and a run, such as wrong:last")]
    OnlyForm(String),
    #[error("{0}: the run has no such question among those that are selected")]
    OnlyNothing(String),
    #[error("{only}: the run asked about {was}, not {now}")]
    OnlyOtherData {
        only: String,
        was: String,
        now: String,
    },
    #[error("{0} lists no tasks")]
    NoTasks(String),
    #[error("a limit of the cost needs the price of `{model}` at {address}")]
    NoPrice { model: String, address: String },
    #[error("{path}: {source}")]
    Prices {
        path: PathBuf,
        #[source]
        source: PriceError,
    },
    #[error("{path}: {source}")]
    PricesFile {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(
        "run {id} cannot be resumed with other prices than it was started with, because its \
         earlier requests are priced by them"
    )]
    ChangedPrices { id: String },
    #[error(
        "run {id} was started without a limit of the cost, and cannot get one now: its requests \
         so far were not counted"
    )]
    UnknownSpending { id: String },
    #[error("a batch run needs a chat model, because the embedded analyst sends no requests")]
    BatchesWithoutModel,
    #[error("a batch run is for questions: an episode would take a batch for each of its steps")]
    BatchesOfEpisodes,
    #[error(
        "run {id} may have batches at the provider, whose requests would be sent again; fetch them \
         with `{resume}`"
    )]
    OpenBatches { id: String, resume: String },
    #[error("{path} holds the replies of `{command}`")]
    RecordedByOther {
        path: PathBuf,
        command: &'static str,
    },
    #[error("the run that {path} describes cannot be read: {source}")]
    RecordedRun {
        path: PathBuf,
        #[source]
        source: serde_json::Error,
    },
    #[error("{0}")]
    Replies(#[from] RepliesError),
    #[error(
        "run {id} was started by convfinqa {version}, this is {own}, which may give other answers; start a new run, or resume it with that version"
    )]
    OtherVersion {
        id: String,
        version: String,
        own: &'static str,
    },
    #[error("run {id} cannot be resumed with changes: {changes}; undo them, or start a new run")]
    Changed { id: String, changes: String },
    #[error("{shard} was planned with other inputs: {changes}")]
    OtherShards { shard: RunShard, changes: String },
    #[error(
        "the episodes of a server, which deals its questions itself, cannot be split into shards"
    )]
    ShardOfServer,
    #[error(
        "a second opinion that arbitrates needs the share of the model's answers that are right"
    )]
    NoAccuracy,
    #[error(
        "run {id} was merged from shards, and some of its questions are missing: repeat the \
         commands of its shards, then `{merge}`"
    )]
    MergedRun { id: String, merge: String },
    #[error("{0}")]
    Shards(#[from] ShardsError),
    /// The journal failed while questions were being asked. Entries that it already has are kept.
    #[error("{0}")]
    Stopped(#[source] JournalError),
    /// A new run ended before it had an answer, and cost nothing. Its folder was removed. Or a dry
    /// run found that the run would end in this way.
    #[error("{}", .0.message)]
    NothingAsked(RunFailure),
    /// The run has ended, but some files could not be written.
    #[error("{0}")]
    Unwritten(#[source] OutputError),
    #[error("the run's task failed")]
    Task(#[from] tokio::task::JoinError),
    #[error("{0}")]
    Settings(#[from] ConfigError),
    #[error("{0}")]
    Kept(#[from] toml::ser::Error),
    #[error("{0}")]
    Data(#[from] DatasetError),
    #[error("{0}")]
    Calibration(#[from] CalibrationError),
    #[error("{0}")]
    Plan(#[from] PlanError),
    #[error("{0}")]
    Prompts(#[from] PromptError),
    #[error("{0}")]
    Provider(#[from] SettingsError),
    /// The critic's model cannot be connected, though the analyst's is.
    #[error("the critic's model: {0}")]
    CriticProvider(#[source] SettingsError),
    #[error("{0}")]
    Agents(#[from] GraphError),
    #[error("{0}")]
    Folder(#[from] FolderError),
    #[error("{0}")]
    Output(#[from] OutputError),
    #[error("{0}")]
    Lock(#[from] LockError),
    #[error("{0}")]
    Journal(#[from] JournalError),
    #[error("{0}")]
    Tracking(#[from] MlflowError),
    #[error("{0}")]
    Traces(#[from] TelemetryError),
}

impl Kinded for PipelineError {
    fn kind(&self) -> Kind {
        match self {
            Self::NoData | Self::NoEpisodeData | Self::RecordedRun { .. } => Kind::Data,
            Self::Task(_) | Self::Kept(_) => Kind::Bug,
            Self::NothingAsked(failure) => failure.kind(),
            Self::Stopped(error) | Self::Journal(error) => error.kind(),
            Self::Unwritten(error) | Self::Output(error) => error.kind(),
            Self::Replies(error) => error.kind(),
            Self::Shards(error) => error.kind(),
            Self::Settings(error) => error.kind(),
            Self::Data(error) => error.kind(),
            Self::Calibration(error) => error.kind(),
            Self::Plan(error) => error.kind(),
            Self::Prompts(error) => error.kind(),
            Self::Provider(error) | Self::CriticProvider(error) => error.kind(),
            Self::Agents(error) => error.kind(),
            Self::Folder(error) => error.kind(),
            Self::Lock(error) => error.kind(),
            Self::Tracking(error) => error.kind(),
            Self::Traces(error) => error.kind(),
            _ => Kind::Usage,
        }
    }
}
