//! Measures the embedded analyst against gold:
//!
//! ```text
//! cargo run --release --example offline_eval -- FILE [--mode questions|conversations]
//!     [--history own|gold] [--split N] [--misses]
//! ```
//!
//! `--split N` prints the records on pages met among the first N records apart
//! from the others: develop on the one, check on the other.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use convfinqa::dataset::{Case, HistoryEntry, HistorySource, Source, load};
use finqa_agents::offline::{EmbeddedAnswer, RuleAnalyst};
use finqa_core::number::{Value, print, round5};
use finqa_core::program::official;

/// Counts of right and asked.
#[derive(Default, Clone, Copy)]
struct SummaryBuilder {
    right: usize,
    asked: usize,
}

impl SummaryBuilder {
    fn add(&mut self, right: bool) {
        self.right += usize::from(right);
        self.asked += 1;
    }
}

impl std::fmt::Display for SummaryBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rate = 100.0 * self.right as f64 / self.asked.max(1) as f64;
        write!(f, "{:5.1} %  {} of {}", rate, self.right, self.asked)
    }
}

struct Options {
    file: PathBuf,
    questions: bool,
    gold_history: bool,
    split: usize,
    misses: bool,
}

fn options() -> Result<Options, String> {
    let mut arguments = std::env::args().skip(1);
    let mut out = Options {
        file: PathBuf::new(),
        questions: false,
        gold_history: false,
        split: usize::MAX,
        misses: false,
    };
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument}: a value is missing"))
        };
        match argument.as_str() {
            "--mode" => out.questions = value()? == "questions",
            "--history" => out.gold_history = value()? == "gold",
            "--split" => out.split = value()?.parse().map_err(|e| format!("--split: {e}"))?,
            "--misses" => out.misses = true,
            file => out.file = PathBuf::from(file),
        }
    }
    if out.file.as_os_str().is_empty() {
        Err("FILE is missing".to_owned())
    } else {
        Ok(out)
    }
}

/// The value of a program as the official evaluator gives it.
fn value(program: &str, table: &[Vec<String>]) -> Option<Value> {
    match official::evaluate(program, table, official::Dialect::ConvFinQa) {
        (true, value) => value,
        _ => None,
    }
}

/// The shape of a program: operations without literals.
fn shape(program: &str) -> String {
    let mut out = String::new();
    for piece in program.replace(['(', ')', ','], " ").split_whitespace() {
        let literal = piece.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '.'));
        out.push_str(if literal { "N" } else { piece });
        out.push(' ');
    }
    out
}

fn cause(
    gold: &Value,
    gold_program: &str,
    guess: &EmbeddedAnswer,
    value: Option<&Value>,
) -> &'static str {
    let (Some(g), Some(v)) = (gold.number(), value.and_then(Value::number)) else {
        return "type";
    };
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-3 * b.abs().max(1e-6);
    if near(-v, g) {
        "sign"
    } else if near(v * 100.0, g) || near(v / 100.0, g) {
        "percent or decimal"
    } else if [1e3, 1e6].iter().any(|s| near(v * s, g) || near(v / s, g)) {
        "scale"
    } else if gold_program == "look-up" || shape(gold_program) == shape(&guess.program) {
        "slot"
    } else {
        "operation"
    }
}

