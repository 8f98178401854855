//! Settings that do not do what is meant: notes before a run.

use crate::settings::{Origin, Settings, Variables, flag};
use finqa_agents::llm::Provider;

/// A note about these settings to show before the first question.
pub(crate) fn advice(settings: &Settings, variables: &Variables) -> Option<String> {
    let what = unused_server(settings, variables)?;
    Some(format!(
        "{what}: answering with the embedded analyst; pass --model NAME"
    ))
}

/// What these settings say of a model's server although no model is chosen.
pub(crate) fn unused_server(settings: &Settings, variables: &Variables) -> Option<String> {
    if !settings.model.is_offline() || settings.origins.contains_key("model") {
        return None;
    }
    let mut named = Provider::key_variables().chain(Provider::address_variables());
    let what = match named.find(|name| variables.get(name).is_some()) {
        Some(name) => format!("{name} is set"),
        None => {
            let mut keys = ["base_url", "provider", "api", "max_tokens"].into_iter();
            let (key, origin) = keys.find_map(|key| Some((key, settings.origins.get(key)?)))?;
            match origin {
                Origin::File(path) => format!("{key} is set in {}", path.display()),
                Origin::Environment => format!("CONVFINQA_{} is set", key.to_uppercase()),
                Origin::CommandLine => format!("{} is given", flag(key)),
                Origin::Run => return None,
            }
        }
    };
    Some(format!("{what} but no model is chosen"))
}
