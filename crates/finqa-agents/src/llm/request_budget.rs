//! The reservations and the spending of one model's requests.

use std::sync::Arc;

use rust_decimal::Decimal;

use super::budget::{Budget, BudgetReservation, Spending};
use super::error::{ErrorKind, ModelError};
use super::price::{Price, PriceList};
use super::protocol::{EncodedRequest, ReplyBody};
use super::retry::FailedAttempt;
use super::settings::ModelConnection;
use super::types::{Stop, Usage};

/// The prices of a model on its server, the user's own before the built-in ones, and the
/// budget that its requests spend from.
pub(super) struct RequestBudget {
    own: Arc<PriceList>,
    base_url: String,
    /// The model as the user named it.
    model: String,
    budget: Arc<Budget>,
}

/// The charge in a batch: OpenAI, Azure and Anthropic take half of the list price.
fn charged(live: Decimal, batched: bool) -> Decimal {
    match batched {
        true => live / Decimal::TWO,
        false => live,
    }
}

impl RequestBudget {
    pub(super) fn new(
        settings: &ModelConnection,
        own: Arc<PriceList>,
        budget: Arc<Budget>,
    ) -> Self {
        Self {
            own,
            base_url: settings.base_url.clone(),
            model: settings.model.clone(),
            budget,
        }
    }

    /// True if the price that is expected before the first reply is known.
    pub(super) fn has_price(&self) -> bool {
        self.price(&self.model).is_some()
    }

    /// The price of a reply from the model that the server calls `served`: on Azure that is
    /// the model behind the deployment, whose name the user's list may use.
    fn price(&self, served: &str) -> Option<&Price> {
        let own = |model| self.own.price(&self.base_url, model);
        own(&self.model)
            .or_else(|| own(served))
            .or_else(|| PriceList::embedded().price(&self.base_url, served))
    }

    /// The cost of a reply from the model `served`, if known.
    pub(super) fn cost(
        &self,
        served: &str,
        usage: Option<&Usage>,
        batched: bool,
    ) -> Option<Decimal> {
        Some(charged(self.price(served)?.of(usage?)?, batched))
    }

    /// The most that a request may spend, where the run has a limit.
    pub(super) fn upper_bound(
        &self,
        request: &EncodedRequest,
        batched: bool,
    ) -> Result<Option<Spending>, FailedAttempt> {
        if !self.budget.counts_requests() {
            return Ok(None);
        }
        let refused = |message: &str| {
            let error = ModelError::new(ErrorKind::Settings, message);
            FailedAttempt::permanent(error)
        };
        let written = request.max_output_tokens.map(u64::from);
        let written = written.ok_or_else(|| refused("a run with a limit needs an output limit"))?;
        let read = request.most_input_tokens();
        let price = self.price(&self.model);
        let bound = price.and_then(|price| price.bound(read, written));
        let upper = Spending {
            dollars: bound.map(|dollars| charged(dollars, batched)),
            tokens: read.saturating_add(written),
        };
        if self.budget.limits().cost.is_some() && upper.dollars.is_none() {
            return Err(refused(&format!(
                "no price is listed for a prompt of up to {read} tokens, so that --max-cost cannot count it"
            )));
        }
        Ok(Some(upper))
    }

    /// Reserves the upper bound of a request, where the run has a limit.
    pub(super) async fn reserve(
        &self,
        request: &EncodedRequest,
        stop: &Stop,
    ) -> Result<Option<BudgetReservation>, FailedAttempt> {
        let Some(upper) = self.upper_bound(request, false)? else {
            return Ok(None);
        };
        let reservation = self.budget.reserve(upper, stop).await;
        reservation.map(Some).ok_or_else(FailedAttempt::cancelled)
    }

    /// Counts what a request used. A lost one, and an answer that does not say what it used,
    /// stay at the upper bound.
    pub(super) fn record_actual(
        &self,
        reservation: BudgetReservation,
        answer: Option<&ReplyBody>,
        lost: bool,
        batched: bool,
    ) {
        let used = match answer {
            Some(ReplyBody { reply, .. }) => reply.usage.map(|usage| {
                let served = match reply.model.as_str() {
                    "" => &self.model,
                    served => served,
                };
                Spending {
                    dollars: self
                        .cost(served, Some(&usage), batched)
                        .or(reservation.upper.dollars),
                    tokens: usage.total(),
                }
            }),
            None => (!lost).then_some(Spending::NONE),
        };
        if let Some(used) = used {
            reservation.record_actual(used);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_price_is_first_and_the_served_model_counts_after_the_named_one() {
        let own = r#"{"version": 1, "models": {
            "deployment": {"input": "1", "output": "2"}, "gpt-4o": {"input": "7", "output": "8"}}}"#;
        let cost = |model: &str, served: &str, batched| {
            let budget = RequestBudget {
                own: Arc::new(PriceList::from_json(own).unwrap()),
                base_url: "https://u.openai.azure.com".into(),
                model: model.into(),
                budget: Arc::default(),
            };
            let usage = Usage {
                input_tokens: 1_000_000,
                ..Usage::default()
            };
            assert_eq!(budget.cost(served, None, batched), None);
            let cost = budget.cost(served, Some(&usage), batched);
            cost.map(|dollars| dollars.to_string().parse::<f64>().unwrap())
        };
        assert_eq!(cost("deployment", "gpt-4o", false), Some(1.0));
        assert_eq!(cost("other", "gpt-4o", false), Some(7.0));
        assert_eq!(cost("other", "gpt-4.1", false), Some(2.0));
        assert_eq!(cost("other", "gpt-4.1", true), Some(1.0));
        assert_eq!(cost("other", "unheard-of", false), None);
    }
}
