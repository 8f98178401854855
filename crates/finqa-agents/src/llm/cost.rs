//! The cost of requests in US dollars. Parts of it may be unknown.

use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;

use rust_decimal::{Decimal, RoundingStrategy};
use serde::{Deserialize, Serialize};

use finqa_core::text::counted;

use super::types::ChatReply;

/// A sum of costs, of which parts may be unknown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Dollars of the requests with known cost, and a lower bound for the other requests.
    pub known: Decimal,
    /// Number of requests whose full cost is in `known`.
    pub priced: u64,
    /// Number of requests whose cost is not fully known.
    pub unpriced: u64,
}

impl Cost {
    /// The cost of an answered call: `dollars` for the reply, if known, and an unknown cost for
    /// each request that was lost before. If `dollars` is only a lower bound, the cost of the reply
    /// counts as not fully known. A reply that needed no request costs nothing.
    pub(crate) fn of_reply(reply: &ChatReply, dollars: Option<Decimal>) -> Self {
        let dollars = match reply.attempts {
            0 => Some(Decimal::ZERO),
            _ => dollars,
        };
        let mut cost = Self::of_request(dollars);
        if reply.attempts > 0 && reply.costs_at_least() {
            (cost.priced, cost.unpriced) = (0, 1);
        }
        cost += Self::unknown(u64::from(reply.lost));
        cost
    }

    /// The cost of one request; without `dollars`, it is unknown.
    pub fn of_request(dollars: Option<Decimal>) -> Self {
        dollars.map_or_else(
            || Self::unknown(1),
            |known| Self {
                known,
                priced: 1,
                unpriced: 0,
            },
        )
    }

    /// An unknown cost for this number of requests.
    pub fn unknown(requests: u64) -> Self {
        Self {
            unpriced: requests,
            ..Self::default()
        }
    }

    /// The sum in dollars; `None` if a part of it is unknown.
    pub fn total(&self) -> Option<Decimal> {
        (self.unpriced == 0).then_some(self.known)
    }

    /// The sum in a few words; `None` if it is zero.
    pub fn brief(&self) -> Option<String> {
        match (self.known.is_zero(), self.unpriced) {
            (true, 0) => None,
            (true, _) => Some("cost unknown".to_owned()),
            (false, 0) => Some(in_dollars(self.known, 4)),
            (false, _) => Some(format!("at least {}", in_dollars(self.known, 4))),
        }
    }
}

/// An amount rounded half up to this number of decimals, such as `$0.1382`. The format of a
/// [`Decimal`] would cut off the other decimals.
pub fn in_dollars(amount: Decimal, decimals: u8) -> String {
    let rounding = RoundingStrategy::MidpointAwayFromZero;
    let rounded = amount.round_dp_with_strategy(decimals.into(), rounding);
    let decimals = usize::from(decimals);
    format!("${rounded:.decimals$}")
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Self) {
        self.known += other.known;
        self.priced += other.priced;
        self.unpriced += other.unpriced;
    }
}

impl Sum for Cost {
    fn sum<I: Iterator<Item = Self>>(costs: I) -> Self {
        costs.fold(Self::default(), |mut sum, cost| {
            sum += cost;
            sum
        })
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.priced, self.unpriced) {
            (0, 1..) if self.known.is_zero() => f.write_str("unknown"),
            (_, 0) => f.write_str(&in_dollars(self.known, 4)),
            // The number of requests is printed next to this text, and includes requests that were
            // not billed.
            (_, unpriced) => write!(
                f,
                "at least {} (unknown for {})",
                in_dollars(self.known, 4),
                counted(unpriced, "request")
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn answered() -> ChatReply {
        ChatReply {
            attempts: 1,
            ..ChatReply::text("42")
        }
    }

    #[test]
    fn a_sum_says_what_it_does_not_know() {
        let answered = answered();
        let mut sum = Cost::default();
        assert_eq!(
            (sum.total(), sum.to_string().as_str(), sum.brief()),
            (Some(Decimal::ZERO), "$0.0000", None)
        );
        sum += Cost::of_reply(&answered, Some(dollars("0.25")));
        assert_eq!(sum.to_string(), "$0.2500");
        sum += Cost::of_reply(&answered, None);
        assert_eq!(sum.total(), None);
        assert_eq!(sum.to_string(), "at least $0.2500 (unknown for 1 request)");
        assert_eq!(sum.brief().unwrap(), "at least $0.2500");
        assert_eq!(Cost::unknown(1).to_string(), "unknown");
    }

    /// $0.13819 was $0.1381 in the summary of a run, and $0.1382 in a comparison.
    #[test]
    fn a_cost_is_rounded_half_up() {
        for (exact, shown) in [
            ("0.13819", "$0.1382"),
            ("0.13815", "$0.1382"),
            ("0.1381499", "$0.1381"),
            ("0.99995", "$1.0000"),
            ("2", "$2.0000"),
        ] {
            let cost = Cost::of_request(Some(dollars(exact)));
            assert_eq!(cost.to_string(), shown);
            assert_eq!(cost.brief().as_deref(), Some(shown));
        }
        assert_eq!(in_dollars(dollars("1.005"), 2), "$1.01");
    }

    #[test]
    fn a_reply_in_another_tier_or_with_doubtful_counts_costs_at_least_its_tokens() {
        let cost = |tier: Option<&str>, batch: Option<&str>, is_usage_doubtful| {
            let reply = ChatReply {
                service_tier: tier.map(str::to_owned),
                batch: batch.map(str::to_owned),
                is_usage_doubtful,
                ..answered()
            };
            Cost::of_reply(&reply, Some(dollars("0.25"))).to_string()
        };
        let at_least = "at least $0.2500 (unknown for 1 request)";
        for tier in [
            None,
            Some("default"),
            Some("Standard"),
            Some("auto"),
            Some("on_demand"),
            Some(""),
        ] {
            assert_eq!(cost(tier, None, false), "$0.2500", "{tier:?}");
            assert_eq!(cost(tier, None, true), at_least, "{tier:?}");
        }
        assert_eq!(cost(Some("batch"), Some("b1"), false), "$0.2500");
        let stored = ChatReply {
            attempts: 0,
            service_tier: Some("priority".to_owned()),
            is_usage_doubtful: true,
            ..answered()
        };
        for dollars in [None, Some(dollars("0.25"))] {
            assert_eq!(Cost::of_reply(&stored, dollars).to_string(), "$0.0000");
        }
        for tier in ["batch", "priority", "flex", "scale", "7"] {
            assert_eq!(cost(Some(tier), None, false), at_least, "{tier}");
        }
        assert_eq!(cost(Some("priority"), Some("b1"), false), at_least);
    }

    #[test]
    fn a_reply_after_lost_requests_costs_at_least_its_own_tokens() {
        let repeated = ChatReply {
            attempts: 3,
            lost: 2,
            ..answered()
        };
        let cost = Cost::of_reply(&repeated, Some(Decimal::ONE));
        assert_eq!(
            (cost.known, cost.priced, cost.unpriced),
            (Decimal::ONE, 1, 2)
        );
        assert_eq!(cost.total(), None);
    }
}
