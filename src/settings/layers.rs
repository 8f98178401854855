//! Merges the sources of settings in order, so that an error names the source
//! that is wrong.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::{Table, Value};

use finqa_core::files;
use finqa_core::options::declared;

use super::Settings;
use super::keys::{environment, flag, nearest, variable_of};

/// A source of settings that cannot be read.
#[derive(Debug, Error)]
pub enum ConfigError {
    #[error("{path}: {source}")]
    Unreadable {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{path}, line {line}: not TOML: {message}")]
    NotToml {
        path: PathBuf,
        line: usize,
        message: String,
    },
    /// A setting is unknown or of the wrong type or value: where, which and why, in one line.
    #[error("{0}")]
    Setting(String),
}

/// The layer that a setting comes from.
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

impl Origin {
    /// What a message says before the setting; the names of variables and flags need nothing.
    fn prefix(&self) -> String {
        match self {
            Self::File(path) => format!("{}: ", path.display()),
            Self::Environment | Self::CommandLine => String::new(),
            Self::Run => "the run's own settings: ".to_owned(),
        }
    }

    /// A key as it is written there.
    fn name_of(&self, key: &str) -> String {
        match self {
            Self::Environment => variable_of(key),
            Self::CommandLine => flag(key),
            Self::File(_) | Self::Run => key.to_owned(),
        }
    }
}

/// The merged settings of several sources; a later one takes precedence.
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
        let table: Table = text.parse().map_err(|error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            ConfigError::NotToml {
                path: path.to_owned(),
                line: 1 + text
                    .bytes()
                    .take(start)
                    .filter(|byte| *byte == b'\n')
                    .count(),
                message: error.message().to_owned(),
            }
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

    /// The settings so far; an error names `last`, the source that was added last.
    fn read(&self, last: &Origin) -> Result<Settings, ConfigError> {
        let error = |message| ConfigError::Setting(format!("{}{message}", last.prefix()));
        let settings = settings_of(self.merged.clone(), last).map_err(error)?;
        let fault = settings.validate();
        fault.map_err(|fault| error(format!("{} {}", last.name_of(fault.key), fault.problem)))?;
        Ok(settings)
    }
}

/// The settings of a flat table: each group takes its own keys.
fn settings_of(mut table: Table, origin: &Origin) -> Result<Settings, String> {
    let settings = Settings {
        model: group(&mut table, origin)?,
        sampling: group(&mut table, origin)?,
        agents: group(&mut table, origin)?,
        questions: group(&mut table, origin)?,
        run: group(&mut table, origin)?,
        budget: group(&mut table, origin)?,
        shards: group(&mut table, origin)?,
        batch: group(&mut table, origin)?,
        log: group(&mut table, origin)?,
        origins: BTreeMap::new(),
    };
    match table.iter().next() {
        None => Ok(settings),
        Some((key, value)) => {
            let hint = match value {
                Value::Table(_) => Some(
                    ": settings are not grouped in tables; write them without a header".to_owned(),
                ),
                _ => nearest(key).map(|key| format!("; did you mean `{key}`?")),
            };
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
    origin: &Origin,
) -> Result<Group, String> {
    let own: Table = declared::<Group>()
        .iter()
        .filter_map(|option| table.remove_entry(option.get_id().as_str()))
        .collect();
    serde_path_to_error::deserialize(own).map_err(|found| {
        let path = found.path().to_string();
        let message = found.inner().message().trim();
        match plain_words(message) {
            _ if path == "." => message.to_owned(),
            Some(plain) => format!("{} {plain}", origin.name_of(&path)),
            None => format!("{}: {message}", origin.name_of(&path)),
        }
    })
}

/// What is wrong with a value, without Rust's names of types.
fn plain_words(message: &str) -> Option<String> {
    let mismatch = ["invalid type: ", "invalid value: ", "unknown variant "];
    let kind = mismatch.iter().find(|kind| message.starts_with(*kind))?;
    let (found, expected) = message.strip_prefix(kind)?.rsplit_once(", expected ")?;
    let found = match found {
        "map" => "a table".to_owned(),
        "sequence" => "a list".to_owned(),
        "unit variant" => "not a string".to_owned(),
        // For example string "x", integer `3` or, of a variant, `x`.
        found => {
            let value = found.find(['"', '`']).and_then(|at| found.get(at..))?;
            let quotes = if *kind == "unknown variant " {
                "\""
            } else {
                ""
            };
            value.replace('`', quotes)
        }
    };
    let expected = match expected {
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number, 0 or more",
        "f64" => "a number",
        "a boolean" => "true or false",
        "path string" => "a path",
        "a sequence" => "a list",
        "string only" => "a string",
        other => other,
    };
    Some(format!("is {found}; it must be {expected}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Table {
        text.parse().unwrap()
    }

    #[test]
    fn a_wrong_setting_is_named_as_it_was_written_and_without_types_of_rust() {
        let of_file = |text: &str| {
            let layers = Layers::default();
            let error = layers.table(lines(text), Origin::File("x.toml".into()));
            error.unwrap_err().to_string()
        };
        for (text, message) in [
            ("max_rounds = 0", "max_rounds is 0; it must be at least 1"),
            ("output = [1]", "output is a list; it must be a path"),
            (
                "critic = ['x']",
                "critic is not a string; it must be a string",
            ),
            (
                "max_rounds = 'a, expected b'",
                "max_rounds is \"a, expected b\"; it must be a whole number from 0 to 4294967295",
            ),
            (
                "max_rounds = 'x'",
                "max_rounds is \"x\"; it must be a whole number from 0 to 4294967295",
            ),
            ("n = -1", "n is -1; it must be a whole number, 0 or more"),
            (
                "temperature = 'hot'",
                "temperature is \"hot\"; it must be a number",
            ),
            ("shuffle = 1", "shuffle is 1; it must be true or false"),
            ("[run]\nn = 3", "run is a table; it must be a string"),
            (
                "history = 'x'",
                "history is \"x\"; it must be `own` or `gold`",
            ),
        ] {
            assert_eq!(of_file(text), format!("x.toml: {message}"));
        }
        for (value, message) in [
            ("0", "is 0; it must be at least 1"),
            (
                "x",
                "is \"x\"; it must be a whole number from 0 to 4294967295",
            ),
        ] {
            let variable = |name: &str| (name == "CONVFINQA_MAX_ROUNDS").then(|| value.to_owned());
            let error = Layers::default().environment(&variable).unwrap_err();
            assert_eq!(error.to_string(), format!("CONVFINQA_MAX_ROUNDS {message}"));
        }
        let error = Layers::default().table(lines("max_rounds = 0"), Origin::CommandLine);
        let expected = "--max-rounds is 0; it must be at least 1";
        assert_eq!(error.unwrap_err().to_string(), expected);
    }

    #[test]
    fn a_file_that_is_not_toml_is_named_with_the_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        std::fs::write(&path, "n = 1\n\nn = 2\n").unwrap();
        let error = Layers::default().file(&path, true).unwrap_err();
        let expected = format!("{}, line 3: not TOML: duplicate key", path.display());
        assert_eq!(error.to_string(), expected);
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
            "--temperature is 1.5; it must be between 0 and 1"
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
