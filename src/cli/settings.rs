//! From the command line to settings: flags over environment over
//! `convfinqa.toml` over defaults.

use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;
use serde::Serialize;

use finqa_journal::settings::{Layers, LogSettings, Origin, Settings, unknown_variable};

use super::{Failure, dotenv};

/// The settings: those of `flags`, groups of settings, that `matches` says were
/// given, over the environment and the file `named`, or `convfinqa.toml` if it
/// exists.
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

/// The settings file: the one that was named, or the one that may be in the working directory.
fn config_file(named: Option<&Path>) -> &Path {
    named.unwrap_or(Path::new("convfinqa.toml"))
}

/// The settings among `flags` that were given on the command line. A path that is not UTF-8 and
/// a number beyond 2^63 - 1 are not values of TOML.
fn command_line_table(
    flags: &impl Serialize,
    matches: &ArgMatches,
) -> Result<toml::Table, Failure> {
    let table = toml::Table::try_from(flags);
    let mut table = table.map_err(|error| Failure::usage(format!("command line: {error}")))?;
    table.retain(|key, _| matches.value_source(key) == Some(ValueSource::CommandLine));
    Ok(table)
}

/// A mistyped variable would be ignored in silence.
pub(crate) fn refuse_unknown_variables() -> Result<(), Failure> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let unknown = set.filter_map(|(name, _)| unknown_variable(&name.to_string_lossy()));
    // Always the same one, whatever the order of the environment.
    unknown
        .min()
        .map_or(Ok(()), |line| Err(Failure::usage(line)))
}

/// The log settings of a command without other settings, over the environment.
pub(crate) fn logging(flags: &LogSettings, matches: &ArgMatches) -> Result<LogSettings, Failure> {
    let layers = Layers::default()
        .environment(&dotenv::variable)?
        .table(command_line_table(flags, matches)?, Origin::CommandLine)?;
    Ok(layers.settings()?.log)
}

/// The settings of a run that is resumed: its `own` instead of defaults,
/// `convfinqa.toml` and the environment, under the file `named` and `flags`.
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
