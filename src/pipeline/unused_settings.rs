//! Settings that have no effect, or not the one that is meant: notes before a run.

use crate::dataset::Mode;
use crate::settings::{ExecutionEngine, Origin, Settings, Variables, flag};
use finqa_agents::llm::Provider;
use finqa_agents::pair::OpinionUse;

/// Notes about these settings to show before the first question, one line each.
pub(crate) fn advice(settings: &Settings, variables: &Variables) -> Vec<String> {
    let unused = unused_server(settings, variables)
        .map(|what| format!("{what}: answering with the embedded analyst; pass --model NAME"));
    unused.into_iter().chain(without_effect(settings)).collect()
}

/// The key or address of a model's server that these settings leave unused
/// because no model is chosen.
pub(crate) fn unused_server(settings: &Settings, variables: &Variables) -> Option<String> {
    if !settings.model.is_offline() || settings.origins.contains_key("model") {
        return None;
    }
    let mut named = Provider::key_variables().chain(Provider::address_variables());
    let what = match named.find(|name| variables.get(name).is_some()) {
        Some(name) => format!("{name} is set"),
        None => match settings.origins.get("base_url")? {
            Origin::File(path) => format!("base_url is set in {}", path.display()),
            Origin::Environment => "CONVFINQA_BASE_URL is set".to_owned(),
            Origin::CommandLine => "--base-url is given".to_owned(),
            Origin::Run => return None,
        },
    };
    Some(format!("{what} but no model is chosen"))
}

/// The keys that matter only to requests and to what chat models are shown.
const OF_CHAT_MODELS: [&str; 17] = [
    "allow_http", "attempts", "cache", "critic_base_url", "critic_model", "critic_provider",
    "max_cost", "max_tokens", "max_tokens_total", "prices", "prompts", "rpm", "samples",
    "second_opinion", "temperature", "timeout", "tpm",
];

/// Options on the command line that this run ignores, and settings that have no effect, or not
/// the one that is meant. A file's settings may be for other runs.
fn without_effect(settings: &Settings) -> Vec<String> {
    let given = |key: &str| settings.origins.get(key) == Some(&Origin::CommandLine);
    let agents = &settings.agents;
    let offline = settings.model.is_offline();
    let critic = agents.critic(!offline);
    let samples = agents.samples > 1;
    let batches = !offline && settings.batch.engine == ExecutionEngine::Batch;
    let ignored = [
        match offline {
            true => ignored(settings, &OF_CHAT_MODELS, "--model offline"),
            false => ignored(settings, &["min_confidence"], "a chat model"),
        },
        ignored(settings, &["concurrency", "rpm", "tpm"], "batches").filter(|_| batches),
    ];
    let notes = [
        (
            !offline && samples && settings.sampling.temperature.unwrap_or_default() == 0.0,
            "note: without a --temperature above 0, all --samples may be the same",
        ),
        (
            agents.critic != Some(critic) && given("critic"),
            "note: no LLM reviews the answers of --model offline; the critic is `rules`",
        ),
        (
            settings.questions.mode == Mode::Questions && given("history"),
            "note: --history affects only --mode conversations",
        ),
        (
            agents.model_accuracy.is_some() && agents.second_opinion != OpinionUse::Arbitrate,
            "note: --model-accuracy affects only --second-opinion arbitrate",
        ),
    ];
    let notes = notes.into_iter().filter(|(applies, _)| *applies);
    let notes = notes.map(|(_, note)| note.to_owned());
    ignored.into_iter().flatten().chain(notes).collect()
}

/// A note about options on the command line that the embedded analyst ignores in episodes.
pub(crate) fn ignored_in_episodes(settings: &Settings) -> Option<String> {
    // It concerns the environment's server too.
    let keys = OF_CHAT_MODELS
        .into_iter()
        .filter(|key| *key != "allow_http");
    let note = ignored(settings, &keys.collect::<Vec<_>>(), "--model offline");
    note.filter(|_| settings.model.is_offline())
}

/// A note that the options of these keys on the command line have no effect with `run`.
fn ignored(settings: &Settings, keys: &[&str], run: &str) -> Option<String> {
    let given = |key: &&str| settings.origins.get(*key) == Some(&Origin::CommandLine);
    let ignored = keys.iter().copied().filter(given);
    let ignored: Vec<String> = ignored.map(flag).collect();
    let verb = if ignored.len() == 1 { "has" } else { "have" };
    let line = format!("note: {} {verb} no effect with {run}", ignored.join(", "));
    (!ignored.is_empty()).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_agents::pair::CriticMode;

    #[test]
    fn options_that_a_run_ignores_are_named() {
        let mut settings = Settings::default();
        assert!(without_effect(&settings).is_empty());
        for (key, origin) in [
            ("max_cost", Origin::CommandLine),
            ("samples", Origin::CommandLine),
            ("max_time", Origin::CommandLine),
            ("rpm", Origin::File("convfinqa.toml".into())),
            ("min_confidence", Origin::CommandLine),
        ] {
            settings.origins.insert(key.to_owned(), origin);
        }
        assert_eq!(
            without_effect(&settings),
            ["note: --max-cost, --samples have no effect with --model offline"]
        );
        settings.model.name = "m".to_owned();
        assert_eq!(
            without_effect(&settings),
            ["note: --min-confidence has no effect with a chat model"]
        );
        settings.origins.remove("min_confidence");
        settings
            .origins
            .insert("tpm".to_owned(), Origin::CommandLine);
        assert!(without_effect(&settings).is_empty());
        settings.batch.engine = ExecutionEngine::Batch;
        assert_eq!(
            without_effect(&settings),
            ["note: --tpm has no effect with batches"]
        );
        let known: Vec<&str> = crate::settings::keys().collect();
        assert!(OF_CHAT_MODELS.iter().all(|key| known.contains(key)));
    }

    #[test]
    fn each_setting_without_effect_is_named() {
        let notes = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            without_effect(&settings).join("\n")
        };
        let model = |settings: &mut Settings| settings.model.name = "m".to_owned();
        assert_eq!(notes(&|_| ()), "");
        assert_eq!(notes(&model), "");
        let given = |critic| {
            notes(&|settings| {
                settings.agents.critic = Some(critic);
                let origin = ("critic".to_owned(), Origin::CommandLine);
                settings.origins.extend([origin]);
            })
        };
        assert!(given(CriticMode::Llm).contains("the critic is `rules`"));
        assert_eq!(given(CriticMode::Rules), "");
        let accuracy = notes(&|settings| settings.agents.model_accuracy = Some(0.5));
        assert!(accuracy.contains("--model-accuracy"), "{accuracy}");
    }
}
