//! What HTTP clients and servers share: the addresses of this machine, and the time that a
//! server asks for.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use jiff::SignedDuration;
use jiff::fmt::rfc2822::DateTimeParser;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

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

/// The server's own time, because the times that it names are by its clock; this machine's
/// time without a `Date` header.
pub fn server_time(headers: &HeaderMap) -> SystemTime {
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    date.and_then(http_date).unwrap_or_else(SystemTime::now)
}

fn http_date(text: &str) -> Option<SystemTime> {
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(date.into())
}

/// The wait that `Retry-After` asks for: in seconds, with a unit as some gateways write it, or
/// until an HTTP date.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    if let Ok(wait) = text.parse::<SignedDuration>() {
        return wait.try_into().ok();
    }
    let date = http_date(text)?;
    // A date that has passed asks for no wait.
    Some(
        date.duration_since(server_time(headers))
            .unwrap_or_default(),
    )
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
