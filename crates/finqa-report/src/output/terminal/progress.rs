//! Shows a run's progress on stderr: a bar on a terminal, plain lines elsewhere.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;

use finqa_agents::llm::{Cost, LimitStatus};
use finqa_agents::pair::{CriticVerdict, Round};
use finqa_core::text::{counted, cut, single_spaced};
use finqa_journal::run::{Event, Finish, command};
use finqa_score::dataset::Outcome;
use finqa_score::score::Row;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::style::{joined, unbroken};
use super::writer::{ProgressOptions, TerminalWriter, set_template};

/// Minimum time between two plain progress lines, so that the log of a long run stays short. Set by
/// hand.
const PLAIN_INTERVAL: Duration = Duration::from_secs(5);

/// The template of the first line. It has only parts that always fit 80 columns: the bar, the
/// count, the score and the time left.
const BAR: &str = "{bar:16.cyan/dim} {pos}/{len} · {wide_msg}";

/// Maximum number of columns in the lines below the bar and in those about a question. They leave
/// one of 80 columns free.
const WIDTH: usize = 79;

/// Maximum number of characters of a value in the lines about a question, set by hand, so that the
/// rest of the line fits.
const VALUE: usize = 16;

/// Shows the events of a run on stderr: a bar, or lines.
pub struct RunProgress {
    options: ProgressOptions,
    writer: TerminalWriter,
    bar: ProgressBar,
    counts: ProgressCounts,
    /// The folder with the runs, for commands in the text.
    output: PathBuf,
    /// The command that continues the run.
    pub continuation: String,
    last_line: Instant,
    started: Instant,
}

/// Counts of the events so far.
#[derive(Default)]
struct ProgressCounts {
    /// Number of questions in the run.
    total: usize,
    /// Number of questions with an outcome, including those without an answer.
    answered: usize,
    /// Number of questions that earlier processes answered; part of `answered`.
    resumed: usize,
    scored: usize,
    right: usize,
    failed: usize,
    retries: u64,
    /// The calls in flight and their limit, as last reported.
    limits: LimitStatus,
    cost: Cost,
}

impl RunProgress {
    /// Creates a display. `output` is the folder with the runs.
    pub fn new(options: ProgressOptions, output: &Path) -> Self {
        let writer = TerminalWriter::new(options);
        let bar = writer.bar.clone();
        // There is no bar yet, because the total is known only at `Event::Started`.
        set_template(&bar, "{wide_msg}");
        let now = Instant::now();
        Self {
            options,
            writer,
            bar,
            counts: ProgressCounts::default(),
            output: output.to_owned(),
            // Not broken into lines, so that users can copy it.
            continuation: unbroken(&command("--resume", output)),
            last_line: now,
            started: now,
        }
    }

    /// Counts an event and updates the display.
    pub fn on(&mut self, event: &Event) {
        let verbose = self.options.verbose;
        match event {
            Event::Started {
                meta,
                total,
                answered,
            } => {
                self.continuation = meta.continuation(&self.output);
                self.counts.total = *total;
                set_template(&self.bar, BAR);
                self.bar.set_length(*total as u64);
                if *answered > 0 {
                    let questions = counted(*total, "question");
                    self.writer
                        .say(&format!("resuming: {answered} of {questions} answered"));
                }
            }
            Event::Postponed { key, reason } if verbose => self.writer.say(&format!(
                "  {key}: the provider failed ({reason}); not answered yet"
            )),
            Event::Round { .. } | Event::Postponed { .. } => {}
            Event::Answered { row, resumed } => self.answered(row, *resumed),
            Event::Retry {
                attempt,
                delay,
                reason,
            } => {
                self.counts.retries += 1;
                self.show();
                let seconds = delay.as_secs_f64();
                if verbose {
                    self.writer.say(&format!(
                        "  request {attempt} failed ({reason}); retrying in {seconds:.1} s"
                    ));
                } else if !self.options.logged && self.is_line_due(self.counts.retries == 1) {
                    self.writer.say(&format!("{}: {reason}", self.status()));
                }
            }
            Event::Batch(line) => self.writer.say(line),
            Event::Limits(status) => {
                let is_stuck = status.longest.is_some() || status.down_since.is_some();
                self.counts.limits = status.clone();
                self.show();
                if is_stuck && !self.options.logged && self.is_line_due(false) {
                    self.writer.say(&self.status());
                }
            }
            Event::Finished { finish, elapsed } => self.finish(finish, *elapsed),
        }
    }

    /// A writer that prints lines above the bar. Every thread may use it.
    pub fn writer(&self) -> TerminalWriter {
        self.writer.clone()
    }

    /// True if a plain progress line must be printed now. That is so if there is no bar, and a line
    /// is `wanted` or the interval has passed.
    fn is_line_due(&mut self, wanted: bool) -> bool {
        let due = wanted || self.last_line.elapsed() >= PLAIN_INTERVAL;
        let is_due = due && !self.options.terminal;
        if is_due {
            self.last_line = Instant::now();
        }
        is_due
    }

