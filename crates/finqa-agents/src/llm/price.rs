//! The price of tokens in US dollars, if the built-in list or the user's list has one.
//!
//! A price applies to a model by its name. A price with an address applies only at that address.
//! The cost is unknown for an unknown model and for an answer without usage. Unknown is never
//! counted as zero: a `Cost` counts the requests of unknown cost.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use rust_decimal::Decimal;
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize};

use super::types::Usage;

const TABLE: &str = include_str!("../../../../data/prices.json");

/// A non-negative amount of US dollars in the form that a user writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Dollars(pub Decimal);

impl Dollars {
    /// Upper limit of an amount. Sums of amounts below it do not overflow.
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

/// Reads a text, in which no digit is lost, or a number.
impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(
            untagged,
            expecting = "write an amount of US dollars such as 5 or 0.25"
        )]
        enum PriceText {
            Text(String),
            Number(f64),
        }
        let text = match PriceText::deserialize(deserializer)? {
            PriceText::Text(text) => text,
            PriceText::Number(amount) => amount.to_string(),
        };
        let unusable = |reason| de::Error::custom(format_args!("`{text}`: {reason}"));
        text.parse().map_err(unusable)
    }
}

/// Dollars per million tokens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a price")]
pub(crate) struct Price {
    /// Tokens read.
    input: Dollars,
    /// Tokens read from the provider's cache. If there is no price, they cost as much as `input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cached_input: Option<Dollars>,
    /// Tokens that are read and also written to the provider's cache. If there is no price, their
    /// cost is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cache_write: Option<Dollars>,
    /// Tokens written.
    output: Dollars,
    /// Maximum number of tokens read in one call. Above it, the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    up_to_input_tokens: Option<u64>,
    /// The base URL, or its beginning, of the only server to which the price applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

impl Price {
    /// The cost of `usage`; `None` if a part of it has no listed price.
    pub(super) fn of(&self, usage: &Usage) -> Option<Decimal> {
        // Cut counts that contradict each other, so that the parts do not exceed the sum.
        let cached = usage.cached_input_tokens.min(usage.input_tokens);
        let stored = usage.cache_write_tokens.min(usage.input_tokens - cached);
        let fresh = usage.input_tokens - cached - stored;
        let stored_price = match stored {
            0 => Decimal::ZERO,
            _ => self.cache_write?.0,
        };
        let sum = Decimal::from(fresh) * self.input.0
            + Decimal::from(cached) * self.cached_input.unwrap_or(self.input).0
            + Decimal::from(stored) * stored_price
            + Decimal::from(usage.output_tokens) * self.output.0;
        self.is_listed(usage.input_tokens).then(|| per_million(sum))
    }

    /// The maximum cost of a call with this number of tokens, whichever of them are cached. `None`
    /// if a price that may apply is not listed.
    pub(super) fn bound(&self, input_tokens: u64, output_tokens: u64) -> Option<Decimal> {
        let others = [self.cached_input, self.cache_write].into_iter().flatten();
        let input = others.map(|price| price.0).fold(self.input.0, Decimal::max);
        let most =
            Decimal::from(input_tokens) * input + Decimal::from(output_tokens) * self.output.0;
        self.is_listed(input_tokens).then(|| per_million(most))
    }

    /// True if the price applies to a prompt of this length.
    fn is_listed(&self, input_tokens: u64) -> bool {
        self.up_to_input_tokens
            .is_none_or(|most| input_tokens <= most)
    }

    /// True if the price applies to this server.
    fn applies(&self, base_url: &str) -> bool {
        self.address.as_ref().is_none_or(|address| {
            let rest = base_url.strip_prefix(address.trim_end_matches('/'));
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    }
}

fn per_million(sum: Decimal) -> Decimal {
    sum / Decimal::ONE_THOUSAND / Decimal::ONE_THOUSAND
}

/// The reason why a text is not a price list, with the position.
#[derive(Debug, thiserror::Error)]
#[error(
    "not a price list: {0}; write {{\"version\": 1, \"models\": {{\"NAME\": \
     {{\"input\": 2.5, \"output\": 10}}}}}}, in dollars for a million tokens"
)]
pub struct PriceError(String);

/// The version of the price list's format.
pub(crate) const PRICES_VERSION: u32 = 1;

/// Prices by model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceList {
    models: BTreeMap<String, Price>,
}

