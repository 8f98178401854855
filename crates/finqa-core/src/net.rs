//! Recognises the addresses of this machine.

use std::net::IpAddr;

/// True if a host, as written in an address, is this machine: `localhost`, a name below it
/// (RFC 6761), or a loopback address, in brackets or without.
///
/// ```
/// use finqa_core::net::is_loopback;
/// assert!(is_loopback("LocalHost") && is_loopback("mlflow.localhost"));
/// assert!(is_loopback("127.8.0.1") && is_loopback("[::1]"));
/// assert!(!is_loopback("10.0.0.1") && !is_loopback("localhost.example.org"));
/// ```
#[must_use]
pub fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
