//! Extends the errors of the packages by the options of the command line that help.

use std::path::Path;

use finqa_agents::graph::GraphError;
use finqa_agents::llm::settings::OFFLINE;
use finqa_agents::llm::{ModelError, RepliesError, SettingsError};
use finqa_agents::pair::RunFailure;
use finqa_agents::prompt::PromptError;
use finqa_ask::AskError;
use finqa_core::error::Kinded;
use finqa_core::text::edits;
use finqa_documents::DocumentError;
use finqa_env::data::{EnvError, HubError};
use finqa_env::server::ServerError;
use finqa_fetch::DownloadError;
use finqa_journal::answers::AnswersError;
use finqa_journal::run::{FolderError, JournalError, LockError, PlanError, ShardsError, command};
use finqa_journal::settings::ConfigError;
use finqa_report::output::OutputError;
use finqa_report::output::mlflow::MlflowError;
use finqa_report::telemetry::TelemetryError;
use finqa_run::episodes::RemoteError;
use finqa_run::improve::SearchError;
use finqa_run::pipeline::PipelineError;
use finqa_score::analysis::AnalysisError;
use finqa_score::calibration::CalibrationError;
use finqa_score::dataset::DatasetError;
use finqa_score::score::ScoreError;

/// An error as the command line prints it.
pub trait Hinted: Kinded {
    /// The line to print. `own` is the error's own text, followed by its causes.
    fn line(&self, own: String) -> String {
        own
    }
}

impl Hinted for ConfigError {}
impl Hinted for DownloadError {}
impl Hinted for EnvError {}
impl Hinted for GraphError {}
impl Hinted for HubError {}
impl Hinted for JournalError {}
impl Hinted for LockError {}
impl Hinted for MlflowError {}
impl Hinted for ModelError {}
impl Hinted for PromptError {}
impl Hinted for RemoteError {}
impl Hinted for RunFailure {}

impl Hinted for RepliesError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Foreign { .. } => format!(
                "{own}; name a folder that was given to --cache, or with --cache a new or empty one"
            ),
            _ => own,
        }
    }
}

impl Hinted for SettingsError {
    fn line(&self, own: String) -> String {
        model_line(self, own, "--")
    }
}

/// The line for the settings of a model. `flag` is how the flags of its settings begin: `--`, or
/// `--critic-` for the critic's model.
fn model_line(error: &SettingsError, own: String, flag: &str) -> String {
    match error {
        SettingsError::NoKey {
            is_claude: true, ..
        } => format!("{own}; for Claude: {flag}provider anthropic"),
        // At most two edits, set by hand.
        SettingsError::NoKey { model, .. } if edits(model, OFFLINE) <= 2 => match flag {
            "--" => format!("{own}; did you mean `--model {OFFLINE}`?"),
            _ => format!("{own}; {flag}model names a chat model, and --critic rules needs none"),
        },
        SettingsError::Url { .. } => format!(
            "{own}: write http:// or https:// and a host, without user name, fragment and query \
             string (but Azure's api-version with {flag}provider azure); the key has a variable \
             of its own"
        ),
        SettingsError::OtherApi { provider, .. } => {
            format!("{own}: name it with {flag}provider {provider}")
        }
        SettingsError::OtherDeployment { .. } => {
            format!("{own}: name it with {flag}model, or end the address at its host")
        }
        SettingsError::NotOpenAiApi(api) => {
            format!("--api {api} is one of OpenAI's APIs: leave it out with --provider anthropic")
        }
        _ => own,
    }
}

impl Hinted for DocumentError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Json { .. } => format!("{own}; a run reads records with --data-path"),
            _ => own,
        }
    }
}

impl Hinted for AskError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Document(error) => error.line(own),
            Self::Wiring(_) | Self::Failure(_) => own,
        }
    }
}

impl Hinted for ServerError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Bind { .. } => format!("{own}; choose another --port, or 0 for a free one"),
            Self::Stdio { .. } => own,
        }
    }
}

impl Hinted for DatasetError {
    fn line(&self, own: String) -> String {
        match self {
            Self::NoSplits { .. } => format!("{own}; leave out --split"),
            Self::UnknownId { .. } => format!("{own}; --filter finds ids by a part of them"),
            _ => own,
        }
    }
}

impl Hinted for ScoreError {
    fn line(&self, own: String) -> String {
        match self {
            Self::NothingScored { .. } => format!("{own}; name the records with --data-path"),
            _ => own,
        }
    }
}

impl Hinted for CalibrationError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Read { .. } => own,
            Self::NotOne { path, .. } => format!(
                "{own}; make one with `convfinqa calibrate RUN --to {}`",
                path.display()
            ),
            Self::NoCalibration => "--max-error needs a calibration of this model: make one with \
                 `convfinqa calibrate RUN` from a run with gold, and name it with --calibration"
                .to_owned(),
            Self::Differs { name, difference } => format!(
                "--max-error cannot use {name}, because {difference}; calibrate with a run like \
                 this one"
            ),
            Self::NothingPasses { most, reason } => {
                format!("--max-error {most} withholds everything: {reason}")
            }
        }
    }
}

impl Hinted for AnalysisError {
    fn line(&self, own: String) -> String {
        match self {
            Self::DifferentQuestions { common, .. } => {
                format!("{own}; pass --common to compare only the {common}")
            }
            Self::NothingToCompare { .. } => format!("{own}; name the records with --data-path"),
            Self::DifferentGold { .. } => {
                format!("{own}; pass --data-path FILE to score both by one file's gold")
            }
            _ => own,
        }
    }
}

impl Hinted for AnswersError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Score(error) => error.line(own),
            Self::UnknownQuestion { .. } => {
                format!("{own}; name the file with its records with --data-path")
            }
            _ => own,
        }
    }
}

