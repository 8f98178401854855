//! From the command line to settings: flags over environment over
//! `convfinqa.toml` over defaults.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::config::{Layers, Origin, Settings};

use super::{dotenv, provider};

/// The settings that `flags`, which serialise as a layer of them, come to over
/// the environment and the file `named`, or `convfinqa.toml` if it is there.
///
/// # Errors
/// One line that names the layer and the setting.
pub fn load(flags: &impl Serialize, named: Option<&Path>) -> anyhow::Result<Settings> {
    load_by(flags, named, &provider::variable)
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
    let flags = toml::Table::try_from(flags).context("command line")?;
    let layers = Layers::default()
        .file(
            named.unwrap_or(Path::new("convfinqa.toml")),
            named.is_some(),
        )?
        .environment(variable)?
        .table(flags, Origin::CommandLine)?;
    Ok(layers.settings()?)
}

/// The settings of a run as it was started.
///
/// # Errors
/// A setting that this version does not know.
pub fn of_run(own: toml::Table) -> anyhow::Result<Settings> {
    Ok(Layers::default().table(own, Origin::Run)?.settings()?)
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
    let flags = toml::Table::try_from(flags).context("command line")?;
    Ok(layers.table(flags, Origin::CommandLine)?.settings()?)
}
