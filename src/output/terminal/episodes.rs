//! Episodes that an agent plays: progress on stderr, and what they come to.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::play::{Ending, PlayEvent, PlaySummary, Played};
use finqa_core::text::single_spaced;

use super::left_out::LeftOut;
use super::look::Look;
use super::progress::{ProgressOptions, Voice};
use super::retries::{self, Retries};
use super::table::align;

/// Seconds between two plain progress lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// Shows episodes on stderr as they end.
pub struct EpisodeProgress {
    options: ProgressOptions,
    voice: Voice,
    bar: ProgressBar,
    total: Option<usize>,
    ended: usize,
    failed: usize,
    rewarded: usize,
    reward: f64,
    cost: Option<rust_decimal::Decimal>,
    retries: Retries,
    left_out: LeftOut,
    last_line: Instant,
}

impl EpisodeProgress {
    /// A display that says what it is told, and has no bar yet.
    #[must_use]
    pub fn new(options: ProgressOptions) -> Self {
        let voice = Voice::new(options);
        let bar = voice.bar();
        Self {
            options,
            voice,
            bar,
            total: None,
            ended: 0,
            failed: 0,
            rewarded: 0,
            reward: 0.0,
            cost: Some(rust_decimal::Decimal::ZERO),
            retries: Retries::default(),
            left_out: LeftOut::default(),
            last_line: Instant::now(),
        }
    }

