//! Metrics: how a run develops, step by answered question, and its totals. Both are
//! functions of the journal's rows in the order of their stamps, so that they are the
//! same whenever they are computed.

use std::collections::BTreeMap;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use crate::run::Summary;
use crate::run::{Row, RunMeta, Stamp};
use finqa_agents::llm::Cost;
use finqa_core::stats::Rate;

/// One value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MetricPoint {
    pub key: String,
    /// Always finite.
    pub value: f64,
    /// Milliseconds since 1970 UTC.
    pub at: i64,
    /// Questions answered so far.
    pub step: i64,
}

/// The part of a row that its metrics are computed from.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowMetrics {
    stamp: Option<Stamp>,
    marks: [Option<bool>; RULES.len()],
    latency: f64,
    cost: Option<Decimal>,
    calls: usize,
    tokens: (u64, u64),
    reward: Option<f64>,
}

/// Rules that judge a question at once; those of programs need the whole run.
const RULES: [&str; 4] = [
    "exact_match", "numerical_match", "execution_accuracy", "financial_equivalence",
];

impl From<&Row> for RowMetrics {
    fn from(row: &Row) -> Self {
        let scores = &row.scores;
        let equivalent = scores.financial_equivalence.as_ref();
        Self {
            stamp: row.stamp,
            marks: [
                scores.exact_match,
                scores.numerical_match,
                scores.execution_accuracy,
                equivalent.map(|verdict| verdict.accepted),
            ],
            latency: row.latency.unwrap_or_default(),
            cost: row.cost,
            calls: row.solution.calls.len(),
            tokens: row.solution.tokens(),
            reward: row
                .solution
                .episode
                .as_ref()
                .and_then(|episode| episode.reward),
        }
    }
}

/// A run as it develops: takes samples in any order, gives points in the order
/// of answering.
#[derive(Clone, Debug, Default)]
pub(crate) struct MetricSeries {
    /// Samples whose predecessors are not there yet, by their step.
    waiting: BTreeMap<u64, RowMetrics>,
    /// The time given to rows of earlier versions, which have no timestamp.
    fallback_time: i64,
    step: u64,
    at: i64,
    hits: [(u64, u64); RULES.len()],
    seconds: f64,
    cost: Cost,
    calls: usize,
    tokens: (u64, u64),
    /// Rewards, and how many.
    rewards: (f64, u64),
    /// The last step whose points were made.
    logged: u64,
}

impl MetricSeries {
    /// A run of which nothing is known yet.
    pub(crate) fn new(meta: &RunMeta) -> Self {
        let fallback_time = start_millis(meta);
        Self {
            fallback_time,
            at: fallback_time,
            ..Self::default()
        }
    }

    /// Takes a row's sample; the points that it makes possible.
    pub(crate) fn add(&mut self, sample: RowMetrics) -> Vec<MetricPoint> {
        // Rows without a stamp come first and in order.
        let ordinal = sample.stamp.map_or(self.step + 1, |stamp| stamp.ordinal);
        self.waiting.insert(ordinal, sample);
        let mut points = Vec::new();
        while let Some(sample) = self.waiting.remove(&(self.step + 1)) {
            self.take(&sample);
            if self.step.is_multiple_of(stride(self.step)) {
                points.extend(self.points());
            }
        }
        points
    }

    /// The points of the last step, if it has none yet.
    pub(crate) fn last(&mut self) -> Vec<MetricPoint> {
        if self.logged == self.step {
            return Vec::new();
        }
        self.points()
    }

    /// Questions answered so far, and when the last of them was.
    pub(crate) fn place(&self) -> (i64, i64) {
        (i64::try_from(self.step).unwrap_or(i64::MAX), self.at)
    }

    fn take(&mut self, sample: &RowMetrics) {
        self.step += 1;
        self.at = self
            .at
            .max(sample.stamp.map_or(self.fallback_time, |stamp| stamp.at));
        for ((hits, n), mark) in self.hits.iter_mut().zip(sample.marks) {
            *hits += u64::from(mark == Some(true));
            *n += u64::from(mark.is_some());
        }
        self.seconds += sample.latency;
        self.cost += Cost::of_request(sample.cost);
        self.calls += sample.calls;
        self.tokens.0 += sample.tokens.0;
        self.tokens.1 += sample.tokens.1;
        if let Some(reward) = sample.reward {
            self.rewards = (self.rewards.0 + reward, self.rewards.1 + 1);
        }
    }

