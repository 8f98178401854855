//! `--resume` of any run: one of episodes continues as `env play --resume` does.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use super::args::RunArgs;
use super::{Cli, Exit, Failure, command, dispatch, innermost, run, settings, usage};
use crate::output::terminal::TerminalStyle;
use crate::run::{RunFolder, RunKind};

/// Runs the main job, or resumes the run that `--resume` names.
pub(super) fn execute(
    args: &RunArgs,
    matches: &ArgMatches,
    style: TerminalStyle,
) -> anyhow::Result<Exit> {
    let Some(id) = episodes(args, matches)? else {
        return run::execute(args, matches, style);
    };
    let line = line_of_env_play(matches);
    let parsed = command().try_get_matches_from(line);
    let parsed = parsed.and_then(|matches| Ok((Cli::from_arg_matches(&matches)?, matches)));
    let (cli, matches) = parsed.map_err(|error| {
        let reason = usage::reason(error);
        let line = format!("run {id} is of episodes, which `env play --resume` resumes: {reason}");
        Failure::usage(line)
    })?;
    dispatch(cli, innermost(&matches), style)
}

/// The id of the run that `--resume` names, if it is one of episodes.
fn episodes(args: &RunArgs, matches: &ArgMatches) -> anyhow::Result<Option<String>> {
    let control = &args.control;
    let Some(run) = &control.resume else {
        return Ok(None);
    };
    let settings = settings::load(&args.settings, matches, control.config.config.as_deref())?;
    let folder = RunFolder::find_resumable(&settings.run.output, run, None)?;
    // One that cannot be read is refused where it is opened.
    let meta = folder.state().ok().map(|state| state.meta);
    let meta = meta.filter(|meta| meta.kind() == RunKind::Episodes);
    Ok(meta.map(|meta| meta.id))
}

/// The options that were given, as a command line of `env play`.
fn line_of_env_play(matches: &ArgMatches) -> Vec<OsString> {
    let mut line: Vec<OsString> = ["convfinqa", "env", "play"].map(Into::into).to_vec();
    for option in Cli::command().get_arguments() {
        let id = option.get_id().as_str();
        let (Some(name), Some(ValueSource::CommandLine)) =
            (option.get_long(), matches.value_source(id))
        else {
            continue;
        };
        let flag = OsString::from(format!("--{name}"));
        if !option.get_action().takes_values() {
            line.push(flag);
            continue;
        }
        for value in matches.get_raw(id).into_iter().flatten() {
            let mut word = flag.clone();
            word.push("=");
            word.push(value);
            line.push(word);
        }
    }
    line
}
