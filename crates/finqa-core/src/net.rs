//! Recognises the addresses of this machine.

use std::net::IpAddr;

/// True if a host, as written in an address, is this machine: `localhost`, a
/// name below it (RFC 6761), or a loopback or unspecified address (a client
/// that connects to `0.0.0.0` reaches its own machine), in brackets or without.
///
/// ```
/// use finqa_core::net::is_loopback;
/// assert!(is_loopback("LocalHost") && is_loopback("mlflow.localhost"));
/// assert!(is_loopback("127.8.0.1") && is_loopback("[::1]") && is_loopback("0.0.0.0"));
/// assert!(!is_loopback("10.0.0.1") && !is_loopback("localhost.example.org"));
/// ```
pub fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let name = host.strip_suffix('.').unwrap_or(&host);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| {
            let ip = ip.to_canonical();
            ip.is_loopback() || ip.is_unspecified()
        })
}

/// True if a request that names this host was meant for a server on loopback. Unlike
/// [`is_loopback`], an unspecified address is not: a page elsewhere can name it to reach a
/// server that it must not reach.
pub fn names_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let unspecified = |ip: IpAddr| ip.to_canonical().is_unspecified();
    is_loopback(host) && !bare.parse().is_ok_and(unspecified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_cannot_reach_loopback_by_an_unspecified_address() {
        for host in ["0.0.0.0", "[::]", "::ffff:0.0.0.0", "10.0.0.1"] {
            assert!(!names_loopback(host), "{host}");
        }
        assert!(names_loopback("[::1]") && names_loopback("localhost"));
    }

    #[test]
    fn every_spelling_of_this_machine_is_known() {
        for host in [
            "0.0.0.0", "[::]", "::", "[::ffff:127.0.0.1]", "::ffff:0.0.0.0", "localhost.",
            "mlflow.localhost.", "127.1.2.3",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "[::ffff:10.0.0.1]", "::2", "0.0.0.1", "10.0.0.0", "mylocalhost", "localhost.example",
            "127.0.0.1.example", "",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }
}
