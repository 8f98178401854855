//! Measures the second opinion on answers that chat models have given: does
//! agreement with the embedded analyst tell right answers from wrong ones, and
//! would their value in the answer's place gain anything?
//!
//! ```text
//! cargo run --release --example second_opinion -- PREDICTIONS RECORDS [--history own|gold]
//! ```
//!
//! PREDICTIONS is what `convfinqa score` reads, RECORDS the file that was asked.
//! With `--history own`, the default, a turn's history is the model's own
//! answers, as in a run.

use std::collections::HashMap;
use std::path::PathBuf;

use convfinqa::dataset::{Case, HistoryEntry, HistorySource, Outcome, Question, Source, load};
use convfinqa::score::Row;
use convfinqa::score::files::{read_predictions, rescore};
use finqa_agents::pair::{
    AgreementCount, Answer, Arbitration, EmbeddedAgent, SecondOpinion, printed_value,
};
use finqa_core::number::Value;
use finqa_core::program::Program;
use finqa_core::stats::Rate;

/// Confidences from which a differing opinion is tried in the answer's place.
const FROM: [f64; 7] = [0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95];

/// One answer and its second opinion.
struct Pair {
    page: String,
    opinion: SecondOpinion,
    answer_right: bool,
    opinion_right: bool,
}

impl Pair {
    fn agrees(&self) -> bool {
        self.opinion.agrees == Some(true)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (predictions, records, gold_history) = match arguments.as_slice() {
        [predictions, records] => (predictions, records, false),
        [predictions, records, flag, whose] if flag == "--history" => {
            (predictions, records, whose == "gold")
        }
        _ => return Err("usage: second_opinion PREDICTIONS RECORDS [--history own|gold]".into()),
    };
    let data = load(&Source::Path(PathBuf::from(records)))?;
    let rows = rescore(read_predictions(&PathBuf::from(predictions))?, Some(&data))?;
    let rows: HashMap<_, _> = rows.into_iter().map(|row| (row.key.clone(), row)).collect();
    let embedded = EmbeddedAgent::default();
    let mut pairs = Vec::new();
    for record in &data.records {
        let mut history = Vec::new();
        for case in record.cases() {
            let Some(row) = rows.get(&case.question.key) else {
                continue;
            };
            let is_turn = row.turn().is_some();
            let question = Question {
                history: if is_turn { history.clone() } else { Vec::new() },
                ..case.question.clone()
            };
            let value = value_of(row);
            if let Some(opinion) = embedded.opinion(&question) {
                pairs.extend(pair(row, value.as_ref(), &opinion));
            }
            if is_turn {
                history.push(entry(case, row, value, gold_history));
            }
        }
    }
    print(&pairs);
    Ok(())
}

/// An answer's value: its program executed, else what it says.
fn value_of(row: &Row) -> Option<Value> {
    let executed = row.program().and_then(|program| {
        Program::parse(program)
            .ok()?
            .execute_unrounded(row.table())
            .ok()
    });
    executed.or_else(|| printed_value(&row.printed()))
}

fn pair(row: &Row, value: Option<&Value>, opinion: &SecondOpinion) -> Option<Pair> {
    let other = row.right_with(&Answer {
        printed: opinion.printed.clone(),
        value: Some(opinion.value.clone()),
        program: Some(opinion.program.clone()),
        ..Answer::default()
    })?;
    Some(Pair {
        page: row.filename.clone(),
        opinion: SecondOpinion {
            agrees: Some(value.is_some_and(|value| opinion.is(value, &row.printed()))),
            ..opinion.clone()
        },
        answer_right: row.accepted()?,
        opinion_right: other && row.outcome() == Outcome::Answered,
    })
}

fn entry(case: &Case, row: &Row, value: Option<Value>, gold: bool) -> HistoryEntry {
    HistoryEntry {
        question: case.question.text.clone(),
        value: if gold {
            case.gold.exe_ans.clone()
        } else {
            value
        },
        program: if gold {
            case.gold.program.clone()
        } else {
            row.program().map(str::to_owned)
        },
        label: None,
        source: if gold {
            HistorySource::Gold
        } else {
            HistorySource::Own
        },
    }
}

/// What `--second-opinion arbitrate` does to these answers, by the accuracy that a run of
/// the first 100 gives and by that of all.
fn arbitration(pairs: &[Pair]) {
    for n in [100, pairs.len()] {
        let mut count = AgreementCount::default();
        for pair in pairs.iter().take(n) {
            count.add(Some(&pair.opinion));
        }
        let accuracy = count.model_accuracy();
        let taken = pairs
            .iter()
            .filter(|pair| Arbitration::choose(&pair.opinion, accuracy).taken);
        let taken: Vec<&Pair> = taken.collect();
        let flips = |gained: bool| {
            let flips = taken.iter().filter(|pair| {
                pair.opinion_right != pair.answer_right && pair.opinion_right == gained
            });
            flips.count()
        };
        println!(
            "arbitration by {n:4} answers: model accuracy {accuracy:.3}, replaced {:3}, gained {:3}, lost {:3}",
            taken.len(),
            flips(true),
            flips(false),
        );
    }
}

fn print(pairs: &[Pair]) {
    let right = |name: &str, which: &dyn Fn(&Pair) -> bool| {
        let marks = pairs.iter().enumerate().filter(|(_, pair)| which(pair));
        let marks = marks.map(|(at, pair)| (pair.page.as_str(), at, pair.answer_right));
        if let Some(rate) = Rate::of(marks) {
            println!(
                "{name:22} {:4} of {:4} answers right by FE, {:.1} % [{:.1}, {:.1}]",
                rate.hits,
                rate.n,
                100.0 * rate.rate,
                100.0 * rate.low,
                100.0 * rate.high
            );
        }
    };
    right("all", &|_| true);
    right("the opinion agrees", &|pair| pair.agrees());
    right("it differs", &|pair| !pair.agrees());
    for tenth in 0..10 {
        let low = f64::from(tenth) / 10.0;
        let inside =
            |pair: &Pair| pair.opinion.confidence >= low && pair.opinion.confidence < low + 0.1;
        right(&format!("{low:.1}: agrees"), &|pair| {
            pair.agrees() && inside(pair)
        });
        right(&format!("{low:.1}: differs"), &|pair| {
            !pair.agrees() && inside(pair)
        });
    }
    arbitration(pairs);
    println!(
        "differing opinions from a confidence on: answers wrong; in the answer's place gained, lost"
    );
    for from in FROM {
        let differing: Vec<_> = pairs
            .iter()
            .filter(|pair| !pair.agrees() && pair.opinion.confidence >= from)
            .collect();
        let count = |which: &dyn Fn(&Pair) -> bool| differing.iter().filter(|p| which(p)).count();
        println!(
            "  {from:.2}  n {:3}  wrong {:3}  gained {:3}  lost {:3}",
            differing.len(),
            count(&|pair| !pair.answer_right),
            count(&|pair| pair.opinion_right && !pair.answer_right),
            count(&|pair| pair.answer_right && !pair.opinion_right),
        );
    }
}
