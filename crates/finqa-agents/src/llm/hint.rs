//! The delay that a server asks for, in each form that servers use.

use std::time::Duration;

use finqa_core::net::retry_after;
use reqwest::header::HeaderMap;

/// The wait that a failed answer asks for: `retry-after-ms`, `retry-after` in
/// seconds or as an HTTP date, and as a last resort the words of the message
/// (`Please try again in 1.2s`, `retry after 5 seconds`).
///
/// The first that can be read counts; the caller limits it.
pub(super) fn server_hint(headers: &HeaderMap, message: &str) -> Option<Duration> {
    headers
        .get("retry-after-ms")
        .and_then(|value| value.to_str().ok()?.trim().parse::<f64>().ok())
        .and_then(|millis| Duration::try_from_secs_f64(millis / 1000.0).ok())
        .or_else(|| retry_after(headers))
        .or_else(|| in_words(message))
}

fn in_words(message: &str) -> Option<Duration> {
    let lower = message.to_ascii_lowercase();
    ["try again in ", "retry after ", "retry in "]
        .iter()
        .find_map(|lead| lower.split_once(lead))
        .and_then(|(_, rest)| spoken_duration(rest))
}

/// `1.2s`, `350ms`, `6m0s`, `1h2m`, `5 seconds`: reads parts up to the first that is not one.
pub(super) fn spoken_duration(mut text: &str) -> Option<Duration> {
    let mut total = 0.0_f64;
    let mut found = false;
    loop {
        let digits = text
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(text.len());
        let (number, rest) = text.split_at_checked(digits)?;
        // The sentence's full stop is not part of the number.
        let Ok(number) = number.trim_end_matches('.').parse::<f64>() else {
            break;
        };
        let rest = rest.trim_start();
        let letters = rest
            .find(|c: char| !c.is_ascii_alphabetic())
            .unwrap_or(rest.len());
        let (unit, rest) = rest.split_at_checked(letters)?;
        total += number
            * match unit {
                "ms" | "millisecond" | "milliseconds" => 0.001,
                "s" | "sec" | "secs" | "second" | "seconds" => 1.0,
                "m" | "min" | "mins" | "minute" | "minutes" => 60.0,
                "h" | "hour" | "hours" => 3600.0,
                _ => break,
            };
        found = true;
        text = rest;
    }
    if found {
        Duration::try_from_secs_f64(total).ok()
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use reqwest::header::DATE;

    use super::*;

    fn hint(headers: &[(&'static str, &str)], message: &str) -> Option<f64> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        // The server's clock counts, however wrong ours is.
        map.insert(DATE, "Sun, 06 Nov 1994 08:49:37 GMT".parse().unwrap());
        server_hint(&map, message).map(|wait| wait.as_secs_f64())
    }

    #[test]
    fn every_form_is_read() {
        assert_eq!(hint(&[("retry-after", "2")], ""), Some(2.0));
        assert_eq!(hint(&[("retry-after", " 0.5 ")], ""), Some(0.5));
        assert_eq!(hint(&[("retry-after-ms", "250")], ""), Some(0.25));
        assert_eq!(
            hint(&[("retry-after", "Sun, 06 Nov 1994 08:49:47 GMT")], ""),
            Some(10.0)
        );
        assert_eq!(
            hint(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], ""),
            Some(0.0)
        );
        for (message, seconds) in [
            (
                "Limit 500, Used 499. Please try again in 1.2s. Visit x",
                1.2,
            ),
            ("try again in 350ms.", 0.35),
            ("Please try again in 6m0s.", 360.0),
            ("Please try again in 1h2m3s", 3723.0),
            ("Please retry after 5 seconds.", 5.0),
            ("Try again in 20s", 20.0),
        ] {
            assert_eq!(hint(&[], message), Some(seconds), "{message}");
        }
    }

    #[test]
    fn the_finer_header_comes_first_and_words_come_last() {
        let both = [("retry-after", "1"), ("retry-after-ms", "900")];
        assert_eq!(hint(&both, "try again in 7s"), Some(0.9));
        assert_eq!(hint(&[("retry-after", "1")], "try again in 7s"), Some(1.0));
    }

    #[test]
    fn nonsense_is_not_a_hint() {
        for value in ["-1", "NaN", "soon", "1e400", ""] {
            assert_eq!(hint(&[("retry-after", value)], ""), None, "{value}");
        }
        for message in [
            "", "try again in a while", "try again in 5 bananas", "retry after .",
        ] {
            assert_eq!(hint(&[], message), None, "{message}");
        }
    }
}
