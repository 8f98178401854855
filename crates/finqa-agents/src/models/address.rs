//! Where requests of a provider go, and with which headers.
//!
//! async-openai's own configurations read environment variables, panic on a key that is
//! not a valid header, and support only chat's path on Azure; this one does neither.

use async_openai::config::Config;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

use super::settings::{ANTHROPIC_VERSION, ModelConnection, Provider, SettingsError};

/// The key sent where none is set: servers that need no key ignore it, and some refuse
/// an empty one.
const NO_KEY: &str = "none";

/// The address of one model's server, in the form that async-openai takes.
#[derive(Debug, Clone)]
pub(super) struct ServerAddress {
    base: String,
    /// Azure's path of the deployment, empty otherwise.
    deployment: String,
    query: Vec<(&'static str, String)>,
    headers: HeaderMap,
    key: SecretString,
}

impl ServerAddress {
    pub(crate) fn new(settings: &ModelConnection) -> Result<Self, SettingsError> {
        let key = match settings.key() {
            "" => NO_KEY,
            key => key,
        };
        let mut headers = HeaderMap::new();
        let mut put = |name: HeaderName, variable, value: &str| {
            let mut value =
                HeaderValue::from_str(value).map_err(|_| SettingsError::HeaderValue {
                    variable,
                    found: "a control character",
                })?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok::<(), SettingsError>(())
        };
        // Azure's newer paths are OpenAI's own, under the resource.
        let by_deployment =
            settings.provider == Provider::Azure && !settings.base_url.ends_with("/openai/v1");
        match settings.provider {
            Provider::OpenAi => {
                put(AUTHORIZATION, "OPENAI_API_KEY", &format!("Bearer {key}"))?;
                if let Some(id) = &settings.organization {
                    put(
                        HeaderName::from_static("openai-organization"),
                        "OPENAI_ORG_ID",
                        id,
                    )?;
                }
                if let Some(id) = &settings.project {
                    put(
                        HeaderName::from_static("openai-project"),
                        "OPENAI_PROJECT_ID",
                        id,
                    )?;
                }
            }
            Provider::Azure => put(
                HeaderName::from_static("api-key"),
                "AZURE_OPENAI_API_KEY",
                key,
            )?,
            Provider::Anthropic => {
                put(
                    HeaderName::from_static("x-api-key"),
                    "ANTHROPIC_API_KEY",
                    key,
                )?;
                put(
                    HeaderName::from_static("anthropic-version"),
                    "ANTHROPIC_API_KEY",
                    ANTHROPIC_VERSION,
                )?;
            }
        }
        Ok(Self {
            base: settings.base_url.clone(),
            deployment: if by_deployment {
                format!("/openai/deployments/{}", settings.model)
            } else {
                String::new()
            },
            query: if by_deployment {
                vec![("api-version", settings.api_version.clone())]
            } else {
                Vec::new()
            },
            headers,
            key: SecretString::from(key.to_owned()),
        })
    }
}

impl Config for ServerAddress {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        if self.deployment.is_empty() {
            format!("{}{path}", self.base)
        } else if path.starts_with("/chat/") {
            format!("{}{}{path}", self.base, self.deployment)
        } else {
            // The other APIs belong to the resource, and name the deployment in the body.
            format!("{}/openai{path}", self.base)
        }
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.query
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}
