//! Prices by model: the built-in list and the user's own.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::sync::{Arc, OnceLock};

use rust_decimal::Decimal;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::price::Price;
use super::provider::Endpoint;
use super::settings::ModelConnection;
use super::types::Usage;

const TABLE: &str = include_str!("../../../../data/prices.json");

#[derive(Debug, thiserror::Error)]
pub enum PriceError {
    #[error(
        "not a price list: {place}{message}; write {{\"version\": 1, \"models\": {{\"NAME\": \
         {{\"input\": 2.5, \"output\": 10}}}}}}, in dollars for a million tokens"
    )]
    Json { place: String, message: String },
    #[error("the price list has version {found}, this program reads version {PRICES_VERSION}")]
    Version { found: u32 },
}

/// The version of the price list's form.
pub(crate) const PRICES_VERSION: u32 = 1;

/// Prices by model.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PriceList {
    #[serde(deserialize_with = "without_duplicates")]
    models: BTreeMap<String, Price>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFile {
    version: u32,
    models: PriceList,
    #[serde(default, rename = "currency")]
    _currency: Currency,
    #[serde(default, rename = "per_tokens")]
    _per_tokens: PerTokens,
    #[serde(default, rename = "note")]
    _note: String,
    #[serde(default, rename = "source")]
    _source: String,
    #[serde(default, rename = "checked")]
    _checked: String,
}

/// The only currency.
#[derive(Default, Deserialize)]
enum Currency {
    #[default]
    #[serde(rename = "USD")]
    UsDollar,
}

/// The only number of tokens that a price is for.
#[derive(Default, Deserialize)]
#[serde(try_from = "u64")]
struct PerTokens;

impl TryFrom<u64> for PerTokens {
    type Error = &'static str;

    fn try_from(tokens: u64) -> Result<Self, Self::Error> {
        (tokens == 1_000_000)
            .then_some(Self)
            .ok_or("prices are for 1000000 tokens")
    }
}

impl PriceList {
    /// The built-in list; its file names source and date.
    pub(crate) fn embedded() -> &'static Self {
        static LIST: OnceLock<PriceList> = OnceLock::new();
        // A test reads the file, so the empty list of a broken one never ships.
        LIST.get_or_init(|| Self::from_json(TABLE).unwrap_or_default())
    }

    /// Reads a list in the form of `data/prices.json`.
    ///
    /// # Errors
    /// [`PriceError`] with the place in the list.
    pub fn from_json(text: &str) -> Result<Self, PriceError> {
        let wrong = |place: &str, message: &str| PriceError::Json {
            place: place.to_owned(),
            message: message.to_owned(),
        };
        // A list of the fields' values would be read as if it named them.
        if !text.trim_start().starts_with('{') {
            return Err(wrong("", "it is not a JSON object"));
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let file: Result<PriceFile, _> = serde_path_to_error::deserialize(&mut json);
        let file = file.map_err(|error| {
            let place = match error.path().to_string().as_str() {
                "." => String::new(),
                path => format!("{path}: "),
            };
            wrong(&place, &error.into_inner().to_string())
        })?;
        json.end().map_err(|error| wrong("", &error.to_string()))?;
        if file.version != PRICES_VERSION {
            return Err(PriceError::Version {
                found: file.version,
            });
        }
        for (name, price) in &file.models.models {
            if price.names_its_servers_twice() {
                let message = "`address` names one server and `anywhere` all; leave one out";
                return Err(wrong(&format!("models.{name}: "), message));
            }
        }
        Ok(file.models)
    }

    /// The servers that the price of `model` is for, in words, if one is listed under its name.
    pub fn servers_of(&self, model: &str) -> Option<&str> {
        self.models.get(model).map(Price::servers)
    }

    /// The price of `model` on a server: under its own name, or for a dated snapshot
    /// (`-2024-08-06`, `-20250929`) under its family's.
    fn price(&self, endpoint: Endpoint, base_url: &str, model: &str) -> Option<&Price> {
        let family = || {
            let dated = |length: usize| {
                let (family, date) = model.split_at_checked(model.len().checked_sub(length)?)?;
                is_date(date).then(|| self.models.get(family))?
            };
            dated(11).or_else(|| dated(9))
        };
        let price = self.models.get(model).or_else(family)?;
        price.applies(endpoint, base_url).then_some(price)
    }
}

/// `-2024-08-06` or `-20240806`.
fn is_date(text: &str) -> bool {
    let long = text.len() == 11;
    text.bytes().enumerate().all(|(at, byte)| match at {
        0 => byte == b'-',
        5 | 8 if long => byte == b'-',
        _ => byte.is_ascii_digit(),
    })
}

/// A model that is listed twice would have the price that comes last.
fn without_duplicates<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, Price>, D::Error> {
    struct Models;

    impl<'de> Visitor<'de> for Models {
        type Value = BTreeMap<String, Price>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("prices by model")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut models = BTreeMap::new();
            while let Some((name, price)) = map.next_entry()? {
                match models.entry(name) {
                    Entry::Vacant(place) => place.insert(price),
                    Entry::Occupied(place) => {
                        let line = format!("`{}` is listed twice", place.key());
                        return Err(de::Error::custom(line));
                    }
                };
            }
            Ok(models)
        }
    }

    deserializer.deserialize_map(Models)
}

