//! Exit codes, and the one line that an error becomes.

use std::error::Error;
use std::process::ExitCode;

use finqa_agents::llm::{ErrorKind, ModelError, RepliesError, SettingsError};
use finqa_agents::pair::Fault;
use finqa_agents::prompt::PromptError;
use finqa_core::fetch::DownloadError;
use finqa_core::text::single_spaced;
use finqa_documents::DocumentError;
use finqa_env::data::{EnvError, HubError};
use finqa_env::server::ServerError;
use finqa_journal::answers::AnswersError;
use finqa_journal::run::{FolderError, JournalError, LockError, PlanError, ShardsError};
use finqa_journal::settings::ConfigError;
use finqa_report::output::OutputError;
use finqa_report::output::mlflow::MlflowError;
use finqa_report::output::terminal::harmless;
use finqa_report::telemetry::TelemetryError;
use finqa_run::episodes::RemoteError;
use finqa_run::pipeline::PipelineError;
use finqa_score::analysis::AnalysisError;
use finqa_score::calibration::CalibrationError;
use finqa_score::dataset::DatasetError;
use finqa_score::score::ScoreError;

/// The exit codes, which are public (README).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was done.
    Done,
    /// A bug in this program.
    Bug,
    /// Wrong usage or configuration, an output that cannot be written.
    Usage,
    /// Data that cannot be read or lack the requested records.
    Data,
    /// Some questions are without an answer.
    Unanswered,
    /// The provider cannot be reached or refuses.
    Provider,
    /// A score is below its `--fail-under`, or B is not better by `--gate`.
    BelowThreshold,
    /// A limit of money, tokens or time was reached; can be resumed.
    BudgetReached,
    /// Stopped by the user; can be resumed.
    Interrupted,
}

impl Exit {
    /// The public number.
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

    /// An error with [`Exit::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message)
    }
}

/// Adds a hint to the error of a file that `option` names and that cannot be written:
/// `--output` names the folder of runs.
pub(super) fn with_output_hint(option: &'static str) -> impl Fn(OutputError) -> anyhow::Error {
    move |error| match error {
        OutputError::Write { path, source } => {
            let path = path.display();
            let line = format!("cannot write {path}: {source}; choose another path with {option}");
            Failure::usage(line).into()
        }
        error => error.into(),
    }
}

/// The exit code for an error: the one place that maps each module's errors to exit codes.
pub(crate) fn classify(error: &anyhow::Error) -> Exit {
    error.chain().find_map(exit_of).unwrap_or(Exit::Bug)
}

/// `None` if a cause below it decides.
fn exit_of(cause: &(dyn Error + 'static)) -> Option<Exit> {
    let data_or_usage = |is_data| if is_data { Exit::Data } else { Exit::Usage };
    let provider_or = |is_provider, other| if is_provider { Exit::Provider } else { other };
    // These wrap another error in their own words.
    if let Some(OutputError::Journal(error)) = cause.downcast_ref() {
        return Some(data_or_usage(error.is_data()));
    }
    if let Some(FolderError::Journal(error)) = cause.downcast_ref() {
        return Some(data_or_usage(error.is_data()));
    }
    if cause.is::<RepliesError>()
        || cause.is::<CalibrationError>()
        || cause.is::<ConfigError>()
        || cause.is::<FolderError>()
        || cause.is::<LockError>()
        || cause.is::<OutputError>()
        || cause.is::<PromptError>()
        || cause.is::<ServerError>()
        || cause.is::<SettingsError>()
        || cause.is::<TelemetryError>()
    {
        return Some(Exit::Usage);
    }
    if cause.is::<AnalysisError>()
        || cause.is::<AnswersError>()
        || cause.is::<DocumentError>()
        || cause.is::<PlanError>()
        || cause.is::<ScoreError>()
    {
        return Some(Exit::Data);
    }
    if let Some(error) = cause.downcast_ref::<PipelineError>() {
        return of_pipeline(error);
    }
    let known = [
        by(cause, |error: &Failure| error.exit),
        by(cause, |error: &JournalError| data_or_usage(error.is_data())),
        by(cause, |error: &RemoteError| match error.fault() {
            Fault::Usage => Exit::Usage,
            Fault::Data => Exit::Data,
            _ => Exit::Provider,
        }),
        by(cause, |error: &DatasetError| {
            data_or_usage(!error.is_usage())
        }),
        by(cause, |error: &EnvError| data_or_usage(!error.is_usage())),
        by(cause, |error: &ShardsError| data_or_usage(error.is_data())),
        by(cause, |error: &DownloadError| {
            provider_or(error.is_network(), Exit::Data)
        }),
        by(cause, |error: &HubError| {
            provider_or(error.is_network(), data_or_usage(!error.is_usage()))
        }),
        by(cause, |error: &ModelError| {
            provider_or(error.kind != ErrorKind::Settings, Exit::Usage)
        }),
        by(cause, |error: &MlflowError| {
            provider_or(!error.is_local(), Exit::Usage)
        }),
    ];
    known.into_iter().flatten().next()
}

fn by<E: Error + 'static>(
    cause: &(dyn Error + 'static),
    exit: impl Fn(&E) -> Exit,
) -> Option<Exit> {
    cause.downcast_ref().map(exit)
}

fn of_pipeline(error: &PipelineError) -> Option<Exit> {
    match error {
        PipelineError::NoData
        | PipelineError::NoEpisodeData
        | PipelineError::RecordedRun { .. } => Some(Exit::Data),
        PipelineError::Prices { .. } | PipelineError::PricesFile { .. } => Some(Exit::Usage),
        // The others are about usage, or wrap the error of another module.
        wrapped if wrapped.source().is_some() => None,
        _ => Some(Exit::Usage),
    }
}

/// The error chain on one line, without repeats.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut line = String::new();
    // SQLite's own words for its code say the same again.
    let causes = error
        .chain()
        .filter(|cause| !cause.is::<rusqlite::ffi::Error>());
    for cause in causes {
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
