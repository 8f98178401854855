//! The rule by which flags and environment variables select a server and a key.
//!
//! Variables are passed in; none is read here. Everything that would fail or panic later,
//! deep in a library, is refused here in one line.

use std::time::Duration;

use clap::ValueEnum;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;
use secrecy::SecretString;

use finqa_core::secrets::{api_version_of, key_fault, shown_address};

use super::capabilities::Capabilities;
use super::protocol::Protocol;
use super::provider::{Endpoint, Provider};
use super::retry::RetryOptions;
use super::settings::{
    ALLOW_HTTP, AZURE_API_VERSION, AZURE_MODELS_VERSION, MODEL_PATHS, ModelConnection,
    ModelSettings, OPENAI_PATHS, OpenAiApi, SettingsError,
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
        let given = address(provider, &var, flags)?;
        let url = &given.url;
        let key_variable = provider.profile().key_variable;
        let api_key = var(key_variable);
        if let Some(fault) = api_key.as_deref().and_then(key_fault) {
            return Err(SettingsError::Key {
                variable: key_variable,
                fault,
            });
        }
        let endpoint = Endpoint::of_url(url);
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
        if let Some(deployment) = &given.deployment
            && !deployment.eq_ignore_ascii_case(&model)
        {
            let (variable, deployment) = (given.variable, deployment.clone());
            return Err(SettingsError::OtherDeployment {
                variable,
                deployment,
                model,
            });
        }
        let api = flags.api.or(given.api).unwrap_or(match endpoint {
            Endpoint::Own(Provider::OpenAi) => Capabilities::for_model(&model).api,
            _ => OpenAiApi::Chat,
        });
        let base_url = base_url(provider, url);
        let api_version = match provider {
            Provider::Azure => api_version(&var, &given, &base_url)?,
            Provider::OpenAi | Provider::Anthropic => None,
        };
        Ok(Self {
            provider,
            api,
            address: given.kept(&base_url, api_version.as_deref()),
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

/// The proxy that the HTTP client uses for an address, and the variable that names it. `proxies`
/// is the client's own rule.
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

/// An address as a user gives it, read into its parts.
struct GivenAddress {
    /// The variable or setting that holds it.
    variable: &'static str,
    /// Without the path of an API, a deployment or a query.
    url: Url,
    /// The API that its path names.
    api: Option<OpenAiApi>,
    /// Azure's deployment that its path names.
    deployment: Option<String>,
    /// Azure's API version that its query names.
    api_version: Option<String>,
}

impl GivenAddress {
    /// The address from which a later run resolves the same connection.
    fn kept(&self, base_url: &str, used_version: Option<&str>) -> String {
        let path = match self.api {
            None => "",
            Some(OpenAiApi::Chat) => Protocol::ChatCompletions.path(),
            Some(OpenAiApi::Responses) => Protocol::Responses.path(),
        };
        let version = used_version.filter(|version| self.api_version.as_deref() == Some(version));
        let query = version.map_or(String::new(), |version| format!("?api-version={version}"));
        format!("{base_url}{path}{query}")
    }
}

/// The value of the first of these variables that is set, with its name.
///
/// # Errors
/// Two of them with different values.
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
        Some((other, _)) => Err(SettingsError::Contradiction { name, other }),
        None => Ok(Some((name, value))),
    }
}

/// The address by flag, variable or the provider's own.
fn address(
    provider: Provider,
    var: VariableLookup<'_>,
    flags: &ModelSettings,
) -> Result<GivenAddress, SettingsError> {
    let profile = provider.profile();
    if let Some(flag) = &flags.base_url {
        return read_address(provider, "the base URL", flag);
    }
    if let Some((variable, set)) = one_of(var, profile.address_variables)? {
        return read_address(provider, variable, &set);
    }
    let variable = profile.address_variables.first().copied();
    let variable = variable.unwrap_or_default();
    match profile.base_url {
        Some(own) => read_address(provider, variable, own),
        None => Err(SettingsError::NoVariable(variable)),
    }
}

/// What a path of an API at the end of an address says: the providers with this API, and which
/// of OpenAI's it is. Consoles and documentation show addresses with it. The legacy
/// completions are on servers that have chat completions too.
const API_PATHS: [(&str, &[Provider], Option<OpenAiApi>); 4] = [
    ("/chat/completions", OPENAI_APIS, Some(OpenAiApi::Chat)),
    ("/completions", OPENAI_APIS, Some(OpenAiApi::Chat)),
    ("/responses", OPENAI_APIS, Some(OpenAiApi::Responses)),
    ("/messages", &[Provider::Anthropic], None),
];
const OPENAI_APIS: &[Provider] = &[Provider::OpenAi, Provider::Azure];

/// Reads an address. Besides a base URL these are understood: one that ends in the path of an
/// API, and what Azure's portal calls the target URI, with deployment and version.
fn read_address(
    provider: Provider,
    variable: &'static str,
    value: &str,
) -> Result<GivenAddress, SettingsError> {
    let value = value.trim();
    let version = api_version_of(value);
    let bare = match (provider, version) {
        (Provider::Azure, Some(_)) => value.split_once('?').map_or(value, |(bare, _)| bare),
        _ => value,
    };
    let url = Url::parse(bare).ok().filter(|url| {
        let is_web = matches!(url.scheme(), "http" | "https");
        is_web && url.has_host() && !bare.contains(['@', '?', '#'])
    });
    let mut url = url.ok_or_else(|| SettingsError::Url {
        variable,
        value: shown_address(bare),
        hint: match version {
            Some(_) => "; for Azure: --provider azure",
            None => "",
        },
    })?;
    let mut path = url.path().trim_end_matches('/').to_owned();
    let mut api = None;
    let mut named = API_PATHS.iter();
    if let Some((end, providers, named_api)) = named.find(|(end, ..)| path.ends_with(end)) {
        if !providers.contains(&provider) {
            return Err(SettingsError::OtherApi {
                variable,
                path: end,
                provider: providers.first().copied().unwrap_or(provider),
            });
        }
        path.truncate(path.len() - end.len());
        api = *named_api;
    }
    let mut deployment = None;
    if provider == Provider::Azure {
        if path.contains("/api/projects/") && !path.ends_with(OPENAI_PATHS) {
            return Err(SettingsError::Project(variable));
        }
        if let Some((before, name)) = path.split_once("/openai/deployments/") {
            deployment = Some(name.to_owned());
            path = before.to_owned();
        } else if let Some(before) = path.strip_suffix("/openai") {
            path = before.to_owned();
        }
    }
    url.set_path(&path);
    Ok(GivenAddress {
        variable,
        url,
        api,
        deployment,
        api_version: version.map(str::to_owned),
    })
}

/// The API version for an address of Azure: a variable's, else the address's own, else the
/// default where Azure needs one.
fn api_version(
    var: VariableLookup<'_>,
    given: &GivenAddress,
    base_url: &str,
) -> Result<Option<String>, SettingsError> {
    let default = match base_url {
        // OpenAI's own version is in the path.
        url if url.ends_with(OPENAI_PATHS) => return Ok(given.api_version.clone()),
        url if url.ends_with(MODEL_PATHS) => AZURE_MODELS_VERSION,
        _ => AZURE_API_VERSION,
    };
    let set = one_of(var, &["OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"])?;
    let set = set.map(|(_, version)| version);
    let version = set.or_else(|| given.api_version.clone());
    Ok(Some(version.unwrap_or_else(|| default.to_owned())))
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
