//! The arguments of the main job.

use std::path::PathBuf;

use crate::settings::Settings;

use super::gate::GateArgs;

/// The file of settings, for every command that has some.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct ConfigFile {
    /// Settings file [default: convfinqa.toml if it exists]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub config: Option<PathBuf>,
}

/// The arguments of the main job.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct RunArgs {
    #[command(flatten)]
    pub settings: Settings,
    #[command(flatten)]
    pub config: ConfigFile,
    /// Print every question, its gold and generated answer, and the rounds
    #[arg(long, short = 'v')]
    pub verbose: bool,
    /// Also write the predicted programs in the ConvFinQA leaderboard's format
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub export_predictions: Option<PathBuf>,
    /// Continue an unfinished run with its own settings: the last one, or the given one
    #[arg(long, value_name = "RUN", num_args = 0..=1, default_missing_value = "last", help_heading = "Output")]
    pub resume: Option<String>,
    /// Resume a run that another version of convfinqa started
    #[arg(long, requires = "resume", help_heading = "Output")]
    pub allow_version: bool,
    /// Print the summary as JSON to stdout, everything else to stderr
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Print only errors and the requested output
    #[arg(long, short = 'q', help_heading = "Output")]
    pub quiet: bool,
    #[command(flatten)]
    pub gate: GateArgs,
}
