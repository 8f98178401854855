//! Progress on stderr: a bar on a terminal, plain lines elsewhere.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use crate::dataset::Outcome;
use crate::run::{Event, Finish, Row, command};
use finqa_agents::llm::Cost;
use finqa_core::text::{counted, single_spaced};

use super::calls::CallActivity;
use super::style::joined;
use super::writer::{ProgressOptions, TerminalWriter, set_template};

/// Least time between two plain progress lines.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

const BAR: &str = "{bar:24.cyan/dim} {pos}/{len} · {wide_msg}";

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
    calls: CallActivity,
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
            calls: CallActivity::default(),
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
        let verbose = self.options.verbose;
        match event {
            Event::Started {
                meta,
                total,
                answered,
            } => {
                self.continuation = meta.continuation(&self.output);
                self.total = *total;
                self.bar.set_length(*total as u64);
                if *answered > 0 {
                    let questions = counted(*total, "question");
                    self.say(&format!("resuming: {answered} of {questions} answered"));
                }
            }
            Event::Round { key, round } if verbose => {
                let (number, answer) = (round.number, &round.answer.printed);
                let verdict = verdict_text(round);
                self.say(&format!("  {key}: round {number}: {answer}, {verdict}"));
            }
            Event::Postponed { key, reason, .. } if verbose => self.say(&format!(
                "  {key}: the provider failed ({reason}); asked again later"
            )),
            Event::Round { .. } | Event::Postponed { .. } => {}
            Event::Answered { row, resumed } => self.answered(row, *resumed),
            Event::Retry {
                attempt,
                delay,
                reason,
            } => {
                self.calls.retries += 1;
                self.show();
                let seconds = delay.as_secs_f64();
                if verbose {
                    self.say(&format!(
                        "  request {attempt} failed ({reason}); retrying in {seconds:.1} s"
                    ));
                } else if !self.options.logged && self.is_line_due(self.calls.retries == 1) {
                    self.say(&format!("{}: {reason}", self.status()));
                }
            }
            Event::Batch(line) => self.say(line),
            Event::Limits(status) => {
                self.calls.limits = *status;
                self.show();
            }
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

    /// True if a plain line, printed where there is no bar, is `wanted` or due.
    fn is_line_due(&mut self, wanted: bool) -> bool {
        let due = wanted || self.last_line.elapsed() >= PLAIN_INTERVAL;
        if due && !self.options.terminal {
            self.last_line = Instant::now();
        }
        due && !self.options.terminal
    }

    fn answered(&mut self, row: &Row, resumed: bool) {
        self.answered += 1;
        self.resumed += usize::from(resumed);
        self.failed += usize::from(row.solution.outcome != Outcome::Answered);
        if let Some(verdict) = &row.scores.financial_equivalence {
            self.scored += 1;
            self.right += usize::from(verdict.accepted);
        }
        let episode = row.solution.episode.as_ref();
        if let Some(reward) = episode.and_then(|episode| episode.reward) {
            self.rewards = (self.rewards.0 + 1, self.rewards.1 + reward);
        }
        self.cost += row.spent();
        self.bar.set_position(self.answered as u64);
        self.show();
        if self.options.verbose && !resumed {
            self.say(&verbose_lines(row));
        } else if self.is_line_due(false) {
            let parts = [Some(self.status()), self.eta()];
            self.say(&joined(parts));
        }
    }

    /// Brings the bar up to date.
    fn show(&self) {
        self.bar
            .set_message(joined([Some(self.message()), self.eta()]));
        if let Some(calls) = self.calls.text().filter(|_| self.total > 0) {
            set_template(&self.bar, &format!("{BAR}\n{{prefix}}"));
            self.bar.set_prefix(calls);
        }
    }

    /// The number of answered questions, and the message.
    fn status(&self) -> String {
        let answered = format!("{}/{}", self.answered, self.total);
        joined([Some(answered), Some(self.message()), self.calls.text()])
    }

    /// Right answers so far, cost and failures. Counts, because a rate would need its
    /// interval, and NM its floor.
    fn message(&self) -> String {
        let (episodes, sum) = self.rewards;
        joined([
            (episodes > 0).then(|| format!("reward {:.3}", sum / episodes as f64)),
            (self.scored > 0).then(|| format!("{} of {} right (FE)", self.right, self.scored)),
            self.cost.brief(),
            (self.failed > 0).then(|| format!("{} without an answer", self.failed)),
        ])
    }

    /// The time left at the pace of this process: answers of others took none of its time.
    fn eta(&self) -> Option<String> {
        let here = self.answered.saturating_sub(self.resumed);
        if here == 0 {
            return None;
        }
        let left = self.total.saturating_sub(self.answered) as f64;
        let seconds = self.started.elapsed().as_secs_f64() / here as f64 * left;
        Some(format!("{seconds:.0} s left"))
    }

    fn finish(&mut self, finish: &Finish, elapsed: Duration) {
        self.calls.finished();
        self.bar.finish_and_clear();
        let answered = format!("questions answered: {} of {}", self.answered, self.total);
        let again = &self.continuation;
        let status = format!("{}, {:.1} s", self.status(), elapsed.as_secs_f64());
        let line = match finish {
            Finish::Complete => status,
            Finish::Partial { left, reason } => format!(
                "{status}\n{} without an outcome because the provider failed ({reason}); {again} asks again",
                counted(*left, "question")
            ),
            Finish::BudgetReached { limit, spent, left } => {
                let spent = spent.iter().map(|spent| format!("{spent}, "));
                format!(
                    "paused at {}: {}{} left to ask; continue with {again}{}",
                    limit.option(),
                    spent.collect::<String>(),
                    counted(*left, "question"),
                    limit.more()
                )
            }
            Finish::Interrupted => format!("interrupted; {answered}; continue with {again}"),
            Finish::Fatal(_) | Finish::Bug(_) => {
                format!("stopped; {answered}; continue with {again}")
            }
        };
        self.say(&line);
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
