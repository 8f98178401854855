//! The amounts that requests of one model reserve and spend. The user's own prices take precedence
//! over the built-in ones.

use std::sync::atomic::Ordering;

use rust_decimal::Decimal;

use super::HttpModel;
use crate::llm::budget::BudgetReservation;
use crate::llm::error::{ErrorKind, ModelError};
use crate::llm::price::{Price, PriceList};
use crate::llm::protocol::EncodedRequest;
use crate::llm::retry::cancelled;
use crate::llm::types::{ChatReply, Stop, Usage};

/// The price in a batch. OpenAI, Azure and Anthropic charge half of the list price.
fn charged(live: Decimal, batched: bool) -> Decimal {
    if batched { live / Decimal::TWO } else { live }
}

impl HttpModel {
    /// True if a price is known before the first reply, by the model's name in the settings.
    pub fn has_price(&self) -> bool {
        self.price(&self.settings.model).is_some()
    }

    /// The price of a reply from the model that the server calls `served`; `None` if no list has
    /// it. On Azure, this is the model behind the deployment, and the user's list may have a price
    /// under either name. The user's list is used before the built-in one.
    fn price(&self, served: &str) -> Option<&Price> {
        let base_url = &self.settings.base_url;
        let own = |model| self.prices.price(base_url, model);
        own(&self.settings.model)
            .or_else(|| own(served))
            .or_else(|| PriceList::embedded().price(base_url, served))
    }

    /// The cost of a reply from the model `served`; `None` if it is unknown.
    pub(super) fn price_of(
        &self,
        served: &str,
        usage: Option<&Usage>,
        batched: bool,
    ) -> Option<Decimal> {
        Some(charged(self.price(served)?.of(usage?)?, batched))
    }

    /// Maximum cost of a request in dollars; `None` if the run has no limit.
    ///
    /// # Errors
    /// If the run has a limit, but the request has no output limit or no price is known.
    pub(super) fn upper_bound(
        &self,
        request: &EncodedRequest,
        batched: bool,
    ) -> Result<Option<Decimal>, Box<ModelError>> {
        if !self.budget.counts_requests() {
            return Ok(None);
        }
        let read = request.most_input_tokens();
        let price = self.price(&self.settings.model);
        let most_written = self.most_written.load(Ordering::Relaxed);
        let bound = request
            .max_output_tokens
            .and_then(|written| price?.bound(read, most_written.max(written.into())));
        let Some(dollars) = bound else {
            let message = format!(
                "--max-cost needs an output limit, and the price of a prompt of up to {read} tokens"
            );
            return Err(ModelError::new(ErrorKind::Settings, message).into());
        };
        Ok(Some(charged(dollars, batched)))
    }

    /// Reserves the upper bound of a request; `None` if the run has no limit.
    pub(super) async fn reserve(
        &self,
        request: &EncodedRequest,
        stop: &Stop,
    ) -> Result<Option<BudgetReservation>, Box<ModelError>> {
        let Some(upper) = self.upper_bound(request, false)? else {
            return Ok(None);
        };
        let reservation = self.budget.reserve(upper, stop).await;
        Ok(Some(reservation.ok_or_else(cancelled)?))
    }

