//! Lays one source of settings over another, so that an error names the source
//! that is wrong.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::Table;

use finqa_core::files;
use finqa_core::options::declared;

use super::Settings;
use super::keys::{environment, nearest, variable_of};

/// A source of settings that cannot be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("{path}: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path}: not TOML: {message}")]
    NotToml { path: PathBuf, message: String },
    /// A setting is unknown or of the wrong type or value.
    #[error("{place}: {message}")]
    Setting {
        /// The file, the environment, or the command line.
        place: String,
        /// What is wrong, in one line.
        message: String,
    },
}

/// Where a setting was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A settings file.
    File(PathBuf),
    /// A variable `CONVFINQA_<KEY>`.
    Environment,
    /// A flag.
    CommandLine,
    /// The run that is resumed.
    Run,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Environment => f.write_str("environment (CONVFINQA_*)"),
            Self::CommandLine => f.write_str("command line"),
            Self::Run => f.write_str("the run's own settings"),
        }
    }
}

/// Settings as they come together, each layer over the ones before it.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    /// Lays a file over what is there. A missing file is not an error unless
    /// `required` (it was named).
    pub fn file(self, path: &Path, required: bool) -> Result<Self, ConfigError> {
        let text = match files::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => {
                return Ok(self);
            }
            Err(source) => {
                return Err(ConfigError::Unreadable {
                    path: path.to_owned(),
                    source,
                });
            }
        };
        let table: Table = text
            .parse()
            .map_err(|error: toml::de::Error| ConfigError::NotToml {
                path: path.to_owned(),
                message: error.message().to_owned(),
            })?;
        self.table(table, Origin::File(path.to_owned()))
    }

    /// Lays the variables `CONVFINQA_<KEY>` over what is there.
    pub fn environment(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        self.table(environment(variable), Origin::Environment)
    }

    /// Lays a table over what is there.
    pub fn table(mut self, table: Table, origin: Origin) -> Result<Self, ConfigError> {
        let keys = table.keys().map(|key| (key.clone(), origin.clone()));
        self.origins.extend(keys);
        self.merged.extend(table);
        self.read(&origin)?;
        Ok(self)
    }

    /// The settings that result from the layers.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        let mut settings = self.read(&Origin::CommandLine)?;
        settings.origins.clone_from(&self.origins);
        settings.limit_replies();
        Ok(settings)
    }

    /// The settings so far; an error names `last`, whose layer was laid last.
    fn read(&self, last: &Origin) -> Result<Settings, ConfigError> {
        let error = |message| ConfigError::Setting {
            place: last.to_string(),
            message,
        };
        let name_of = |key: &str| match last {
            Origin::Environment => format!("{key} ({})", variable_of(key)),
            _ => key.to_owned(),
        };
        let settings = settings_of(self.merged.clone(), &name_of).map_err(error)?;
        settings.validate().map_err(error)?;
        Ok(settings)
    }
}

/// The settings of a flat table: each group takes its own keys.
fn settings_of(mut table: Table, name_of: &dyn Fn(&str) -> String) -> Result<Settings, String> {
    let settings = Settings {
        model: group(&mut table, name_of)?,
        sampling: group(&mut table, name_of)?,
        agents: group(&mut table, name_of)?,
        questions: group(&mut table, name_of)?,
        run: group(&mut table, name_of)?,
        budget: group(&mut table, name_of)?,
        shards: group(&mut table, name_of)?,
        batch: group(&mut table, name_of)?,
        log: group(&mut table, name_of)?,
        tracing: group(&mut table, name_of)?,
        origins: BTreeMap::new(),
    };
    match table.keys().next() {
        None => Ok(settings),
        Some(key) => {
            let hint = nearest(key).map(|key| format!("; did you mean `{key}`?"));
            Err(format!(
                "unknown setting `{key}`{}",
                hint.unwrap_or_default()
            ))
        }
    }
}

/// Reads a group from its keys, and removes them.
fn group<Group: Args + DeserializeOwned>(
    table: &mut Table,
    name_of: &dyn Fn(&str) -> String,
) -> Result<Group, String> {
    let own: Table = declared::<Group>()
        .iter()
        .filter_map(|option| table.remove_entry(option.get_id().as_str()))
        .collect();
    serde_path_to_error::deserialize(own).map_err(|found| {
        let path = found.path().to_string();
        let message = found.inner().message().trim().to_owned();
        if path == "." {
            message
        } else {
            format!("{}: {message}", name_of(&path))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn a_later_layer_wins_and_an_error_names_its_place() {
        let layers = Layers::default()
            .table(
                lines("model = 'a'\nmax_rounds = 2"),
                Origin::File("x.toml".into()),
            )
            .unwrap();
        let layers = layers
            .environment(&|name| (name == "CONVFINQA_MODEL").then(|| "b".to_owned()))
            .unwrap();
        let settings = layers.settings().unwrap();
        assert_eq!(
            (settings.model.name.as_str(), settings.agents.max_rounds),
            ("b", 2)
        );
        assert_eq!(settings.origins.get("model"), Some(&Origin::Environment));
        let file = Origin::File("x.toml".into());
        assert_eq!(settings.origins.get("max_rounds"), Some(&file));
        assert_eq!(settings.origins.get("n"), None);

        let error = layers
            .clone()
            .table(lines("temperature = 1.5"), Origin::CommandLine)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "command line: temperature is 1.5; it must be between 0 and 1"
        );
        let error = layers
            .table(
                lines("colour = 'red'"),
                Origin::File("convfinqa.toml".into()),
            )
            .unwrap_err()
            .to_string();
        assert!(
            error.starts_with("convfinqa.toml: ") && error.contains("colour"),
            "{error}"
        );
    }
}
