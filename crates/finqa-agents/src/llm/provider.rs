//! The providers, and the differences between them.
//!
//! A new provider with its own key and one of the known protocols needs a variant and a
//! [`ProviderProfile`]. The compiler names some of the other places, and `CONTRIBUTING.md` lists
//! all of them.

use clap::ValueEnum;
use finqa_core::net::is_loopback;
use reqwest::Url;
use serde::{Deserialize, Serialize};

use super::protocol::Protocol;

/// Whose API a server implements.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, ValueEnum, strum::Display, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
#[value(rename_all = "lower")]
pub enum Provider {
    /// OpenAI and compatible servers: OpenAI's paths, `Authorization: Bearer`.
    OpenAi,
    /// Azure OpenAI: deployment paths, an `api-key` header and an API version.
    Azure,
    /// Anthropic and servers with its Messages API: `/v1/messages`, `x-api-key`.
    Anthropic,
}

/// The properties of a provider.
pub(super) struct ProviderProfile {
    /// The variable with the provider's key. Its value is removed from logs and traces.
    pub key_variable: &'static str,
    /// The variables with the provider's address: first the one that its own clients read, then
    /// aliases.
    pub address_variables: &'static [&'static str],
    /// The provider's address; `None` if every customer has a different one.
    pub base_url: Option<&'static str>,
    /// The provider's hosts, including their subdomains. They need a key, and their models and
    /// prices are known.
    pub hosts: &'static [&'static str],
    /// The header that contains the key, and the text before the key in it.
    pub key_header: (&'static str, &'static str),
    /// Headers with a fixed value.
    pub headers: &'static [(&'static str, &'static str)],
    /// The protocol; `None` if `--api` chooses between OpenAI's protocols.
    pub protocol: Option<Protocol>,
    /// The name in traces, according to OpenTelemetry's conventions for generative AI.
    pub trace_name: &'static str,
}

impl Provider {
    pub(super) fn profile(self) -> &'static ProviderProfile {
        match self {
            Self::OpenAi => &ProviderProfile {
                key_variable: "OPENAI_API_KEY",
                // LangChain, LiteLLM and OpenAI's clients before 1.0 use the second variable.
                address_variables: &["OPENAI_BASE_URL", "OPENAI_API_BASE"],
                base_url: Some(OPENAI_BASE_URL),
                hosts: &["api.openai.com"],
                key_header: ("authorization", "Bearer "),
                headers: &[],
                protocol: None,
                trace_name: "openai",
            },
            Self::Azure => &ProviderProfile {
                key_variable: "AZURE_OPENAI_API_KEY",
                address_variables: &["AZURE_OPENAI_ENDPOINT"],
                base_url: None,
                hosts: &["azure.com", "azure.us"],
                key_header: ("api-key", ""),
                headers: &[],
                protocol: None,
                trace_name: "azure.ai.openai",
            },
            Self::Anthropic => &ProviderProfile {
                key_variable: "ANTHROPIC_API_KEY",
                address_variables: &["ANTHROPIC_BASE_URL"],
                base_url: Some("https://api.anthropic.com"),
                hosts: &["api.anthropic.com"],
                key_header: ("x-api-key", ""),
                // This is the only version of the API since 2023.
                headers: &[("anthropic-version", "2023-06-01")],
                protocol: Some(Protocol::Messages),
                trace_name: "anthropic",
            },
        }
    }

    /// The variables with the provider's key and address.
    pub fn variables(self) -> impl Iterator<Item = &'static str> {
        let profile = self.profile();
        let addresses = profile.address_variables.iter().copied();
        std::iter::once(profile.key_variable).chain(addresses)
    }

    /// The prefix of the provider's variables, such as `OPENAI`.
    pub fn prefix(self) -> &'static str {
        let name = self.profile().key_variable;
        name.split_once('_').map_or(name, |(prefix, _)| prefix)
    }

    pub(super) fn all() -> impl Iterator<Item = Self> {
        Self::value_variants().iter().copied()
    }

    /// The variables with the keys of all providers.
    pub fn key_variables() -> impl Iterator<Item = &'static str> {
        Self::all().map(|provider| provider.profile().key_variable)
    }

    /// The variables with the addresses of all providers.
    pub fn address_variables() -> impl Iterator<Item = &'static str> {
        Self::all().flat_map(|provider| provider.profile().address_variables.iter().copied())
    }
}

/// OpenAI's own address.
pub const OPENAI_BASE_URL: &str = "https://api.openai.com/v1";

/// The operator of a server. It decides whether models and prices are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// The provider itself.
    Own(Provider),
    /// Another server that implements a provider's protocol.
    Compatible,
    /// A server on this machine.
    Loopback,
}

impl Endpoint {
    pub fn of(address: &str) -> Self {
        Url::parse(address).map_or(Self::Compatible, |url| Self::of_url(&url))
    }

    /// Finds the operator by the host name: subdomains of a provider's hosts are the provider's.
    pub(super) fn of_url(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
        if is_loopback(&host) {
            return Self::Loopback;
        }
        let is_own = |provider: &Provider| {
            let below = |own: &&str| {
                let rest = host.strip_suffix(*own);
                rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            };
            provider.profile().hosts.iter().any(below)
        };
        Provider::all()
            .find(is_own)
            .map_or(Self::Compatible, Self::Own)
    }
}
