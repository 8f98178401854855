//! `convfinqa data`: download, check, show, statistics.

use super::Exit;

/// The subcommands.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Count records, turns and artefacts of a data file.
    Stats {
        /// A file of ConvFinQA records, or `sample`.
        #[arg(default_value = "sample")]
        data: String,
    },
}

/// Runs one.
///
/// # Errors
/// Data that cannot be read.
pub fn execute(_command: Command) -> anyhow::Result<Exit> {
    Ok(Exit::Done)
}
