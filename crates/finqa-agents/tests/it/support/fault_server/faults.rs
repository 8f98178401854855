//! Chooses a way to fail by the body of a request.

use super::{Reply, Request};

/// Replaces `healthy` by a failure for a share of all bodies. Each way to fail is equally likely
/// and happens once per body, except that a filter refuses a prompt every time.
pub(super) fn failing(rate: f64, seed: u64, request: &Request, healthy: Reply) -> Reply {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    hasher.update(&request.raw);
    let mut draw = [0; 8];
    hasher.finalize_xof().fill(&mut draw);
    let [a, b, c, d, e, f, g, h] = draw;
    let share = f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX);
    if share >= rate {
        return healthy;
    }
    match u32::from_le_bytes([e, f, g, h]) % 7 {
        6 => Reply::content_filter(),
        _ if request.repeat > 0 => healthy,
        0 => Reply::error(429, "rate_limit_exceeded", "Rate limit reached")
            .header("retry-after", "0")
            .header("retry-after-ms", "5"),
        1 => Reply::error(500, "server_error", "The server had an error"),
        2 => {
            let page = "<html><head><title>502 Bad Gateway</title></head></html>";
            Reply::new(502, "text/html", page)
        }
        3 => Reply::reset(),
        4 => healthy.cut_off(),
        // A success status with a body that is not JSON.
        _ => healthy.truncated(),
    }
}
