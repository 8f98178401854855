//! Compares the embedded analyst's answers with gold, by kind of question and by cause of the miss:
//!
//! ```text
//! cargo run --release --example offline_eval -- FILE [--mode questions|conversations]
//!     [--history own|gold] [--split N] [--misses]
//! ```

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::time::Instant;

use clap::Parser;

use finqa_core::number::{Value, print, round5};
use finqa_core::program::official;
use finqa_embedded::{EmbeddedAnalyst, EmbeddedAnswer};
use finqa_score::dataset::{Case, HistoryEntry, HistoryMode, HistorySource, Mode, Source, load};
use finqa_score::score::numeric_match;

#[derive(Parser)]
struct Options {
    /// File of ConvFinQA records
    file: PathBuf,
    /// Ask the stand-alone questions, or the turns of the conversations
    #[arg(long, default_value = "conversations")]
    mode: Mode,
    /// Which answers to earlier turns the analyst sees
    #[arg(long, default_value = "own")]
    history: HistoryMode,
    /// Report the records on pages of the first N records apart from the others: develop on the
    /// one, check on the other
    #[arg(long, default_value_t = usize::MAX)]
    split: usize,
    /// Print each miss, of the first N records only
    #[arg(long)]
    misses: bool,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let begun = Instant::now();
    let dataset = load(&Source::Path(options.file))?;
    let analyst = EmbeddedAnalyst::new();
    let started = cpu_seconds(begun);
    let first = dataset.records.iter().take(options.split);
    let first: HashSet<&str> = first.map(|it| it.document.filename.as_str()).collect();
    let mut counts = Counts::default();
    let (mut asked, mut reading, mut answering) = (0_usize, 0.0, 0.0);
    for record in &dataset.records {
        let (cases, half) = (
            match options.mode {
                Mode::Questions => &record.questions,
                Mode::Conversations => &record.turns,
            },
            if first.contains(record.document.filename.as_str()) {
                "first"
            } else {
                "rest"
            },
        );
        let before = cpu_seconds(begun);
        let page = analyst.index(&record.document);
        reading += cpu_seconds(begun) - before;
        let mut history: Vec<HistoryEntry> = Vec::new();
        for (turn, case) in cases.iter().enumerate() {
            let mut question = case.question.clone();
            question.history.clone_from(&history);
            let before = cpu_seconds(begun);
            let guess = analyst.answer(&page, &question);
            answering += cpu_seconds(begun) - before;
            asked += 1;
            let answered = Answered::new(case, turn, half, guess);
            counts.add(&answered);
            let is_miss = [answered.right, answered.matches].contains(&Some(false));
            if options.misses && half == "first" && is_miss {
                answered.print();
            }
            if options.mode == Mode::Conversations {
                history.push(answered.in_history(options.history));
            }
        }
    }
    counts.print();
    println!(
        "{asked} questions, {:.0} a second and core: {reading:.3} s of CPU time to read the pages \
         and {answering:.3} s to answer; {started:.3} s before that, to load the file and the weights",
        asked as f64 / (reading + answering)
    );
    Ok(())
}

/// The CPU time of this thread in seconds, or the time since the program began if the system does
/// not measure CPU time.
fn cpu_seconds(begun: Instant) -> f64 {
    #[cfg(unix)]
    {
        let _ = begun;
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
    }
    #[cfg(not(unix))]
    begun.elapsed().as_secs_f64()
}

/// A question with the analyst's answer.
struct Answered<'a> {
    case: &'a Case,
    turn: usize,
    half: &'static str,
    guess: Option<EmbeddedAnswer>,
    /// The value of the analyst's program by the official evaluator.
    value: Option<Value>,
    printed: String,
    /// Whether the value is the gold value; `None` without a gold value.
    right: Option<bool>,
    /// Whether the printed answer matches the gold answer; `None` without a gold answer.
    matches: Option<bool>,
}

impl<'a> Answered<'a> {
    fn new(case: &'a Case, turn: usize, half: &'static str, guess: Option<EmbeddedAnswer>) -> Self {
        let value = guess.as_ref().and_then(|guess| {
            let (table, evaluator) = (
                &case.question.document.table,
                official::Evaluator::ConvFinQa,
            );
            match official::evaluate(&guess.best.program, table, evaluator) {
                (true, value) => value,
                _ => None,
            }
        });
        let printed = match (&guess, &value) {
            (Some(guess), Some(value)) => print(value, guess.best.unit, guess.best.in_percent),
            _ => String::new(),
        };
        let gold = &case.gold;
        Self {
            right: gold
                .exe_ans
                .as_ref()
                .map(|gold| value.as_ref() == Some(gold)),
            matches: gold
                .answer
                .as_ref()
                .map(|gold| numeric_match(gold, &printed)),
            case,
            turn,
            half,
            guess,
            value,
            printed,
        }
    }

    fn gold_program(&self) -> &str {
        self.case.gold.program.as_deref().unwrap_or_default()
    }

