//! The keys of the settings: how a variable's text is read, and whether a key is
//! among what a resumed run may not change.

use std::sync::LazyLock;

use clap::Arg;
use finqa_core::options::{declared, is_list, is_text};
use toml::{Table, Value};

use super::Settings;

/// The options of [`Settings`]; an option's id is its key.
static KEYS: LazyLock<Vec<Arg>> = LazyLock::new(declared::<Settings>);

/// The keys of `convfinqa.toml`, in the order of [`Settings`].
pub fn keys() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(key_of)
}

fn key_of(option: &'static Arg) -> &'static str {
    option.get_id().as_str()
}

/// The part of a run that a setting decides, and so whether a resumed run may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunAspect {
    /// Speed, output and logging: no answer.
    Nothing,
    /// The model. A run's identity holds the resolved one; so it does for the next four.
    Model,
    /// Who criticises.
    Critic,
    /// The data.
    Data,
    /// The prompts.
    Prompts,
    /// The questions and their order.
    Plan,
    /// The answers, in a way that no other part of a run's identity shows.
    Answers,
}

/// A setting that differs between a run and its continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The part of a run that it decides.
    pub affects: RunAspect,
    option: String,
    was: String,
    now: String,
}

impl Change {
    /// The change of `option`; `None` if it did not change.
    pub fn between(affects: RunAspect, option: &str, was: String, now: String) -> Option<Self> {
        let option = option.to_owned();
        (was != now).then_some(Self {
            affects,
            option,
            was,
            now,
        })
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            option, was, now, ..
        } = self;
        write!(f, "{option} was {was}, now {now}")
    }
}

/// The part of a run that a key decides.
fn affects(key: &str) -> RunAspect {
    match key {
        "model" | "provider" | "api" | "base_url" => RunAspect::Model,
        "critic" | "critic_model" | "critic_provider" | "critic_base_url" => RunAspect::Critic,
        "data_path" => RunAspect::Data,
        "prompts" => RunAspect::Prompts,
        "n" | "range" | "ids" | "filter" | "shuffle" | "mode" | "history" | "epochs" => {
            RunAspect::Plan
        }
        "allow_http" | "cache" | "concurrency" | "timeout" | "attempts" | "rpm" | "tpm"
        | "output" | "mlflow" | "traces" | "log" | "max_cost" | "max_tokens_total" | "max_time"
        | "prices" | "shard" | "run" | "engine" => RunAspect::Nothing,
        _ => RunAspect::Answers,
    }
}

/// The settings `base` with those of `other` that may affect answers.
pub(crate) fn with_effects_of(base: Table, other: Table) -> Table {
    let effects = |key: &str| affects(key) != RunAspect::Nothing;
    let base = base.into_iter().filter(|(key, _)| !effects(key));
    base.chain(other.into_iter().filter(|(key, _)| effects(key)))
        .collect()
}

/// The value in a variable's text.
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

/// The settings that the variables `CONVFINQA_<KEY>` hold.
pub(super) fn environment(variable: &dyn Fn(&str) -> Option<String>) -> Table {
    let set = KEYS.iter().filter_map(|option| {
        let text = variable(&variable_of(key_of(option)))?;
        let text = text.trim();
        (!text.is_empty()).then(|| (key_of(option).to_owned(), value_of(option, text)))
    });
    set.collect()
}

/// An option as it is given on the command line.
pub(crate) fn flag(key: &str) -> String {
    format!("--{}", key.replace('_', "-"))
}

/// The spelling of a value on the command line.
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

/// Variables that begin like a setting and are not: the commit of a container's
/// image, and what the tests and checks read.
const OTHER_VARIABLES: [&str; 5] = [
    "CONVFINQA_COMMIT", "CONVFINQA_SOAK", "CONVFINQA_TEST_LLM", "CONVFINQA_TOOLS",
    "CONVFINQA_UPDATE",
];

/// The variable of a key.
pub(super) fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.to_uppercase())
}

const PREFIX: &str = "CONVFINQA_";

/// A name that is less similar to what was typed is not suggested.
const SIMILAR: f64 = 0.75;

/// The error for a variable that looks like a setting and is not one: a typo would be
/// ignored silently.
pub(crate) fn unknown_variable(name: &str) -> Option<String> {
    let ours = !name.starts_with(PREFIX)
        || name.starts_with("CONVFINQA_REQUIRE_")
        || OTHER_VARIABLES.contains(&name)
        || keys().any(|key| variable_of(key) == name);
    if ours {
        return None;
    }
    let typed = name.trim_start_matches(PREFIX).to_uppercase();
    let nearest = nearest(&typed).map_or_else(
        || "; unset it".to_owned(),
        |key| format!("; did you mean {}?", variable_of(key)),
    );
    Some(format!("unknown variable {name}{nearest}"))
}

