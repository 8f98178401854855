//! The rule by which flags and environment variables select a server and a key.
//!
//! Variables are passed in; none is read here. Everything that would fail or panic later,
//! deep in a library, is refused here in one line.

use std::time::Duration;

use clap::ValueEnum;
use reqwest::Url;
use secrecy::SecretString;

use finqa_core::secrets::{HIDDEN, shown_address};

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
        let header = |variable: &'static str| {
            let value = var(variable);
            if let Some(value) = &value {
                check_header(variable, value)?;
            }
            Ok::<_, SettingsError>(value)
        };
        let url = address(provider, &var, flags)?;
        let api_version = match provider {
            Provider::Azure => header("OPENAI_API_VERSION")?,
            Provider::OpenAi | Provider::Anthropic => None,
        };
        let key_variable = provider.profile().key_variable;
        let api_key = header(key_variable)?;
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
        let (organization, project) = match provider {
            Provider::OpenAi => (header("OPENAI_ORG_ID")?, header("OPENAI_PROJECT_ID")?),
            Provider::Azure | Provider::Anthropic => (None, None),
        };
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
            organization,
            project,
            model,
            proxy: proxy(vars, &url, endpoint),
            timeouts,
            retry: RetryOptions {
                max_attempts: flags.attempts,
                ..RetryOptions::default()
            },
            max_body: Self::MAX_BODY,
        })
    }
}

/// The proxy that the HTTP client takes from the environment, unless exceptions are set.
fn proxy(vars: VariableLookup<'_>, url: &Url, endpoint: Endpoint) -> Option<String> {
    let var = |name: &'static str| {
        let names = [name.to_owned(), name.to_lowercase()];
        names
            .into_iter()
            .find_map(|name| Some((vars(&name).filter(|it| !it.is_empty())?, name)))
    };
    if endpoint == Endpoint::Loopback || var("NO_PROXY").is_some() {
        return None;
    }
    let of_scheme = match url.scheme() {
        "https" => "HTTPS_PROXY",
        _ => "HTTP_PROXY",
    };
    let (address, name) = var(of_scheme).or_else(|| var("ALL_PROXY"))?;
    Some(format!("{} ({name})", shown_address(&address)))
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
    let value = value.trim();
    let fail = |value: &str, reason: &str| SettingsError::Url {
        variable: variable.to_owned(),
        value: shown_address(value),
        reason: reason.to_owned(),
    };
    if value.contains('@') && shown_address(value) == HIDDEN {
        return Err(fail(
            value,
            "it contains a user name; give the key in its variable",
        ));
    }
    let url = Url::parse(value).map_err(|source| {
        fail(
            value,
            &format!("{source}; write it with http:// or https://"),
        )
    })?;
    // Azure's portal shows an endpoint with its API version.
    let query = url.query_pairs().any(|(name, _)| name != "api-version");
    let secret = if !url.username().is_empty() || url.password().is_some() {
        Some("it contains a user name; give the key in its variable")
    } else if query || url.fragment().is_some() {
        Some("it contains a query string or fragment; give the key in its variable")
    } else {
        None
    };
    if let Some(reason) = secret {
        return Err(fail(url.host_str().unwrap_or_default(), reason));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(fail(value, "write it with http:// or https://"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(fail(value, "it has no host"));
    }
    Ok(url)
}

/// The part of an address before the API's paths, which are often pasted with it.
fn base_url(provider: Provider, url: &Url) -> String {
    if provider == Provider::Anthropic {
        // Its own clients take the address without the version.
        let text = url_text(url, "/messages");
        return text.strip_suffix("/v1").unwrap_or(&text).to_owned();
    }
    let text = url_text(url, "/chat/completions");
    let text = text.strip_suffix("/responses").unwrap_or(&text);
    // Azure's portal shows the whole address of a deployment; the resource is meant.
    let resource = match text.find("/openai") {
        Some(at) if is_path_part(text, at) => text.get(..at),
        _ => None,
    };
    let is_resource = provider == Provider::Azure && !text.ends_with("/openai/v1");
    resource.filter(|_| is_resource).unwrap_or(text).to_owned()
}

/// Scheme, host and path, without query, fragment, `suffix` and trailing slashes.
fn url_text(url: &Url, suffix: &str) -> String {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    let text = url.as_str().trim_end_matches('/');
    text.strip_suffix(suffix)
        .unwrap_or(text)
        .trim_end_matches('/')
        .to_owned()
}

/// True if `/openai` at `at` is a whole part of the path.
fn is_path_part(text: &str, at: usize) -> bool {
    let rest = text.get(at + "/openai".len()..).unwrap_or_default();
    // The first slash of `https://openai…` is doubled before the host.
    !text.get(..at).unwrap_or_default().ends_with('/') && (rest.is_empty() || rest.starts_with('/'))
}

/// A key with a newline in it makes the header code of async-openai panic.
fn check_header(variable: &'static str, value: &str) -> Result<(), SettingsError> {
    match value.bytes().all(|byte| byte.is_ascii_graphic()) {
        true => Ok(()),
        false => Err(SettingsError::HeaderValue { variable }),
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
