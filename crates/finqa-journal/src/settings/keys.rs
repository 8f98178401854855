//! The keys of the settings: how a variable's text is read for each key, and which keys a resumed
//! run must not change.

use std::sync::LazyLock;

use clap::Arg;
use finqa_agents::llm::settings::ALLOW_HTTP;
use finqa_core::options::{declared, is_list, is_text};
use toml::{Table, Value};

use super::groups::Settings;

/// The options of [`Settings`]. The id of an option is its key.
static KEYS: LazyLock<Vec<Arg>> = LazyLock::new(declared::<Settings>);

/// The keys of `convfinqa.toml`, in the order of [`Settings`].
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(key_of)
}

fn key_of(option: &'static Arg) -> &'static str {
    option.get_id().as_str()
}

/// What a setting affects, which decides whether a resumed run may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SettingEffect {
    /// Speed, output or logging only. A resumed run may change it.
    Nothing,
    /// The model, the critic, the data, the prompts, the plan or the calibration. Each of these has
    /// its own field in the run's `Identity`.
    Identity,
    /// Other aspects of the answers. These settings together are one field of the `Identity`.
    Answers,
}

fn effect(key: &str) -> SettingEffect {
    match key {
        "model" | "provider" | "api" | "base_url" | "critic" | "critic_model"
        | "critic_provider" | "critic_base_url" | "data_path" | "split" | "prompts" | "n"
        | "range" | "ids" | "only" | "filter" | "shuffle" | "mode" | "history" | "epochs"
        | "calibration" => SettingEffect::Identity,
        "cache" | "concurrency" | "timeout" | "attempts" | "rpm" | "tpm" | "output" | "mlflow"
        | "traces" | "log" | "max_cost" | "max_time" | "give_up_after" | "prices" | "shard"
        | "run" | "engine" => SettingEffect::Nothing,
        // A new setting counts as one that affects answers until it is listed above.
        _ => SettingEffect::Answers,
    }
}

/// Describes the change of an option; `None` if it did not change.
pub fn change(option: &str, was: &str, now: &str) -> Option<String> {
    (was != now).then(|| format!("{option} was {was}, now {now}"))
}

/// The settings of `base`, but those that may affect answers are taken from `other`.
pub fn with_effects_of(base: Table, other: Table) -> Table {
    let is_effective = |key: &str| effect(key) != SettingEffect::Nothing;
    let base = base.into_iter().filter(|(key, _)| !is_effective(key));
    base.chain(other.into_iter().filter(|(key, _)| is_effective(key)))
        .collect()
}

/// The settings that a comparison of two runs shows, each with its option and value. They are the
/// settings with [`SettingEffect::Answers`], and `--mode`, `--history` and `--epochs`, which are
/// part of the identity only as a hash.
pub(crate) fn decisive(settings: &Table) -> impl Iterator<Item = (String, String)> {
    let effective = keys().filter(|key| {
        effect(key) == SettingEffect::Answers || ["mode", "history", "epochs"].contains(key)
    });
    effective.map(|key| (flag(key), flag_value(settings.get(key))))
}

/// Reads the text of a variable in the type of its option: a list, a text or a plain value.
fn value_of(option: &Arg, text: &str) -> Value {
    if is_list(option) {
        let items = text.split(',').map(|item| item.trim().to_owned());
        Value::Array(items.map(Value::String).collect())
    } else if is_text(option) {
        Value::String(text.to_owned())
    } else {
        plain(text)
    }
}

/// The settings in the variables `CONVFINQA_<KEY>`. A blank variable counts as unset.
pub(super) fn environment(variable: &dyn Fn(&str) -> Option<String>) -> Table {
    let set = KEYS.iter().filter_map(|option| {
        let text = variable(&variable_of(key_of(option)))?;
        let text = text.trim();
        (!text.is_empty()).then(|| (key_of(option).to_owned(), value_of(option, text)))
    });
    set.collect()
}

/// The name of a key's option on the command line.
pub fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// A value as it is written on the command line.
fn flag_value(value: Option<&Value>) -> String {
    match value {
        None => "not set".to_owned(),
        Some(Value::Boolean(given)) => if *given { "given" } else { "not given" }.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(items)) => {
            let items = items.iter().map(|item| flag_value(Some(item)));
            items.collect::<Vec<_>>().join(",")
        }
        Some(other) => other.to_string(),
    }
}

/// Variables that begin like those of settings, but are read elsewhere. The first one is not a
/// setting so that no file can set it; tests and checks read the others, and those that begin with
/// `CONVFINQA_REQUIRE_`.
const OTHER_VARIABLES: [&str; 4] = [
    ALLOW_HTTP, "CONVFINQA_SOAK", "CONVFINQA_TOOLS", "CONVFINQA_UPDATE",
];

