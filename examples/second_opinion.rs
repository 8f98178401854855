//! Measures the second opinion on answers of chat models: does agreement with the embedded analyst
//! separate right answers from wrong ones, and would replacing answers by its own improve them?
//!
//! ```text cargo run --release --example second_opinion -- PREDICTIONS RECORDS [--history own|gold]
//! [--folds FOLDER] ```
//!
//! PREDICTIONS is a file that `convfinqa score` reads, and RECORDS the file with its questions.
//! With `--history own`, the default, a turn's history is the model's own answers, as in a run.
//! FOLDER is what the trainer wrote with `--keep`: each opinion then comes from weights that were
//! not trained on the page.

mod opinions;

use std::path::Path;

use finqa_agents::pair::{AgreementCount, Answer, Arbitration, SecondOpinion};
use finqa_core::stats::Rate;
use finqa_score::dataset::Outcome;
use finqa_score::score::Row;

use opinions::Opinions;

/// Thresholds of confidence from which a differing opinion would replace the answer.
const FROM: [f64; 7] = [0.0, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95];

/// One answer and its second opinion.
struct TwoAgentSolver {
    page: String,
    opinion: SecondOpinion,
    answer_right: bool,
    opinion_right: bool,
}

impl TwoAgentSolver {
    fn agrees(&self) -> bool {
        self.opinion.agrees == Some(true)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let usage = "usage: second_opinion PREDICTIONS RECORDS [--history own|gold] [--folds FOLDER]";
    let [predictions, records, options @ ..] = arguments.as_slice() else {
        return Err(usage.into());
    };
    let (mut gold_history, mut folds) = (false, None);
    for option in options.chunks(2) {
        match option {
            [flag, whose] if flag == "--history" => gold_history = whose == "gold",
            [flag, folder] if flag == "--folds" => folds = Some(Path::new(folder)),
            _ => return Err(usage.into()),
        }
    }
    let rows = Opinions::new(folds)?.answers(predictions, records, gold_history)?;
    let pairs: Vec<TwoAgentSolver> = rows.iter().filter_map(pair).collect();
    print(&pairs);
    Ok(())
}

/// The row with its opinion; `None` if it has no opinion or no gold.
fn pair(row: &Row) -> Option<TwoAgentSolver> {
    let opinion = row.solution.opinion.clone()?;
    let other = row.right_with(&Answer {
        printed: opinion.printed.clone(),
        value: Some(opinion.value.clone()),
        program: Some(opinion.program.clone()),
        ..Answer::default()
    })?;
    Some(TwoAgentSolver {
        page: row.filename.clone(),
        opinion,
        answer_right: row.accepted()?,
        opinion_right: other && row.outcome() == Outcome::Answered,
    })
}

/// Prints what `--second-opinion arbitrate` would do to these answers, with the model's accuracy
/// estimated from the first 100 answers, and from all.
fn arbitration(pairs: &[TwoAgentSolver]) {
    for n in [100, pairs.len()] {
        let mut count = AgreementCount::default();
        for pair in pairs.iter().take(n) {
            count.add(Some(&pair.opinion));
        }
        let accuracy = count.model_accuracy();
        let taken = pairs
            .iter()
            .filter(|pair| Arbitration::choose(&pair.opinion, accuracy).taken);
        let taken: Vec<&TwoAgentSolver> = taken.collect();
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

fn print(pairs: &[TwoAgentSolver]) {
    let right = |name: &str, which: &dyn Fn(&TwoAgentSolver) -> bool| {
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
        let inside = |pair: &TwoAgentSolver| {
            pair.opinion.confidence >= low && pair.opinion.confidence < low + 0.1
        };
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
        let count =
            |which: &dyn Fn(&TwoAgentSolver) -> bool| differing.iter().filter(|p| which(p)).count();
        println!(
            "  {from:.2}  n {:3}  wrong {:3}  gained {:3}  lost {:3}",
            differing.len(),
            count(&|pair| !pair.answer_right),
            count(&|pair| pair.opinion_right && !pair.answer_right),
            count(&|pair| pair.answer_right && !pair.opinion_right),
        );
    }
}
