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
    ALLOW_HTTP, AZURE_API_VERSION, ModelConnection, ModelSettings, OpenAiApi, SettingsError,
};

type VariableLookup<'v> = &'v dyn Fn(&str) -> Option<String>;

impl ModelConnection {
    /// Chooses provider, address and key.
    ///
    /// `--provider` decides. Without it and `--base-url`: the first provider of which a
    /// variable is set. An empty one counts as unset. Only the three companies' own servers
    /// need a key.
    pub fn resolve(vars: VariableLookup<'_>, flags: &ModelSettings) -> Result<Self, SettingsError> {
        let var = |name: &str| {
            vars(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let is_set = |provider: &Provider| provider.variables().iter().any(|it| var(it).is_some());
        let by_variable = match flags.base_url {
            Some(_) => None,
            None => Provider::all().find(is_set),
        };
        let provider = flags.provider.or(by_variable).unwrap_or(Provider::OpenAi);
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
            && var(ALLOW_HTTP).as_deref() != Some("true")
        {
            return Err(SettingsError::Unencrypted {
                variable: key_variable,
                host: host(),
            });
        }
        if api_key.is_none() && matches!(endpoint, Endpoint::Own(_)) {
            let is_claude = provider != Provider::Anthropic && flags.name.starts_with("claude");
            return Err(SettingsError::NoKey {
                variable: key_variable,
                host: host(),
                hint: if is_claude {
                    "; for Claude: --provider anthropic"
                } else {
                    ""
                },
            });
        }
        // A local model on a small machine takes minutes.
        let timeout = flags.timeout.unwrap_or(match endpoint {
            Endpoint::Loopback => 600,
            Endpoint::Own(_) | Endpoint::Compatible => 120,
        });
        let model = checked_model(provider, &flags.name)?;
        let api = flags.api.unwrap_or(match endpoint {
            Endpoint::Own(Provider::OpenAi) => Capabilities::for_model(&model).api,
            _ => OpenAiApi::Chat,
        });
        Ok(Self {
            provider,
            api,
            base_url: base_url(provider, &url),
            proxy: match endpoint {
                Endpoint::Loopback => None,
                _ => proxy(&var, &url),
            },
            api_key: api_key.map(SecretString::from),
            api_version: var("OPENAI_API_VERSION").unwrap_or_else(|| AZURE_API_VERSION.to_owned()),
            model,
            timeout: Duration::from_secs(timeout),
            retry: RetryOptions {
                max_attempts: flags.attempts,
                ..RetryOptions::default()
            },
        })
    }
}

/// The proxy that the HTTP client takes from the environment for an address, and the variable.
fn proxy(var: VariableLookup<'_>, url: &Url) -> Option<String> {
    let of = |name: String| {
        let found = [name.to_uppercase(), name].into_iter();
        found.filter_map(|name| Some((var(&name)?, name))).next()
    };
    let host = url.host_str().unwrap_or_default();
    let (direct, _) = of("no_proxy".to_owned()).unwrap_or_default();
    let mut direct = direct
        .split(',')
        .map(|it| it.trim().trim_start_matches('.'));
    if direct.any(|it| it == "*" || !it.is_empty() && host.ends_with(it)) {
        return None;
    }
    let named = of(format!("{}_proxy", url.scheme())).or_else(|| of("all_proxy".to_owned()));
    named.map(|(address, name)| format!("{} ({name})", shown_address(&address)))
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
        (Some(flag), ..) => checked_url("the base URL", flag),
        (None, Some(set), _) => checked_url(variable, &set),
        (None, None, Some(own)) => checked_url(variable, own),
        (None, None, None) => Err(SettingsError::NoVariable(variable)),
    }
}

fn checked_url(variable: &'static str, value: &str) -> Result<Url, SettingsError> {
    let value = value.trim();
    let url = Url::parse(value).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https");
        is_web && url.has_host() && !value.contains(['@', '?', '#'])
    });
    url.ok_or_else(|| SettingsError::Url {
        variable,
        value: shown_address(value),
    })
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

/// A deployment of Azure becomes a part of the path.
fn checked_model(provider: Provider, name: &str) -> Result<String, SettingsError> {
    let name = name.trim();
    let is_usable = match provider {
        Provider::OpenAi | Provider::Anthropic => !name.contains(char::is_control),
        Provider::Azure => name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
    };
    match is_usable && !name.is_empty() {
        true => Ok(name.to_owned()),
        false => Err(SettingsError::Model(name.to_owned())),
    }
}

#[cfg(test)]
mod tests;
