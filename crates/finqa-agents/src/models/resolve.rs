//! The rule by which flags and environment variables select a server and a key.
//!
//! VariableLookup are passed in; none is read here. Everything that would fail or panic later,
//! deep in a library, is refused here in one line.

use std::time::Duration;

use reqwest::Url;
use secrecy::SecretString;

use finqa_core::secrets::shown_address;

use super::retry::RetryOptions;
use super::settings::{
    AZURE_API_VERSION, Endpoint, ModelConnection, ModelSettings, OPENAI_BASE_URL, Provider,
    SettingsError, Timeouts, endpoint_of,
};

type VariableLookup<'v> = &'v dyn Fn(&str) -> Option<String>;

impl ModelConnection {
    /// Chooses provider, address and key.
    ///
    /// `--provider` decides. Without it: Azure if its variables are set and
    /// neither `OPENAI_API_KEY` nor `--base-url` is, else OpenAI. An empty
    /// variable counts as unset. Only OpenAI's and Azure's own servers need a key.
    pub fn resolve(vars: VariableLookup<'_>, flags: &ModelSettings) -> Result<Self, SettingsError> {
        let var = |name: &str| {
            vars(name)
                .map(|value| value.trim().to_owned())
                .filter(|value| !value.is_empty())
        };
        let provider = flags
            .provider
            .unwrap_or_else(|| default_provider(&var, flags.base_url.is_some()));
        match provider {
            Provider::OpenAi => Self::openai(&var, flags),
            Provider::Azure => Self::azure(&var, flags),
        }
    }

    fn openai(var: VariableLookup<'_>, flags: &ModelSettings) -> Result<Self, SettingsError> {
        let (variable, base) = match (&flags.base_url, var("OPENAI_BASE_URL")) {
            (Some(flag), _) => ("--base-url", flag.clone()),
            (None, Some(base)) => ("OPENAI_BASE_URL", base),
            (None, None) => ("OPENAI_BASE_URL", OPENAI_BASE_URL.to_owned()),
        };
        let url = checked_url(variable, &base)?;
        let base_url = url_text(&url, "/chat/completions");
        Self::build(
            EndpointParts {
                provider: Provider::OpenAi,
                url: &url,
                base_url,
                api_version: String::new(),
            },
            var,
            flags,
        )
    }

    fn azure(var: VariableLookup<'_>, flags: &ModelSettings) -> Result<Self, SettingsError> {
        let (variable, base) = match (&flags.base_url, var("AZURE_OPENAI_ENDPOINT")) {
            (Some(flag), _) => ("--base-url", flag.clone()),
            (None, Some(base)) => ("AZURE_OPENAI_ENDPOINT", base),
            (None, None) => return Err(SettingsError::NoVariable("AZURE_OPENAI_ENDPOINT")),
        };
        let url = checked_url(variable, &base)?;
        // The portal shows the whole address of a deployment; the resource is meant.
        let base_url = match url_text(&url, "/chat/completions") {
            text if text.ends_with("/openai/v1") => text,
            text => match text.find("/openai") {
                Some(at) if is_path_part(&text, at) => {
                    text.get(..at).unwrap_or_default().to_owned()
                }
                _ => text,
            },
        };
        let api_version = var("OPENAI_API_VERSION").unwrap_or_else(|| AZURE_API_VERSION.to_owned());
        check_header("OPENAI_API_VERSION", &api_version)?;
        Self::build(
            EndpointParts {
                provider: Provider::Azure,
                url: &url,
                base_url,
                api_version,
            },
            var,
            flags,
        )
    }

    fn build(
        parts: EndpointParts<'_>,
        var: VariableLookup<'_>,
        flags: &ModelSettings,
    ) -> Result<Self, SettingsError> {
        let [key_variable, _] = parts.provider.variables();
        let api_key = var(key_variable);
        if let Some(key) = &api_key {
            check_header(key_variable, key)?;
        }
        let endpoint = endpoint_of(parts.url);
        if api_key.is_some()
            && parts.url.scheme() == "http"
            && endpoint != Endpoint::Loopback
            && !flags.allow_http
        {
            return Err(SettingsError::Unencrypted {
                variable: key_variable,
                host: parts.url.host_str().unwrap_or_default().to_owned(),
            });
        }
        let needs_key = matches!(endpoint, Endpoint::OpenAi | Endpoint::Azure);
        if api_key.is_none() && needs_key {
            return Err(SettingsError::NoKey {
                variable: key_variable,
                host: parts.url.host_str().unwrap_or_default().to_owned(),
            });
        }
        let (organization, project) = match parts.provider {
            Provider::OpenAi => (var("OPENAI_ORG_ID"), var("OPENAI_PROJECT_ID")),
            Provider::Azure => (None, None),
        };
        if let Some(value) = &organization {
            check_header("OPENAI_ORG_ID", value)?;
        }
        if let Some(value) = &project {
            check_header("OPENAI_PROJECT_ID", value)?;
        }
        let mut timeouts = Timeouts::default();
        match flags.timeout {
            Some(seconds) => timeouts.attempt = Duration::from_secs(seconds),
            // A local model on a small machine takes minutes.
            None if endpoint == Endpoint::Loopback => timeouts.attempt = Duration::from_secs(600),
            None => {}
        }
        Ok(Self {
            provider: parts.provider,
            base_url: parts.base_url,
            api_key: api_key.map(SecretString::from),
            api_version: parts.api_version,
            organization,
            project,
            model: checked_model(parts.provider, &flags.name)?,
            timeouts,
            retry: RetryOptions {
                max_attempts: flags.attempts,
                ..RetryOptions::default()
            },
            max_body: Self::MAX_BODY,
        })
    }
}

