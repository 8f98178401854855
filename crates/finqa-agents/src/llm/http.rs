//! Builds HTTP clients: encryption, certificates, connections.
//!
//! Clients are built only here, because each default fails somewhere: without an installed crypto
//! provider, and without certificates on the machine (a bare container), building a client panics
//! or fails even for `http://localhost`.

use std::time::Duration;

use reqwest::ClientBuilder;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;

use super::settings::SettingsError;

/// A host that does not respond fails after this time, and not only after that of a whole attempt.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Installs the process's crypto provider (ring); it is safe to call more than once.
///
/// The first line of `main` calls it, and so does everything here that builds a client.
pub fn install_crypto() {
    // It fails only if a provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// A client for model servers. It refuses redirects, because they would send the prompt, and on
/// Azure the key, to a host that the user did not name. With `direct` it bypasses the proxy of the
/// environment, for servers on this machine.
pub fn client(direct: bool) -> Result<reqwest::Client, SettingsError> {
    build(direct, |builder| builder)
}

/// A client for connections that are upgraded to a WebSocket, which HTTP/2 does not support in this
/// form.
pub fn upgrade_client(direct: bool) -> Result<reqwest::Client, SettingsError> {
    build(direct, ClientBuilder::http1_only)
}

/// A client for public files whose bytes are verified. It follows redirects, because a hub keeps
/// large files on other hosts.
pub fn download_client() -> Result<reqwest::Client, SettingsError> {
    const REDIRECTS: usize = 5;
    build(false, |builder| {
        // A compressed file is verified and stored as it is.
        builder
            .redirect(Policy::limited(REDIRECTS))
            .no_gzip()
            .no_deflate()
    })
}

fn build(
    direct: bool,
    change: fn(ClientBuilder) -> ClientBuilder,
) -> Result<reqwest::Client, SettingsError> {
    install_crypto();
    let identity = HeaderValue::from_static("identity");
    let uncompressed = HeaderMap::from_iter([(ACCEPT_ENCODING, identity)]);
    let builder = || {
        let builder = ClientBuilder::new()
            // Some gateways compress anyway, so gzip and deflate are decoded.
            .default_headers(uncompressed.clone())
            .user_agent(concat!("convfinqa/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(Policy::none())
            // The only retry loop is `llm::retry`; reqwest's would hide requests from the count.
            .retry(reqwest::retry::never())
            .tcp_keepalive(Duration::from_secs(30));
        change(if direct { builder.no_proxy() } else { builder })
    };
    builder()
        .build()
        // A machine without certificates uses the built-in ones.
        .or_else(|_| builder().tls_certs_only(built_in_roots()?).build())
        .map_err(|source| SettingsError::Client { source })
}

fn built_in_roots() -> Result<Vec<reqwest::Certificate>, reqwest::Error> {
    webpki_root_certs::TLS_SERVER_ROOT_CERTS
        .iter()
        .map(|der| reqwest::Certificate::from_der(der))
        .collect()
}
