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
    /// Whether answers depend on it in a way that no other part of a run's
    /// identity tells: the model, the data, the plan and the prompts have parts
    /// of their own, and how fast or where to changes no answer.
    decides: bool,
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

const fn key(name: &'static str, kind: Kind) -> Key {
    Key {
        name,
        kind,
        decides: false,
    }
}

const fn deciding(name: &'static str) -> Key {
    Key {
        name,
        kind: Kind::Plain,
        decides: true,
    }
}

/// The keys of [`Settings`], in the order of their page; a test holds them equal.
pub const KEYS: &[Key] = &[
    key("model", Kind::Text),
    key("provider", Kind::Plain),
    key("base_url", Kind::Text),
    key("allow_http", Kind::Plain),
    key("critic", Kind::Plain),
    key("critic_model", Kind::Text),
    deciding("temperature"),
    deciding("max_tokens"),
    deciding("seed"),
    key("data_path", Kind::Text),
    key("n", Kind::Plain),
    key("range", Kind::Text),
    key("ids", Kind::List),
    key("filter", Kind::Text),
    key("shuffle", Kind::Plain),
    key("mode", Kind::Plain),
    key("history", Kind::Plain),
    deciding("max_rounds"),
    deciding("verify"),
    deciding("answer_from"),
    deciding("min_confidence"),
    deciding("second_opinion"),
    deciding("opinion_confidence"),
    deciding("table_style"),
    key("prompts", Kind::Text),
    key("concurrency", Kind::Plain),
    key("timeout", Kind::Plain),
    key("attempts", Kind::Plain),
    key("epochs", Kind::Plain),
    deciding("samples"),
    key("output", Kind::Text),
    key("mlflow", Kind::Text),
    key("experiment", Kind::Text),
    key("traces", Kind::Plain),
    key("trace_content", Kind::Plain),
    key("log", Kind::Plain),
    key("log_level", Kind::Text),
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
        let decides = |name: &str| KEYS.iter().any(|key| key.name == name && key.decides);
        let table: Table = all.into_iter().filter(|(name, _)| decides(name)).collect();
        table.to_string().trim().replace('\n', ", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
