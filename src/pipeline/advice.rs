//! Settings that have no effect, or not the one that is meant: notes before a run.

use crate::settings::{Origin, Settings, Variables};
use finqa_agents::agents::{CriticMode, OpinionUse, SampleCount};
use finqa_agents::models::Provider;

/// Notes about these settings to show before the first question, one line each.
pub(crate) fn advice(settings: &Settings, variables: &Variables) -> Vec<String> {
    let unused = unused_server(settings, variables, &[])
        .map(|what| format!("{what}: answering with the embedded analyst; pass --model NAME"));
    unused
        .into_iter()
        .chain(effectless(settings).map(str::to_owned))
        .collect()
}

/// The key or address of a model's server that these settings leave unused
/// because no model is chosen; `more` are further variables that name one.
pub(crate) fn unused_server(
    settings: &Settings,
    variables: &Variables,
    more: &[&'static str],
) -> Option<String> {
    if !settings.model.is_offline() || settings.origins.contains_key("model") {
        return None;
    }
    let mut named = Provider::key_variables()
        .chain(Provider::address_variables())
        .chain(more.iter().copied());
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

/// Settings that have no effect, or not the one that is meant.
fn effectless(settings: &Settings) -> impl Iterator<Item = &'static str> {
    let agents = &settings.agents;
    let offline = settings.model.is_offline();
    let samples = agents.samples.most() > 1;
    let asks_on_doubt = agents.critic == CriticMode::Auto || agents.samples == SampleCount::AUTO;
    let notes = [
        (
            offline && samples,
            "note: --samples changes nothing because the embedded analyst always gives the same answer",
        ),
        (
            offline && agents.second_opinion != OpinionUse::default(),
            "note: --second-opinion changes nothing with --model offline: the opinion would be the embedded analyst's own",
        ),
        (
            offline && agents.examples > 0,
            "note: --examples changes nothing because the embedded analyst reads no prompt",
        ),
        (
            offline && agents.prompts.is_some(),
            "note: --prompts changes nothing because the embedded analyst reads no prompt",
        ),
        (
            offline && settings.sampling.temperature.is_some(),
            "note: --temperature changes nothing because the embedded analyst always gives the same answer",
        ),
        (
            !offline && samples && settings.sampling.temperature.unwrap_or_default() == 0.0,
            "note: without a --temperature above 0, all --samples may be the same",
        ),
        (
            !offline && agents.min_confidence > 0.0,
            "note: --min-confidence affects only the embedded analyst",
        ),
        (
            !offline && asks_on_doubt && !agents.verify && agents.second_opinion == OpinionUse::Off,
            "note: with --no-verify and --second-opinion off no answer is doubted, so that `auto` asks for no verdict and no further sample",
        ),
        (
            agents.model_accuracy.is_some() && agents.second_opinion != OpinionUse::Arbitrate,
            "note: --model-accuracy affects only --second-opinion arbitrate",
        ),
    ];
    notes
        .into_iter()
        .filter_map(|(applies, note)| applies.then_some(note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_without_effect_is_named() {
        let notes = |change: &dyn Fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            effectless(&settings).collect::<Vec<_>>().join("\n")
        };
        let model = |settings: &mut Settings| settings.model.name = "m".to_owned();
        assert_eq!(notes(&|_| ()), "");
        assert_eq!(notes(&model), "");
        let offline = notes(&|settings| {
            settings.agents.examples = 3;
            settings.agents.prompts = Some("prompts".into());
            settings.sampling.temperature = Some(0.5);
            settings.agents.samples = SampleCount::AUTO;
            settings.agents.model_accuracy = Some(0.5);
        });
        for option in [
            "--examples",
            "--samples",
            "--model-accuracy",
            "--prompts",
            "--temperature",
        ] {
            assert!(offline.contains(option), "{offline}");
        }
        let undoubted = |settings: &mut Settings| {
            model(settings);
            settings.agents.critic = CriticMode::Auto;
            settings.agents.verify = false;
        };
        assert_eq!(notes(&undoubted), "", "the second opinion may differ");
        let off = notes(&|settings| {
            undoubted(settings);
            settings.agents.second_opinion = OpinionUse::Off;
        });
        assert!(off.contains("no answer is doubted"), "{off}");
    }
}
