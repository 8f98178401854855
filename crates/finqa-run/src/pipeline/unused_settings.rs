//! Notes about settings and variables that have no effect, shown before a run.

use std::collections::BTreeMap;

use super::PipelineError;
use finqa_agents::llm::Provider;
use finqa_journal::settings::{Origin, Settings, Variables, flag};

/// Notes about these settings to show before the first question, one line each.
///
/// # Errors
/// The errors of [`unused_server`].
pub fn advice(settings: &Settings, variables: &Variables) -> Result<Vec<String>, PipelineError> {
    let unused = unused_server(settings, variables)?
        .map(|what| format!("{what}: answering with the embedded analyst; pass --model NAME"));
    // Without `--temperature`, that of the provider applies. It is not known here and may be 0.
    let alike = !settings.model.is_offline()
        && settings.agents.samples > 1
        && settings.sampling.temperature.unwrap_or_default() == 0.0;
    let alike = alike
        .then(|| "note: without a --temperature above 0, all --samples may be the same".to_owned());
    Ok(unused.into_iter().chain(alike).collect())
}

/// Names a setting or variable that describes a model's server although no model is chosen. `None`
/// if there is no such setting.
///
/// # Errors
/// [`PipelineError::ServerWithoutModel`] if it is an option on the command line.
pub fn unused_server(
    settings: &Settings,
    variables: &Variables,
) -> Result<Option<String>, PipelineError> {
    if !settings.model.is_offline() || settings.origins.contains_key("model") {
        return Ok(None);
    }
    let keys = ["base_url", "provider", "api", "max_tokens"].into_iter();
    let mut given = keys.filter_map(|key| Some((key, settings.origins.get(key)?)));
    if let Some((key, _)) = given.clone().find(|(_, it)| **it == Origin::CommandLine) {
        return Err(PipelineError::ServerWithoutModel(flag(key)));
    }
    let mut named = Provider::key_variables().chain(Provider::address_variables());
    let what = match named.find(|name| variables.get(name).is_some()) {
        Some(name) => format!("{name} is set"),
        None => match given.next() {
            Some((key, Origin::File(path))) => format!("{key} is set in {}", path.display()),
            Some((key, Origin::Environment)) => {
                format!("CONVFINQA_{} is set", key.to_uppercase())
            }
            // There is no such setting, or it is that of a resumed run.
            _ => return Ok(None),
        },
    };
    Ok(Some(format!("{what} but no model is chosen")))
}

/// Variables of other programs that have no effect here, with advice on what to do instead.
const OTHER_VARIABLES: &str = include_str!("../../../../data/other_variables.json");

/// Notes about variables that begin with `prefix`, are set, and have no effect, one line each.
pub fn unused_variables(variables: &Variables, prefix: &str) -> Vec<String> {
    let table: BTreeMap<&str, &str> = serde_json::from_str(OTHER_VARIABLES).unwrap_or_default();
    let names = table.into_iter();
    names
        .filter(|(name, _)| name.starts_with(prefix) && variables.get(name).is_some())
        .map(|(name, advice)| format!("note: {name} is set and not used; {advice}"))
        .collect()
}
