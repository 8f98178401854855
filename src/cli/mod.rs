//! The command line, with one file per command. A command turns its arguments into plain options
//! and calls the packages. Hints, colours and exit codes are decided only here.
//!
//! Reading order: this file, `args` and `settings` (from arguments to settings), `run` (the default
//! command, and the loop of every command that starts a run), then any command.

mod analyze;
mod args;
mod ask;
mod calibrate;
mod ci;
mod color;
mod compare;
mod data;
mod dotenv;
mod env;
mod exit;
mod gate;
mod graph;
mod hints;
mod improve;
mod junit;
mod merge;
mod mlflow_lines;
mod outputs;
mod report;
mod run;
mod runs;
mod score;
mod settings;
mod signals;
mod stdout;
mod telemetry;
mod track;
mod usage;

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};
use tokio::runtime::{Builder, Runtime};

use finqa_core::text::single_spaced;
use finqa_report::output::terminal::{for_stderr, harmless};

pub use exit::{Exit, Failure};

/// The text at the end of `--help`.
const EXAMPLES: &str = "\
Examples:
  convfinqa                                     the embedded analyst, no key
  convfinqa --model gpt-4o --n 10 --dry-run     estimate the cost of ten records
  convfinqa ask report.md \"what was revenue in 2018?\"

The tutorial is docs/tutorial.md in the source repository.";

/// Let two agents answer questions about financial reports, and score the answers.
///
/// Without a command, `convfinqa` answers the questions in a dataset, scores the answers, and
/// writes output/output.csv. Without arguments, the embedded analyst (rules and small trained
/// models, no chat model) answers the questions in data/train.json, or in the built-in sample if
/// that file does not exist.
#[derive(Debug, Parser)]
#[command(
    name = "convfinqa",
    version,
    args_conflicts_with_subcommands = true,
    // On a wider terminal, help is still wrapped at 80 columns.
    max_term_width = 80,
    after_help = EXAMPLES
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: args::RunArgs,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer a dataset's questions and score the answers (the default).
    Run(Box<args::RunArgs>),
    /// Ask questions about a document of your own.
    #[command(mut_arg("seed", |arg| arg.help("Seed for sampling, where the provider supports it")))]
    Ask(Box<ask::AskArgs>),
    /// Score a file of predictions, or rescore a run.
    Score(score::ScoreArgs),
    /// Find the cause of each wrong answer.
    Analyze(analyze::AnalyzeArgs),
    /// Estimate from runs with gold how likely an answer is to be right.
    Calibrate(calibrate::CalibrateArgs),
    /// Compare two or more runs question by question.
    Compare(compare::CompareArgs),
    /// Let a model change the prompts; keep changes that prove to help.
    Improve(Box<improve::ImproveArgs>),
    /// Write a run's report and other files again from its journal.
    Report(report::ReportArgs),
    /// Merge the shards of a run (--shard) into one run.
    Merge(merge::MergeArgs),
    /// List the runs with date, model and progress.
    Runs(runs::RunsArgs),
    /// Download, check or inspect the dataset.
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Serve the FinQA environment, play in it, or prepare its data.
    #[command(subcommand)]
    Env(env::EnvCommand),
    /// Send runs to MLflow.
    #[command(subcommand)]
    Track(track::TrackCommand),
    /// Print a diagram of the agents' state machine.
    Graph(graph::GraphArgs),
    /// Print a completion script for a shell.
    Completions {
        /// Shell to generate the script for.
        shell: clap_complete::Shell,
    },
}

/// Runs the program. The README documents the exit codes.
pub fn main() -> ExitCode {
    // Loaded before the arguments are parsed, because `.env` may have their defaults, and before
    // there are threads, because it changes the environment.
    let loaded = dotenv::load();
    // Its error is returned after the arguments are parsed, so that `--help` works without a
    // readable `.env`.
    match parse(std::env::args_os()) {
        Err(error) => usage::exit(error),
        Ok((cli, matches)) => match loaded.and_then(|()| execute(cli, &matches)) {
            Ok(exit) => exit.into(),
            Err(failure) => {
                telemetry::print_error(&line_of(&failure), failure.exit);
                failure.exit.into()
            }
        },
    }
}