/// The prices of one model on one server: the user's own before the built-in ones.
#[derive(Debug, Clone)]
pub(crate) struct ModelPrices {
    own: Arc<PriceList>,
    endpoint: Endpoint,
    base_url: String,
    model: String,
}

impl ModelPrices {
    pub(super) fn new(settings: &ModelConnection, own: Arc<PriceList>) -> Self {
        Self {
            own,
            endpoint: settings.endpoint(),
            base_url: settings.base_url.clone(),
            model: settings.model.clone(),
        }
    }

    /// The price of a reply from the model that the server calls `served`: on Azure that is
    /// the deployment's name, which the user's list may use.
    fn price(&self, served: &str) -> Option<&Price> {
        let own = |model| self.own.price(self.endpoint, &self.base_url, model);
        own(&self.model)
            .or_else(|| own(served))
            .or_else(|| PriceList::embedded().price(self.endpoint, &self.base_url, served))
    }

    /// The price that is expected before the first reply.
    pub(super) fn expected(&self) -> Option<&Price> {
        self.price(&self.model)
    }

    /// The cost of a reply from the model `served`, in dollars; `None` if it is unknown.
    pub(super) fn cost(&self, served: &str, usage: Option<&Usage>) -> Option<Decimal> {
        self.price(served)?.of(usage?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llm::provider::Provider;

    fn dollars(text: &str) -> Decimal {
        text.parse().unwrap()
    }

    fn list(models: &str) -> PriceList {
        PriceList::from_json(&format!(r#"{{"version": 1, "models": {{{models}}}}}"#)).unwrap()
    }

    /// The built-in prices and `own`, for `model` at `base_url`.
    fn prices(base_url: &str, model: &str, own: &PriceList) -> ModelPrices {
        ModelPrices {
            own: Arc::new(own.clone()),
            endpoint: Endpoint::of(base_url),
            base_url: base_url.to_owned(),
            model: model.to_owned(),
        }
    }

    fn built_in(model: &str) -> ModelPrices {
        prices("https://api.openai.com/v1", model, &PriceList::default())
    }

    const USAGE: Usage = Usage {
        input_tokens: 1_000_000,
        output_tokens: 100_000,
        cached_input_tokens: 400_000,
        cache_write_tokens: 0,
        reasoning_tokens: 50_000,
    };

    #[test]
    fn the_built_in_list_is_readable_and_no_price_is_below_a_cheaper_one() {
        let list = PriceList::from_json(TABLE).unwrap();
        assert_eq!(&list, PriceList::embedded());
        for (model, price) in &list.models {
            let input = price.input.0;
            assert!(input > Decimal::ZERO && price.output.0 > input, "{model}");
            assert!(price.cached_input.is_none_or(|cached| cached.0 <= input));
            assert!(price.cache_write.is_none_or(|stored| stored.0 > input));
            if let Some(above) = &price.above {
                assert!(
                    above.input.0 > input && above.output.0 > price.output.0,
                    "{model}"
                );
                assert!(price.up_to_input_tokens.is_some(), "{model}");
            }
        }
    }

    #[test]
    fn tokens_are_priced_by_their_kind() {
        // 600,000 at 2.50, 400,000 at 1.25 and 100,000 at 10 dollars a million.
        let openai = built_in("gpt-4o").cost("gpt-4o-2024-08-06", Some(&USAGE));
        assert_eq!(openai, Some(dollars("3.00")));
        // 300,000 at 3, 400,000 at 0.30, 300,000 at 3.75 and 100,000 at 15 dollars.
        let written = Usage {
            cache_write_tokens: 300_000,
            ..USAGE
        };
        let claude = built_in("claude-sonnet-4-6").cost("claude-sonnet-4-6", Some(&written));
        assert_eq!(claude, Some(dollars("3.645")));
        // No price is listed for what gpt-4o stores.
        assert_eq!(built_in("gpt-4o").cost("gpt-4o", Some(&written)), None);
        let own = list(r#""m": {"input": 1, "output": 2, "reasoning": 4.5, "anywhere": true}"#);
        let own = prices("http://127.0.0.1:1/v1", "m", &own);
        // 1,000,000 at 1, 50,000 at 2 and 50,000 at 4.50 dollars.
        assert_eq!(own.cost("x", Some(&USAGE)), Some(dollars("1.325")));
    }

    #[test]
    fn a_long_prompt_is_priced_by_its_tier_or_not_at_all() {
        let cost = |model: &str, input_tokens| {
            let usage = Usage {
                input_tokens,
                ..Usage::default()
            };
            built_in(model).cost(model, Some(&usage))
        };
        assert_eq!(cost("gpt-5.4", 272_000), Some(dollars("0.68")));
        assert_eq!(cost("gpt-5.4", 300_000), Some(dollars("1.5")));
        assert_eq!(cost("claude-sonnet-4-5", 200_000), Some(dollars("0.6")));
        assert_eq!(cost("claude-sonnet-4-5", 200_001), None);
    }

    #[test]
    fn a_snapshot_has_its_own_price_or_its_familys() {
        let input = |model| {
            let price = PriceList::embedded().price(Endpoint::Own(Provider::Azure), "", model);
            price.map(|price| price.input.0)
        };
        assert_eq!(input("gpt-4o-2024-05-13"), Some(dollars("5")));
        assert_eq!(input("gpt-4o-2024-08-06"), Some(dollars("2.5")));
        assert_eq!(input("gpt-4o-2099-01-01"), Some(dollars("2.5")));
        assert_eq!(input("claude-haiku-4-5-20251001"), Some(dollars("1")));
        assert_eq!(input("gpt-4o-audio-preview"), None);
        assert_eq!(input("gpt-4o-2099-01-0x"), None);
        assert_eq!(input("é-2099-01-01"), None);
        assert_eq!(input(""), None);
    }

    #[test]
    fn an_unknown_cost_is_not_zero() {
        let none = PriceList::default();
        let cost = |base_url, model, usage| prices(base_url, model, &none).cost(model, usage);
        let openai = "https://api.openai.com/v1";
        assert_eq!(cost(openai, "llama-3", Some(&USAGE)), None);
        assert_eq!(cost(openai, "gpt-4o", None), None);
        assert_eq!(cost("http://127.0.0.1:1/v1", "gpt-4o", Some(&USAGE)), None);
        assert_eq!(
            cost("https://gateway.example/v1", "gpt-4o", Some(&USAGE)),
            None
        );
    }

    #[test]
    fn own_prices_apply_to_the_servers_that_they_name() {
        let own = list(
            r#""here": {"input": "1", "output": "2", "address": "https://gateway.example/v1"},
               "anywhere": {"input": "1", "output": "2", "anywhere": true},
               "deployment": {"input": "1", "output": "2"},
               "gpt-4o": {"input": "7", "output": "8"}"#,
        );
        let input = |base_url, model, served| {
            let prices = prices(base_url, model, &own);
            prices.price(served).map(|price| price.input.0)
        };
        let (gateway, azure) = ("https://gateway.example/v1", "https://u.openai.azure.com");
        assert_eq!(input(gateway, "here", "x"), Some(Decimal::ONE));
        assert_eq!(
            input("https://gateway.example/v1/eu", "here", "x"),
            Some(Decimal::ONE)
        );
        assert_eq!(input("https://gateway.example/v11", "here", "x"), None);
        assert_eq!(
            input("http://127.0.0.1:1/v1", "anywhere", "x"),
            Some(Decimal::ONE)
        );
        assert_eq!(input("http://127.0.0.1:1/v1", "deployment", "x"), None);
        // The deployment's own name first, then what the server says that it is.
        assert_eq!(input(azure, "deployment", "gpt-4o"), Some(Decimal::ONE));
        assert_eq!(input(azure, "other", "gpt-4o"), Some(dollars("7")));
        assert_eq!(input(azure, "other", "gpt-4.1"), Some(dollars("2")));
    }

    #[test]
    fn a_broken_list_names_the_place() {
        let message = |text: &str| PriceList::from_json(text).unwrap_err().to_string();
        let of = |models: &str| message(&format!(r#"{{"version": 1, "models": {{{models}}}}}"#));
        for (line, words) in [
            (
                of(r#""m": {"input": "x", "output": 1}"#),
                "models.m.input: `x`: write an amount",
            ),
            (
                of(r#""m": {"input": -1, "output": 1}"#),
                "`-1`: it must not be negative",
            ),
            (
                of(r#""m": {"input": 1}"#),
                "models.m: missing field `output`",
            ),
            (
                of(r#""m": {"input": 1, "output": 1, "outptu": 1}"#),
                "models.m.outptu: unknown field",
            ),
            (
                of(r#""m": {"input": 1, "output": 1}, "m": {"input": 1, "output": 1}"#),
                "`m` is listed twice",
            ),
            (
                message(r#"{"version": 1, "currency": "EUR", "models": {}}"#),
                "currency: unknown variant `EUR`",
            ),
            (
                message(r#"{"version": 1, "per_tokens": 1000, "models": {}}"#),
                "prices are for 1000000 tokens",
            ),
            (message(r#"{"version": 2, "models": {}}"#), "has version 2"),
            (message(r#"{"version": 1}"#), "missing field `models`"),
            (message("input: 5"), "it is not a JSON object; write {"),
            (message("[]"), "it is not a JSON object; write {"),
            (
                of(r#""m": []"#),
                "models.m: invalid length 0, expected a price",
            ),
            (
                of(r#""m": {"input": 1, "output": 1, "address": "http://h", "anywhere": true}"#),
                "models.m: `address` names one server and `anywhere` all",
            ),
        ] {
            assert!(line.contains(words), "{line}");
            assert!(!line.contains('\n'), "{line}");
        }
    }
}