    fn points(&mut self) -> Vec<MetricPoint> {
        self.logged = self.step;
        let place = self.place();
        let mut points = StepPoints::at(place);
        for (name, (hits, n)) in RULES.iter().zip(self.hits) {
            if n > 0 {
                points.add(name, number(hits) / number(n));
            }
        }
        if self.rewards.1 > 0 {
            points.add("reward", self.rewards.0 / number(self.rewards.1));
        }
        points.add("mean_latency", self.seconds / number(self.step));
        // The embedded analyst makes no calls, and spends neither.
        if self.calls > 0 {
            points.add("input_tokens", number(self.tokens.0));
            points.add("output_tokens", number(self.tokens.1));
            points.add_money("cost_usd", self.cost.total());
        }
        points.0
    }
}

/// The distance between steps with points: 1 for the first thousand, then 10, from 10,000
/// on 100. It depends only on the step, so that a resumed run uses the same steps.
fn stride(step: u64) -> u64 {
    10_u64.pow(step.max(1).ilog10().saturating_sub(2))
}

/// A run's totals, at its last step, without those that [`MetricSeries`] has logged.
pub(crate) fn totals(summary: &Summary, place: (i64, i64)) -> Vec<MetricPoint> {
    let mut points = StepPoints::at(place);
    for (rule, rate) in summary.scores.rates.iter() {
        let name = rule.name();
        if !RULES.contains(&name) {
            points.add(name, rate.rate);
        }
        points.interval(name, &rate);
        points.add(&format!("{name}_n"), count(rate.n));
    }
    if let Some(floor) = summary.scores.rates.floor() {
        points.add("numerical_match_floor", floor.rate);
    }
    if let Some(latency) = summary.scores.latency {
        for (name, seconds) in [
            ("min_latency", latency.min),
            ("max_latency", latency.max),
            ("p25", latency.p25),
            ("p50", latency.p50),
            ("p75", latency.p75),
            ("p95", latency.p95),
            ("p99", latency.p99),
        ] {
            points.add(name, seconds);
        }
    }
    if let Some(episodes) = &summary.episodes {
        if let Some((low, high)) = episodes
            .reward
            .and_then(|reward| reward.low.zip(reward.high))
        {
            points.add("reward_low", low);
            points.add("reward_high", high);
        }
        if let Some(steps) = episodes.mean_steps {
            points.add("mean_steps", steps);
        }
        points.add("invalid_calls", count(episodes.invalid_calls));
        points.add("without_submission", count(episodes.without_submission));
    }
    let critic = &summary.critic;
    for (name, number) in [
        ("questions", summary.scores.questions),
        ("unanswered", summary.unanswered()),
        ("rounds", summary.spent.rounds),
        ("critic_sent_back", critic.sent_back),
        ("critic_fixed", critic.fixed),
        ("critic_broken", critic.broken),
        ("critic_unchanged", critic.unchanged),
    ] {
        points.add(name, count(number));
    }
    points.add("model_calls", number(summary.spent.calls));
    points.add("requests", number(summary.spent.requests));
    if let Some(drafts) = &critic.first_drafts {
        points.add("first_draft_financial_equivalence", drafts.rate);
        points.interval("first_draft_financial_equivalence", drafts);
    }
    if summary.spent.calls > 0 {
        points.add_money("critic_cost_usd", critic.cost.total());
    }
    points.0
}

/// The start of a run, in milliseconds since 1970 UTC.
pub(super) fn start_millis(meta: &RunMeta) -> i64 {
    let time = meta.started.parse::<jiff::Timestamp>();
    time.map_or(0, jiff::Timestamp::as_millisecond)
}

struct StepPoints(Vec<MetricPoint>, (i64, i64));

impl StepPoints {
    fn at(place: (i64, i64)) -> Self {
        Self(Vec::new(), place)
    }

    fn add(&mut self, key: &str, value: f64) {
        let (step, at) = self.1;
        // A server may take NaN for null, for 0 or for an error: none is true.
        if value.is_finite() {
            self.0.push(MetricPoint {
                key: key.to_owned(),
                value,
                at,
                step,
            });
        }
    }

