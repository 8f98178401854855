//! What episodes come to.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;

use super::record::{Ending, Identity, Played, Spent};
use crate::env_data::question_key;
use crate::score::files::filename_of;
use finqa_core::stats::{LatencySummary, Rate};

/// The mean reward over the episodes that have one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RewardSummary {
    /// Episodes with a reward: all but the failed ones.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// Lower end of the 95 % interval, clustered by report page or company;
    /// absent if a reward is neither 0 nor 1.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// What the episodes of a file come to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlaySummary {
    /// The version of this layout.
    pub format: u32,
    /// Who played, where.
    pub player: Arc<Identity>,
    /// Whether every question that was asked for has an episode.
    pub complete: bool,
    /// Questions with an episode, failed ones among them.
    pub episodes: usize,
    /// The reward; `null` if no episode has one.
    pub reward: Option<RewardSummary>,
    /// Episodes by how they ended.
    pub outcomes: BTreeMap<&'static str, usize>,
    /// Episodes without a submission, failed ones not among them.
    pub without_submission: usize,
    /// Episodes without a reward, because the environment or the provider failed.
    pub failed: usize,
    /// Tool calls an episode, failed ones left out.
    pub mean_steps: Option<f64>,
    /// Calls that reached no tool.
    pub invalid_calls: u64,
    /// Replies without a tool call.
    pub text_replies: u64,
    /// Tool calls that were written as text.
    pub calls_from_text: u64,
    /// Answers taken from a reply without a tool call.
    pub answers_from_text: usize,
    /// What all model calls took, those of episodes played again too.
    pub spent: Spent,
    /// Seconds an episode, failed ones left out.
    pub latency: Option<LatencySummary>,
}

/// The last episode of each question, in the order in which the questions were
/// first played: a failed one gives way to the one that was played again.
#[must_use]
pub fn latest(episodes: &[Arc<Played>]) -> Vec<Arc<Played>> {
    let mut places: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let mut last: Vec<Arc<Played>> = Vec::new();
    for episode in episodes {
        let key = (
            episode.question_id.as_str(),
            episode.company.as_str(),
            episode.question.as_str(),
        );
        match places.get(&key).and_then(|at| last.get_mut(*at)) {
            Some(place) => *place = Arc::clone(episode),
            None => {
                places.insert(key, last.len());
                last.push(Arc::clone(episode));
            }
        }
    }
    last
}

impl PlaySummary {
    /// How many questions need not be played again.
    #[must_use]
    pub fn done(lines: &[Arc<Played>]) -> usize {
        let ended = latest(lines);
        ended.iter().filter(|e| e.outcome != Ending::Failed).count()
    }

    /// Sums up every line of a file.
    #[must_use]
    pub fn of(player: Arc<Identity>, complete: bool, lines: &[Arc<Played>]) -> Self {
        let episodes = latest(lines);
        let mut outcomes = BTreeMap::new();
        for episode in &episodes {
            *outcomes.entry(episode.outcome.name()).or_default() += 1;
        }
        let ended: Vec<&Arc<Played>> = episodes
            .iter()
            .filter(|episode| episode.outcome != Ending::Failed)
            .collect();
        let submitted = ended.iter().filter(|e| e.outcome == Ending::Submitted);
        let mut spent = Spent {
            cost_usd: Some(rust_decimal::Decimal::ZERO),
            ..Spent::default()
        };
        for line in lines {
            spent.add(&line.spent);
        }
        let sum = |of: fn(&Played) -> u32| episodes.iter().map(|e| u64::from(of(e))).sum();
        Self {
            format: super::FORMAT,
            player,
            complete,
            episodes: episodes.len(),
            reward: reward(&ended),
            without_submission: ended.len() - submitted.count(),
            failed: episodes.len() - ended.len(),
            outcomes,
            mean_steps: mean(ended.iter().map(|e| f64::from(e.step_count))),
            invalid_calls: sum(|e| e.invalid_calls),
            text_replies: sum(|e| e.text_replies),
            calls_from_text: sum(|e| e.calls_from_text),
            answers_from_text: episodes.iter().filter(|e| e.answer_from_text).count(),
            spent,
            latency: LatencySummary::of(ended.iter().map(|e| e.seconds)),
        }
    }
}

fn reward(ended: &[&Arc<Played>]) -> Option<RewardSummary> {
    let rewards = || ended.iter().filter_map(|episode| episode.reward);
    let plain = rewards().all(|reward| [0.0, 1.0].iter().any(|x| reward.total_cmp(x).is_eq()));
    let rate = plain.then(|| {
        Rate::of(ended.iter().filter_map(|episode| {
            let right = episode.reward? > 0.5;
            Some((cluster(episode), &episode.question_id, right))
        }))
    });
    let rate = rate.flatten();
    Some(RewardSummary {
        n: rewards().count(),
        mean: mean(rewards())?,
        low: rate.map(|rate| rate.low),
        high: rate.map(|rate| rate.high),
    })
}

/// Questions about one page, or else one company, are not independent.
fn cluster(episode: &Played) -> &str {
    let id = episode.question_id.as_str();
    match question_key(id) {
        Some(key) => filename_of(id.get(..key.id.len()).unwrap_or(id)),
        None => &episode.company,
    }
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0.0);
    for value in values {
        sum += value;
        n += 1.0;
    }
    (n > 0.0).then(|| sum / n)
}