/// Runs a command line in this process. Returns its exit code and the line of its error, which is
/// empty if there is none.
pub fn run_in_process(line: &[&str]) -> (u8, String) {
    match parse(line) {
        Err(error) => (Exit::Usage.code(), usage::reason(&error)),
        Ok((cli, matches)) => match execute(cli, &matches) {
            Ok(exit) => (exit.code(), String::new()),
            Err(failure) => (failure.exit.code(), line_of(&failure)),
        },
    }
}

fn parse(
    line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
) -> Result<(Cli, ArgMatches), clap::Error> {
    let matches = command().try_get_matches_from(line);
    let matches = matches.map_err(usage::in_words)?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// The line of a failure. Control characters are escaped, because errors quote files and servers.
fn line_of(failure: &Failure) -> String {
    harmless(&single_spaced(&failure.message)).into_owned()
}

/// The command line as clap sees it, for completions and man pages.
pub fn command() -> clap::Command {
    with_short_help(Cli::command())
}

/// The options that `-h` lists for commands with many options, chosen by hand. `--help` lists all
/// options.
const SHORT_HELP: [&str; 30] = [
    "base_url", "cache", "concurrency", "config", "critic", "data_path", "detect", "dry_run",
    "help", "history", "ids", "json", "max_cost", "max_rounds", "mode", "model", "n", "output",
    "proposer", "provider", "quiet", "range", "resume", "samples", "second_opinion", "shuffle",
    "temperature", "url", "verbose", "version",
];

/// For commands with many options, hides from `-h` the options that are not in [`SHORT_HELP`].
fn with_short_help(command: clap::Command) -> clap::Command {
    // Set by hand.
    const MANY: usize = 20;
    let options = command
        .get_arguments()
        .filter(|option| !option.is_positional());
    let command = if options.count() > MANY {
        command.mut_args(|option| {
            let hidden = !option.is_positional() && !SHORT_HELP.contains(&option.get_id().as_str());
            option.hide_short_help(hidden)
        })
    } else {
        command
    };
    command.mut_subcommands(with_short_help)
}

/// The matches of the innermost subcommand.
fn innermost(matches: &ArgMatches) -> &ArgMatches {
    matches
        .subcommand()
        .map_or(matches, |(_, inner)| innermost(inner))
}

fn execute(cli: Cli, matches: &ArgMatches) -> Result<Exit, Failure> {
    let style = color::style();
    let matches = innermost(matches);
    settings::refuse_unknown_variables()?;
    match cli.command {
        None => run::execute(&cli.run, matches, style),
        Some(Command::Run(args)) => run::execute(&args, matches, style),
        Some(Command::Ask(args)) => ask::execute(&args, matches),
        Some(Command::Score(args)) => score::execute(&args, matches, style),
        Some(Command::Analyze(args)) => analyze::execute(&args, matches, style),
        Some(Command::Calibrate(args)) => calibrate::execute(&args, matches, style),
        Some(Command::Compare(args)) => compare::execute(&args, matches, style),
        Some(Command::Improve(args)) => improve::execute(&args, matches, style),
        Some(Command::Report(args)) => report::execute(&args, matches),
        Some(Command::Merge(args)) => merge::execute(&args, matches, style),
        Some(Command::Runs(args)) => runs::execute(&args, matches, style),
        Some(Command::Data(command)) => data::execute(command, matches),
        Some(Command::Env(command)) => env::execute(command, matches, style),
        Some(Command::Track(command)) => track::execute(command, matches),
        Some(Command::Graph(args)) => graph::execute(&args),
        Some(Command::Completions { shell }) => {
            // Generated in memory, because `generate` panics if standard output is closed.
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command(), "convfinqa", &mut script);
            stdout::print(|out| out.write_all(&script))?;
            Ok(Exit::Done)
        }
    }
}

/// A runtime with a single thread, which is enough for a command that waits for a few requests.
fn runtime() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(Failure::bug("cannot start the runtime"))
}

/// Prints notes on stderr, one line each.
fn notes(lines: impl IntoIterator<Item = impl std::fmt::Display>) {
    for line in lines {
        note(format_args!("note: {line}"));
    }
}

/// Prints a line on stderr. Control characters are escaped. A closed stderr does not stop the
/// program.
fn note(line: impl std::fmt::Display) {
    let line = line.to_string();
    let line = for_stderr(&line);
    let _ = writeln!(std::io::stderr().lock(), "{}", harmless(&line));
}