    /// Counts a question and shows the progress. `resumed` if an earlier process answered it.
    fn answered(&mut self, row: &Row, resumed: bool) {
        self.counts.answered += 1;
        self.counts.resumed += usize::from(resumed);
        self.counts.failed += usize::from(row.solution.outcome != Outcome::Answered);
        if let Some(verdict) = &row.scores.financial_equivalence {
            self.counts.scored += 1;
            self.counts.right += usize::from(verdict.accepted);
        }
        self.counts.cost += row.spent();
        self.bar.set_position(self.counts.answered as u64);
        self.show();
        // Earlier processes have shown their own questions.
        if self.options.verbose && !resumed {
            self.writer.say(&verbose_lines(row));
        } else if self.is_line_due(false) {
            self.writer.say(&joined([Some(self.status()), self.eta()]));
        }
    }

    /// Updates the texts at the bar.
    fn show(&self) {
        self.bar.set_message(joined([self.score(), self.eta()]));
        // The template has a second line only once it has text, so that no empty line is shown.
        let more = lines_of(self.spending().into_iter().chain(self.calls()));
        if !more.is_empty() && self.counts.total > 0 {
            set_template(&self.bar, &format!("{BAR}\n{{prefix}}"));
            self.bar.set_prefix(more);
        }
    }

    /// The text of a plain progress line, without the time left.
    fn status(&self) -> String {
        let answered = format!("{}/{}", self.counts.answered, self.counts.total);
        let parts = [Some(answered), self.score()].into_iter().flatten();
        let parts: Vec<String> = parts.chain(self.spending()).chain(self.calls()).collect();
        parts.join(" · ")
    }

    /// The number of right answers so far. A rate would need its interval, and a rate by numeric
    /// match its floor too.
    fn score(&self) -> Option<String> {
        (self.counts.scored > 0)
            .then(|| format!("{} of {} right (FE)", self.counts.right, self.counts.scored))
    }

    /// The cost so far, and the number of questions without an answer.
    fn spending(&self) -> Vec<String> {
        let failed = self.counts.failed;
        let failed = (failed > 0).then(|| format!("{failed} without an answer"));
        self.counts.cost.brief().into_iter().chain(failed).collect()
    }

    /// Reasons for waiting: an outage, the oldest call, the calls in flight with their limit,
    /// retries and 429s. They show that a waiting run has not stopped. Empty if there is nothing to
    /// show.
    fn calls(&self) -> Vec<String> {
        let LimitStatus {
            in_flight,
            limit,
            rate_limited,
            down_since,
            longest,
        } = &self.counts.limits;
        let down = down_since.map(|at| format!("the server is down since {}", clock(at)));
        let longest = longest.as_ref().map(|call| {
            // Cut, so that one name does not fill the line. Set by hand.
            let (name, since) = (cut(&call.name, 50, "…"), clock(call.since));
            format!("{name} waiting since {since}")
        });
        let calls = format!("{} in flight, limit {limit}", counted(*in_flight, "call"));
        let parts = [
            down,
            longest,
            (*limit > 0).then_some(calls),
            (self.counts.retries > 0).then(|| counted(self.counts.retries, "retry")),
            (*rate_limited > 0).then(|| format!("{rate_limited} × 429")),
        ];
        parts.into_iter().flatten().collect()
    }

    /// The time left at this process's pace. Answers of earlier processes took none of its time and
    /// are not counted. `None` before the first answer.
    fn eta(&self) -> Option<String> {
        let here = self.counts.answered.saturating_sub(self.counts.resumed);
        if here == 0 {
            return None;
        }
        let left = self.counts.total.saturating_sub(self.counts.answered) as f64;
        let seconds = self.started.elapsed().as_secs_f64() / here as f64 * left;
        Some(format!("{} left", rough_time(seconds)))
    }

    /// Removes the bar and says how the run ended. It says nothing of a fatal error or a bug.
    fn finish(&mut self, finish: &Finish, elapsed: Duration) {
        // No calls are in flight any more.
        self.counts.limits = LimitStatus {
            rate_limited: self.counts.limits.rate_limited,
            ..LimitStatus::default()
        };
        self.bar.finish_and_clear();
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
            Finish::Interrupted => {
                let answered = format!(
                    "questions answered: {} of {}",
                    self.counts.answered, self.counts.total
                );
                format!("interrupted; {answered}; continue with {again}")
            }
            // The caller prints the error of such a run.
            Finish::Fatal(_) | Finish::Bug(_) => return,
        };
        self.writer.say(&line);
    }
}

