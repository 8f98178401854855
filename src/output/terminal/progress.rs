//! Progress on stderr: a bar on a terminal, plain lines elsewhere.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::dataset::Outcome;
use crate::run::{Event, Finish, Row, command};
use finqa_agents::llm::{Cost, LimitStatus};
use finqa_core::text::{counted, single_spaced};

use super::calls::CallActivity;
use super::unsent::IgnoredSettings;
use super::writer::{ProgressOptions, TerminalWriter};

/// Seconds between two plain progress lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

const BAR: &str = "{bar:24.cyan/dim} {pos}/{len} {wide_msg}";

fn set_template(bar: &ProgressBar, template: &str) {
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("━╸─"));
    }
}

/// Shows a run's events on stderr.
pub(crate) struct RunProgress {
    options: ProgressOptions,
    writer: TerminalWriter,
    bar: ProgressBar,
    /// Questions of the run.
    total: usize,
    answered: usize,
    /// Of these, by earlier processes.
    resumed: usize,
    scored: usize,
    right: usize,
    /// Episodes that have a reward, and their sum.
    rewards: (usize, f64),
    failed: usize,
    /// Questions that are asked again later.
    postponed: BTreeSet<usize>,
    calls: CallActivity,
    left_out: IgnoredSettings,
    /// The folder of the run's output.
    output: PathBuf,
    /// The command that continues the run.
    continuation: String,
    cost: Cost,
    last_line: Instant,
    started: Instant,
}

impl RunProgress {
    /// A display that has seen nothing yet.
    pub(crate) fn new(options: ProgressOptions, output: &Path) -> Self {
        let writer = TerminalWriter::new(options);
        let bar = writer.bar();
        // Without a total the template has nothing to show; `Started` brings it.
        set_template(&bar, BAR);
        let now = Instant::now();
        Self {
            options,
            writer,
            bar,
            total: 0,
            answered: 0,
            resumed: 0,
            scored: 0,
            right: 0,
            rewards: (0, 0.0),
            failed: 0,
            postponed: BTreeSet::new(),
            calls: CallActivity::default(),
            left_out: IgnoredSettings::default(),
            output: output.to_owned(),
            continuation: command("--resume", output),
            cost: Cost::default(),
            last_line: now,
            started: now,
        }
    }

    /// The command that continues the run.
    pub(crate) fn continuation(&self) -> &str {
        &self.continuation
    }

    /// Takes one event.
    pub(crate) fn on(&mut self, event: &Event) {
        match event {
            Event::Started {
                meta,
                total,
                answered,
            } => {
                self.continuation = meta.continuation(&self.output);
                self.begin(*total, *answered);
            }
            Event::Round { key, round } => {
                if self.options.verbose {
                    let verdict = verdict_text(round);
                    self.say(&format!(
                        "  {key}: round {}: {}, {verdict}",
                        round.number, round.answer.printed
                    ));
                }
            }
            Event::Answered { row, resumed } => self.answered(row, *resumed),
            Event::Postponed { index, key, reason } => {
                self.postponed.insert(*index);
                if self.options.verbose {
                    self.say(&format!(
                        "  {key}: the provider failed ({reason}); asked again later"
                    ));
                }
            }
            Event::Retry {
                attempt,
                delay,
                reason,
            } => self.retried(*attempt, *delay, reason),
            Event::Batch(line) => self.say(line),
            Event::Limits(status) => self.limited(*status),
            Event::Finished { finish, elapsed } => self.finish(finish, *elapsed),
        }
    }

    /// Prints lines above this display, from any thread.
    pub(crate) fn writer(&self) -> TerminalWriter {
        self.writer.clone()
    }

    /// Prints a line without tearing the bar.
    pub(crate) fn say(&self, line: &str) {
        self.writer.say(line);
    }

    fn retried(&mut self, attempt: u32, delay: Duration, reason: &str) {
        let due = self.calls.retried();
        self.show();
        if self.options.verbose {
            let seconds = delay.as_secs_f64();
            self.say(&format!(
                "  request {attempt} failed ({reason}); retrying in {seconds:.1} s"
            ));
        } else if due && !self.options.terminal && !self.options.logged {
            // Where no bar shows it.
            self.say(&format!("{}: {reason}", self.status()));
        }
    }

    fn limited(&mut self, status: LimitStatus) {
        let due = self.calls.limited(status);
        self.show();
        if due && !self.options.terminal {
            self.say(&self.status());
        }
    }

    fn begin(&mut self, total: usize, answered: usize) {
        self.total = total;
        self.bar.set_length(total as u64);
        if answered > 0 {
            let questions = counted(total, "question");
            self.say(&format!("resuming: {answered} of {questions} answered"));
        }
    }

    fn answered(&mut self, row: &Row, resumed: bool) {
        self.answered += 1;
        self.resumed += usize::from(resumed);
        self.postponed.remove(&row.index);
        let calls = row.solution.calls.iter();
        let replies = calls.filter_map(|call| call.reply.as_ref());
        if let Some(line) = self.left_out.add(replies.flat_map(|reply| &reply.left_out)) {
            self.say(&line);
        }
        if row.solution.outcome != Outcome::Answered {
            self.failed += 1;
        }
        if let Some(verdict) = &row.scores.financial_equivalence {
            self.scored += 1;
            self.right += usize::from(verdict.accepted);
        }
        let episode = row.solution.episode.as_ref();
        if let Some(reward) = episode.and_then(|episode| episode.reward) {
            self.rewards = (self.rewards.0 + 1, self.rewards.1 + reward);
        }
        self.cost += row.spent();
        self.show();
        self.bar.set_position(self.answered as u64);
        if self.options.verbose && !resumed {
            self.say(&verbose_lines(row));
        } else if !self.options.terminal && self.last_line.elapsed() >= PLAIN_INTERVAL {
            self.last_line = Instant::now();
            self.say(&format!("{} {}", self.status(), self.eta()));
        }
    }

