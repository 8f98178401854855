//! The scores and totals of a run, as metrics for MLflow.

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;

use finqa_agents::llm::NodeUsage;
use finqa_core::stats::Rate;
use finqa_journal::run::Summary;

/// The metrics by their names in MLflow. Metrics without a value are left out.
pub(super) fn metrics(summary: &Summary) -> Vec<(String, f64)> {
    let (scores, critic, spent) = (&summary.scores, &summary.critic, &summary.spent);
    let mut metrics = Vec::new();
    for (rule, rate) in scores.rates.iter() {
        metrics.extend(of_rate(rule.name(), &rate));
        metrics.push((format!("{}_n", rule.name()), rate.n as f64));
    }
    if let Some(drafts) = &critic.first_drafts {
        metrics.extend(of_rate("first_draft_financial_equivalence", drafts));
    }
    let count = |count: usize| Some(count as f64);
    let (floor, latency) = (scores.rates.floor(), scores.latency.as_ref());
    let episodes = summary.episodes.as_ref();
    let reward = episodes.and_then(|it| it.reward);
    let invalid_calls = episodes.map(|it| it.invalid_calls as f64);
    let without_submission = episodes.map(|it| it.without_submission as f64);
    // The embedded analyst makes no calls, so it has no tokens and no cost to report.
    let called = spent.calls > 0;
    let used = spent.nodes.values().copied().sum::<NodeUsage>().tokens;
    let tokens = |tokens: u64| called.then_some(tokens as f64);
    let dollars = |cost: Option<Decimal>| cost.filter(|_| called)?.to_f64();
    let totals = [
        ("numerical_match_floor", floor.map(|floor| floor.rate)),
        ("mean_latency", latency.map(|seconds| seconds.mean)),
        ("min_latency", latency.map(|seconds| seconds.min)),
        ("max_latency", latency.map(|seconds| seconds.max)),
        ("p25", latency.map(|seconds| seconds.p25)),
        ("p50", latency.map(|seconds| seconds.p50)),
        ("p75", latency.map(|seconds| seconds.p75)),
        ("p95", latency.map(|seconds| seconds.p95)),
        ("p99", latency.map(|seconds| seconds.p99)),
        ("questions", count(scores.questions)),
        ("unanswered", count(summary.unanswered())),
        ("critic_sent_back", count(critic.sent_back)),
        ("critic_fixed", count(critic.fixed)),
        ("critic_broken", count(critic.broken)),
        ("critic_unchanged", count(critic.unchanged)),
        ("reward", reward.map(|reward| reward.mean)),
        ("reward_low", reward.and_then(|reward| reward.low)),
        ("reward_high", reward.and_then(|reward| reward.high)),
        ("mean_steps", episodes.and_then(|it| it.mean_steps)),
        ("invalid_calls", invalid_calls),
        ("without_submission", without_submission),
        ("rounds", count(spent.rounds)),
        ("model_calls", Some(spent.calls as f64)),
        ("requests", Some(spent.requests as f64)),
        ("input_tokens", tokens(used.input_tokens)),
        ("output_tokens", tokens(used.output_tokens)),
        ("cost_usd", dollars(spent.cost_usd)),
        ("critic_cost_usd", dollars(critic.cost.total())),
    ];
    let totals = totals.into_iter();
    metrics.extend(totals.filter_map(|(name, value)| Some((name.to_owned(), value?))));
    // Leave out NaN, because a server may read it as null, as 0 or as an error.
    metrics.retain(|(_, value)| value.is_finite());
    metrics
}

fn of_rate(name: &str, rate: &Rate) -> [(String, f64); 3] {
    [
        (name.to_owned(), rate.rate),
        (format!("{name}_low"), rate.low),
        (format!("{name}_high"), rate.high),
    ]
}