/// The file of a list. It has other fields too, which name the sources of the prices.
#[derive(Deserialize)]
struct PriceFile {
    version: u32,
    models: PriceList,
}

impl PriceList {
    /// The built-in list. Its file names source and date.
    pub(crate) fn embedded() -> &'static Self {
        static LIST: OnceLock<PriceList> = OnceLock::new();
        // A test reads the file, so the program is never shipped with the empty list of a broken
        // file.
        LIST.get_or_init(|| Self::from_json(TABLE).unwrap_or_default())
    }

    /// Reads a list in the form of `data/prices.json`.
    ///
    /// # Errors
    /// [`PriceError`].
    pub fn from_json(text: &str) -> Result<Self, PriceError> {
        let mut json = serde_json::Deserializer::from_str(text);
        let file: Result<PriceFile, _> = serde_path_to_error::deserialize(&mut json);
        let file = file.map_err(|error| PriceError(error.to_string()))?;
        json.end().map_err(|error| PriceError(error.to_string()))?;
        match file.version {
            PRICES_VERSION => Ok(file.models),
            other => Err(PriceError(format!("it has version {other}"))),
        }
    }

    /// True if neither this list nor the built-in one has a price of `model`, at any address.
    pub fn lacks(&self, model: &str) -> bool {
        let has = |list: &Self| list.named(model).is_some();
        !has(self) && !has(Self::embedded())
    }

    /// The price of `model` on a server. A dated snapshot (`-2024-08-06`, `-20250929`) without a
    /// price of its own has the price of its family.
    pub(super) fn price(&self, base_url: &str, model: &str) -> Option<&Price> {
        self.named(model).filter(|price| price.applies(base_url))
    }

    /// The price under this name, or under the name without its date. `None` if the list has
    /// neither.
    fn named(&self, model: &str) -> Option<&Price> {
        let family = || {
            let dated = |length: usize| {
                let (family, date) = model.split_at_checked(model.len().checked_sub(length)?)?;
                is_date(date).then(|| self.models.get(family))?
            };
            // The lengths of the two forms of a date, each with its hyphen (see `is_date`).
            dated(11).or_else(|| dated(9))
        };
        self.models.get(model).or_else(family)
    }
}

