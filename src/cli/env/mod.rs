//! `convfinqa env`: the FinQA environment; one file per subcommand.

mod build;
mod check;
mod download;
mod play;
mod serve;

use std::ffi::OsStr;
use std::path::Path;

use crate::env::data::Catalog;
use crate::sinks::terminal::Look;

use super::Exit;

/// The subcommands.
#[derive(clap::Subcommand, Debug)]
pub enum Command {
    /// Serve episodes to OpenEnv clients, tools to MCP clients, a page to people
    Serve(Box<serve::Args>),
    /// Read every table and question of a data directory, list what is wrong
    Check(check::Args),
    /// Build a data directory from ConvFinQA records: their stand-alone questions
    Build(build::Args),
    /// Fetch the published benchmark and verify every file; it is for evaluation only
    Download(download::Args),
    /// Let an agent play episodes, here or on a running server, and sum up its rewards
    Play(Box<play::Args>),
}

/// Runs a subcommand.
///
/// # Errors
/// What the subcommand says.
pub fn execute(command: Command, look: Look) -> anyhow::Result<Exit> {
    match command {
        Command::Serve(args) => serve::execute(*args),
        Command::Check(args) => check::execute(&args),
        Command::Build(args) => build::execute(&args),
        Command::Download(args) => download::execute(args),
        Command::Play(args) => play::execute(&args, look),
    }
}

/// The data of a directory, or those made from the built-in sample.
fn catalog(data: Option<&OsStr>) -> anyhow::Result<Catalog> {
    // An empty variable is none, as compose.yaml passes it on; clap would refuse
    // an empty path, so it is read as a plain string.
    match data.filter(|path| !path.is_empty()) {
        Some(path) => Ok(Catalog::load(Path::new(path))?),
        None => Ok(Catalog::builtin()?),
    }
}