    /// Brings the bar up to date.
    fn show(&self) {
        self.bar
            .set_message(format!("{} {}", self.message(), self.eta()));
        let Some(calls) = self.calls.text().filter(|_| self.total > 0) else {
            return;
        };
        if self.bar.prefix().is_empty() {
            set_template(&self.bar, &format!("{BAR}\n{{prefix}}"));
        }
        self.bar.set_prefix(calls);
    }

    /// The number of answered questions, and the message.
    fn status(&self) -> String {
        let mut parts = vec![
            format!("{}/{}", self.answered, self.total),
            self.message(),
            self.calls.text().unwrap_or_default(),
        ];
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    /// Right answers so far, cost and failures. Counts, because a rate would need its
    /// interval, and NM its floor.
    fn message(&self) -> String {
        let mut parts = Vec::new();
        if self.rewards.0 > 0 {
            let mean = self.rewards.1 / self.rewards.0 as f64;
            parts.push(format!("reward {mean:.3}"));
        }
        if self.scored > 0 {
            parts.push(format!("{} of {} right (FE)", self.right, self.scored));
        }
        parts.extend(self.cost.brief());
        if self.failed > 0 {
            parts.push(format!("{} without an answer", self.failed));
        }
        if !self.postponed.is_empty() {
            parts.push(format!("{} to ask again", self.postponed.len()));
        }
        parts.join(" · ")
    }

    /// The time left at the pace of this process: answers of others took none of its time.
    fn eta(&self) -> String {
        let here = self.answered.saturating_sub(self.resumed);
        if here == 0 {
            return String::new();
        }
        let left = self.total.saturating_sub(self.answered) as f64;
        let seconds = self.started.elapsed().as_secs_f64() / here as f64 * left;
        format!("{seconds:.0} s left")
    }

    fn finish(&mut self, finish: &Finish, elapsed: Duration) {
        self.calls.finished();
        self.bar.finish_and_clear();
        let answered = format!("{} of {}", self.answered, self.total);
        let again = &self.continuation;
        let seconds = elapsed.as_secs_f64();
        match finish {
            Finish::Complete => self.say(&format!("{}, {seconds:.1} s", self.status())),
            Finish::Partial { left, reason } => {
                self.say(&format!("{}, {seconds:.1} s", self.status()));
                self.say(&format!(
                    "{} without an outcome because the provider failed ({reason}); {again} asks again",
                    counted(*left, "question")
                ));
            }
            Finish::BudgetReached { limit, spent, left } => {
                let left = format!("{} left to ask", counted(*left, "question"));
                let spent = spent
                    .as_ref()
                    .map_or_else(String::new, |spent| format!("{spent}, "));
                self.say(&format!(
                    "paused at {}: {spent}{left}; continue with {again}{}",
                    limit.option(),
                    limit.more()
                ));
            }
            Finish::Interrupted => self.say(&format!(
                "interrupted; questions answered: {answered}; continue with {again}"
            )),
            Finish::Fatal(_) | Finish::Bug(_) => {
                self.say(&format!(
                    "stopped; questions answered: {answered}; continue with {again}"
                ));
            }
        }
    }
}

/// A round's verdict in a few words.
pub(in crate::output) fn verdict_text(round: &finqa_agents::pair::Round) -> String {
    use finqa_agents::pair::CriticVerdict;
    match &round.verdict {
        CriticVerdict::Ok => match round.objections() {
            0 => "accepted".to_owned(),
            1 => "accepted, although 1 check objects".to_owned(),
            n => format!("accepted, although {n} checks object"),
        },
        CriticVerdict::Revise { findings } => {
            let count = findings.len() + round.findings.len();
            format!("not accepted: {}", counted(count, "finding"))
        }
        CriticVerdict::Unparsable { .. } => "critic's reply not understood".to_owned(),
        CriticVerdict::Skipped => "not reviewed".to_owned(),
    }
}

/// Id, question, expected and generated answer; of an episode how it ended, its
/// reward and steps.
fn verbose_lines(row: &Row) -> String {
    if let Some(episode) = &row.solution.episode {
        let reward = episode
            .reward
            .map_or_else(|| "–".to_owned(), |reward| reward.to_string());
        let result = episode.answer.as_ref().or(row.solution.error.as_ref());
        return format!(
            "{} {}: reward {reward}, {}: {}",
            episode.question_id,
            episode.end.name().replace('_', " "),
            counted(episode.steps.len(), "step"),
            single_spaced(result.map_or("", String::as_str))
        );
    }
    let expected = row.ground_truth().unwrap_or("(no gold)".into());
    let generated = match row.solution.outcome {
        Outcome::Answered => row.prediction().into_owned(),
        outcome => format!(
            "({outcome}) {}",
            row.solution.error.as_deref().unwrap_or_default()
        ),
    };
    format!(
        "{}\n  question:  {}\n  expected:  {expected}\n  generated: {generated}\n  rounds:    {} · {:.2} s",
        row.key,
        row.question,
        row.solution.rounds.len(),
        row.latency.unwrap_or_default()
    )
}
