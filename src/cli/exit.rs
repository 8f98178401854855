//! Exit codes, and the one line that an error becomes.

use std::process::ExitCode;

use crate::analysis::AnalysisError;
use crate::dataset::{DatasetError, OwnError};
use crate::episodes::RemoteError;
use crate::output::OutputError;
use crate::output::mlflow::MlflowError;
use crate::output::terminal::harmless;
use crate::pipeline::PipelineError;
use crate::run::{FolderError, JournalError, LockError, MergeError, PlanError, ShardsError};
use crate::score::ScoreError;
use crate::settings::ConfigError;
use crate::telemetry::TelemetryError;
use finqa_agents::models::{CacheError, CassetteError, ErrorKind, ModelError, SettingsError};
use finqa_agents::prompt::PromptError;
use finqa_core::fetch::DownloadError;
use finqa_core::text::single_spaced;
use finqa_env::data::{EnvError, HubError};
use finqa_env::server::ServerError;

/// How the program ended; the numbers are public (README).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// A bug of ours.
    Bug,
    /// Wrong usage or configuration, an output that cannot be written.
    Usage,
    /// Data that cannot be read or do not hold what was asked for.
    Data,
    /// Some questions are without an answer.
    Unanswered,
    /// The provider cannot be reached or refuses.
    Provider,
    /// A score is below its `--fail-under`, or B not better by `--gate`.
    BelowThreshold,
    /// A limit of money, tokens or time was reached; can be resumed.
    BudgetReached,
    /// Stopped by the user; can be resumed.
    Interrupted,
}

impl Exit {
    /// The public number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Bug => 1,
            Self::Usage => 2,
            Self::Data => 3,
            Self::Unanswered => 4,
            Self::Provider => 5,
            Self::BelowThreshold => 6,
            Self::BudgetReached => 7,
            Self::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// An error of the command line itself, with its exit code.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
}

impl Failure {
    /// An error with this exit code.
    pub fn new(exit: Exit, message: impl Into<String>) -> Self {
        Self {
            exit,
            message: message.into(),
        }
    }
}

/// Which exit code an error ends the program with: the one place that knows
/// what each module's errors mean to a caller.
#[must_use]
pub(crate) fn classify(error: &anyhow::Error) -> Exit {
    for cause in error.chain() {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return failure.exit;
        }
        if cause.is::<CacheError>()
            || cause.is::<ConfigError>()
            || cause.is::<PromptError>()
            || cause.is::<SettingsError>()
        {
            return Exit::Usage;
        }
        if let Some(error) = cause.downcast_ref::<DatasetError>() {
            return if error.is_usage() {
                Exit::Usage
            } else {
                Exit::Data
            };
        }
        if let Some(error) = cause.downcast_ref::<CassetteError>() {
            return if error.is_data() {
                Exit::Data
            } else {
                Exit::Usage
            };
        }
        if let Some(error) = cause.downcast_ref::<MergeError>() {
            return if error.is_data() {
                Exit::Data
            } else {
                Exit::Usage
            };
        }
        if let Some(error) = cause.downcast_ref::<DownloadError>() {
            return if error.is_network() {
                Exit::Provider
            } else {
                Exit::Data
            };
        }
        if let Some(error) = cause.downcast_ref::<HubError>() {
            return if error.is_network() {
                Exit::Provider
            } else if error.is_usage() {
                Exit::Usage
            } else {
                Exit::Data
            };
        }
        if let Some(error) = cause.downcast_ref::<EnvError>() {
            return if error.is_usage() {
                Exit::Usage
            } else {
                Exit::Data
            };
        }
        if cause.is::<ServerError>() || cause.is::<TelemetryError>() || cause.is::<RemoteError>() {
            return Exit::Usage;
        }
        if cause.is::<AnalysisError>() || cause.is::<OwnError>() {
            return Exit::Data;
        }
        if cause.is::<PlanError>() || cause.is::<ScoreError>() {
            return Exit::Data;
        }
        if let Some(error) = cause.downcast_ref::<ModelError>() {
            return if error.kind == ErrorKind::Settings {
                Exit::Usage
            } else {
                Exit::Provider
            };
        }
        if let Some(error) = cause.downcast_ref::<MlflowError>() {
            return if error.is_local() {
                Exit::Usage
            } else {
                Exit::Provider
            };
        }
        match cause.downcast_ref::<PipelineError>() {
            Some(
                PipelineError::NoData
                | PipelineError::NoExamples
                | PipelineError::NoEpisodeData
                | PipelineError::CassetteRun { .. },
            ) => return Exit::Data,
            Some(PipelineError::BatchState(_)) => return Exit::Provider,
            Some(
                PipelineError::TextWithoutModel
                | PipelineError::CriticWithoutModel
                | PipelineError::NoPrice { .. }
                | PipelineError::Prices { .. }
                | PipelineError::PricesFile { .. }
                | PipelineError::ChangedPrices { .. }
                | PipelineError::UnknownSpending { .. }
                | PipelineError::NoTools(_)
                | PipelineError::NoBatches(_)
                | PipelineError::OpenBatches { .. }
                | PipelineError::OtherKind { .. }
                | PipelineError::OtherCassette { .. }
                | PipelineError::Unexplained { .. }
                | PipelineError::OtherVersion { .. }
                | PipelineError::MergedRun { .. }
                | PipelineError::OtherShards { .. }
                | PipelineError::ShardOfServer
                | PipelineError::ShardOfPilot
                | PipelineError::CassetteOfShard
                | PipelineError::ChangedSettings { .. }
                | PipelineError::ChangedInputs { .. },
            ) => return Exit::Usage,
            // The cause below it decides.
            Some(_) | None => {}
        }
        if cause.is::<JournalError>()
            || cause.is::<FolderError>()
            || cause.is::<LockError>()
            || cause.is::<ShardsError>()
            || cause.is::<OutputError>()
        {
            return Exit::Usage;
        }
    }
    Exit::Bug
}

/// The error chain on one line, without repeats.
#[must_use]
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    for cause in error.chain() {
        let text = single_spaced(&cause.to_string());
        if !line.contains(&text) {
            if !line.is_empty() {
                line.push_str(": ");
            }
            line.push_str(&text);
        }
    }
    // Errors quote files and servers.
    harmless(&line).into_owned()
}
