//! The address of requests to a provider, and their headers.
//!
//! async-openai's own configurations read environment variables, panic on a key that is not a valid
//! header, and on Azure support only the path of chat completions. This configuration has none of
//! these faults.

use async_openai::config::Config;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;

use super::settings::{ModelConnection, SettingsError};

/// The key that is sent if the user sets none. Servers that need no key ignore it, but some refuse
/// an empty key.
const NO_KEY: &str = "none";

/// The address of one model's server, in the form that async-openai requires.
#[derive(Debug, Clone)]
pub(super) struct ServerAddress {
    settings: ModelConnection,
    headers: HeaderMap,
    key: SecretString,
}

impl ServerAddress {
    /// Builds the headers of all requests to the server, with its key. An error if the key has a
    /// character that a header must not have.
    pub(crate) fn new(settings: &ModelConnection) -> Result<Self, SettingsError> {
        let key = match settings.key() {
            "" => NO_KEY,
            key => key,
        };
        let profile = settings.provider.profile();
        let (header, prefix) = profile.key_header;
        let value = HeaderValue::from_str(&format!("{prefix}{key}"));
        let mut value = value.map_err(|_| SettingsError::Key {
            variable: profile.key_variable,
        })?;
        // Debug output does not show a sensitive header.
        value.set_sensitive(true);
        let mut headers = HeaderMap::from_iter([(HeaderName::from_static(header), value)]);
        for (header, value) in profile.headers {
            headers.insert(*header, HeaderValue::from_static(value));
        }
        Ok(Self {
            settings: settings.clone(),
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
        let base = &self.settings.base_url;
        if !self.settings.has_deployment_paths() {
            format!("{base}{path}")
        } else if path.starts_with("/chat/") {
            format!("{base}/openai/deployments/{}{path}", self.settings.model)
        } else {
            // The other APIs have paths of the resource, and name the deployment in the body.
            format!("{base}/openai{path}")
        }
    }

    fn query(&self) -> Vec<(&str, &str)> {
        let version = self.settings.api_version.iter();
        version.map(|it| ("api-version", it.as_str())).collect()
    }

    fn api_base(&self) -> &str {
        &self.settings.base_url
    }

    fn api_key(&self) -> &SecretString {
        &self.key
    }
}
