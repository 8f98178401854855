//! The keys of the settings: what each is called, how a variable's text is
//! read, and whether it belongs to what a resumed run may not change.

use toml::{Table, Value};

use super::settings::Settings;

/// One setting.
pub struct Key {
    /// As in `convfinqa.toml`; upper case after `CONVFINQA_` in the environment.
    pub name: &'static str,
    /// How a variable's text is read.
    kind: Kind,
    /// What of a run it decides.
    affects: Affects,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// As it stands, digits too: a model may be called `4`.
    Text,
    /// Split at commas.
    List,
    /// A number, `true`, `false`, or a word.
    Plain,
}

/// What of a run a setting decides, and so whether a resumed run may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Affects {
    /// How fast, where to, what is logged: no answer.
    Nothing,
    /// Which model answers; a run's identity holds what it comes to.
    Model,
    /// Who criticises; as above.
    Critic,
    /// The data; as above.
    Data,
    /// The prompts; as above.
    Prompts,
    /// Which questions are asked, in which order; as above.
    Plan,
    /// The answers, in a way that no other part of a run's identity tells.
    Answers,
}

/// A setting that differs between a run and its continuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What of a run it decides.
    pub affects: Affects,
    option: String,
    was: String,
    now: String,
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            option, was, now, ..
        } = self;
        write!(f, "{option} was {was}, now {now}")
    }
}

const fn key(name: &'static str, kind: Kind, affects: Affects) -> Key {
    Key {
        name,
        kind,
        affects,
    }
}

/// The keys of [`Settings`], in the order of their page; a test holds them equal.
pub const KEYS: &[Key] = &[
    key("model", Kind::Text, Affects::Model),
    key("provider", Kind::Plain, Affects::Model),
    key("base_url", Kind::Text, Affects::Model),
    key("allow_http", Kind::Plain, Affects::Nothing),
    key("critic", Kind::Plain, Affects::Critic),
    key("critic_model", Kind::Text, Affects::Critic),
    key("temperature", Kind::Plain, Affects::Answers),
    key("max_tokens", Kind::Plain, Affects::Answers),
    key("seed", Kind::Plain, Affects::Answers),
    key("data_path", Kind::Text, Affects::Data),
    key("n", Kind::Plain, Affects::Plan),
    key("range", Kind::Text, Affects::Plan),
    key("ids", Kind::List, Affects::Plan),
    key("filter", Kind::Text, Affects::Plan),
    key("shuffle", Kind::Plain, Affects::Plan),
    key("mode", Kind::Plain, Affects::Plan),
    key("history", Kind::Plain, Affects::Plan),
    key("max_rounds", Kind::Plain, Affects::Answers),
    key("verify", Kind::Plain, Affects::Answers),
    key("answer_from", Kind::Plain, Affects::Answers),
    key("min_confidence", Kind::Plain, Affects::Answers),
    key("second_opinion", Kind::Plain, Affects::Answers),
    key("opinion_confidence", Kind::Plain, Affects::Answers),
    key("table_style", Kind::Plain, Affects::Answers),
    key("prompts", Kind::Text, Affects::Prompts),
    key("concurrency", Kind::Plain, Affects::Nothing),
    key("timeout", Kind::Plain, Affects::Nothing),
    key("attempts", Kind::Plain, Affects::Nothing),
    key("epochs", Kind::Plain, Affects::Plan),
    key("samples", Kind::Plain, Affects::Answers),
    key("output", Kind::Text, Affects::Nothing),
    key("mlflow", Kind::Text, Affects::Nothing),
    key("experiment", Kind::Text, Affects::Nothing),
    key("traces", Kind::Plain, Affects::Nothing),
    key("trace_content", Kind::Plain, Affects::Nothing),
    key("log", Kind::Plain, Affects::Nothing),
    key("log_level", Kind::Text, Affects::Nothing),
];

impl Key {
    /// What the text of a variable stands for.
    pub(super) fn read(&self, text: &str) -> Value {
        match self.kind {
            Kind::Text => Value::String(text.to_owned()),
            Kind::List => {
                let items = text.split(',').map(|item| item.trim().to_owned());
                Value::Array(items.map(Value::String).collect())
            }
            Kind::Plain => plain(text),
        }
    }
}

impl Key {
    /// The option's name on the command line.
    fn option(&self) -> String {
        match self.name {
            "verify" => "--no-verify".to_owned(),
            name => format!("--{}", name.replace('_', "-")),
        }
    }

    /// A value as it is given on the command line.
    fn shown(&self, value: Option<&Value>) -> String {
        match value {
            None => "not set".to_owned(),
            Some(Value::Boolean(on)) => {
                // The option leaves the checks out.
                let given = *on != (self.name == "verify");
                if given { "given" } else { "not given" }.to_owned()
            }
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(items)) => {
                let items = items.iter().map(|item| self.shown(Some(item)));
                items.collect::<Vec<_>>().join(",")
            }
            Some(other) => other.to_string(),
        }
    }
}

/// Variables that begin like a setting and are not: the commit of a container's
/// image, and what the tests and checks read.
const OTHER_VARIABLES: [&str; 3] = ["CONVFINQA_COMMIT", "CONVFINQA_TOOLS", "CONVFINQA_UPDATE"];

