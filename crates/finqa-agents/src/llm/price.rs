//! What tokens cost, in US dollars, as far as a price is known.
//!
//! The cost is unknown for an unknown model, an answer without usage, and a server that
//! the prices are not for. Unknown is never counted as zero: a `Cost` counts the requests
//! whose cost it does not know.

use std::fmt;
use std::str::FromStr;

use rust_decimal::Decimal;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::provider::Endpoint;
use super::types::Usage;

/// An amount of US dollars, not negative, as a user writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Dollars(pub Decimal);

impl Dollars {
    /// Sums of amounts below this do not overflow.
    const MOST: Decimal = Decimal::from_parts(1_000_000_000, 0, 0, false, 0);
}

impl FromStr for Dollars {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().parse() {
            Ok(amount) if amount < Decimal::ZERO => Err("it must not be negative"),
            Ok(amount) if amount > Self::MOST => Err("it must be at most 1,000,000,000"),
            Ok(amount) => Ok(Self(amount)),
            Err(_) => Err("write an amount of US dollars such as 5 or 0.25"),
        }
    }
}

impl fmt::Display for Dollars {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Text, so that no digit is lost, or a number.
impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "write an amount of US dollars such as 5 or 0.25"
        )]
        enum PriceText {
            Text(String),
            Whole(u64),
            Fraction(f64),
        }
        let text = match PriceText::deserialize(deserializer)? {
            PriceText::Text(text) => text,
            PriceText::Whole(amount) => amount.to_string(),
            PriceText::Fraction(amount) => amount.to_string(),
        };
        let unusable = |reason| de::Error::custom(format_args!("`{text}`: {reason}"));
        text.parse().map_err(unusable)
    }
}

/// The tier of a request, which determines its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PriceTier {
    Live,
    /// OpenAI, Azure and Anthropic charge half of the list price in batches.
    Batch,
}

impl PriceTier {
    pub(super) fn of_reply(batch: Option<&str>) -> Self {
        match batch {
            None => Self::Live,
            Some(_) => Self::Batch,
        }
    }

    /// The charge for what costs so much live.
    pub(super) fn of(self, live: Decimal) -> Decimal {
        match self {
            Self::Live => live,
            Self::Batch => live / Decimal::TWO,
        }
    }
}

/// Dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a price")]
pub(crate) struct Price {
    /// Tokens read.
    pub(super) input: Dollars,
    /// Tokens read from the provider's cache; as `input` where not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cached_input: Option<Dollars>,
    /// Tokens read and written to the provider's cache; unknown where not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) cache_write: Option<Dollars>,
    /// Tokens written.
    pub(super) output: Dollars,
    /// Tokens of hidden reasoning; as `output` where not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reasoning: Option<Dollars>,
    /// Above this number of tokens read in one call, `above` applies to the whole call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) up_to_input_tokens: Option<u64>,
    /// The price of longer prompts; unknown where not listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) above: Option<Box<Price>>,
    /// The base URL, or the start of it, of the server that it applies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    /// It applies to a server at any address.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    anywhere: bool,
}

impl Price {
    /// True if it names both one server and any.
    pub(super) fn names_its_servers_twice(&self) -> bool {
        self.address.is_some() && self.anywhere
    }

    /// The servers that it is for, in words.
    pub(super) fn servers(&self) -> &str {
        match (&self.address, self.anywhere) {
            (Some(address), _) => address,
            (None, true) => "any server",
            (None, false) => "the servers of OpenAI, Azure and Anthropic",
        }
    }

    /// The cost of `usage`; `None` where a part of it has no listed price.
    pub(super) fn of(&self, usage: &Usage) -> Option<Decimal> {
        if self.is_below(usage.input_tokens) {
            return self.above.as_ref()?.of(usage);
        }
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let stored = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let fresh = usage.input_tokens - cached - stored;
        let hidden = usage.reasoning_tokens.min(usage.output_tokens);
        let stored_price = match stored {
            0 => Decimal::ZERO,
            _ => self.cache_write?.0,
        };
        let sum = Decimal::from(fresh) * self.input.0
            + Decimal::from(cached) * self.cached_input.unwrap_or(self.input).0
            + Decimal::from(stored) * stored_price
            + Decimal::from(usage.output_tokens - hidden) * self.output.0
            + Decimal::from(hidden) * self.reasoning.unwrap_or(self.output).0;
        Some(per_million(sum))
    }

    /// The most that a call with this many tokens can cost, whichever of them are cached or
    /// hidden; `None` where a price that may apply is not listed.
    pub(super) fn bound(&self, input_tokens: u64, output_tokens: u64) -> Option<Decimal> {
        let highest = |least: Dollars, others: [Option<Dollars>; 2]| {
            let others = others.into_iter().flatten().map(|price| price.0);
            others.fold(least.0, Decimal::max)
        };
        let own = per_million(
            Decimal::from(input_tokens)
                * highest(self.input, [self.cached_input, self.cache_write])
                + Decimal::from(output_tokens) * highest(self.output, [self.reasoning, None]),
        );
        if !self.is_below(input_tokens) {
            return Some(own);
        }
        let above = self.above.as_ref()?.bound(input_tokens, output_tokens)?;
        Some(own.max(above))
    }

    /// True if a prompt with this many tokens is too long for this price.
    fn is_below(&self, input_tokens: u64) -> bool {
        self.up_to_input_tokens
            .is_some_and(|most| input_tokens > most)
    }

    /// True if it applies to this server.
    pub(super) fn applies(&self, endpoint: Endpoint, base_url: &str) -> bool {
        match &self.address {
            Some(address) => {
                let rest = base_url.strip_prefix(address.trim_end_matches('/'));
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            }
            None => {
                let listed = !matches!(endpoint, Endpoint::Compatible | Endpoint::Loopback);
                listed || self.anywhere
            }
        }
    }
}

fn per_million(sum: Decimal) -> Decimal {
    sum / Decimal::ONE_THOUSAND / Decimal::ONE_THOUSAND
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn price(json: &str) -> Price {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_bound_is_never_below_a_cost() {
        let tiers = price(
            r#"{"input": 3, "cached_input": 1, "cache_write": 5, "output": 7, "reasoning": 9,
                "up_to_input_tokens": 100, "above": {"input": 4, "output": 8}}"#,
        );
        assert_eq!(tiers.bound(100, 10), Some(dollars("0.00059")));
        assert_eq!(tiers.bound(101, 10), Some(dollars("0.000595")));
        let kinds = (0..=150).step_by(10);
        for (input_tokens, part) in kinds.flat_map(|n| [0, n / 2, n].map(|part| (n, part))) {
            let usage = Usage {
                input_tokens,
                output_tokens: 10,
                cached_input_tokens: part,
                reasoning_tokens: part,
                ..Usage::default()
            };
            let (cost, bound) = (tiers.of(&usage).unwrap(), tiers.bound(150, 10).unwrap());
            assert!(cost <= bound, "{usage:?}");
        }
        let unlisted = price(r#"{"input": 3, "output": 7, "up_to_input_tokens": 100}"#);
        assert_eq!(unlisted.bound(101, 10), None);
    }

    #[test]
    fn an_amount_is_finite_and_not_negative() {
        for text in [
            "-1", "NaN", "inf", "1e400", "abc", "", "5 dollars", "1000000001",
        ] {
            assert!(text.parse::<Dollars>().is_err(), "{text}");
        }
        assert_eq!("0.25".parse(), Ok(Dollars(dollars("0.25"))));
    }
}
