//! Builds settings from the command line. Flags override the environment, which overrides
//! `convfinqa.toml`, which overrides the defaults.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Serialize;

use finqa_journal::settings::{Layers, LogSettings, Origin, Settings, unknown_variable};

use super::{Failure, dotenv};

/// Loads the settings of a command. Those of `flags` that were given on the command line (as
/// `matches` says) override the environment. The environment overrides the file `named`, or
/// `convfinqa.toml` if it exists.
pub(crate) fn load(
    flags: &impl Serialize,
    matches: &ArgMatches,
    named: Option<&Path>,
) -> Result<Settings, Failure> {
    let flags = command_line_table(flags, matches)?;
    let layers = Layers::default()
        .file(config_file(named), named.is_some())?
        .environment(&dotenv::variable)?
        .table(flags, Origin::CommandLine)?;
    Ok(layers.settings()?)
}

/// The path of the settings file: `named`, otherwise `convfinqa.toml` in the working directory,
/// which need not exist.
fn config_file(named: Option<&Path>) -> &Path {
    named.unwrap_or(Path::new("convfinqa.toml"))
}

/// The settings among `flags` that were given on the command line.
///
/// # Errors
/// Values that TOML does not have: a path that is not UTF-8, or a number above 2^63 - 1.
fn command_line_table(
    flags: &impl Serialize,
    matches: &ArgMatches,
) -> Result<toml::Table, Failure> {
    let table = toml::Table::try_from(flags);
    let mut table = table.map_err(|error| Failure::usage(format!("command line: {error}")))?;
    table.retain(|key, _| matches.value_source(key) == Some(ValueSource::CommandLine));
    Ok(table)
}

/// Refuses a variable that begins like a setting's but is unknown, because a misspelled variable
/// would otherwise be ignored.
pub(crate) fn refuse_unknown_variables() -> Result<(), Failure> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let unknown = set.filter_map(|(name, _)| unknown_variable(&name.to_string_lossy()));
    // Take the first in alphabetical order, so that the error does not depend on the order of the
    // variables.
    unknown
        .min()
        .map_or(Ok(()), |line| Err(Failure::usage(line)))
}

/// Loads the log settings of a command that has no other settings. Flags override the environment.
pub(crate) fn logging(flags: &LogSettings, matches: &ArgMatches) -> Result<LogSettings, Failure> {
    let layers = Layers::default()
        .environment(&dotenv::variable)?
        .table(command_line_table(flags, matches)?, Origin::CommandLine)?;
    Ok(layers.settings()?.log)
}

/// Loads the settings of a run that is resumed or replayed. Flags override the file `named`, which
/// overrides the run's `own` settings. Neither the environment nor `convfinqa.toml` is read,
/// because the run's own settings replace them.
pub(crate) fn load_resumed(
    own: toml::Table,
    flags: &impl Serialize,
    matches: &ArgMatches,
    named: Option<&Path>,
) -> Result<Settings, Failure> {
    let mut layers = Layers::default().table(own, Origin::Run)?;
    if let Some(file) = named {
        layers = layers.file(file, true)?;
    }
    let flags = command_line_table(flags, matches)?;
    Ok(layers.table(flags, Origin::CommandLine)?.settings()?)
}
