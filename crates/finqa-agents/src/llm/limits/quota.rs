//! Reads the remaining quotas that a server reports. They are in `x-ratelimit-*` of OpenAI and
//! compatible servers, and in `anthropic-ratelimit-*`, where `tokens` is the tightest of the token
//! limits.

use std::time::{Duration, SystemTime};

use finqa_core::net::server_time;
use jiff::SignedDuration;
use reqwest::header::HeaderMap;

/// The report of a server about one quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ReportedQuota {
    pub(super) remaining: u64,
    /// Time until the quota refills.
    pub(super) reset: Duration,
}

/// The quotas that a reply reports: first requests, then tokens.
pub(crate) type ReportedQuotas = [Option<ReportedQuota>; 2];

/// Reads the headers of a reply. A quota without a reset time is ignored, because a later 429
/// states the same.
pub(crate) fn reported_quotas(headers: &HeaderMap) -> ReportedQuotas {
    let now = server_time(headers);
    ["requests", "tokens"].map(|what| {
        let header = |field: &str| {
            let openai = headers.get(format!("x-ratelimit-{field}-{what}"));
            let value =
                openai.or_else(|| headers.get(format!("anthropic-ratelimit-{what}-{field}")))?;
            value.to_str().ok().map(str::trim)
        };
        Some(ReportedQuota {
            remaining: header("remaining")?.parse().ok()?,
            reset: reset(header("reset")?, now)?,
        })
    })
}

/// Reads the time until a reset: `6m0s`, `20ms`, `1.5` (seconds), or an RFC 3339 time. `None` for
/// any other text, and for a negative duration.
fn reset(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    match text.parse::<jiff::Timestamp>() {
        Ok(at) => {
            // A time in the past means no wait.
            let wait = SystemTime::from(at).duration_since(now);
            Some(wait.unwrap_or_default())
        }
        Err(_) => text.parse::<SignedDuration>().ok()?.try_into().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(headers: &[(&'static str, &str)]) -> ReportedQuotas {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        // The server's clock counts, even if ours is wrong.
        map.insert("date", "Fri, 02 Jan 2026 03:04:05 GMT".parse().unwrap());
        reported_quotas(&map)
    }

    #[test]
    fn every_form_of_a_reset_is_read() {
        for (text, seconds) in [
            ("6m0s", 360.0),
            ("20ms", 0.02),
            ("1h2m3s", 3723.0),
            ("2m59.56s", 179.56),
            ("7", 7.0),
            ("0.5", 0.5),
            ("2026-01-02T03:04:15Z", 10.0),
            ("2026-01-02T04:04:07+01:00", 2.0),
            ("2026-01-02T03:00:00Z", 0.0),
        ] {
            let [quota, ..] = read(&[
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", text),
            ]);
            assert_eq!(quota.unwrap().reset.as_secs_f64(), seconds, "{text}");
        }
    }

    #[test]
    fn the_limits_of_both_providers_are_read() {
        let openai = read(&[
            ("x-ratelimit-remaining-tokens", "1200"),
            ("x-ratelimit-reset-tokens", "57s"),
        ]);
        let quota = |remaining, seconds| {
            let reset = Duration::from_secs(seconds);
            Some(ReportedQuota { remaining, reset })
        };
        assert_eq!(openai, [None, quota(1200, 57)]);
        let anthropic = read(&[
            ("anthropic-ratelimit-tokens-remaining", "0"),
            ("anthropic-ratelimit-tokens-reset", "2026-01-02T03:04:35Z"),
            ("anthropic-ratelimit-requests-remaining", "49"),
            ("anthropic-ratelimit-requests-reset", "2026-01-02T03:04:06Z"),
        ]);
        assert_eq!(anthropic, [quota(49, 1), quota(0, 30)]);
    }

    #[test]
    fn an_unreadable_limit_is_ignored() {
        for (remaining, reset) in [("0", "soon"), ("many", "1s"), ("-1", "1s"), ("0", "-5")] {
            let quotas = read(&[
                ("x-ratelimit-remaining-requests", remaining),
                ("x-ratelimit-reset-requests", reset),
            ]);
            assert_eq!(quotas, [None; 2], "{remaining} {reset}");
        }
        assert_eq!(read(&[("x-ratelimit-remaining-requests", "0")]), [None; 2]);
    }
}
