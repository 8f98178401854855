//! What an answer costs, in US dollars, as far as a price is known.
//!
//! The cost is unknown for an unknown model, an answer without usage, and a server that
//! the prices are not for. Unknown is never counted as zero: a [`Cost`] counts the
//! requests whose cost it does not know.

use std::collections::BTreeMap;
use std::fmt;
use std::iter::Sum;
use std::ops::AddAssign;
use std::sync::{Arc, OnceLock};

use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};

use super::settings::Endpoint;
use super::types::{ChatReply, Usage};

const TABLE: &str = include_str!("../../../../data/prices.json");

/// What the tokens of a reply cost in US dollars; `None` where no price is listed.
pub type PriceOf = Arc<dyn Fn(&ChatReply) -> Option<Decimal> + Send + Sync>;

#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error("the price list is not readable at {path}")]
    Json {
        path: String,
        #[source]
        source: serde_json::Error,
    },
    #[error("the price list has version {found}, this program reads version {PRICES_VERSION}")]
    Version { found: u32 },
}

/// The version of the price list's form.
pub(crate) const PRICES_VERSION: u32 = 1;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: Decimal,
    /// Tokens read from the provider's cache; as `input` where not listed.
    pub(crate) cached_input: Option<Decimal>,
    /// Tokens written, reasoning included.
    pub output: Decimal,
    /// Above this number of tokens read in one call, a price that is not listed applies.
    pub(crate) up_to_input_tokens: Option<u64>,
    /// Whether it applies to a server of any address; otherwise to OpenAI and Azure alone.
    /// For the user's own price list.
    #[serde(default)]
    pub anywhere: bool,
}

impl Price {
    /// The cost of `usage`; `None` above the listed tier.
    #[must_use]
    pub fn of(&self, usage: &Usage) -> Option<Decimal> {
        if self
            .up_to_input_tokens
            .is_some_and(|most| usage.input_tokens > most)
        {
            return None;
        }
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let fresh = usage.input_tokens - cached;
        let sum = Decimal::from(fresh) * self.input
            + Decimal::from(cached) * self.cached_input.unwrap_or(self.input)
            + Decimal::from(usage.output_tokens) * self.output;
        Some(sum / Decimal::ONE_THOUSAND / Decimal::ONE_THOUSAND)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PriceList {
    models: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
struct PriceFile {
    version: u32,
    #[serde(default)]
    models: BTreeMap<String, Price>,
}

impl PriceList {
    /// The built-in list; its file names source and date.
    #[must_use]
    pub fn embedded() -> &'static Self {
        static LIST: OnceLock<PriceList> = OnceLock::new();
        // A test reads the file, so the empty list of a broken one never ships.
        LIST.get_or_init(|| Self::from_json(TABLE).unwrap_or_default())
    }

    /// Reads a list in the form of `data/prices.json`.
    pub fn from_json(text: &str) -> Result<Self, PriceError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let file: PriceFile =
            serde_path_to_error::deserialize(&mut json).map_err(|error| PriceError::Json {
                path: error.path().to_string(),
                source: error.into_inner(),
            })?;
        if file.version != PRICES_VERSION {
            return Err(PriceError::Version {
                found: file.version,
            });
        }
        Ok(Self {
            models: file.models,
        })
    }

    /// The price of `model` on a server of this kind, if it is listed: under its
    /// own name, or for a dated snapshot (`-2024-08-06`) under its family's.
    #[must_use]
    pub fn price(&self, endpoint: Endpoint, model: &str) -> Option<&Price> {
        let price = self.models.get(model).or_else(|| {
            let (family, date) = model.split_at_checked(model.len().checked_sub(11)?)?;
            is_date(date).then(|| self.models.get(family))?
        })?;
        let listed = matches!(
            endpoint,
            Endpoint::OpenAi | Endpoint::Azure | Endpoint::Anthropic
        );
        (listed || price.anywhere).then_some(price)
    }

    /// What the tokens of a reply cost, in dollars; `None` if that is not known.
    ///
    /// A reply for which nothing was sent costs nothing. `Cost::of_reply` adds the lost
    /// requests of the call.
    #[must_use]
    pub fn cost(&self, endpoint: Endpoint, reply: &ChatReply) -> Option<Decimal> {
        if reply.attempts == 0 {
            return Some(Decimal::ZERO);
        }
        self.price(endpoint, &reply.model)?.of(&reply.usage?)
    }
}

/// `-2024-08-06`.
fn is_date(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        0 | 5 | 8 => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

/// A sum of costs with unknown parts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// Dollars of the requests whose cost is known.
    pub known: Decimal,
    /// Requests whose cost is in `known`.
    pub priced: u64,
    /// Requests whose cost is not known.
    pub unpriced: u64,
}

impl Cost {
    /// The cost of an answered call: `dollars` for the reply, if known, and an unknown cost
    /// for each request that was lost before it.
    #[must_use]
    pub(crate) fn of_reply(reply: &ChatReply, dollars: Option<Decimal>) -> Self {
        let mut cost = Self::of_request(dollars);
        cost += Self::unknown(u64::from(reply.lost));
        cost
    }

    #[must_use]
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
    #[must_use]
    pub fn unknown(requests: u64) -> Self {
        Self {
            unpriced: requests,
            ..Self::default()
        }
    }

    /// The whole sum in dollars; `None` if any part is unknown.
    #[must_use]
    pub fn total(&self) -> Option<Decimal> {
        (self.unpriced == 0).then_some(self.known)
    }

