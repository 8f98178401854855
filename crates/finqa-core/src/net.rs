//! Helpers for HTTP clients and servers. They tell which hosts are this machine, and how long a
//! server asks a client to wait.

use std::net::IpAddr;
use std::time::{Duration, SystemTime};

use http::HeaderMap;
use http::header::{DATE, RETRY_AFTER};
use jiff::SignedDuration;
use jiff::fmt::rfc2822::DateTimeParser;

/// True if a host, as written in a URL, is this machine: `localhost`, a name below it (RFC
/// 6761), or a loopback or unspecified address, with or without brackets. Unspecified addresses
/// count because a client that connects to `0.0.0.0` reaches its own machine.
///
/// ```
/// use finqa_core::net::is_loopback;
/// assert!(is_loopback("LocalHost") && is_loopback("mlflow.localhost"));
/// assert!(is_loopback("127.8.0.1") && is_loopback("[::1]") && is_loopback("0.0.0.0"));
/// assert!(!is_loopback("10.0.0.1") && !is_loopback("localhost.example.org"));
/// ```
pub fn is_loopback(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    // A final dot only says that the name is complete.
    let name = host.strip_suffix('.').unwrap_or(&host);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    name == "localhost"
        || name.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| {
            // `::ffff:127.0.0.1` is an IPv4 address written as IPv6.
            let ip = ip.to_canonical();
            ip.is_loopback() || ip.is_unspecified()
        })
}

/// True if a request to this host was meant for a server on loopback. Unlike [`is_loopback`],
/// it rejects unspecified addresses, because a foreign web page can use `0.0.0.0` to reach a
/// local server.
pub fn names_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let unspecified = |ip: IpAddr| ip.to_canonical().is_unspecified();
    is_loopback(host) && !bare.parse().is_ok_and(unspecified)
}

/// The server's time, from the `Date` header, or this machine's time if the header is missing or
/// cannot be read. The other times in a response follow the server's clock.
pub fn server_time(headers: &HeaderMap) -> SystemTime {
    let date = headers.get(DATE).and_then(|date| date.to_str().ok());
    date.and_then(http_date).unwrap_or_else(SystemTime::now)
}

fn http_date(text: &str) -> Option<SystemTime> {
    let date = DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(date.into())
}

/// The wait that `Retry-After` asks for. Besides the standard's seconds and HTTP date, it may be a
/// duration with a unit, which some gateways send. `None` if the header is missing or cannot be
/// read, or if the number is negative.
pub fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    if let Ok(wait) = text.parse::<SignedDuration>() {
        return wait.try_into().ok();
    }
    let date = http_date(text)?;
    // A date in the past means no wait.
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
