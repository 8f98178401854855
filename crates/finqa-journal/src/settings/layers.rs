//! Merges the layers of settings in order. The settings are checked after each layer, so that an
//! error names the layer that is wrong.

use std::collections::BTreeMap;
use std::path::Path;

use clap::Args;
use serde::de::DeserializeOwned;
use toml::Table;

use finqa_core::files;
use finqa_core::options::declared;
use finqa_core::text::line_of;

use super::error::{ConfigError, Origin};
use super::groups::Settings;
use super::keys::{environment, flag, variable_of};

impl Origin {
    /// The text before a setting in a message. Variables and flags have none, because their
    /// spelling shows what they are.
    fn prefix(&self) -> String {
        match self {
            Self::File(path) => format!("{}: ", path.display()),
            Self::Environment | Self::CommandLine => String::new(),
            Self::Run => "the run's own settings: ".to_owned(),
        }
    }

    /// A key as it is written in this layer.
    fn name_of(&self, key: &str) -> String {
        match self {
            Self::Environment => variable_of(key),
            Self::CommandLine => flag(key),
            Self::File(_) | Self::Run => key.to_owned(),
        }
    }

    /// A key as it is written in this layer, after the name of the layer.
    pub fn place_of(&self, key: &str) -> String {
        format!("{}{}", self.prefix(), self.name_of(key))
    }
}

/// The merged settings of several layers. A later layer takes precedence.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    merged: Table,
    origins: BTreeMap<String, Origin>,
}

impl Layers {
    /// Adds a file, which overrides the layers before it. A missing file is an error only if it is
    /// `required`, because the user named it.
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
            // An error without a place is reported in line 1.
            let start = error.span().map_or(0, |span| span.start);
            ConfigError::NotToml {
                path: path.to_owned(),
                line: line_of(text.as_bytes(), start),
                message: error.message().to_owned(),
            }
        })?;
        self.table(table, Origin::File(path.to_owned()))
    }

    /// Adds the variables `CONVFINQA_<KEY>`, which override the layers before them.
    pub fn environment(
        self,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, ConfigError> {
        self.table(environment(variable), Origin::Environment)
    }

    /// Adds a table, which overrides the layers before it.
    pub fn table(mut self, table: Table, origin: Origin) -> Result<Self, ConfigError> {
        let keys = table.keys().map(|key| (key.clone(), origin.clone()));
        self.origins.extend(keys);
        self.merged.extend(table);
        self.read(&origin)?;
        Ok(self)
    }

    /// The merged settings, with the layer of each.
    pub fn settings(&self) -> Result<Settings, ConfigError> {
        // No error is left for this origin to name: each layer was checked when it was added.
        let mut settings = self.read(&Origin::CommandLine)?;
        settings.origins.clone_from(&self.origins);
        Ok(settings)
    }

    /// Reads the settings merged so far. Errors name `last`, the layer that was added last.
    fn read(&self, last: &Origin) -> Result<Settings, ConfigError> {
        let error = |message| ConfigError::Setting(format!("{}{message}", last.prefix()));
        let settings = settings_of(self.merged.clone(), last).map_err(error)?;
        let fault = settings.validate();
        fault.map_err(|fault| error(format!("{} {}", last.name_of(fault.key), fault.problem)))?;
        Ok(settings)
    }
}

/// Reads the settings from a flat table. Each group removes its own keys, so that only unknown keys
/// are left.
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
        calibration: group(&mut table, origin)?,
        log: group(&mut table, origin)?,
        origins: BTreeMap::new(),
    };
    match table.keys().next() {
        None => Ok(settings),
        Some(key) => Err(format!("unknown setting `{key}`")),
    }
}

/// Reads a group from its keys, and removes these keys from the table.
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
        match path.as_str() {
            // The error is about the group, which has no name in the settings.
            "." => message.to_owned(),
            key => format!("{}: {message}", origin.name_of(key)),
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
    fn a_wrong_setting_is_named_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        for (text, message) in [
            (
                "max_rounds = 'x'",
                ": max_rounds: invalid type: string \"x\", expected u32",
            ),
            (
                "history = 'x'",
                ": history: unknown variant `x`, expected `own` or `gold`",
            ),
            ("n = 1\n\nn = 2\n", ", line 3: not TOML: duplicate key"),
        ] {
            std::fs::write(&path, text).unwrap();
            let error = Layers::default().file(&path, true).unwrap_err();
            assert_eq!(error.to_string(), format!("{}{message}", path.display()));
        }
        for (set, value, message) in [
            ("CONVFINQA_MAX_ROUNDS", "0", " is 0; it must be at least 1"),
            (
                "CONVFINQA_MAX_ERROR",
                "0.05",
                ": `0.05` is not a share of wrong answers, such as 5%",
            ),
        ] {
            let variable = |name: &str| (name == set).then(|| value.to_owned());
            let error = Layers::default().environment(&variable).unwrap_err();
            assert_eq!(error.to_string(), format!("{set}{message}"));
        }
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
    }
}