    /// Brings the bar: of `total` episodes, if that is known.
    pub fn begin(&mut self, total: Option<usize>) {
        self.total = total;
        let template = if total.is_some() {
            "{bar:24.cyan/dim} {pos}/{len} {eta} {wide_msg}"
        } else {
            "{spinner} {pos} {wide_msg}"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("━╸─"));
        }
        if let Some(total) = total {
            self.bar.set_length(total as u64);
        }
    }

    /// What says lines beside this display, from any thread.
    #[must_use]
    pub fn voice(&self) -> Voice {
        self.voice.clone()
    }

    /// Prints a line without tearing the bar.
    pub fn say(&self, line: &str) {
        self.voice.say(line);
    }

    /// Takes one event.
    pub fn on(&mut self, event: &PlayEvent) {
        match event {
            PlayEvent::Note(text) => self.say(text),
            PlayEvent::Ended(played) => self.ended(played),
            PlayEvent::Retry {
                attempt,
                delay,
                reason,
            } => self.retried(*attempt, *delay, reason),
        }
    }

    fn retried(&mut self, attempt: u32, delay: Duration, reason: &str) {
        let due = self.retries.add(delay);
        self.bar.set_message(self.message());
        let line = retries::line(self.options, due, attempt, delay, reason, || self.status());
        if let Some(line) = line {
            self.say(&line);
        }
    }

    /// How many have ended, and the message.
    fn status(&self) -> String {
        let of = self.total.map_or_else(String::new, |n| format!("/{n}"));
        format!("{}{of} {}", self.ended, self.message())
    }

    fn ended(&mut self, played: &Played) {
        self.ended += 1;
        let left_out = played.calls.iter().flat_map(|call| &call.left_out);
        if let Some(line) = self.left_out.add(left_out) {
            self.say(&line);
        }
        if played.outcome == Ending::Failed {
            self.failed += 1;
        }
        if let Some(reward) = played.reward {
            self.rewarded += 1;
            self.reward += reward;
        }
        let cost = played.spent.cost_usd;
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum + cost);
        self.bar.set_message(self.message());
        self.bar.set_position(self.ended as u64);
        if self.options.verbose {
            self.say(&verbose_line(played));
        } else if !self.options.terminal && self.last_line.elapsed() >= PLAIN_INTERVAL {
            self.last_line = Instant::now();
            self.say(&self.status());
        }
    }

    /// Mean reward, cost, failures and retries so far.
    fn message(&self) -> String {
        let mut parts = Vec::new();
        if self.rewarded > 0 {
            let mean = self.reward / self.rewarded as f64;
            parts.push(format!("reward {mean:.3}"));
        }
        match self.cost {
            Some(cost) if cost.is_zero() => {}
            Some(cost) => parts.push(format!("${cost:.4}")),
            None => parts.push("cost unknown".to_owned()),
        }
        if self.failed > 0 {
            parts.push(format!("{} failed", self.failed));
        }
        parts.extend(self.retries.text());
        parts.join(" · ")
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Id, how it ended, reward, steps.
fn verbose_line(played: &Played) -> String {
    let reward = played
        .reward
        .map_or_else(|| "–".to_owned(), |reward| format!("{reward}"));
    let said = match (&played.answer, &played.error) {
        (Some(answer), _) => answer,
        (None, Some(error)) => error,
        (None, None) => "",
    };
    format!(
        "{} {}: reward {reward}, {} steps: {}",
        played.question_id,
        played.outcome.name().replace('_', " "),
        played.step_count,
        single_spaced(said)
    )
}

/// What episodes come to, for a terminal of 80 columns and more.
#[must_use]
pub fn episode_tables(summary: &PlaySummary, look: Look) -> String {
    let number = |value: Option<f64>, digits: usize| {
        value.map_or_else(|| "–".to_owned(), |x| format!("{x:.digits$}"))
    };
    let reward = summary.reward;
    let interval = reward.and_then(|reward| Some((reward.low?, reward.high?)));
    let mut played = look.table(&[
        "reward",
        "95 % interval",
        "of",
        "steps",
        "invalid",
        "no answer",
        "failed",
    ]);
    played.add_row([
        number(reward.map(|reward| reward.mean), 3),
        interval.map_or_else(
            || "–".to_owned(),
            |(low, high)| format!("{low:.3} – {high:.3}"),
        ),
        reward.map_or(0, |reward| reward.n).to_string(),
        number(summary.mean_steps, 1),
        summary.invalid_calls.to_string(),
        summary.without_submission.to_string(),
        summary.failed.to_string(),
    ]);
    align(&mut played, &[0, 2, 3, 4, 5, 6]);
    let mut parts = vec![played.to_string()];
    parts.extend(endings_line(summary, look));
    parts.extend(spent_part(summary, look));
    if let Some(latency) = &summary.latency {
        parts.push(look.wrap(&format!(
            "Seconds an episode: mean {:.2}, P50 {:.2}, P95 {:.2}, max {:.2} (n {})",
            latency.mean, latency.p50, latency.p95, latency.max, latency.n
        )));
    }
    parts.join("\n")
}

fn endings_line(summary: &PlaySummary, look: Look) -> Option<String> {
    let mut parts: Vec<String> = summary
        .outcomes
        .iter()
        .filter(|(name, _)| **name != Ending::Submitted.name())
        .map(|(name, count)| format!("{} {count}", name.replace('_', " ")))
        .collect();
    if summary.text_replies > 0 {
        parts.push(format!(
            "replies without a tool call {}, of these taken as the answer {}",
            summary.text_replies, summary.answers_from_text
        ));
    }
    if summary.calls_from_text > 0 {
        parts.push(format!(
            "tool calls written as text {}",
            summary.calls_from_text
        ));
    }
    if summary.failed > 0 {
        parts.push("failed episodes are in no mean; the same command plays them again".to_owned());
    }
    (!parts.is_empty()).then(|| look.wrap(&format!("Beside it: {}", parts.join(" · "))))
}

/// Nothing for a player that calls no server.
fn spent_part(summary: &PlaySummary, look: Look) -> Option<String> {
    let spent = &summary.spent;
    if spent.requests == 0 {
        return None;
    }
    let mut table = look.table(&["calls", "requests", "tokens in", "tokens out", "cost"]);
    let cost = spent
        .cost_usd
        .map_or_else(|| "unknown".to_owned(), |cost| format!("${cost:.4}"));
    let tokens = |count: u64| {
        if spent.without_usage > 0 {
            format!("{count} (at least)")
        } else {
            count.to_string()
        }
    };
    table.add_row([
        spent.calls.to_string(),
        spent.requests.to_string(),
        tokens(spent.tokens.input_tokens),
        tokens(spent.tokens.output_tokens),
        cost,
    ]);
    align(&mut table, &[0, 1, 2, 3]);
    Some(table.to_string())
}