fn numeric(text: &str) -> f64 {
    let bytes = text.trim().as_bytes();
    for start in 0..bytes.len() {
        let mut i = start;
        if bytes.get(i) == Some(&b'-') {
            i += 1;
        }
        if bytes.get(i) == Some(&b'$') {
            i += 1;
        }
        let from = i;
        while bytes
            .get(i)
            .is_some_and(|b| b.is_ascii_digit() || *b == b',')
        {
            i += 1;
        }
        if i == from {
            continue;
        }
        if bytes.get(i) == Some(&b'.') {
            i += 1;
            while bytes.get(i).is_some_and(u8::is_ascii_digit) {
                i += 1;
            }
        }
        let taken = String::from_utf8_lossy(bytes.get(start..i).unwrap_or_default())
            .replace(['$', ','], "");
        return taken.parse().unwrap_or(0.0);
    }
    0.0
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options()?;
    let dataset = load(&Source::Path(options.file.clone()))?;
    let solver = RuleAnalyst::new();
    let mut tallies: BTreeMap<String, SummaryBuilder> = BTreeMap::new();
    let mut causes: BTreeMap<String, usize> = BTreeMap::new();
    let mut reliability: Vec<(f64, bool)> = Vec::new();
    let first: HashSet<String> = dataset
        .records
        .iter()
        .take(options.split)
        .map(|r| r.document.filename.clone())
        .collect();
    let (mut asked, mut seconds) = (0_usize, 0.0);
    for record in &dataset.records {
        let half = if first.contains(&record.document.filename) {
            "first"
        } else {
            "rest"
        };
        let cases: &[Arc<Case>] = if options.questions {
            &record.questions
        } else {
            &record.turns
        };
        let started = Instant::now();
        let page = solver.index(&record.document);
        seconds += started.elapsed().as_secs_f64();
        let mut history: Vec<HistoryEntry> = Vec::new();
        for (turn, case) in cases.iter().enumerate() {
            let mut question = case.question.clone();
            question.history.clone_from(&history);
            let started = Instant::now();
            let guess = solver.answer(&page, &question);
            seconds += started.elapsed().as_secs_f64();
            asked += 1;
            let got = guess
                .as_ref()
                .and_then(|g| value(&g.program, &record.document.table));
            let right_answer = case.gold.answer.as_deref().map(|answer| {
                let printed = guess
                    .as_ref()
                    .zip(got.as_ref())
                    .map_or(String::new(), |(g, v)| print(v, g.unit, g.in_percent));
                ((numeric(answer) - numeric(&printed)).abs() <= 0.5, printed)
            });
            let right = case
                .gold
                .exe_ans
                .as_ref()
                .map(|gold| got.as_ref() == Some(gold));
            let template = guess.as_ref().map_or("none", |g| g.template);
            if let Some(right) = right {
                let program = case.gold.program.clone().unwrap_or_default();
                for key in [
                    "all".to_owned(),
                    format!("half {half}"),
                    format!("turn {turn}"),
                    format!("template {template}"),
                    format!("gold {}", kind(&program)),
                ] {
                    tallies.entry(format!("EA {key}")).or_default().add(right);
                }
                if let Some(guess) = &guess {
                    reliability.push((guess.confidence, right));
                    if !right {
                        let named = case
                            .gold
                            .exe_ans
                            .as_ref()
                            .map_or("none", |g| cause(g, &program, guess, got.as_ref()));
                        *causes
                            .entry(format!("{named} (gold {})", kind(&program)))
                            .or_default() += 1;
                    }
                }
            }
            if let Some((right, _)) = &right_answer {
                for key in [
                    "all".to_owned(),
                    format!("half {half}"),
                    format!("template {template}"),
                ] {
                    tallies.entry(format!("NM {key}")).or_default().add(*right);
                }
            }
            let miss = right == Some(false)
                || right.is_none() && right_answer.as_ref().is_some_and(|(r, _)| !r);
            if options.misses
                && half == "first"
                && (miss || right_answer.as_ref().is_some_and(|(r, _)| !r))
            {
                println!("{} [{turn}] {}", question.key.id, question.text);
                println!(
                    "    gold {:?} = {:?} {:?}",
                    case.gold.program, case.gold.exe_ans, case.gold.answer
                );
                println!(
                    "    {} {:?} = {:?} {:?}",
                    template,
                    guess.as_ref().map(|g| (
                        g.program.clone(),
                        g.evidence.iter().map(|e| e.id.clone()).collect::<Vec<_>>()
                    )),
                    got,
                    right_answer
                );
            }
            let given = options.gold_history;
            history.push(HistoryEntry {
                question: question.text.clone(),
                value: if given {
                    case.gold.exe_ans.clone()
                } else {
                    got.map(|v| v.number().map_or(v.clone(), |x| Value::Number(round5(x))))
                },
                program: if given {
                    case.gold.program.clone()
                } else {
                    guess.as_ref().map(|g| g.program.clone())
                },
                label: guess.as_ref().map(|g| g.label.clone()),
                source: if given {
                    HistorySource::Gold
                } else {
                    HistorySource::Own
                },
            });
            if options.questions {
                history.clear();
            }
        }
    }
    for (key, tally) in &tallies {
        println!("{key:40} {tally}");
    }
    let mut causes: Vec<_> = causes.into_iter().collect();
    causes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    println!("misses by cause:");
    for (cause, n) in causes.iter().take(25) {
        println!("  {n:4} {cause}");
    }
    println!("confidence:  n, mean confidence, accuracy");
    for tenth in 0..10 {
        let low = f64::from(tenth) / 10.0;
        let bin: Vec<_> = reliability
            .iter()
            .filter(|(c, _)| *c >= low && (*c < low + 0.1 || tenth == 9))
            .collect();
        if !bin.is_empty() {
            let n = bin.len() as f64;
            println!(
                "  {low:.1} {:4} {:.3} {:.3}",
                bin.len(),
                bin.iter().map(|(c, _)| c).sum::<f64>() / n,
                bin.iter().filter(|(_, r)| *r).count() as f64 / n
            );
        }
    }
    println!(
        "{asked} questions, {:.0} a second (pages read included)",
        asked as f64 / seconds
    );
    Ok(())
}

/// The kind of a gold program.
fn kind(program: &str) -> &'static str {
    match program.matches('(').count() {
        0 => "look-up",
        1 => "one step",
        _ => "more steps",
    }
}