/// The variable of a key.
pub(super) fn variable_of(key: &Key) -> String {
    format!("{PREFIX}{}", key.name.to_uppercase())
}

const PREFIX: &str = "CONVFINQA_";

/// A name that is less similar to what was typed is not suggested.
const SIMILAR: f64 = 0.75;

/// What is wrong with a variable of this name, if it looks like a setting and
/// is not one: a typo would be ignored in silence.
#[must_use]
pub fn unknown_variable(name: &str) -> Option<String> {
    let known = |name: &str| KEYS.iter().any(|key| variable_of(key) == name);
    let ours = !name.starts_with(PREFIX)
        || name.starts_with("CONVFINQA_REQUIRE_")
        || OTHER_VARIABLES.contains(&name)
        || known(name);
    if ours {
        return None;
    }
    let typed = name.trim_start_matches(PREFIX).to_uppercase();
    let nearest = KEYS
        .iter()
        .map(|key| (strsim::jaro(&key.name.to_uppercase(), &typed), key))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map_or_else(
            || "; unset it".to_owned(),
            |(_, key)| format!("; did you mean {}?", variable_of(key)),
        );
    Some(format!("unknown variable {name}{nearest}"))
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
    /// The settings that decide answers and stand in no other part of a run's
    /// identity, in one line.
    #[must_use]
    pub fn deciding(&self) -> String {
        let all = Table::try_from(self).unwrap_or_default();
        let decides = |name: &str| {
            KEYS.iter()
                .any(|key| key.name == name && key.affects == Affects::Answers)
        };
        let table: Table = all.into_iter().filter(|(name, _)| decides(name)).collect();
        table.to_string().trim().replace('\n', ", ")
    }

    /// The settings in which `now` differs so that answers may differ too.
    #[must_use]
    pub fn changes(&self, now: &Self) -> Vec<Change> {
        let [was, now] = [self, now].map(|all| Table::try_from(all).unwrap_or_default());
        let keys = KEYS.iter().filter(|key| key.affects != Affects::Nothing);
        keys.filter(|key| was.get(key.name) != now.get(key.name))
            .map(|key| Change {
                affects: key.affects,
                option: key.option(),
                was: key.shown(was.get(key.name)),
                now: key.shown(now.get(key.name)),
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
            "CONVFINQA_MAX_ROUNDS",
            "CONVFINQA_REQUIRE_DATA",
            "CONVFINQA_UPDATE",
            "PATH",
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
    fn the_keys_are_those_of_the_settings() {
        let all = Settings {
            provider: Some("openai".into()),
            base_url: Some("http://x".into()),
            critic_model: Some("x".into()),
            temperature: Some(0.5),
            max_tokens: Some(1),
            seed: Some(1),
            data_path: Some("x".into()),
            n: Some(1),
            range: Some("0..1".into()),
            ids: vec!["x".into()],
            filter: Some("x".into()),
            prompts: Some("x".into()),
            concurrency: Some(1),
            timeout: Some(1),
            experiment: Some("x".into()),
            log_level: Some("debug".into()),
            ..Settings::default()
        };
        let table = Table::try_from(all).unwrap();
        let mut keys: Vec<_> = table.keys().map(String::as_str).collect();
        let mut known: Vec<_> = KEYS.iter().map(|key| key.name).collect();
        keys.sort_unstable();
        known.sort_unstable();
        assert_eq!(keys, known);
    }

    #[test]
    fn a_resumed_run_may_change_speed_and_place_but_no_answer() {
        let with = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.deciding()
        };
        let plain = with(&|_| {});
        assert_eq!(plain, with(&|s| s.concurrency = Some(3)));
        assert_eq!(plain, with(&|s| s.output = "elsewhere".into()));
        assert_ne!(plain, with(&|s| s.max_rounds = 1));
        assert_ne!(plain, with(&|s| s.samples = 5));
        assert!(plain.contains("second_opinion = \"show\""), "{plain}");
    }

    #[test]
    fn a_float_is_the_same_after_a_settings_file_and_a_journal() {
        let settings = Settings {
            temperature: Some(0.964_817_445_528_845_3),
            min_confidence: 0.1 + 0.2,
            ..Settings::default()
        };
        let table = Table::try_from(&settings).unwrap();
        let from_file: Table = table.to_string().parse().unwrap();
        let json = serde_json::to_string(&table).unwrap();
        let from_journal: Table = serde_json::from_str(&json).unwrap();
        for read in [from_file, from_journal] {
            assert_eq!(read.try_into::<Settings>().unwrap(), settings);
        }
    }

    #[test]
    fn a_change_names_its_option_and_both_values() {
        let was = Settings {
            temperature: Some(0.2),
            ids: vec!["a".into(), "b".into()],
            concurrency: Some(4),
            ..Settings::default()
        };
        let now = Settings {
            temperature: Some(0.7),
            verify: false,
            timeout: Some(5),
            ..Settings::default()
        };
        let changes = was.changes(&now);
        assert_eq!(
            changes.iter().map(ToString::to_string).collect::<Vec<_>>(),
            [
                "--temperature was 0.2, now 0.7",
                "--ids was a,b, now not set",
                "--no-verify was not given, now given",
            ]
        );
    }
}