/// The key that a mistyped one most resembles.
pub(super) fn nearest(typed: &str) -> Option<&'static str> {
    keys()
        .map(|key| {
            (
                strsim::jaro(&key.to_uppercase(), &typed.to_uppercase()),
                key,
            )
        })
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, key)| key)
}

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
    /// The settings that decide answers and are in no other part of a run's
    /// identity, in one line.
    pub(crate) fn answer_settings(&self) -> String {
        let all = Table::try_from(self).unwrap_or_default();
        let decide = all
            .into_iter()
            .filter(|(key, _)| affects(key) == RunAspect::Answers);
        decide
            .collect::<Table>()
            .to_string()
            .trim()
            .replace('\n', ", ")
    }

    /// The settings in which `now` differs so that answers may differ too.
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let [was, now] = [self, now].map(|all| Table::try_from(all).unwrap_or_default());
        keys()
            .filter(|key| affects(key) != RunAspect::Nothing && was.get(*key) != now.get(*key))
            .map(|key| Change {
                affects: affects(key),
                option: flag(key),
                was: flag_value(was.get(key)),
                now: flag_value(now.get(key)),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_variable_is_named_with_the_nearest() {
        for name in [
            "CONVFINQA_MAX_ROUNDS", "CONVFINQA_REQUIRE_DATA", "CONVFINQA_SOAK",
            "CONVFINQA_TEST_LLM", "CONVFINQA_UPDATE", "PATH",
        ] {
            assert_eq!(unknown_variable(name), None);
        }
        for (name, meant) in [
            ("CONVFINQA_MAX_ROUND", "CONVFINQA_MAX_ROUNDS"),
            ("CONVFINQA_CONCURENCY", "CONVFINQA_CONCURRENCY"),
            ("CONVFINQA_MAXTOKENS", "CONVFINQA_MAX_TOKENS"),
            ("CONVFINQA_max_rounds", "CONVFINQA_MAX_ROUNDS"),
        ] {
            let expected = format!("unknown variable {name}; did you mean {meant}?");
            assert_eq!(unknown_variable(name), Some(expected));
        }
        let expected = "unknown variable CONVFINQA_BOGUSXYZ; unset it".to_owned();
        assert_eq!(unknown_variable("CONVFINQA_BOGUSXYZ"), Some(expected));
    }

    #[test]
    fn every_key_is_read_and_written_by_the_settings() {
        let table: Table = EVERY_KEY.parse().unwrap();
        let mut known: Vec<_> = keys().collect();
        known.sort_unstable();
        let named: Vec<_> = table.keys().map(String::as_str).collect();
        assert_eq!(named, known, "in the test's table and in the settings");
        assert_eq!(Table::try_from(read(&table)).unwrap(), table);
    }

    /// Each key at a value that is not its default, in the order of the alphabet.
    const EVERY_KEY: &str = "
allow_http = true
api = 'responses'
attempts = 2
rpm = 60
tpm = 30000
base_url = 'http://x'
cache = 'x'
concurrency = 3
critic = 'off'
critic_base_url = 'http://x'
critic_model = '4'
critic_provider = 'anthropic'
data_path = 'x'
engine = 'batch'
epochs = 4
filter = 'x'
history = 'gold'
ids = ['a', 'b']
log = 'json'
max_cost = '5.25'
max_rounds = 5
max_time = '30m'
max_tokens = 6
max_tokens_total = 8
min_confidence = 0.5
mlflow = 'off'
mode = 'conversations'
model = 'm'
model_accuracy = 0.25
n = 7
output = 'x'
prices = 'x'
prompts = 'x'
provider = 'azure'
range = '0..1'
run = 'nightly'
samples = 8
second_opinion = 'require'
seed = 9
shard = '1/2'
shuffle = true
temperature = 0.75
timeout = 10
traces = 'on'
";

    fn read(table: &Table) -> Settings {
        let layers = super::super::Layers::default();
        let layers = layers.table(table.clone(), super::super::Origin::CommandLine);
        Settings {
            origins: Default::default(),
            ..layers.unwrap().settings().unwrap()
        }
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
                let written = Table::try_from(read(&table)).unwrap();
                assert_eq!(written.get(key), table.get(key), "{key}");
            }
        }
    }

    #[test]
    fn a_resumed_run_may_change_speed_and_place_but_no_answer() {
        let with = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.answer_settings()
        };
        let plain = with(&|_| {});
        assert_eq!(plain, with(&|s| s.run.concurrency = Some(3)));
        assert_eq!(plain, with(&|s| s.run.output = "elsewhere".into()));
        assert_ne!(plain, with(&|s| s.agents.max_rounds = 1));
        assert_ne!(plain, with(&|s| s.agents.samples = 5));
        assert!(plain.contains("second_opinion = \"show\""), "{plain}");
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
            assert_eq!(read(&table), settings);
        }
    }

    #[test]
    fn a_change_names_its_option_and_both_values() {
        let (mut was, mut now) = (Settings::default(), Settings::default());
        was.sampling.temperature = Some(0.2);
        was.questions.ids = vec!["a".into(), "b".into()];
        was.run.concurrency = Some(4);
        now.sampling.temperature = Some(0.7);
        now.questions.shuffle = true;
        now.model.timeout = Some(5);
        let changes = was.changes(&now);
        assert_eq!(
            changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "--temperature was 0.2, now 0.7", "--ids was a,b, now not set",
                "--shuffle was not given, now given",
            ]
        );
    }
}
