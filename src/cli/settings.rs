//! From the command line to settings: flags over environment over
//! `convfinqa.toml` over defaults.

use std::path::Path;

use anyhow::Context;
use serde::Serialize;

use crate::config::{Layers, Origin, Settings};

use super::{Exit, Failure, provider};

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
    environment()?;
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

/// Takes the variables of `.env` in beside those of the environment.
///
/// # Errors
/// A `.env` that cannot be read; one that is not there is no error.
pub fn environment() -> anyhow::Result<()> {
    match dotenvy::dotenv() {
        Ok(_) => Ok(()),
        Err(error) if error.not_found() => Ok(()),
        Err(error) => Err(Failure::new(Exit::Usage, format!(".env: {error}")).into()),
    }
}
