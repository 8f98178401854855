//! Arguments of `convfinqa run`, and groups of arguments that several commands share.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use serde::Serialize;

use finqa_agents::llm::{ModelSettings, RepliesError, StoredReplies};
use finqa_journal::settings::Settings;
use finqa_report::output::terminal::TerminalStyle;
use finqa_score::dataset::{Dataset, load_named};

use super::ci::CiArgs;
use super::{Failure, settings};

/// The file of settings, for every command that has some.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ConfigFile {
    /// Settings file [default: convfinqa.toml if it exists]
    // Without this, the option would be listed under the heading of the group of options before it.
    #[arg(long, value_name = "FILE", help_heading = None::<&str>)]
    pub config: Option<PathBuf>,
}

/// The folder of runs, for every command that reads them.
#[derive(clap::Args, Clone, Debug, Serialize)]
pub(crate) struct OutputFolder {
    /// Folder with the runs [default: output]
    #[arg(long, short = 'o', value_name = "DIR", help_heading = None::<&str>)]
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<PathBuf>,
    #[command(flatten)]
    #[serde(skip)]
    config: ConfigFile,
}

impl OutputFolder {
    /// The folder that the flag, the environment or the settings file names; otherwise the default.
    pub(crate) fn path(&self, matches: &ArgMatches) -> Result<PathBuf, Failure> {
        let settings = settings::load(self, matches, self.file())?;
        Ok(settings.run.output)
    }

    /// The settings file that `--config` names.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.config.config.as_deref()
    }
}

/// The file of records of a command that reads answers.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct RecordsFile {
    /// File of records with the gold answers, the programs and the pages, or `sample` [default: for
    /// a run, its own records]
    #[arg(long, value_name = "FILE")]
    data_path: Option<String>,
    /// Use only the records of one split of a file such as {"train": […], "dev": […]}
    #[arg(long, value_name = "NAME", requires = "data_path")]
    split: Option<String>,
}

impl RecordsFile {
    /// The path as the user gave it; empty if none was given.
    pub(super) fn path(&self) -> &Path {
        Path::new(self.data_path.as_deref().unwrap_or_default())
    }

    /// The split to read; `None` to read all splits.
    pub(super) fn split(&self) -> Option<&str> {
        self.split.as_deref()
    }

    /// Reads the records and prints their notes; `None` if no file is named.
    pub(super) fn load(&self) -> Result<Option<Dataset>, Failure> {
        let dataset = load_named(self.data_path.as_deref(), self.split.as_deref())?;
        dataset.iter().for_each(print_notes);
        Ok(dataset)
    }
}

/// Prints the notes about these records on stderr.
pub(super) fn print_notes(dataset: &Dataset) {
    let lines = dataset.notes.iter();
    super::notes(lines.map(|line| format!("{}: {line}", dataset.source)));
}

/// The folder of replies that answer a command's model calls.
#[derive(clap::Args, Clone, Debug, Default)]
#[command(next_help_heading = "Stored replies")]
pub(crate) struct ReplayArgs {
    /// Answer model calls from a folder that --cache filled, without a server or a key
    #[arg(long, value_name = "DIR", conflicts_with = "cache")]
    pub replay: Option<PathBuf>,
}

impl ReplayArgs {
    pub(super) fn open(&self) -> Result<Option<Arc<StoredReplies>>, RepliesError> {
        let replies = self.replay.as_deref().map(StoredReplies::replay);
        Ok(replies.transpose()?.map(Arc::new))
    }
}

/// Refuses `--replay` without a chat model, because the embedded analyst sends no requests.
pub(super) fn needs_model(
    replay: Option<&Arc<StoredReplies>>,
    model: &ModelSettings,
) -> Result<(), Failure> {
    if replay.is_none() || !model.is_offline() {
        return Ok(());
    }
    let line = "--replay needs a chat model, because the embedded analyst sends no requests; \
                pass --model NAME";
    Err(Failure::usage(line))
}

/// The arguments of every command that starts or resumes a run.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct ControlArgs {
    #[command(flatten)]
    pub config: ConfigFile,
    #[command(flatten)]
    pub stored: ReplayArgs,
    /// Resume RUN, or the newest unfinished run, with the settings that it was started with
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", conflicts_with = "shard", help_heading = None::<&str>)]
    pub resume: Option<String>,
    #[command(flatten)]
    pub print: PrintArgs,
}

/// What is printed of a run.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub(crate) struct PrintArgs {
    /// Print the summary as JSON on stdout instead of as tables; progress and notes go to stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print only errors, and the summary if --json is given
    #[arg(long, short = 'q', help_heading = "Output")]
    pub quiet: bool,
}

/// How a run is shown on the terminal.
#[derive(Clone, Copy)]
pub(super) struct RunDisplay {
    pub verbose: bool,
    pub print: PrintArgs,
    pub style: TerminalStyle,
}

/// The arguments of `convfinqa run`, the default command.
#[derive(clap::Args, Clone, Debug, Default)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub settings: Settings,
    /// Estimate calls, tokens and cost without sending anything
    #[arg(long, conflicts_with = "resume", help_heading = "Budget")]
    pub dry_run: bool,
    /// Print each question with the gold answer, the generated answer and the rounds
    #[arg(long, short = 'v', help_heading = "Output")]
    pub verbose: bool,
    #[command(flatten)]
    pub control: ControlArgs,
    #[command(flatten)]
    pub ci: CiArgs,
}