impl Hinted for FolderError {
    fn line(&self, own: String) -> String {
        let another = "and -o names another folder";
        // The errors name the folder `runs` in the output folder, which is the one that `-o` takes.
        let listed = |runs: &Path| command("runs", runs.parent().unwrap_or(runs));
        match self {
            Self::NothingToResume { .. } => format!("{own}; leave out --resume to start one"),
            Self::NoSuchRun { folder, .. } => {
                format!("{own}; `{}` lists them, {another}", listed(folder))
            }
            Self::NoRuns { folder } => {
                let start = command("run", folder.parent().unwrap_or(folder));
                format!("{own}: `{start}` starts one, {another}")
            }
            Self::NoSuchShards { run, folder } => format!(
                "{run}: no run of this name was started with --shard in {}; `{}` lists the runs, \
                 {another}",
                folder.display(),
                listed(folder)
            ),
            _ => own,
        }
    }
}

impl Hinted for PlanError {
    fn line(&self, own: String) -> String {
        match self {
            Self::NoQuestions { .. } => format!("{own}; use --mode conversations"),
            Self::NoTurns { .. } => format!("{own}; use --mode questions"),
        }
    }
}

impl Hinted for ShardsError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Taken { .. } => format!("{own}; name another one with --run"),
            Self::Incomplete { .. } => {
                format!("{own}; repeat these shards, or merge the others with --allow-missing")
            }
            _ => own,
        }
    }
}

impl Hinted for OutputError {
    fn line(&self, own: String) -> String {
        match self {
            Self::Write { .. } => {
                format!("{own}; choose another folder with --output, or free disk space")
            }
            Self::Page { .. } | Self::Journal(_) => own,
        }
    }
}

impl Hinted for TelemetryError {
    fn line(&self, own: String) -> String {
        match self {
            Self::File { .. } => format!("{own}; pass `--traces off` to run without it"),
            _ => own,
        }
    }
}

impl Hinted for SearchError {
    fn line(&self, own: String) -> String {
        match self {
            Self::TooFewPages => format!("{own}; name more records (--n, --data-path)"),
            Self::TooFewQuestions { power, cost } => format!(
                "{own}; name more records, about {} questions in all (--n, --data-path), or a \
                 larger --detect; about {:.0} questions would be asked, and {cost}",
                2 * power.needed,
                power.asked_in_all()
            ),
            Self::LimitReached => {
                "--max-cost is reached; the same command with a higher limit continues it"
                    .to_owned()
            }
            Self::Folder { .. } => format!("{own}; choose another --output"),
            Self::Run(error) => error.line(own),
            Self::Answers(error) => error.line(own),
            Self::RunFolder(error) => error.line(own),
            Self::Output(error) => error.line(own),
            _ => own,
        }
    }
}

impl Hinted for PipelineError {
    fn line(&self, own: String) -> String {
        match self {
            Self::CriticWithoutModel => {
                "--critic-provider and --critic-base-url need --critic-model: name the critic's \
                 model"
                    .to_owned()
            }
            Self::ServerWithoutModel(option) => {
                format!("{option} is for a model's server: name the model with --model")
            }
            Self::NoData => format!(
                "{own}; fetch the data with `convfinqa data download`, or name a file or `sample` \
                 with --data-path"
            ),
            Self::NoEpisodeData => format!(
                "{own}; name a directory or `sample` with --data-path, or a server with --url"
            ),
            Self::OnlyForm(_) | Self::OnlyNothing(_) => format!("--only {own}"),
            Self::OnlyOtherData { .. } => {
                format!("--only {own}; name its data with --data-path")
            }
            Self::NoTasks(_) => format!("{own}: say with --n how many episodes to play"),
            Self::NoPrice { model, address } => format!(
                "--max-cost needs the price of `{model}` at {address}: write it into a file, such \
                 as {{\"version\": 1, \"models\": {{\"{model}\": {{\"input\": \"2.50\", \
                 \"output\": \"10.00\"}}}}}} (US dollars per million tokens), and name it with \
                 --prices"
            ),
            Self::ChangedPrices { .. } => {
                format!("{own}; leave --prices out, or start a new run")
            }
            Self::UnknownSpending { id } => format!(
                "run {id} was started without --max-cost, and cannot get such a limit now: its \
                 requests so far were not counted; leave the limit out, or start a new run"
            ),
            Self::BatchesWithoutModel => format!("{own}; pass --model NAME"),
            Self::BatchesOfEpisodes => format!("{own}; pass --engine live"),
            Self::OpenBatches { .. } => format!("{own}, without --engine live"),
            Self::RecordedByOther { .. } => format!("{own}; repeat that command with --replay"),
            Self::OtherShards { .. } => {
                format!("{own}; undo the change, or name another run with --run")
            }
            Self::ShardOfServer => "--shard cannot split the episodes of a server, which deals \
                 its questions itself; play an environment in this process (--data-path)"
                .to_owned(),
            Self::NoAccuracy => "--second-opinion arbitrate needs --model-accuracy: the share of \
                 the model's answers that are right, such as `second_opinion.model_accuracy` in \
                 the summary.json of an earlier run"
                .to_owned(),
            Self::Replies(error) => error.line(own),
            Self::Shards(error) => error.line(own),
            Self::Unwritten(error) | Self::Output(error) => error.line(own),
            Self::Data(error) => error.line(own),
            Self::Calibration(error) => error.line(own),
            Self::Plan(error) => error.line(own),
            Self::Provider(error) => error.line(own),
            Self::CriticProvider(error) => model_line(error, own, "--critic-"),
            Self::Folder(error) => error.line(own),
            Self::Traces(error) => error.line(own),
            _ => own,
        }
    }
}