pub(super) fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase())
}

const PREFIX: &str = "CONVFINQA_";

/// The error for an unknown variable that begins like those of settings. Without this error, a
/// misspelled name would be ignored. `None` for a known variable and for one of other programs.
pub fn unknown_variable(name: &str) -> Option<String> {
    let known = !name.starts_with(PREFIX)
        || name.starts_with("CONVFINQA_REQUIRE_")
        || OTHER_VARIABLES.contains(&name)
        || keys().any(|key| variable_of(key) == name);
    (!known).then(|| format!("unknown variable {name}; unset it, or correct its name"))
}

/// A text as an integer, a number or a boolean, otherwise as a text. Its type is checked when the
/// settings are read.
fn plain(text: &str) -> Value {
    if let Ok(integer) = text.parse::<i64>() {
        return Value::Integer(integer);
    }
    if let Ok(float) = text.parse::<f64>() {
        return Value::Float(float);
    }
    match text {
        "true" => Value::Boolean(true),
        "false" => Value::Boolean(false),
        _ => Value::String(text.to_owned()),
    }
}

impl Settings {
    /// The settings that affect answers and have no field of their own in a run's identity, on one
    /// line.
    pub fn answer_settings(&self) -> String {
        // Settings can always be serialised, which a test checks, so the default is never used.
        let all = Table::try_from(self).unwrap_or_default();
        let decide = all
            .into_iter()
            .filter(|(key, _)| effect(key) == SettingEffect::Answers);
        decide
            .collect::<Table>()
            .to_string()
            .trim()
            .replace('\n', ", ")
    }

    /// The settings that may affect answers and differ in `now`, one line each.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let [was, now] = [self, now].map(|all| Table::try_from(all).unwrap_or_default());
        let effective = keys().filter(|key| effect(key) != SettingEffect::Nothing);
        let values = |key| [was.get(key), now.get(key)].map(flag_value);
        effective
            .filter_map(|key| {
                let [was, now] = values(key);
                change(&flag(key), &was, &now)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sample values. For each key, one of them is valid and not the default, or the key has a
    /// fixed set of words.
    const VALUES: &str =
        "7 0.75 true ['a'] 'x' 'http://x' '0..1' '1/2' '5%' '5.25' '5m' 'wrong:last'";

    #[test]
    fn every_key_is_read_and_written_by_the_settings() {
        let default = Table::try_from(Settings::default()).unwrap();
        assert!(default.keys().all(|named| keys().any(|key| key == named)));
        for option in KEYS.iter() {
            let key = key_of(option);
            let words = option.get_possible_values();
            let words = words.iter().map(|word| format!("'{}'", word.get_name()));
            let mut values = VALUES.split(' ').map(str::to_owned).chain(words);
            let is_kept = |value: String| {
                let table: Table = format!("{key} = {value}").parse().unwrap();
                let written = read(&table).map(|it| Table::try_from(it).unwrap());
                let written = written.as_ref().and_then(|it| it.get(key));
                written.is_some() && written == table.get(key) && written != default.get(key)
            };
            assert!(values.any(is_kept), "{key}");
        }
    }

    fn read(table: &Table) -> Option<Settings> {
        let layers = super::super::Layers::default();
        let layers = layers.table(table.clone(), super::super::Origin::CommandLine);
        Some(Settings {
            origins: Default::default(),
            ..layers.ok()?.settings().ok()?
        })
    }

    #[test]
    fn a_word_is_the_same_on_the_command_line_and_in_a_file() {
        for option in KEYS.iter() {
            let words = option.get_possible_values();
            for word in words
                .iter()
                .filter(|word| !["true", "false"].contains(&word.get_name()))
            {
                let key = key_of(option);
                let mut table = Table::new();
                table.insert(key.to_owned(), Value::String(word.get_name().to_owned()));
                let written = Table::try_from(read(&table).unwrap()).unwrap();
                assert_eq!(written.get(key), table.get(key), "{key}");
            }
        }
    }

    #[test]
    fn a_float_is_the_same_after_a_settings_file_and_a_journal() {
        let mut settings = Settings::default();
        settings.sampling.temperature = Some(0.964_817_445_528_845_3);
        settings.agents.min_confidence = 0.1 + 0.2;
        let table = Table::try_from(&settings).unwrap();
        let from_file: Table = table.to_string().parse().unwrap();
        let json = serde_json::to_string(&table).unwrap();
        let from_journal: Table = serde_json::from_str(&json).unwrap();
        for table in [from_file, from_journal] {
            assert_eq!(read(&table), Some(settings.clone()));
        }
    }
}
