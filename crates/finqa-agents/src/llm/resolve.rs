//! The rule by which flags and environment variables select a server and a key.
//!
//! Variables are passed in; none is read here. Everything that would fail or panic later,
//! deep in a library, is refused here in one line.

use std::time::Duration;

use clap::ValueEnum;
use reqwest::Url;
use secrecy::SecretString;

use finqa_core::secrets::shown_address;

use super::capabilities::Capabilities;
use super::provider::{Endpoint, Provider};
use super::retry::RetryOptions;
use super::settings::{
    AZURE_API_VERSION, ModelConnection, ModelSettings, OpenAiApi, SettingsError, Timeouts,
};

type VariableLookup<'v> = &'v dyn Fn(&str) -> Option<String>;

impl ModelConnection {
    /// Chooses provider, address and key.
    ///
    /// `--provider` decides. Without it: Azure, or else Anthropic, if its variables are set
    /// and neither OpenAI's nor `--base-url` is, else OpenAI. An empty variable counts as
    /// unset. Only the three companies' own servers need a key.
    pub fn resolve(vars: VariableLookup<'_>, flags: &ModelSettings) -> Result<Self, SettingsError> {
        let var = |name: &str| {
            vars(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let provider = flags
            .provider
            .unwrap_or_else(|| default_provider(&var, flags.base_url.is_some()));
        if provider.profile().protocol.is_some()
            && let Some(api) = flags.api.and_then(|api| api.to_possible_value())
        {
            return Err(SettingsError::NotOpenAiApi(api.get_name().to_owned()));
        }
        let url = address(provider, &var, flags)?;
        let key_variable = provider.profile().key_variable;
        let api_key = var(key_variable);
        let endpoint = Endpoint::of_url(&url);
        let host = || url.host_str().unwrap_or_default().to_owned();
        if api_key.is_some()
            && url.scheme() == "http"
            && endpoint != Endpoint::Loopback
            && !flags.allow_http
        {
            return Err(SettingsError::Unencrypted {
                variable: key_variable,
                host: host(),
            });
        }
        if api_key.is_none() && matches!(endpoint, Endpoint::Own(_)) {
            return Err(SettingsError::NoKey {
                variable: key_variable,
                host: host(),
            });
        }
        let only = |of: Provider, variable: &str| var(variable).filter(|_| provider == of);
        let api_version = only(Provider::Azure, "OPENAI_API_VERSION");
        let mut timeouts = Timeouts::default();
        match flags.timeout {
            Some(seconds) => timeouts.attempt = Duration::from_secs(seconds),
            // A local model on a small machine takes minutes.
            None if endpoint == Endpoint::Loopback => timeouts.attempt = Duration::from_secs(600),
            None => {}
        }
        let model = checked_model(provider, &flags.name)?;
        let api = flags.api.unwrap_or(match endpoint {
            Endpoint::Own(Provider::OpenAi) => Capabilities::for_model(&model).api,
            _ => OpenAiApi::Chat,
        });
        Ok(Self {
            provider,
            api,
            base_url: base_url(provider, &url),
            api_key: api_key.map(SecretString::from),
            api_version: api_version.unwrap_or_else(|| AZURE_API_VERSION.to_owned()),
            organization: only(Provider::OpenAi, "OPENAI_ORG_ID"),
            project: only(Provider::OpenAi, "OPENAI_PROJECT_ID"),
            model,
            timeouts,
            retry: RetryOptions {
                max_attempts: flags.attempts,
                ..RetryOptions::default()
            },
            max_body: Self::MAX_BODY,
        })
    }
}

fn default_provider(var: VariableLookup<'_>, has_base_flag: bool) -> Provider {
    let endpoint = var("AZURE_OPENAI_ENDPOINT").is_some();
    let key = var("AZURE_OPENAI_API_KEY").is_some();
    // One of the two alone is a slip worth reporting, unless another server is named.
    let azure = (endpoint && key) || ((endpoint || key) && var("OPENAI_BASE_URL").is_none());
    let anthropic = var("OPENAI_BASE_URL").is_none()
        && (var("ANTHROPIC_API_KEY").is_some() || var("ANTHROPIC_BASE_URL").is_some());
    if var("OPENAI_API_KEY").is_some() || has_base_flag {
        Provider::OpenAi
    } else if azure {
        Provider::Azure
    } else if anthropic {
        Provider::Anthropic
    } else {
        Provider::OpenAi
    }
}

/// The address by flag, variable or the provider's own.
fn address(
    provider: Provider,
    var: VariableLookup<'_>,
    flags: &ModelSettings,
) -> Result<Url, SettingsError> {
    let profile = provider.profile();
    let variable = profile.address_variable;
    match (&flags.base_url, var(variable), profile.base_url) {
        (Some(flag), ..) => checked_url("--base-url", flag),
        (None, Some(set), _) => checked_url(variable, &set),
        (None, None, Some(own)) => checked_url(variable, own),
        (None, None, None) => Err(SettingsError::NoVariable(variable)),
    }
}

fn checked_url(variable: &str, value: &str) -> Result<Url, SettingsError> {
    const SCHEME: &str = "write it with http:// or https://";
    let value = value.trim();
    let fail = |reason: &str| SettingsError::Url {
        variable: variable.to_owned(),
        value: shown_address(value),
        reason: reason.to_owned(),
    };
    if value.contains('@') {
        return Err(fail(
            "it contains a user name; give the key in its variable",
        ));
    }
    let url = Url::parse(value).map_err(|source| fail(&format!("{source}; {SCHEME}")))?;
    if url.query().is_some() || url.fragment().is_some() {
        Err(fail(
            "it contains a query string or fragment; give the key in its variable",
        ))
    } else if !matches!(url.scheme(), "http" | "https") {
        Err(fail(SCHEME))
    } else if url.host_str().is_none_or(str::is_empty) {
        Err(fail("it has no host"))
    } else {
        Ok(url)
    }
}

/// The address without trailing slashes. Anthropic's own clients take theirs without the
/// version.
fn base_url(provider: Provider, url: &Url) -> String {
    let text = url.as_str().trim_end_matches('/');
    match text.strip_suffix("/v1") {
        Some(base) if provider == Provider::Anthropic => base.to_owned(),
        _ => text.to_owned(),
    }
}

fn checked_model(provider: Provider, name: &str) -> Result<String, SettingsError> {
    let name = name.trim();
    let what = match provider {
        Provider::OpenAi | Provider::Anthropic => "model",
        Provider::Azure => "deployment",
    };
    let reason = if name.is_empty() {
        Some("it is empty")
    } else if name.chars().any(char::is_control) {
        Some("it contains a control character")
    } else if provider == Provider::Azure
        // It becomes part of the path; these are the characters that Azure allows.
        && !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c))
    {
        Some("Azure allows letters, digits, `-`, `_` and `.`")
    } else {
        None
    };
    match reason {
        None => Ok(name.to_owned()),
        Some(reason) => Err(SettingsError::Model {
            what,
            name: name.to_owned(),
            reason,
        }),
    }
}

#[cfg(test)]
mod tests;
