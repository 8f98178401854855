//! Where requests of a provider go, and with which headers.
//!
//! async-openai's own configurations read environment variables, panic on a key that is
//! not a valid header, and support only chat's path on Azure; this one does neither.

use async_openai::config::Config;
use reqwest::header::{HeaderMap, HeaderValue};
use secrecy::SecretString;

use super::provider::Provider;
use super::settings::{ModelConnection, SettingsError};

/// The key sent where none is set: servers that need no key ignore it, and some refuse
/// an empty one.
const NO_KEY: &str = "none";

/// The address of one model's server, in the form that async-openai takes.
#[derive(Debug, Clone)]
pub(super) struct ServerAddress {
    base: String,
    /// Azure's path of the deployment; empty for other providers.
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
        let mut put = |name: &'static str, variable, value: &str| {
            let mut value = HeaderValue::from_str(value)
                .map_err(|_| SettingsError::HeaderValue { variable })?;
            value.set_sensitive(true);
            headers.insert(name, value);
            Ok::<(), SettingsError>(())
        };
        let profile = settings.provider.profile();
        let (header, prefix) = profile.key_header;
        put(header, profile.key_variable, &format!("{prefix}{key}"))?;
        for (header, value) in profile.headers {
            put(header, profile.key_variable, value)?;
        }
        if let Some(id) = &settings.organization {
            put("openai-organization", "OPENAI_ORG_ID", id)?;
        }
        if let Some(id) = &settings.project {
            put("openai-project", "OPENAI_PROJECT_ID", id)?;
        }
        // Azure's newer paths are OpenAI's own, under the resource.
        let by_deployment =
            settings.provider == Provider::Azure && !settings.base_url.ends_with("/openai/v1");
        let (deployment, query) = match by_deployment {
            true => (
                format!("/openai/deployments/{}", settings.model),
                vec![("api-version", settings.api_version.clone())],
            ),
            false => (String::new(), Vec::new()),
        };
        Ok(Self {
            base: settings.base_url.clone(),
            deployment,
            query,
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