    /// Replaces the reservation of a request by its actual cost, which is 0 for a request that the
    /// server refused. A lost request and an answer of unknown cost stay at the upper bound. An
    /// answer of which only a lower bound of the cost is known also stays at the upper bound,
    /// unless it costs more.
    ///
    /// An answer that is longer than the request allowed raises the upper bounds of later requests.
    pub(super) fn settle(
        &self,
        request: &EncodedRequest,
        reservation: Option<BudgetReservation>,
        answer: Option<&ChatReply>,
        lost: bool,
        batched: bool,
    ) {
        let dollars = match answer {
            Some(reply) => self.price_of(&reply.model, reply.usage.as_ref(), batched),
            None => (!lost).then_some(Decimal::ZERO),
        };
        let written = answer
            .and_then(|reply| reply.usage)
            .map(|it| it.output_tokens);
        if let Some(written) =
            written.filter(|it| *it > request.max_output_tokens.map_or(u64::MAX, u64::from))
        {
            // Relaxed, because no other data depend on the number.
            self.most_written.fetch_max(written, Ordering::Relaxed);
        }
        if let Some((reservation, dollars)) = reservation.zip(dollars) {
            let is_least = answer.is_some_and(ChatReply::costs_at_least);
            let least = if is_least {
                reservation.upper()
            } else {
                Decimal::ZERO
            };
            reservation.settle(dollars.max(least));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::value::RawValue;

    use super::*;
    use crate::llm::budget::{Budget, BudgetLimits};
    use crate::llm::settings::{ModelConnection, ModelSettings};

    #[test]
    fn the_users_price_is_first_and_the_served_model_counts_after_the_named_one() {
        let own = r#"{"version": 1, "models": {
            "deployment": {"input": "1", "output": "2"}, "gpt-4o": {"input": "7", "output": "8"}}}"#;
        let named = |model: &str| {
            let settings = ModelSettings {
                name: model.to_owned(),
                base_url: Some("http://127.0.0.1:9/v1".to_owned()),
                ..ModelSettings::default()
            };
            let connection = ModelConnection::resolve(&|_| None, &settings).unwrap();
            let prices = Arc::new(PriceList::from_json(own).unwrap());
            let mut model = HttpModel::new(connection).unwrap();
            model.prices = prices;
            model
        };
        let cost = |model: &str, served: &str, batched| {
            let model = named(model);
            let usage = Usage {
                input_tokens: 1_000_000,
                ..Usage::default()
            };
            assert_eq!(model.price_of(served, None, batched), None);
            let cost = model.price_of(served, Some(&usage), batched);
            cost.map(|dollars| dollars.to_string().parse::<f64>().unwrap())
        };
        assert_eq!(cost("deployment", "gpt-4o", false), Some(1.0));
        assert_eq!(cost("other", "gpt-4o", false), Some(7.0));
        assert_eq!(cost("other", "gpt-4.1", false), Some(2.0));
        assert_eq!(cost("other", "gpt-4.1", true), Some(1.0));
        assert_eq!(cost("other", "unheard-of", false), None);
        assert!(named("deployment").has_price() && named("gpt-4.1").has_price());
        assert!(!named("other").has_price());

        // A request has a bound only if a budget counts it; in a batch, the bound has half the
        // price.
        let bound = |model: &str, written, batched| {
            let mut model = named(model);
            let json = RawValue::from_string("1".repeat(976)).unwrap().into();
            let request = EncodedRequest {
                json,
                max_output_tokens: written,
            };
            assert_eq!(model.upper_bound(&request, batched).unwrap(), None);
            model.budget = Arc::new(Budget::new(BudgetLimits {
                cost: Some(Decimal::ONE),
                time: None,
            }));
            model
                .upper_bound(&request, batched)
                .map_err(|error| error.kind)
        };
        let dollars = |text: &str| Ok(Some(text.parse().unwrap()));
        // 976 bytes and a template of 1,024 tokens at 1 dollar per million, 1,000 tokens at 2
        // dollars.
        assert_eq!(bound("deployment", Some(1000), false), dollars("0.004"));
        assert_eq!(bound("deployment", Some(1000), true), dollars("0.002"));
        for (model, written) in [("deployment", None), ("other", Some(1000))] {
            assert_eq!(bound(model, written, false), Err(ErrorKind::Settings));
        }
    }

    /// The output limit of a reply does not limit its hidden reasoning.
    #[test]
    fn after_a_reply_above_its_limit_requests_are_bounded_by_it_and_doubtful_ones_stay_at_the_bound()
     {
        let settings = ModelSettings {
            name: "gpt-4o".to_owned(),
            base_url: Some("http://127.0.0.1:9/v1".to_owned()),
            ..ModelSettings::default()
        };
        let connection = ModelConnection::resolve(&|_| None, &settings).unwrap();
        let mut model = HttpModel::new(connection).unwrap();
        model.budget = Arc::new(Budget::new(BudgetLimits {
            cost: Some(Decimal::ONE),
            time: None,
        }));
        let json = RawValue::from_string("1".repeat(976)).unwrap().into();
        let request = EncodedRequest {
            json,
            max_output_tokens: Some(1000),
        };
        let upper = || model.upper_bound(&request, false).unwrap().unwrap();
        let settle = |output_tokens, is_usage_doubtful| {
            let usage = Usage {
                output_tokens,
                ..Usage::default()
            };
            let reply = ChatReply {
                usage: Some(usage),
                is_usage_doubtful,
                model: "gpt-4o".to_owned(),
                ..ChatReply::text("42")
            };
            let before = model.budget.spent_line();
            let reservation = model.budget.try_reserve(upper()).ok();
            model.settle(&request, reservation, Some(&reply), false, false);
            (before, model.budget.spent_line())
        };
        let spent = |dollars: &str| Some(format!("${dollars} spent"));
        // 2,000 tokens read at 2.50 dollars per million, and 1,000 written at 10 dollars.
        assert_eq!(upper(), "0.015".parse().unwrap());
        assert_eq!(settle(1000, false), (spent("0.0000"), spent("0.0100")));
        assert_eq!(upper(), "0.015".parse().unwrap());
        assert_eq!(settle(1000, true).1, spent("0.0250"));
        assert_eq!(settle(5000, false).1, spent("0.0750"));
        assert_eq!(upper(), "0.055".parse().unwrap());
        assert_eq!(settle(6000, true).1, spent("0.1350"));
    }
}
