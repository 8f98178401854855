//! Settings that do not do what is meant: notes before a run.

use super::PipelineError;
use crate::settings::{Origin, Settings, Variables, flag};
use finqa_agents::llm::Provider;

/// Notes about these settings to show before the first question, one line each.
///
/// # Errors
/// As [`unused_server`].
pub(crate) fn advice(
    settings: &Settings,
    variables: &Variables,
) -> Result<Vec<String>, PipelineError> {
    let unused = unused_server(settings, variables)?
        .map(|what| format!("{what}: answering with the embedded analyst; pass --model NAME"));
    let alike = !settings.model.is_offline()
        && settings.agents.samples > 1
        && settings.sampling.temperature.unwrap_or_default() == 0.0;
    let alike = alike
        .then(|| "note: without a --temperature above 0, all --samples may be the same".to_owned());
    Ok(unused.into_iter().chain(alike).collect())
}

/// What these settings say of a model's server although no model is chosen.
///
/// # Errors
/// [`PipelineError::ServerWithoutModel`] if an option of the command line says it.
pub(crate) fn unused_server(
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
            _ => return Ok(None),
        },
    };
    Ok(Some(format!("{what} but no model is chosen")))
}

/// Variables of other programs that have no effect here, although they seem meant for a provider
/// or a tracking server, and what to do instead.
const UNUSED: [(&str, &str); 29] = [
    ("ANTHROPIC_API_BASE", "set ANTHROPIC_BASE_URL"),
    ("ANTHROPIC_API_URL", "set ANTHROPIC_BASE_URL"),
    ("ANTHROPIC_AUTH_TOKEN", "requests carry ANTHROPIC_API_KEY"),
    ("AZURE_API_BASE", "set AZURE_OPENAI_ENDPOINT"),
    ("AZURE_API_KEY", "set AZURE_OPENAI_API_KEY"),
    ("AZURE_API_VERSION", "set OPENAI_API_VERSION"),
    (
        "AZURE_OPENAI_AD_TOKEN", "requests carry AZURE_OPENAI_API_KEY",
    ),
    ("AZURE_OPENAI_BASE_URL", "set AZURE_OPENAI_ENDPOINT"),
    ("AZURE_OPENAI_DEPLOYMENT", "--model names the deployment"),
    (
        "AZURE_OPENAI_DEPLOYMENT_NAME", "--model names the deployment",
    ),
    ("AZURE_OPENAI_KEY", "set AZURE_OPENAI_API_KEY"),
    (
        "MLFLOW_EXPERIMENT_ID",
        "MLFLOW_EXPERIMENT_NAME names the experiment",
    ),
    ("MLFLOW_RUN_ID", "each run is an MLflow run of its own"),
    ("MLFLOW_TRACKING_AUTH", "only a token or a password is sent"),
    (
        "MLFLOW_TRACKING_AWS_SIGV4", "only a token or a password is sent",
    ),
    (
        "MLFLOW_TRACKING_CLIENT_CERT_PATH", "no client certificate is sent",
    ),
    (
        "MLFLOW_TRACKING_INSECURE_TLS",
        "SSL_CERT_FILE names more certificates to trust",
    ),
    (
        "MLFLOW_TRACKING_SERVER_CERT_PATH",
        "SSL_CERT_FILE names more certificates to trust",
    ),
    ("OPENAI_API_BASE_URL", "set OPENAI_BASE_URL"),
    ("OPENAI_API_ENDPOINT", "set OPENAI_BASE_URL"),
    ("OPENAI_API_HOST", "set OPENAI_BASE_URL"),
    ("OPENAI_API_TYPE", "--provider azure selects Azure"),
    ("OPENAI_ENDPOINT", "set OPENAI_BASE_URL"),
    ("OPENAI_HOST", "set OPENAI_BASE_URL"),
    ("OPENAI_ORGANIZATION", "the key decides the organization"),
    ("OPENAI_ORG_ID", "the key decides the organization"),
    ("OPENAI_PROJECT", "the key decides the project"),
    ("OPENAI_PROJECT_ID", "the key decides the project"),
    ("OPENAI_PROXY", "set HTTPS_PROXY"),
];

/// Notes about set variables with this prefix that have no effect, one line each.
pub(crate) fn unused_variables(
    variables: &Variables,
    prefix: &str,
) -> impl Iterator<Item = String> {
    let names = UNUSED.into_iter();
    names
        .filter(move |(name, _)| name.starts_with(prefix))
        .filter(|(name, _)| variables.get(name).is_some())
        .map(|(name, advice)| format!("note: {name} is set and not used; {advice}"))
}
