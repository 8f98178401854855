//! The settings of a connection: the server, the key, timeouts and retries.
//!
//! These are plain values. `resolve` creates them from flags and variables.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use finqa_core::options::defaults;

use super::protocol::Protocol;
use super::provider::{Endpoint, Provider};
use super::retry::{DEFAULT_ATTEMPTS, RetryOptions};
use finqa_core::error::{Kind, Kinded};

/// Azure's API version if the user sets none: the newest generally available version with JSON
/// schemas.
pub(crate) const AZURE_API_VERSION: &str = "2024-10-21";
/// The ends of Azure addresses whose requests name the deployment in the body: OpenAI's own paths,
/// and the model inference API. An API version is sent only if such an address names one.
const NEWER_PATHS: [&str; 2] = ["/openai/v1", ".services.ai.azure.com/models"];

/// A reason why a model's server cannot be called with these settings.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("no key for {host}: set {variable} (in the environment or in .env)")]
    NoKey {
        variable: &'static str,
        host: String,
        /// The name of the model.
        model: String,
        /// True if the model's name begins with `claude` and the provider is not Anthropic, so that
        /// `--provider anthropic` is probably missing.
        is_claude: bool,
    },
    #[error(
        "{variable} would be sent to {host} unencrypted: use https://, unset the key, or set CONVFINQA_ALLOW_HTTP=true"
    )]
    Unencrypted {
        variable: &'static str,
        host: String,
    },
    /// A key contains a character that no key has. The key is not shown.
    #[error(
        "{variable} contains a quotation mark, a blank or an invisible character: set it again"
    )]
    Key { variable: &'static str },
    #[error("{variable} `{value}` is not a usable address")]
    Url {
        /// The variable or setting with the address.
        variable: &'static str,
        /// The address without its password.
        value: String,
    },
    /// An address is well formed but not one of this provider, or two addresses differ.
    #[error("{variable} {problem}")]
    Address {
        /// The variable or setting with the address.
        variable: &'static str,
        problem: String,
    },
    /// An address that ends in the path of another provider's API.
    #[error("{variable} ends in `{end}`, an API of {provider}")]
    OtherApi {
        /// The variable or setting that holds it.
        variable: &'static str,
        end: &'static str,
        provider: Provider,
    },
    /// An address of Azure that names another deployment than the model.
    #[error("{variable} names the deployment `{name}`, and the model is `{model}`")]
    OtherDeployment {
        /// The variable or setting that holds it.
        variable: &'static str,
        name: String,
        model: String,
    },
    #[error("Azure needs {0}: set it (in the environment or in .env)")]
    NoVariable(&'static str),
    #[error(
        "`{0}` is not a usable name of a model; Azure allows letters, digits, `-`, `_` and `.`"
    )]
    Model(String),
    #[error("{0} is one of OpenAI's APIs, and the provider is Anthropic")]
    NotOpenAiApi(String),
    #[error("cannot build an HTTP client")]
    Client {
        #[source]
        source: reqwest::Error,
    },
}

impl Kinded for SettingsError {
    fn kind(&self) -> Kind {
        Kind::Usage
    }
}

/// The OpenAI API in use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OpenAiApi {
    /// The Chat Completions API, which compatible servers also implement.
    #[default]
    Chat,
    /// The Responses API, which some of OpenAI's models require.
    Responses,
}

/// A server, a model on it, and how to reach them.
#[derive(Debug, Clone)]
pub struct ModelConnection {
    pub provider: Provider,
    /// The OpenAI API to use; only for OpenAI and Azure.
    pub api: OpenAiApi,
    /// The server's address without a trailing slash: `https://api.openai.com/v1`,
    /// `https://NAME.openai.azure.com`, `https://api.anthropic.com`.
    pub base_url: String,
    /// The address from which settings resolve to the same connection without the variables. It is
    /// the address in the user's form if that names an API or a version, and otherwise `base_url`.
    pub address: String,
    /// The key; `None` for a server that needs no key.
    pub api_key: Option<SecretString>,
    /// Azure's API version; `None` if no version is sent.
    pub api_version: Option<String>,
    /// The model; on Azure the deployment.
    pub model: String,
    /// The proxy for the address, and the variable that names it, for messages.
    pub proxy: Option<String>,
    /// Maximum time of one attempt, including connection, answer and body.
    pub timeout: Duration,
    pub retry: RetryOptions,
}

/// Which model is asked, and how its server is reached.
#[derive(clap::Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Model")]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Chat model (on Azure, the deployment), or `offline` for the embedded analyst
    #[arg(id = "model", long = "model", short = 'm', value_name = "MODEL", default_value = OFFLINE)]
    #[serde(rename = "model")]
    pub name: String,
    /// Provider of the model or, with --base-url, the provider whose API the server implements [default: openai with --base-url; otherwise the first of openai, azure and anthropic whose key or address is set in the environment; otherwise openai]
    #[arg(long, value_name = "PROVIDER")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<Provider>,
    /// Which of OpenAI's APIs to use [default: responses for OpenAI models that need it, otherwise chat]
    #[arg(long, value_name = "API")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<OpenAiApi>,
    /// Base URL of a compatible server, e.g. http://127.0.0.1:8080/v1; no key is needed unless the server requires one
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// Timeout per HTTP request, in seconds [default: 120; 600 for a model on this machine]
    #[arg(long, value_name = "S", help_heading = "Requests")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
    /// Maximum HTTP requests per model call, including retries
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ATTEMPTS, help_heading = "Requests")]
    pub attempts: u32,
    /// Maximum HTTP requests per minute per model, evenly spaced
    #[arg(long, value_name = "N", help_heading = "Requests")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rpm: Option<u64>,
    /// Maximum input and output tokens per minute per model
    #[arg(long, value_name = "N", help_heading = "Requests")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tpm: Option<u64>,
    /// Store replies in this folder and reuse them for identical requests
    #[arg(long, value_name = "DIR", help_heading = "Stored replies")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,
}

/// If this variable is `true`, keys and tokens may be sent over http:// to other machines.
pub const ALLOW_HTTP: &str = "CONVFINQA_ALLOW_HTTP";

/// The name that selects the embedded analyst instead of a chat model.
pub const OFFLINE: &str = "offline";

impl Default for ModelSettings {
    fn default() -> Self {
        defaults()
    }
}

impl ModelSettings {
    pub fn is_offline(&self) -> bool {
        self.name == OFFLINE
    }
}

/// True for an Azure address whose requests name the deployment in the body.
pub(super) fn has_newer_paths(address: &str) -> bool {
    NEWER_PATHS.iter().any(|end| address.ends_with(end))
}

impl ModelConnection {
    pub fn endpoint(&self) -> Endpoint {
        Endpoint::of(&self.base_url)
    }

    pub(super) fn protocol(&self) -> Protocol {
        match (self.provider.profile().protocol, self.api) {
            (Some(protocol), _) => protocol,
            (None, OpenAiApi::Chat) => Protocol::ChatCompletions,
            (None, OpenAiApi::Responses) => Protocol::Responses,
        }
    }

    /// True for Azure paths that name the deployment. Its newer paths do not.
    pub(super) fn has_deployment_paths(&self) -> bool {
        self.provider == Provider::Azure && !has_newer_paths(&self.base_url)
    }

    pub(super) fn key(&self) -> &str {
        self.api_key
            .as_ref()
            .map_or("", ExposeSecret::expose_secret)
    }
}