/// True for `-2024-08-06` or `-20240806`.
fn is_date(text: &str) -> bool {
    let long = text.len() == 11;
    text.bytes().enumerate().all(|(at, byte)| match at {
        0 => byte == b'-',
        5 | 8 if long => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    /// The built-in price of a reply.
    fn cost(model: &str, usage: &Usage) -> Option<Decimal> {
        PriceList::embedded().price("", model)?.of(usage)
    }

    #[test]
    fn the_built_in_list_is_readable_and_no_price_is_below_a_cheaper_one() {
        let list = PriceList::from_json(TABLE).unwrap();
        assert_eq!(&list, PriceList::embedded());
        for (model, price) in &list.models {
            let input = price.input.0;
            assert!(input > Decimal::ZERO && price.output.0 > input, "{model}");
            assert!(price.cached_input.is_none_or(|cached| cached.0 <= input));
            assert!(price.cache_write.is_none_or(|stored| stored.0 > input));
        }
    }

    #[test]
    fn tokens_are_priced_by_their_kind() {
        let usage = Usage {
            input_tokens: 1_000_000,
            output_tokens: 100_000,
            cached_input_tokens: 400_000,
            cache_write_tokens: 0,
            reasoning_tokens: 50_000,
        };
        // 600,000 tokens at 2.50 dollars per million, 400,000 at 1.25 and 100,000 at 10.
        assert_eq!(cost("gpt-4o-2024-08-06", &usage), Some(dollars("3.00")));
        // 300,000 tokens at 3 dollars per million, 400,000 at 0.30, 300,000 at 3.75 and 100,000 at
        // 15.
        let written = Usage {
            cache_write_tokens: 300_000,
            ..usage
        };
        assert_eq!(cost("claude-sonnet-4-6", &written), Some(dollars("3.645")));
        // There is no price for tokens that gpt-4o stores, and none for an unknown model.
        assert_eq!(cost("gpt-4o", &written), None);
        assert_eq!(cost("llama-3", &usage), None);
    }

    #[test]
    fn a_prompt_that_is_too_long_has_no_price() {
        let cost = |model: &str, input_tokens| {
            let usage = Usage {
                input_tokens,
                ..Usage::default()
            };
            cost(model, &usage)
        };
        assert_eq!(cost("gpt-5.4", 272_000), Some(dollars("0.68")));
        assert_eq!(cost("gpt-5.4", 300_000), None);
        assert_eq!(cost("claude-sonnet-4-5", 200_000), Some(dollars("0.6")));
        assert_eq!(cost("claude-sonnet-4-5", 200_001), None);
    }

    #[test]
    fn a_bound_is_never_below_a_cost() {
        let price = |json| serde_json::from_str::<Price>(json).unwrap();
        let listed = price(
            r#"{"input": 3, "cached_input": 1, "cache_write": 5, "output": 7,
                "up_to_input_tokens": 150}"#,
        );
        assert_eq!(listed.bound(100, 10), Some(dollars("0.00057")));
        assert_eq!(listed.bound(151, 10), None);
        for (input_tokens, part) in (0..=150).step_by(10).map(|n| (n, n / 2)) {
            for part in [0, part, input_tokens] {
                let usage = Usage {
                    input_tokens,
                    output_tokens: 10,
                    cached_input_tokens: part,
                    ..Usage::default()
                };
                let (cost, bound) = (listed.of(&usage).unwrap(), listed.bound(150, 10).unwrap());
                assert!(cost <= bound, "{usage:?}");
            }
        }
    }

    #[test]
    fn a_price_applies_by_name_and_one_with_an_address_only_there() {
        let list = PriceList::from_json(
            r#"{"version": 1, "models": {
                "here": {"input": "1", "output": "2", "address": "https://gateway.example/v1"},
                "gpt-4o": {"input": "7", "output": "8"}}}"#,
        )
        .unwrap();
        let has = |base_url, model| list.price(base_url, model).is_some();
        assert!(has("https://gateway.example/v1", "here"));
        assert!(has("https://gateway.example/v1/eu", "here"));
        assert!(!has("https://gateway.example/v11", "here"));
        assert!(!has("http://localhost:8080/v1", "here"));
        for anywhere in ["https://api.openai.com/v1", "http://127.0.0.1:1/v1"] {
            assert!(has(anywhere, "gpt-4o"));
        }
        // A snapshot has its own price or the price of its family.
        let input = |model| {
            let price = PriceList::embedded().price("", model);
            price.map(|price| price.input.0)
        };
        assert_eq!(input("gpt-4o-2024-05-13"), Some(dollars("5")));
        assert_eq!(input("gpt-4o-2099-01-01"), Some(dollars("2.5")));
        assert_eq!(input("claude-haiku-4-5-20251001"), Some(dollars("1")));
        for other in [
            "gpt-4o-audio-preview", "gpt-4o-2099-01-0x", "é-2099-01-01", "",
        ] {
            assert_eq!(input(other), None, "{other}");
        }
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

    #[test]
    fn a_broken_list_names_the_place() {
        let message = |text: &str| PriceList::from_json(text).unwrap_err().to_string();
        let of = |models: &str| message(&format!(r#"{{"version": 1, "models": {{{models}}}}}"#));
        for (line, words) in [
            (
                of(r#""m": {"input": "x"}"#),
                "models.m.input: `x`: write an amount",
            ),
            (of(r#""m": {"input": -1}"#), "`-1`: it must not be negative"),
            (
                of(r#""m": {"input": 1}"#),
                "models.m: missing field `output`",
            ),
            (
                of(r#""m": {"outptu": 1}"#),
                "models.m.outptu: unknown field",
            ),
            (
                message(r#"{"version": 2, "models": {}}"#),
                "has version 2; write {",
            ),
            (message(r#"{"version": 1}"#), "missing field `models`"),
            (message("input: 5"), "expected value at line 1"),
            (
                of(r#""m": []"#),
                "models.m: invalid length 0, expected a price",
            ),
        ] {
            assert!(line.contains(words), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