    fn plan(&self) -> &'static str {
        self.guess
            .as_ref()
            .map_or("none", |guess| guess.best.plan_name)
    }

    fn in_history(&self, mode: HistoryMode) -> HistoryEntry {
        let (gold, guess) = (&self.case.gold, self.guess.as_ref());
        let rounded = |value: &Value| match value {
            Value::Number(number) => Value::Number(round5(*number)),
            word => word.clone(),
        };
        let (value, program, source) = match mode {
            HistoryMode::Gold => (
                gold.exe_ans.clone(),
                gold.program.clone(),
                HistorySource::Gold,
            ),
            HistoryMode::Own => (
                self.value.as_ref().map(rounded),
                guess.map(|guess| guess.best.program.clone()),
                HistorySource::Own,
            ),
        };
        HistoryEntry {
            question: self.case.question.text.clone(),
            value,
            program,
            label: guess.map(|guess| guess.best.label.clone()),
            source,
        }
    }

    /// The cause of a wrong answer, as far as the values and programs show it.
    fn cause(&self, guess: &EmbeddedAnswer) -> &'static str {
        let gold = self.case.gold.exe_ans.as_ref().and_then(Value::number);
        let value = self.value.as_ref().and_then(Value::number);
        let (Some(gold), Some(value)) = (gold, value) else {
            return "type";
        };
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs().max(1e-6);
        let is_scaled = |by: f64| near(value * by, gold) || near(value / by, gold);
        if near(-value, gold) {
            "sign"
        } else if is_scaled(100.0) {
            "percent or decimal"
        } else if is_scaled(1e3) || is_scaled(1e6) {
            "scale"
        } else if self.gold_program() == "look-up"
            || shape(self.gold_program()) == shape(&guess.best.program)
        {
            "slot"
        } else {
            "operation"
        }
    }

    fn print(&self) {
        let (question, gold, guess) = (&self.case.question, &self.case.gold, self.guess.as_ref());
        println!("{} [{}] {}", question.key.id, self.turn, question.text);
        println!(
            "    gold {:?} = {:?} {:?}",
            gold.program, gold.exe_ans, gold.answer
        );
        let evidence = guess.iter().flat_map(|guess| &guess.best.evidence);
        println!(
            "    {} {:?} {:?} = {:?} {:?}",
            self.plan(),
            guess.map(|guess| &guess.best.program),
            evidence.map(|it| &it.id).collect::<Vec<_>>(),
            self.value,
            self.printed
        );
    }
}

/// Counts of right answers and of questions, by groups of questions; of misses, by their cause; and
/// the confidence of each answer.
#[derive(Default)]
struct Counts {
    rates: BTreeMap<String, [usize; 2]>,
    causes: BTreeMap<String, usize>,
    confidences: Vec<(f64, bool)>,
}

impl Counts {
    fn add(&mut self, answered: &Answered) {
        let kind = kind(answered.gold_program());
        let half = format!("half {}", answered.half);
        let plan = format!("plan {}", answered.plan());
        if let Some(right) = answered.right {
            let (turn, gold) = (format!("turn {}", answered.turn), format!("gold {kind}"));
            for key in ["all", &half, &turn, &plan, &gold] {
                self.count(format!("EA {key}"), right);
            }
            if let Some(guess) = &answered.guess {
                self.confidences.push((guess.confidence, right));
                if !right {
                    let cause = format!("{} (gold {kind})", answered.cause(guess));
                    *self.causes.entry(cause).or_default() += 1;
                }
            }
        }
        if let Some(matches) = answered.matches {
            for key in ["all", &half, &plan] {
                self.count(format!("NM {key}"), matches);
            }
        }
    }

    fn count(&mut self, key: String, right: bool) {
        let [hits, asked] = self.rates.entry(key).or_default();
        *hits += usize::from(right);
        *asked += 1;
    }

    fn print(self) {
        for (key, [hits, asked]) in &self.rates {
            let rate = 100.0 * *hits as f64 / *asked as f64;
            println!("{key:40} {rate:5.1} %  {hits} of {asked}");
        }
        let mut causes: Vec<_> = self.causes.into_iter().collect();
        causes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        println!("misses by cause:");
        for (cause, n) in causes.iter().take(25) {
            println!("  {n:4} {cause}");
        }
        println!("confidence:  n, mean confidence, accuracy");
        for tenth in 0..10 {
            let low = f64::from(tenth) / 10.0;
            let is_in = |c: f64| c >= low && (c < low + 0.1 || tenth == 9);
            let bin: Vec<_> = self.confidences.iter().filter(|(c, _)| is_in(*c)).collect();
            if !bin.is_empty() {
                let n = bin.len() as f64;
                println!(
                    "  {low:.1} {:4} {:.3} {:.3}",
                    bin.len(),
                    bin.iter().map(|(c, _)| c).sum::<f64>() / n,
                    bin.iter().filter(|(_, right)| *right).count() as f64 / n
                );
            }
        }
    }
}

/// The shape of a program: its operations, with `N` for each number.
fn shape(program: &str) -> String {
    let mut out = String::new();
    for piece in program.replace(['(', ')', ','], " ").split_whitespace() {
        let literal = piece.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        out.push_str(if literal { "N" } else { piece });
        out.push(' ');
    }
    out
}

/// The kind of a gold program, by its number of steps.
fn kind(program: &str) -> &'static str {
    match program.matches('(').count() {
        0 => "look-up",
        1 => "one step",
        _ => "more steps",
    }
}
