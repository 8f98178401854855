//! Metrics: the totals of a run.

use rust_decimal::prelude::ToPrimitive;

use crate::run::Summary;
use finqa_core::stats::Rate;

/// The totals by their names in MLflow.
#[derive(Debug, Default)]
pub(super) struct Metrics(pub(super) Vec<(String, f64)>);

impl Metrics {
    pub(super) fn of(summary: &Summary) -> Self {
        let mut metrics = Self::default();
        metrics.scores(summary);
        metrics.critic(summary);
        metrics.episodes(summary);
        metrics.usage(summary);
        metrics
    }

    fn scores(&mut self, summary: &Summary) {
        for (rule, rate) in summary.scores.rates.iter() {
            self.rate(rule.name(), &rate);
            self.count(&format!("{}_n", rule.name()), rate.n);
        }
        if let Some(floor) = summary.scores.rates.floor() {
            self.add("numerical_match_floor", floor.rate);
        }
        if let Some(latency) = summary.scores.latency {
            for (name, seconds) in [
                ("mean_latency", latency.mean),
                ("min_latency", latency.min),
                ("max_latency", latency.max),
                ("p25", latency.p25),
                ("p50", latency.p50),
                ("p75", latency.p75),
                ("p95", latency.p95),
                ("p99", latency.p99),
            ] {
                self.add(name, seconds);
            }
        }
        self.count("questions", summary.scores.questions);
        self.count("unanswered", summary.unanswered());
    }

    fn critic(&mut self, summary: &Summary) {
        let critic = &summary.critic;
        self.count("critic_sent_back", critic.sent_back);
        self.count("critic_fixed", critic.fixed);
        self.count("critic_broken", critic.broken);
        self.count("critic_unchanged", critic.unchanged);
        if let Some(drafts) = &critic.first_drafts {
            self.rate("first_draft_financial_equivalence", drafts);
        }
    }

    fn episodes(&mut self, summary: &Summary) {
        let Some(episodes) = &summary.episodes else {
            return;
        };
        if let Some(reward) = episodes.reward {
            self.add("reward", reward.mean);
            if let Some((low, high)) = reward.low.zip(reward.high) {
                self.add("reward_low", low);
                self.add("reward_high", high);
            }
        }
        if let Some(steps) = episodes.mean_steps {
            self.add("mean_steps", steps);
        }
        self.count("invalid_calls", episodes.invalid_calls);
        self.count("without_submission", episodes.without_submission);
    }

    fn usage(&mut self, summary: &Summary) {
        let spent = &summary.spent;
        self.count("rounds", spent.rounds);
        self.number("model_calls", spent.calls);
        self.number("requests", spent.requests);
        // The embedded analyst makes no calls, and spends nothing.
        if spent.calls > 0 {
            let used = spent.nodes.total();
            self.number("input_tokens", used.tokens.input_tokens);
            self.number("output_tokens", used.tokens.output_tokens);
            for (name, dollars) in [
                ("cost_usd", spent.cost_usd),
                ("critic_cost_usd", summary.critic.cost.total()),
            ] {
                if let Some(value) = dollars.and_then(|dollars| dollars.to_f64()) {
                    self.add(name, value);
                }
            }
        }
    }

    fn add(&mut self, name: &str, value: f64) {
        // A server may take NaN for null, for 0 or for an error: none is true.
        if value.is_finite() {
            self.0.push((name.to_owned(), value));
        }
    }

    fn rate(&mut self, name: &str, rate: &Rate) {
        self.add(name, rate.rate);
        self.add(&format!("{name}_low"), rate.low);
        self.add(&format!("{name}_high"), rate.high);
    }

    fn number(&mut self, name: &str, number: u64) {
        self.add(name, number as f64);
    }

    fn count(&mut self, name: &str, count: usize) {
        self.number(name, count as u64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_number_is_not_logged() {
        let mut metrics = Metrics::default();
        metrics.add("latency", f64::NAN);
        metrics.add("reward", f64::INFINITY);
        metrics.add("rounds", 1.0);
        assert_eq!(metrics.0, [("rounds".to_owned(), 1.0)]);
    }
}