struct EndpointParts<'a> {
    provider: Provider,
    url: &'a Url,
    base_url: String,
    api_version: String,
}

fn default_provider(var: VariableLookup<'_>, has_base_flag: bool) -> Provider {
    let endpoint = var("AZURE_OPENAI_ENDPOINT").is_some();
    let key = var("AZURE_OPENAI_API_KEY").is_some();
    // One of the two alone is a slip worth reporting, unless another server is named.
    let azure = (endpoint && key) || ((endpoint || key) && var("OPENAI_BASE_URL").is_none());
    if azure && var("OPENAI_API_KEY").is_none() && !has_base_flag {
        Provider::Azure
    } else {
        Provider::OpenAi
    }
}

fn checked_url(variable: &'static str, value: &str) -> Result<Url, SettingsError> {
    let value = value.trim();
    let fail = |value: &str, reason: &str| SettingsError::Url {
        variable,
        value: shown_address(value),
        reason: reason.to_owned(),
    };
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

/// Whether `/openai` at `at` is a whole part of the path.
fn is_path_part(text: &str, at: usize) -> bool {
    let rest = text.get(at + "/openai".len()..).unwrap_or_default();
    // The first slash of `https://openai…` is doubled before the host.
    !text.get(..at).unwrap_or_default().ends_with('/') && (rest.is_empty() || rest.starts_with('/'))
}

/// A key with a newline in it makes the header code of async-openai panic.
fn check_header(variable: &'static str, value: &str) -> Result<(), SettingsError> {
    let found = value.chars().find_map(|c| match c {
        '\n' | '\r' => Some("a line break"),
        ' ' | '\t' => Some("a space"),
        c if c.is_control() => Some("a control character"),
        c if !c.is_ascii() => Some("a character that is not ASCII"),
        _ => None,
    });
    found.map_or(Ok(()), |found| {
        Err(SettingsError::HeaderValue { variable, found })
    })
}

fn checked_model(provider: Provider, name: &str) -> Result<String, SettingsError> {
    let name = name.trim();
    let what = match provider {
        Provider::OpenAi => "model",
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
mod tests {
    use super::*;

    fn resolve(
        vars: &[(&str, &str)],
        flags: ModelSettings,
    ) -> Result<ModelConnection, SettingsError> {
        let find = |name: &str| {
            vars.iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| (*value).to_owned())
        };
        ModelConnection::resolve(&find, &flags)
    }

    const AZURE: [(&str, &str); 3] = [
        ("AZURE_OPENAI_ENDPOINT", "https://unit.openai.azure.com/"),
        ("AZURE_OPENAI_API_KEY", "azure-key"),
        ("OPENAI_API_VERSION", "2025-01-01"),
    ];

    #[test]
    fn azure_is_chosen_only_without_an_openai_key() {
        let settings = resolve(&AZURE, ModelSettings::default()).unwrap();
        assert_eq!(settings.provider, Provider::Azure);
        assert_eq!(settings.base_url, "https://unit.openai.azure.com");
        assert_eq!(settings.api_version, "2025-01-01");
        assert_eq!(settings.key(), "azure-key");

        let mut both = AZURE.to_vec();
        both.push(("OPENAI_API_KEY", "sk-1"));
        let settings = resolve(&both, ModelSettings::default()).unwrap();
        assert_eq!(settings.provider, Provider::OpenAi);
        assert_eq!(settings.base_url, OPENAI_BASE_URL);
        assert_eq!(settings.key(), "sk-1");

        let azure = ModelSettings {
            provider: Some(Provider::Azure),
            ..ModelSettings::default()
        };
        assert_eq!(resolve(&both, azure).unwrap().provider, Provider::Azure);
    }

    #[test]
    fn a_base_url_flag_takes_precedence_over_azure_variables() {
        let flags = ModelSettings {
            base_url: Some("http://127.0.0.1:8080/v1/".into()),
            ..ModelSettings::default()
        };
        let settings = resolve(&AZURE, flags).unwrap();
        assert_eq!(settings.provider, Provider::OpenAi);
        assert_eq!(settings.base_url, "http://127.0.0.1:8080/v1");
        assert!(settings.api_key.is_none());
    }

    #[test]
    fn one_of_azures_two_variables_names_the_other() {
        let error = resolve(&AZURE[..1], ModelSettings::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no key for unit.openai.azure.com: set AZURE_OPENAI_API_KEY (in the environment or in .env)"
        );
        let error = resolve(&AZURE[1..2], ModelSettings::default()).unwrap_err();
        assert!(
            error.to_string().contains("AZURE_OPENAI_ENDPOINT"),
            "{error}"
        );
    }

    #[test]
    fn values_are_trimmed_and_empty_ones_are_unset() {
        let settings = resolve(
            &[("OPENAI_API_KEY", " sk-1\n"), ("OPENAI_BASE_URL", " ")],
            ModelSettings::default(),
        )
        .unwrap();
        assert_eq!(settings.key(), "sk-1");
        assert_eq!(settings.base_url, OPENAI_BASE_URL);
    }

    #[test]
    fn only_the_servers_of_openai_and_azure_need_a_key() {
        for (base, endpoint) in [
            ("http://localhost:1234/v1", Endpoint::Loopback),
            ("http://127.0.0.9:1/v1", Endpoint::Loopback),
            ("http://[::1]:8080/v1", Endpoint::Loopback),
            ("http://ollama:11434/v1", Endpoint::Compatible),
            ("http://10.0.0.7/v1", Endpoint::Compatible),
            ("https://models.example/v1", Endpoint::Compatible),
        ] {
            let settings = resolve(&[("OPENAI_BASE_URL", base)], ModelSettings::default()).unwrap();
            assert_eq!(settings.endpoint(), endpoint, "{base}");
            assert!(settings.api_key.is_none(), "{base}");
        }
        for base in [
            OPENAI_BASE_URL,
            "https://eu.api.openai.com/v1",
            "https://unit.openai.azure.com/openai/v1",
        ] {
            let error = resolve(&[("OPENAI_BASE_URL", base)], ModelSettings::default());
            assert!(matches!(error, Err(SettingsError::NoKey { .. })), "{base}");
        }
        let error = resolve(&[], ModelSettings::default());
        assert!(matches!(error, Err(SettingsError::NoKey { .. })));
    }

    #[test]
    fn a_key_goes_over_http_to_another_machine_only_if_that_is_allowed() {
        let to = |base: &str, allow_http| {
            let vars = [("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)];
            let flags = ModelSettings {
                allow_http,
                ..ModelSettings::default()
            };
            resolve(&vars, flags)
        };
        let error = to("http://ollama:11434/v1", false).unwrap_err();
        assert_eq!(
            error.to_string(),
            "OPENAI_API_KEY would be sent to ollama unencrypted: use https://, unset the key, or pass --allow-http"
        );
        assert!(to("http://ollama:11434/v1", true).is_ok());
        assert!(to("http://127.0.0.1:1/v1", false).is_ok());
        assert!(to("https://models.example/v1", false).is_ok());
    }

    #[test]
    fn a_broken_key_is_reported_and_not_shown() {
        let error = resolve(
            &[("OPENAI_API_KEY", "sk-1\nsk-2")],
            ModelSettings::default(),
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "OPENAI_API_KEY contains a line break: set it again as one line without spaces"
        );
        let shown = resolve(&[("OPENAI_API_KEY", "sk-secret")], ModelSettings::default()).unwrap();
        assert!(!format!("{shown:?}").contains("sk-secret"));
    }

    #[test]
    fn an_unusable_address_is_reported() {
        for (base, hint) in [
            ("localhost:8080/v1", "http://"),
            ("api.openai.com/v1", "http://"),
            ("ftp://host/v1", "http://"),
            ("http://", "host"),
            ("https://user:pw@host/v1", "user name"),
            ("https://host/v1?key=pw", "query string"),
            ("https://host/v1?api-version=1&key=pw", "query string"),
            ("https://host/v1#pw", "query string"),
            ("host/v1?key=pw", "http://"),
        ] {
            let error = resolve(
                &[("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)],
                ModelSettings::default(),
            )
            .unwrap_err()
            .to_string();
            assert!(error.contains(hint) && !error.contains("pw"), "{error}");
        }
    }

    #[test]
    fn a_pasted_address_is_cut_to_the_base() {
        let openai = resolve(
            &[
                ("OPENAI_API_KEY", "k"),
                (
                    "OPENAI_BASE_URL",
                    "https://host.example/v1/chat/completions",
                ),
            ],
            ModelSettings::default(),
        );
        assert_eq!(openai.unwrap().base_url, "https://host.example/v1");
        for (pasted, base) in [
            (
                "https://u.openai.azure.com/openai/deployments/d/chat/completions?api-version=1",
                "https://u.openai.azure.com",
            ),
            (
                "https://u.openai.azure.com/openai",
                "https://u.openai.azure.com",
            ),
            (
                "https://u.openai.azure.com/openai/v1/",
                "https://u.openai.azure.com/openai/v1",
            ),
            ("https://openai.azure.com", "https://openai.azure.com"),
        ] {
            let mut vars = AZURE;
            vars[0].1 = pasted;
            assert_eq!(
                resolve(&vars, ModelSettings::default()).unwrap().base_url,
                base
            );
        }
    }

    #[test]
    fn a_deployment_must_fit_into_a_path() {
        let name = "my/deployment".into();
        let flags = ModelSettings {
            name,
            ..ModelSettings::default()
        };
        assert!(matches!(
            resolve(&AZURE, flags),
            Err(SettingsError::Model { .. })
        ));
    }
}