    /// The sum in a few words; empty for a sum of zero.
    #[must_use]
    pub fn brief(&self) -> Option<String> {
        match (self.known.is_zero(), self.unpriced) {
            (true, 0) => None,
            (true, _) => Some("cost unknown".to_owned()),
            (false, 0) => Some(format!("${:.4}", self.known)),
            (false, _) => Some(format!("at least ${:.4}", self.known)),
        }
    }
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
            (0, 1..) => f.write_str("unknown"),
            (_, 0) => write!(f, "${:.4}", self.known),
            (priced, unpriced) => write!(
                f,
                "at least ${:.4} ({unpriced} of {} requests without a known cost)",
                self.known,
                priced + unpriced
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

    fn reply(model: &str, usage: Option<Usage>) -> ChatReply {
        ChatReply {
            model: model.into(),
            usage,
            attempts: 1,
            ..ChatReply::text("42")
        }
    }

    const USAGE: Usage = Usage {
        input_tokens: 1_000_000,
        output_tokens: 100_000,
        cached_input_tokens: 400_000,
        cache_write_tokens: 0,
        reasoning_tokens: 50_000,
    };

    #[test]
    fn the_built_in_list_is_readable() {
        let list = PriceList::from_json(TABLE).unwrap();
        assert_eq!(&list, PriceList::embedded());
        for (model, price) in &list.models {
            assert!(
                price.input > Decimal::ZERO && price.output > price.input,
                "{model}"
            );
            assert!(
                price
                    .cached_input
                    .is_none_or(|cached| cached <= price.input)
            );
        }
    }

    #[test]
    fn cached_tokens_cost_less_and_reasoning_is_in_the_output() {
        let list = PriceList::embedded();
        // 600,000 at 2.50, 400,000 at 1.25 and 100,000 at 10 dollars a million.
        let cost = list.cost(Endpoint::OpenAi, &reply("gpt-4o", Some(USAGE)));
        assert_eq!(cost, Some(dollars("3.00")));
    }

    #[test]
    fn a_snapshot_has_its_own_price_or_its_familys() {
        let list = PriceList::embedded();
        let input = |model| list.price(Endpoint::Azure, model).map(|price| price.input);
        assert_eq!(input("gpt-4o-2024-05-13"), Some(dollars("5")));
        assert_eq!(input("gpt-4o-2024-08-06"), Some(dollars("2.5")));
        assert_eq!(input("gpt-4o-2099-01-01"), Some(dollars("2.5")));
        assert_eq!(input("gpt-4o-audio-preview"), None);
        assert_eq!(input("gpt-4o-2099-01-0x"), None);
        assert_eq!(input("é-2099-01-01"), None);
        assert_eq!(input(""), None);
    }

    #[test]
    fn an_unknown_cost_is_not_zero() {
        let list = PriceList::embedded();
        let cost = |endpoint, model, usage| list.cost(endpoint, &reply(model, usage));
        assert_eq!(cost(Endpoint::OpenAi, "llama-3", Some(USAGE)), None);
        assert_eq!(cost(Endpoint::OpenAi, "gpt-4o", None), None);
        assert_eq!(cost(Endpoint::Loopback, "gpt-4o", Some(USAGE)), None);
        assert_eq!(cost(Endpoint::Compatible, "gpt-4o", Some(USAGE)), None);
        assert_eq!(
            list.cost(Endpoint::OpenAi, &ChatReply::text("from inside")),
            Some(Decimal::ZERO)
        );
    }

    #[test]
    fn the_users_own_list_applies_to_any_server_up_to_its_tier() {
        let list = PriceList::from_json(
            r#"{"version": 1, "models": {"mine":
                {"input": "1", "output": "2", "anywhere": true, "up_to_input_tokens": 10}}}"#,
        )
        .unwrap();
        let cost = |input_tokens| {
            let usage = Usage {
                input_tokens,
                ..Usage::default()
            };
            list.cost(Endpoint::Loopback, &reply("mine", Some(usage)))
        };
        assert_eq!(cost(10), Some(dollars("0.00001")));
        assert_eq!(cost(11), None);
    }

    #[test]
    fn a_broken_list_names_the_place() {
        let error = PriceList::from_json(r#"{"version":1,"models":{"m":{"input":"x"}}}"#);
        assert_eq!(
            error.unwrap_err().to_string(),
            "the price list is not readable at models.m.input"
        );
        assert!(matches!(
            PriceList::from_json(r#"{"version":2}"#),
            Err(PriceError::Version { found: 2 })
        ));
    }

    #[test]
    fn a_sum_says_what_it_does_not_know() {
        let answered = reply("gpt-4o", Some(USAGE));
        let mut sum = Cost::default();
        assert_eq!(
            (sum.total(), sum.to_string().as_str(), sum.brief()),
            (Some(Decimal::ZERO), "$0.0000", None)
        );
        sum += Cost::of_reply(&answered, Some(dollars("0.25")));
        assert_eq!(sum.to_string(), "$0.2500");
        sum += Cost::of_reply(&answered, None);
        assert_eq!(sum.total(), None);
        assert_eq!(
            sum.to_string(),
            "at least $0.2500 (1 of 2 requests without a known cost)"
        );
        assert_eq!(sum.brief().unwrap(), "at least $0.2500");
        assert_eq!(Cost::unknown(1).to_string(), "unknown");
    }

    #[test]
    fn a_reply_after_lost_requests_costs_at_least_its_own_tokens() {
        let repeated = ChatReply {
            attempts: 3,
            lost: 2,
            ..reply("gpt-4o", Some(USAGE))
        };
        let cost = Cost::of_reply(&repeated, Some(Decimal::ONE));
        assert_eq!(
            (cost.known, cost.priced, cost.unpriced),
            (Decimal::ONE, 1, 2)
        );
        assert_eq!(cost.total(), None);
    }
}
