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
