//! Ways to fail, drawn from the body of a request.

use super::{Reply, Request};

/// A way to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// 429 with a `Retry-After` in milliseconds.
    RateLimit,
    /// 500 with an error object.
    ServerError,
    /// 502 with a proxy's page.
    BadGateway,
    /// A reset before any byte.
    Reset,
    /// A body that ends before its announced length.
    CutOff,
    /// A success whose body is not JSON.
    Malformed,
    /// The prompt is refused, however often it is sent.
    ContentFilter,
}

impl Fault {
    pub const ALL: [Self; 7] = [
        Self::RateLimit,
        Self::ServerError,
        Self::BadGateway,
        Self::Reset,
        Self::CutOff,
        Self::Malformed,
        Self::ContentFilter,
    ];

    pub(super) fn reply(self, healthy: Reply) -> Reply {
        match self {
            Self::RateLimit => Reply::error(429, "rate_limit_exceeded", "Rate limit reached")
                .header("retry-after", "0")
                .header("retry-after-ms", "5"),
            Self::ServerError => Reply::error(500, "server_error", "The server had an error"),
            Self::BadGateway => Reply::new(
                502,
                "text/html",
                "<html><head><title>502 Bad Gateway</title></head></html>",
            ),
            Self::Reset => Reply::reset(),
            Self::CutOff => healthy.cut_off(),
            Self::Malformed => healthy.truncated(),
            Self::ContentFilter => Reply::content_filter(),
        }
    }
}

/// Which requests fail, and how.
#[derive(Debug, Clone)]
pub struct Faults {
    /// The share of bodies that fail, 0 to 1.
    pub rate: f64,
    pub seed: u64,
    pub kinds: Vec<Fault>,
    /// How often a body fails before it succeeds; a content filter never ends.
    pub repeats: usize,
}

impl Faults {
    /// Each kind alike, once a body.
    pub fn every_kind(rate: f64, seed: u64) -> Self {
        Self {
            rate,
            seed,
            kinds: Fault::ALL.to_vec(),
            repeats: 1,
        }
    }

    /// The fault of this request, by its body alone.
    pub fn of(&self, request: &Request) -> Option<Fault> {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.seed.to_le_bytes());
        hasher.update(&request.raw);
        let mut draw = [0; 8];
        hasher.finalize_xof().fill(&mut draw);
        let [a, b, c, d, e, f, g, h] = draw;
        let share = f64::from(u32::from_le_bytes([a, b, c, d])) / f64::from(u32::MAX);
        let which = usize::try_from(u32::from_le_bytes([e, f, g, h])).unwrap();
        let kind = self.kinds[which % self.kinds.len()];
        let over = kind != Fault::ContentFilter && request.repeat >= self.repeats;
        (share < self.rate && !over).then_some(kind)
    }
}
