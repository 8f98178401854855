//! Builds HTTP clients, with their encryption, certificates and connections.
//!
//! Clients are built only in this file, because the defaults fail on some machines. Without an
//! installed crypto provider, or on a machine without certificates (a bare container), building a
//! client panics or fails even for `http://localhost`.

use std::time::Duration;

use reqwest::ClientBuilder;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;

use super::settings::SettingsError;

/// Time limit for connecting. It is shorter than that of a whole attempt, so that a host that does
/// not respond is noticed early. Set by hand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Installs the process's crypto provider (ring). It can be called several times.
///
/// The first line of `main` calls this, and so does every function in this file that builds a
/// client.
pub fn install_crypto() {
    // This fails only if a provider is already installed, which does no harm.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for model servers. It refuses redirects, because they would send the prompt, and on
/// Azure the key, to a host that the user did not name. With `direct`, it does not use the
/// environment's proxy; this is for servers on this machine.
pub fn client(direct: bool) -> Result<reqwest::Client, SettingsError> {
    build(direct, |builder| builder)
}

/// A client for connections that are upgraded to a WebSocket. It does not use HTTP/2, which does
/// not support this upgrade.
pub fn upgrade_client(direct: bool) -> Result<reqwest::Client, SettingsError> {
    build(direct, ClientBuilder::http1_only)
}

/// A client for public files whose bytes are verified. It follows redirects, because a hub stores
/// large files on other hosts.
pub fn download_client() -> Result<reqwest::Client, SettingsError> {
    // Set by hand: enough for a hub that redirects to its storage, and no endless circle.
    const REDIRECTS: usize = 5;
    build(false, |builder| {
        // Do not decode compressed files, because they are verified and stored in compressed form.
        builder
            .redirect(Policy::limited(REDIRECTS))
            .no_gzip()
            .no_deflate()
    })
}

/// A client with the settings that all clients share, which `change` adjusts. An error if it cannot
/// be built even with the built-in certificates.
fn build(
    direct: bool,
    change: fn(ClientBuilder) -> ClientBuilder,
) -> Result<reqwest::Client, SettingsError> {
    install_crypto();
    let identity = HeaderValue::from_static("identity");
    let uncompressed = HeaderMap::from_iter([(ACCEPT_ENCODING, identity)]);
    let builder = || {
        let builder = ClientBuilder::new()
            // Some gateways compress their replies in spite of this header, so gzip and deflate are
            // decoded.
            .default_headers(uncompressed.clone())
            .user_agent(concat!("convfinqa/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(Policy::none())
            // `llm::retry` and `finqa_fetch` repeat requests. Retries by reqwest would not be
            // counted.
            .retry(reqwest::retry::never())
            // Set by hand: notices a host that is gone while a slow reply is awaited.
            .tcp_keepalive(Duration::from_secs(30));
        change(if direct { builder.no_proxy() } else { builder })
    };
    builder()
        .build()
        // A machine without certificates uses the built-in certificates.
        .or_else(|_| builder().tls_certs_only(built_in_roots()?).build())
        .map_err(|source| SettingsError::Client { source })
}

fn built_in_roots() -> Result<Vec<reqwest::Certificate>, reqwest::Error> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|der| reqwest::Certificate::from_der(der))
        .collect()
}
