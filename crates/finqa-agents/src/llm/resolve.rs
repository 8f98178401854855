//! The rules by which flags and environment variables determine the server and the key.
//!
//! Variables are passed in; this file reads none itself. Values that would later fail or panic deep
//! in a library are refused here with a one-line message.

use std::time::Duration;

use clap::ValueEnum;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;
use secrecy::SecretString;

use finqa_core::secrets::{api_version_of, is_broken_key, shown_address};

use super::capabilities::Capabilities;
use super::provider::{Endpoint, Provider};
use super::retry::RetryOptions;
use super::settings::{
    ALLOW_HTTP, AZURE_API_VERSION, ModelConnection, ModelSettings, OpenAiApi, SettingsError,
    has_newer_paths,
};

type VariableLookup<'v> = &'v dyn Fn(&str) -> Option<String>;

impl ModelConnection {
    /// Chooses provider, address and key.
    ///
    /// `--provider` decides. Without `--provider` and `--base-url`, the first provider with a set
    /// variable is chosen. An empty variable counts as unset. Only the three companies' own servers
    /// need a key.
    pub fn resolve(vars: VariableLookup<'_>, flags: &ModelSettings) -> Result<Self, SettingsError> {
        let var = |name: &str| {
            vars(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let provider = chosen_provider(&var, flags)?;
        let given = address(provider, &var, flags)?;
        let url = &given.url;
        let endpoint = Endpoint::of_url(url);
        let api_key = key_for(url, provider, &var, &flags.name)?;
        // A local model on a small machine may need minutes. Both times are set by hand.
        let timeout = flags.timeout.unwrap_or(match endpoint {
            Endpoint::Loopback => 600,
            Endpoint::Own(_) | Endpoint::Compatible => 120,
        });
        let model = checked_model(provider, &flags.name)?;
        // Only OpenAI itself: other servers may lack the Responses API, and the name of an Azure
        // deployment does not tell its model.
        let api = flags.api.or(given.api).unwrap_or(match endpoint {
            Endpoint::Own(Provider::OpenAi) => Capabilities::for_model(&model).api,
            _ => OpenAiApi::Chat,
        });
        let base_url = base_url(provider, url);
        let api_version = match provider {
            Provider::Azure if !has_newer_paths(&base_url) => {
                let set = one_of(&var, &["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"])?;
                let version = set.map(|(_, version)| version).or(given.api_version);
                Some(version.unwrap_or_else(|| AZURE_API_VERSION.to_owned()))
            }
            _ => given.api_version,
        };
        Ok(Self {
            provider,
            api,
            address: given.kept.unwrap_or_else(|| base_url.clone()),
            base_url,
            proxy: match endpoint {
                Endpoint::Loopback => None,
                _ => proxy(&Matcher::from_system(), &var, url),
            },
            api_key: api_key.map(SecretString::from),
            api_version,
            model,
            timeout: Duration::from_secs(timeout),
            retry: RetryOptions {
                max_attempts: flags.attempts,
                ..RetryOptions::default()
            },
        })
    }
}

/// The provider that the flags name, or the first one with a set variable, or OpenAI.
///
/// # Errors
/// If the flags name an API that the provider does not have.
fn chosen_provider(
    var: VariableLookup<'_>,
    flags: &ModelSettings,
) -> Result<Provider, SettingsError> {
    let is_set = |provider: &Provider| provider.variables().any(|it| var(it).is_some());
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
    Ok(provider)
}

/// The key to send to this address, if a key is set. The name of the model is only for the error.
///
/// # Errors
/// If the key is broken or would be sent without encryption, or if a server that needs a key gets
/// none.
fn key_for(
    url: &Url,
    provider: Provider,
    var: VariableLookup<'_>,
    model: &str,
) -> Result<Option<String>, SettingsError> {
    let variable = provider.profile().key_variable;
    let key = var(variable);
    if key.as_deref().is_some_and(is_broken_key) {
        return Err(SettingsError::Key { variable });
    }
    let endpoint = Endpoint::of_url(url);
    let host = || url.host_str().unwrap_or_default().to_owned();
    if key.is_some()
        && url.scheme() == "http"
        && endpoint != Endpoint::Loopback
        && var(ALLOW_HTTP).as_deref() != Some("true")
    {
        return Err(SettingsError::Unencrypted {
            variable,
            host: host(),
        });
    }
    if key.is_none() && matches!(endpoint, Endpoint::Own(_)) {
        let is_claude = provider != Provider::Anthropic && model.starts_with("claude");
        return Err(SettingsError::NoKey {
            variable,
            host: host(),
            model: model.to_owned(),
            is_claude,
        });
    }
    Ok(key)
}

/// The proxy that the HTTP client uses for an address, with the variable that names the proxy in
/// parentheses if one is found. `None` if the client connects directly. `proxies` is the client's
/// own rule.
fn proxy(proxies: &Matcher, var: VariableLookup<'_>, url: &Url) -> Option<String> {
    let uri = url.as_str().parse().ok()?;
    let used = proxies.intercept(&uri)?;
    let names = [format!("{}_proxy", url.scheme()), "all_proxy".to_owned()];
    let names = names
        .into_iter()
        .flat_map(|name| [name.to_uppercase(), name]);
    let mut set = names.filter_map(|name| Some((var(&name)?, name)));
    let named = set.find(|(address, _)| {
        let own = Matcher::builder().all(address).build().intercept(&uri);
        own.is_some_and(|own| own.uri() == used.uri())
    });
    Some(match named {
        Some((address, name)) => format!("{} ({name})", shown_address(&address)),
        None => used.uri().to_string(),
    })
}

/// The parts of an address in the user's form.
struct GivenAddress {
    /// The address without the path of an API, without a deployment and without a query.
    url: Url,
    /// The API that the path names.
    api: Option<OpenAiApi>,
    /// The API version that the query of an Azure address names.
    api_version: Option<String>,
    /// The address in the user's form, if it names an API or a version.
    kept: Option<String>,
}

/// The value of the first of these variables that is set, with the variable's name; `None` if none
/// is set.
///
/// # Errors
/// If two of the variables have different values. A slash at the end makes no difference.
fn one_of(
    var: VariableLookup<'_>,
    names: &[&'static str],
) -> Result<Option<(&'static str, String)>, SettingsError> {
    let mut set = names.iter().filter_map(|name| Some((*name, var(name)?)));
    let Some((name, value)) = set.next() else {
        return Ok(None);
    };
    let is_other = |other: &str| other.trim_end_matches('/') != value.trim_end_matches('/');
    match set.find(|(_, other)| is_other(other)) {
        Some((other, _)) => Err(SettingsError::Address {
            variable: name,
            problem: format!("and {other} differ: unset one of them"),
        }),
        None => Ok(Some((name, value))),
    }
}

/// The address from the flag, from a variable, or from the provider's profile.
fn address(
    provider: Provider,
    var: VariableLookup<'_>,
    flags: &ModelSettings,
) -> Result<GivenAddress, SettingsError> {
    let profile = provider.profile();
    if let Some(flag) = &flags.base_url {
        return read_address(provider, "the base URL", flag, &flags.name);
    }
    match (one_of(var, profile.address_variables)?, profile.base_url) {
        (Some((variable, set)), _) => read_address(provider, variable, &set, &flags.name),
        (None, Some(own)) => read_address(provider, "the base URL", own, &flags.name),
        (None, None) => {
            // A provider without an address has a variable for it, so the default is never used.
            let variable = profile.address_variables.first();
            Err(SettingsError::NoVariable(
                variable.copied().unwrap_or_default(),
            ))
        }
    }
}

/// The paths of APIs at the end of addresses in consoles and documentation, with their provider and
/// OpenAI's API. A server with the legacy completions also has chat completions.
const API_PATHS: [(&str, Provider, Option<OpenAiApi>); 4] = [
    ("/chat/completions", Provider::OpenAi, Some(OpenAiApi::Chat)),
    ("/completions", Provider::OpenAi, Some(OpenAiApi::Chat)),
    ("/responses", Provider::OpenAi, Some(OpenAiApi::Responses)),
    ("/messages", Provider::Anthropic, None),
];

/// Reads an address. It is a base URL, may end in the path of an API, or may be the target URI of
/// Azure's portal, which has a deployment and a version.
fn read_address(
    provider: Provider,
    variable: &'static str,
    value: &str,
    model: &str,
) -> Result<GivenAddress, SettingsError> {
    let value = value.trim();
    let version = api_version_of(value);
    let bare = match (provider, version) {
        (Provider::Azure, Some(_)) => value.split_once('?').map_or(value, |(bare, _)| bare),
        _ => value,
    };
    // A base URL has no credentials, query or fragment: a path is appended to it.
    let url = Url::parse(bare).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https");
        is_web && url.has_host() && !bare.contains(['@', '?', '#'])
    });
    let mut url = url.ok_or_else(|| SettingsError::Url {
        variable,
        value: shown_address(bare),
    })?;
    let error = |problem| Err(SettingsError::Address { variable, problem });
    let path = url.path().trim_end_matches('/').to_owned();
    let (mut path, mut api) = (path.as_str(), None);
    let mut ends = API_PATHS.iter();
    let found = ends.find_map(|(end, whose, api)| Some((path.strip_suffix(end)?, end, whose, api)));
    if let Some((before, end, whose, named)) = found {
        if (*whose == Provider::Anthropic) != (provider == Provider::Anthropic) {
            return Err(SettingsError::OtherApi {
                variable,
                end,
                provider: *whose,
            });
        }
        (path, api) = (before, *named);
    }
    if provider == Provider::Azure {
        if path.contains("/api/projects/") {
            return error(
                "is the address of a Foundry project; give that of its resource, such as \
                 https://NAME.services.ai.azure.com/openai/v1"
                    .to_owned(),
            );
        }
        if let Some((before, name)) = path.split_once("/openai/deployments/") {
            if !name.eq_ignore_ascii_case(model.trim()) {
                return Err(SettingsError::OtherDeployment {
                    variable,
                    name: name.to_owned(),
                    model: model.to_owned(),
                });
            }
            path = before;
        }
        // `ServerAddress::url` adds this part again.
        path = path.strip_suffix("/openai").unwrap_or(path);
    }
    url.set_path(path);
    Ok(GivenAddress {
        url,
        api,
        api_version: version.map(str::to_owned),
        kept: (api.is_some() || version.is_some()).then(|| value.to_owned()),
    })
}

/// The address without trailing slashes. Anthropic's address is stored without the version, as its
/// own clients expect it.
fn base_url(provider: Provider, url: &Url) -> String {
    let text = url.as_str().trim_end_matches('/');
    match text.strip_suffix("/v1") {
        Some(base) if provider == Provider::Anthropic => base.to_owned(),
        _ => text.to_owned(),
    }
}

/// Checks the name of a model. The name of an Azure deployment becomes part of a path, so fewer
/// characters are allowed in it.
fn checked_model(provider: Provider, name: &str) -> Result<String, SettingsError> {
    let name = name.trim();
    let is_usable = match provider {
        Provider::OpenAi | Provider::Anthropic => !name.contains(char::is_control),
        Provider::Azure => name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)),
    };
    if is_usable && !name.is_empty() {
        Ok(name.to_owned())
    } else {
        Err(SettingsError::Model(name.to_owned()))
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "tables of cases")]
mod tests;
