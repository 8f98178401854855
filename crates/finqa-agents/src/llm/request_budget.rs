//! The reservations and the spending of one model's requests.

use std::sync::Arc;

use rust_decimal::Decimal;

use super::budget::{Budget, BudgetReservation, Spending};
use super::error::{ErrorKind, ModelError};
use super::price::PriceTier;
use super::price_list::{ModelPrices, PriceList};
use super::protocol::{EncodedRequest, ReplyBody};
use super::retry::FailedAttempt;
use super::settings::ModelConnection;
use super::types::{Stop, Usage};

/// The prices of a model, and the budget that its requests spend from.
pub(super) struct RequestBudget {
    prices: ModelPrices,
    budget: Arc<Budget>,
    /// The model as the user named it.
    model: String,
}

impl RequestBudget {
    pub(super) fn new(
        settings: &ModelConnection,
        own: Arc<PriceList>,
        budget: Arc<Budget>,
    ) -> Self {
        Self {
            prices: ModelPrices::new(settings, own),
            budget,
            model: settings.model.clone(),
        }
    }

    pub(super) fn has_price(&self) -> bool {
        self.prices.expected().is_some()
    }

    /// The cost of a reply from the model `served`, if known.
    pub(super) fn cost(
        &self,
        served: &str,
        usage: Option<&Usage>,
        tier: PriceTier,
    ) -> Option<Decimal> {
        let cost = self.prices.cost(served, usage)?;
        Some(tier.of(cost))
    }

    /// The most that a request may spend, where the run has a limit.
    pub(super) fn upper_bound(
        &self,
        request: &EncodedRequest,
        tier: PriceTier,
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
        let price = self.prices.expected();
        let bound = price.and_then(|price| price.bound(read, written));
        let upper = Spending {
            dollars: bound.map(|dollars| tier.of(dollars)),
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
        let Some(upper) = self.upper_bound(request, PriceTier::Live)? else {
            return Ok(None);
        };
        let reservation = self.budget.reserve(upper, stop).await;
        let stopped = || FailedAttempt::permanent(ModelError::new(ErrorKind::Cancelled, "stopped"));
        reservation.map(Some).ok_or_else(stopped)
    }

    /// Counts what a request used. A lost one, and an answer that does not say what it used,
    /// stay at the upper bound.
    pub(super) fn record_actual(
        &self,
        reservation: BudgetReservation,
        answer: Option<&ReplyBody>,
        lost: bool,
        tier: PriceTier,
    ) {
        let used = match answer {
            Some(answer) => answer.usage.map(|usage| {
                let served = answer.model.as_deref().unwrap_or(&self.model);
                Spending {
                    dollars: self
                        .cost(served, Some(&usage), tier)
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