    fn add_money(&mut self, key: &str, dollars: Option<Decimal>) {
        if let Some(value) = dollars.and_then(|dollars| dollars.to_f64()) {
            self.add(key, value);
        }
    }

    fn interval(&mut self, name: &str, rate: &Rate) {
        self.add(&format!("{name}_low"), rate.low);
        self.add(&format!("{name}_high"), rate.high);
    }
}

fn number(count: u64) -> f64 {
    count as f64
}

fn count(count: usize) -> f64 {
    number(count as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(ordinal: u64, right: bool, latency: f64) -> RowMetrics {
        RowMetrics {
            stamp: Some(Stamp {
                ordinal,
                at: 1000 + i64::try_from(ordinal).unwrap(),
            }),
            marks: [Some(right), None, None, None],
            latency,
            ..RowMetrics::default()
        }
    }

    fn all(
        series: &mut MetricSeries,
        samples: impl IntoIterator<Item = RowMetrics>,
    ) -> Vec<MetricPoint> {
        let mut points: Vec<_> = samples.into_iter().flat_map(|s| series.add(s)).collect();
        points.extend(series.last());
        points
    }

    #[test]
    fn the_order_of_arrival_changes_nothing() {
        let samples = || (1..=40).map(|n| sample(n, n % 3 == 0, 0.1 * n as f64));
        let straight = all(&mut MetricSeries::default(), samples());
        let mut crossed: Vec<_> = samples().collect();
        crossed.reverse();
        assert_eq!(all(&mut MetricSeries::default(), crossed), straight);
        assert_eq!(straight.len(), 80);
        let third = straight
            .iter()
            .find(|point| point.key == "exact_match" && point.step == 3)
            .unwrap();
        assert_eq!((third.value, third.at), (1.0 / 3.0, 1003));
    }

    #[test]
    fn a_resumed_run_logs_the_same_points_as_an_uninterrupted_one() {
        let through = all(
            &mut MetricSeries::default(),
            (1..=30).map(|n| sample(n, true, 1.0)),
        );
        let mut first = MetricSeries::default();
        let mut logged = all(&mut first, (1..=12).map(|n| sample(n, true, 1.0)));
        // The second process reads the earlier rows again.
        let again = all(
            &mut MetricSeries::default(),
            (1..=30).map(|n| sample(n, true, 1.0)),
        );
        logged.extend(again.into_iter().filter(|point| point.step > 12));
        assert_eq!(logged, through);
    }

    #[test]
    fn what_is_not_a_number_is_not_logged() {
        let points = all(
            &mut MetricSeries::default(),
            [sample(1, true, f64::NAN), sample(2, true, f64::INFINITY)],
        );
        assert!(points.iter().all(|point| point.key == "exact_match"));
        assert_eq!(points.len(), 2);
    }

    #[test]
    fn steps_are_thinned_and_the_last_one_is_logged() {
        assert_eq!(
            [1, 999, 1000, 9_999, 10_000, 100_000].map(stride),
            [1, 1, 10, 10, 100, 1000]
        );
        let points = all(
            &mut MetricSeries::default(),
            (1..=2005).map(|n| sample(n, true, 1.0)),
        );
        let steps: Vec<_> = points
            .iter()
            .filter(|point| point.key == "exact_match")
            .map(|point| point.step)
            .collect();
        assert_eq!(steps.len(), 999 + 101 + 1);
        assert_eq!(steps.last(), Some(&2005));
    }

    #[test]
    fn rows_of_an_earlier_version_come_before_all_others() {
        let old = |latency| RowMetrics {
            stamp: None,
            ..sample(0, true, latency)
        };
        let mut series = MetricSeries {
            fallback_time: 500,
            ..MetricSeries::default()
        };
        let points = all(&mut series, [old(1.0), old(3.0), sample(3, true, 5.0)]);
        let latencies: Vec<_> = points
            .iter()
            .filter(|point| point.key == "mean_latency")
            .map(|point| (point.step, point.at, point.value))
            .collect();
        assert_eq!(latencies, [(1, 500, 1.0), (2, 500, 2.0), (3, 1003, 3.0)]);
    }
}
