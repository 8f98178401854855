//! From the command line to settings: flags over environment over
//! `convfinqa.toml` over defaults.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::config::{Layers, Origin, Settings, unknown_variable};

use super::{Exit, Failure, dotenv};

/// The settings that `flags`, which serialise as a layer of them, come to over
/// the environment and the file `named`, or `convfinqa.toml` if it is there.
///
/// # Errors
/// One line that names the layer and the setting.
pub fn load(flags: &impl Serialize, named: Option<&Path>) -> anyhow::Result<Settings> {
    load_by(flags, named, &dotenv::variable)
}

/// The same, with `variable` in the place of the environment; it is asked once
/// `.env` has been read.
///
/// # Errors
/// As [`load`].
pub fn load_by(
    flags: &impl Serialize,
    named: Option<&Path>,
    variable: &dyn Fn(&str) -> Option<String>,
) -> anyhow::Result<Settings> {
    dotenv::load()?;
    refuse_unknown_variables()?;
    let flags = layer(flags)?;
    let layers = Layers::default()
        .file(
            named.unwrap_or(Path::new("convfinqa.toml")),
            named.is_some(),
        )?
        .environment(variable)?
        .table(flags, Origin::CommandLine)?;
    Ok(layers.settings()?)
}

/// The flags as a layer of settings.
fn layer(flags: &impl Serialize) -> anyhow::Result<toml::Table> {
    if let Some(line) = too_large(flags) {
        return Err(Failure::new(Exit::Usage, line).into());
    }
    toml::Table::try_from(flags).context("command line")
}

/// What is wrong with a whole number that no setting can hold: those of TOML end
/// at 2^63 - 1.
fn too_large(flags: &impl Serialize) -> Option<String> {
    let flags = serde_json::to_value(flags).ok()?;
    let (name, value) = flags
        .as_object()?
        .iter()
        .find(|(_, value)| value.is_u64() && !value.is_i64())?;
    let flag = name.replace('_', "-");
    let most = i64::MAX;
    Some(format!(
        "command line: {flag} is {value}; it must be at most {most}"
    ))
}

/// A mistyped variable would be ignored in silence.
///
/// # Errors
/// One line that names the variable.
pub fn refuse_unknown_variables() -> Result<(), Failure> {
    let set = std::env::vars_os().filter(|(_, value)| !value.is_empty());
    let unknown = set.filter_map(|(name, _)| unknown_variable(&name.to_string_lossy()));
    // Always the same one, whatever the order of the environment.
    unknown.min().map_or(Ok(()), |line| {
        let line = format!("environment (CONVFINQA_*): {line}");
        Err(Failure::new(Exit::Usage, line))
    })
}

/// The settings of a run that is resumed: its `own`, in the place of defaults,
/// `convfinqa.toml` and the environment, under the file `named` and `flags`.
///
/// # Errors
/// As [`load`].
pub fn load_resumed(
    own: toml::Table,
    flags: &impl Serialize,
    named: Option<&Path>,
) -> anyhow::Result<Settings> {
    let mut layers = Layers::default().table(own, Origin::Run)?;
    if let Some(file) = named {
        layers = layers.file(file, true)?;
    }
    let flags = layer(flags)?;
    Ok(layers.table(flags, Origin::CommandLine)?.settings()?)
}
