//! `convfinqa env`: the FinQA environment, with one file per subcommand.

mod build;
mod check;
mod download;
mod play;
mod serve;

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::Path;

use clap::ArgMatches;

use finqa_core::text::counted;
use finqa_env::data::{Catalog, EnvError, QUESTIONS};
use finqa_report::output::terminal::TerminalStyle;
use finqa_score::dataset::Source;

use super::{Exit, Failure};

#[derive(clap::Subcommand, Debug)]
pub(crate) enum EnvCommand {
    /// Serve episodes to OpenEnv clients, tools to MCP clients, and a web page for manual play
    Serve(Box<serve::ServeArgs>),
    /// Read every table and question of a data directory, and report problems
    Check(check::CheckArgs),
    /// Build a data directory from the stand-alone questions of ConvFinQA records
    Build(build::BuildArgs),
    /// Download snorkelai/finqa-data, the benchmark of OpenEnv's finqa_env (for evaluation, not training), and verify every file
    Download(download::HubArgs),
    /// Let an agent play episodes in an environment, in this process or on a server, and print the rewards
    #[command(
        mut_arg("seed", |arg| arg.help(
            "Seed for the order of the questions and, where the provider supports it, for sampling"
        )),
        mut_arg("concurrency", |arg| arg.help(
            "Maximum episodes in progress at a time [default: 64 with a remote model, whose rate limits decide how many requests are in flight; 2 with a model on this machine; the number of cores without a chat model]"
        ))
    )]
    Play(Box<play::PlayArgs>),
}

pub(crate) fn execute(
    command: EnvCommand,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> Result<Exit, Failure> {
    match command {
        EnvCommand::Serve(args) => serve::execute(*args, matches),
        EnvCommand::Check(args) => check::execute(&args),
        EnvCommand::Build(args) => build::execute(&args),
        EnvCommand::Download(args) => download::execute(args),
        EnvCommand::Play(args) => play::execute(&args, matches, style),
    }
}

/// Loads the environment's data from a directory. The default is the data made from the built-in
/// sample.
fn catalog(data: Option<&OsStr>) -> Result<Catalog, Failure> {
    // An empty path means the sample, because an empty variable counts as unset everywhere
    // (`dotenv::variable`). The option is a plain string, because clap would refuse an empty path.
    match data.filter(|path| !path.is_empty() && *path != Source::SAMPLE) {
        Some(path) => Catalog::load(Path::new(path)).map_err(with_directory_hint),
        None => Ok(finqa_run::env_build::builtin()?),
    }
}

/// Adds a hint to the error if the folder has no file of questions, so that it is not a data
/// directory. Other errors are about a damaged file and are not changed.
fn with_directory_hint(error: EnvError) -> Failure {
    // `NotADirectory`: the path is that of a file.
    const MISSING: [ErrorKind; 2] = [ErrorKind::NotFound, ErrorKind::NotADirectory];
    match &error {
        EnvError::Io { path, source }
            if path.ends_with(QUESTIONS) && MISSING.contains(&source.kind()) =>
        {
            let message = format!(
                "{error}: this is not a data directory; make one with `convfinqa env build`, fetch \
                 one with `convfinqa env download`, or leave it out for the built-in sample"
            );
            Failure::new(Exit::Data, message)
        }
        _ => error.into(),
    }
}

/// A line about problems in the data, which do not prevent their use; `None` without problems.
fn problems_note(catalog: &Catalog) -> Option<String> {
    let problems = catalog.check().problems;
    let count = counted(problems.len(), "problem");
    let first = problems.first()?;
    let source = catalog.source();
    Some(format!(
        "note: found {count} in {source}, such as {first}; `convfinqa env check --data-path {source}` lists them"
    ))
}