/// A rounded time, such as `40 s`, `12 min` or `3 h 20 min`. Below 90 of a unit, no larger one is
/// used, which is set by hand.
fn rough_time(seconds: f64) -> String {
    let minutes = (seconds / 60.0).round();
    match (seconds < 90.0, minutes < 90.0) {
        (true, _) => format!("{seconds:.0} s"),
        (false, true) => format!("{minutes:.0} min"),
        (false, false) => format!(
            "{:.0} h {:.0} min",
            (minutes / 60.0).floor(),
            minutes % 60.0
        ),
    }
}

/// The lines for a question with `--verbose`: its id, its text, and a line with gold, answer,
/// verdicts and time. The transcripts have the rest. An episode has one line: how it ended, its
/// reward, its number of steps and its answer.
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
    let mark = match row.accepted() {
        Some(true) => "right",
        Some(false) => "wrong",
        None => "not scored",
    };
    let rounds = &row.solution.rounds;
    let verdicts: Vec<String> = rounds.iter().filter_map(verdict_words).collect();
    let verdicts = match verdicts.as_slice() {
        [] => String::new(),
        verdicts => format!(" ({})", verdicts.join(", ")),
    };
    let given = match row.solution.outcome {
        Outcome::Answered => format!(
            "answer {} · {}{verdicts} · {:.2} s",
            shown(&row.prediction(), VALUE),
            counted(rounds.len(), "round"),
            // Every row of a run has a latency, so the default is never used.
            row.latency.unwrap_or_default()
        ),
        outcome => format!(
            "{}: {}",
            outcome.name().replace('_', " "),
            row.solution.error.as_deref().unwrap_or_default()
        ),
    };
    let result = format!("{mark}: {} · {given}", gold_words(row));
    // Subtracted are the columns before the text, and one for the mark of a cut.
    let question = shown(&row.question, WIDTH - 13);
    let result = shown(&result, WIDTH - 3);
    format!("{}\n  question: {question}\n  {result}", row.key)
}

/// A text on one line, cut to this number of characters.
fn shown(text: &str, most: usize) -> String {
    cut(&single_spaced(text), most, "…")
}

/// The gold by which an answer is scored. `exe_ans` is named, because it scores a stand-alone
/// question only if there is no printed gold.
fn gold_words(row: &Row) -> String {
    let printed = row.ground_truth();
    let printed = printed.filter(|gold| !gold.trim().is_empty());
    match (printed, &row.gold.exe_ans) {
        (Some(gold), _) => format!("gold {}", shown(&gold, VALUE)),
        (None, Some(value)) => format!("gold {} (exe_ans)", shown(&value.to_string(), VALUE)),
        (None, None) => "no gold".to_owned(),
    }
}

/// The verdict on a round; `None` with `--critic off`. If the checks send the answer back, the
/// critic's model may still have accepted it, or its reply may have been unreadable.
fn verdict_words(round: &Round) -> Option<String> {
    let name = round.verdict.name();
    let objects = round.objections() > 0;
    match &round.verdict {
        CriticVerdict::Revise { findings } if !findings.is_empty() => Some("revise".to_owned()),
        // A slash, because commas separate the rounds.
        _ if objects && round.not_reviewed().is_some() => Some(format!("checks object/{name}")),
        _ if objects => Some("checks object".to_owned()),
        CriticVerdict::Skipped if round.not_reviewed().is_none() => None,
        _ => Some(name.to_owned()),
    }
}

/// Joins the parts with dots, on as many lines as needed.
fn lines_of(parts: impl Iterator<Item = String>) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for part in parts.filter(|part| !part.is_empty()) {
        let length = part.chars().count();
        let separator = match column {
            0 => "",
            used if used + 3 + length <= WIDTH => " · ",
            _ => "\n",
        };
        column = if separator == "\n" {
            length
        } else {
            column + separator.chars().count() + length
        };
        text.push_str(separator);
        text.push_str(&part);
    }
    text
}

/// The local time of day.
fn clock(at: Timestamp) -> impl std::fmt::Display {
    at.to_zoned(TimeZone::system()).strftime("%H:%M:%S")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_below_the_bar_fit_80_columns() {
        let parts = [
            "at least $1.2345", "12 without an answer", "8 calls in flight, limit 8", "12 retries",
            "3 × 429",
        ];
        let text = lines_of(parts.into_iter().map(str::to_owned));
        assert_eq!(
            text,
            "at least $1.2345 · 12 without an answer · 8 calls in flight, limit 8\n12 retries · 3 × 429"
        );
        assert!(text.lines().all(|line| line.chars().count() < 80));
    }

    #[test]
    fn the_time_left_is_in_hours_and_minutes() {
        for (seconds, text) in [
            (0.4, "0 s"),
            (89.4, "89 s"),
            (90.0, "2 min"),
            (5_300.0, "88 min"),
            (5_400.0, "1 h 30 min"),
            (100_000.0, "27 h 47 min"),
        ] {
            assert_eq!(rough_time(seconds), text);
        }
    }
}
