//! Trains the slot scorer's weights:
//!
//! ```text
//! cargo run --release --example offline_train -- FILE... [--l2 X]
//! ```
//!
//! A conditional logit over joint choices of facts, full-batch gradient descent,
//! with an L2 penalty. It prints the accuracy of
//! choices and of whole answers cross-validated by report page, then the weights
//! trained on everything, ready for `src/offline/weights.rs`.

use std::path::PathBuf;

use convfinqa::dataset::{Dataset, HistoryEntry, HistorySource, Question, Source, load};
use convfinqa::number::{Value, round5};
use convfinqa::offline::{Example, Solver, example, feature_weights, signal_names};
use convfinqa::program::official;

const FOLDS: usize = 5;

/// A question with the gold of the turns before it, and its gold program.
struct Item {
    question: Question,
    program: Option<String>,
    gold: Option<Value>,
    first: bool,
    fold: usize,
}

fn items(dataset: &Dataset) -> Vec<Item> {
    let mut out = Vec::new();
    for record in &dataset.records {
        let fold = usize::from(
            blake3::hash(record.document.filename.as_bytes())
                .as_bytes()
                .first()
                .copied()
                .unwrap_or(0),
        ) % FOLDS;
        for cases in [&record.questions, &record.turns] {
            let mut history = Vec::new();
            for case in cases {
                let mut question = case.question.clone();
                question.history.clone_from(&history);
                let stand_alone = question.key.part.starts_with("qa");
                history.push(HistoryEntry {
                    question: question.text.clone(),
                    value: case.gold.exe_ans.clone(),
                    program: case.gold.program.clone(),
                    label: None,
                    source: HistorySource::Gold,
                });
                if stand_alone {
                    history.clear();
                }
                out.push(Item {
                    first: question.history.is_empty(),
                    question,
                    program: case.gold.program.clone(),
                    gold: case.gold.exe_ans.clone(),
                    fold,
                });
            }
        }
    }
    out
}

fn examples(solver: &Solver, items: &[&Item]) -> Vec<Example> {
    items
        .iter()
        .filter_map(|item| {
            let page = solver.index(&item.question.document);
            example(&page, &item.question, item.program.as_deref()?)
        })
        .collect()
}

/// Gradient descent on the mean log-loss plus `l2 * |w - w0|^2 / 2`.
fn train(examples: &[Example], start: &[f64], l2: f64) -> Vec<f64> {
    let mut weights = start.to_vec();
    let mut velocity = vec![0.0; weights.len()];
    let n = examples.len().max(1) as f64;
    for _ in 0..400 {
        let mut gradient: Vec<f64> = weights
            .iter()
            .zip(start)
            .map(|(w, s)| l2 * (w - s))
            .collect();
        for example in examples {
            let scores: Vec<f64> = example
                .choices
                .iter()
                .map(|(f, _)| dot(f, &weights))
                .collect();
            let top = scores.iter().copied().fold(f64::MIN, f64::max);
            let weight: Vec<f64> = scores.iter().map(|s| (s - top).exp()).collect();
            let all: f64 = weight.iter().sum();
            let right: f64 = weight
                .iter()
                .zip(&example.choices)
                .filter(|(_, (_, used))| *used)
                .map(|(w, _)| w)
                .sum::<f64>()
                .max(1e-12);
            for (w, (features, used)) in weight.iter().zip(&example.choices) {
                let push = (w / all - if *used { w / right } else { 0.0 }) / n;
                if push.abs() > 1e-9 {
                    for (g, f) in gradient.iter_mut().zip(features) {
                        *g += push * f;
                    }
                }
            }
        }
        for ((w, v), g) in weights.iter_mut().zip(&mut velocity).zip(&gradient) {
            *v = 0.9 * *v - 0.3 * g;
            *w += *v;
        }
    }
    weights
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Two rounds: the second sees the choices that the first's weights put in reach.
fn fit(items: &[&Item], start: &[f64], l2: f64) -> Vec<f64> {
    let zero = vec![0.0; start.len()];
    let first = train(&examples(&Solver::with_weights(start), items), &zero, l2);
    train(&examples(&Solver::with_weights(&first), items), &zero, l2)
}

fn slot_accuracy(examples: &[Example], weights: &[f64]) -> (usize, usize) {
    let right = examples
        .iter()
        .filter(|e| {
            e.choices
                .iter()
                .max_by(|a, b| dot(&a.0, weights).total_cmp(&dot(&b.0, weights)))
                .is_some_and(|(_, used)| *used)
        })
        .count();
    (right, examples.len())
}

/// Official equality with the gold and with the solver's own history; the
/// signals of the answers over own history go to `judged`.
fn answers(
    solver: &Solver,
    items: &[&Item],
    judged: &mut Vec<(Vec<f64>, bool)>,
) -> (usize, usize, usize) {
    let (mut gold_right, mut own_right, mut n) = (0, 0, 0);
    let mut own: Vec<HistoryEntry> = Vec::new();
    for item in items {
        let page = solver.index(&item.question.document);
        let run = |question: &Question| {
            let program = solver.answer(&page, question)?.program;
            let (valid, value) = official::evaluate(
                &program,
                &question.document.table,
                official::Dialect::ConvFinQa,
            );
            value.filter(|_| valid).map(|v| (program, v))
        };
        let Some(gold) = &item.gold else { continue };
        n += 1;
        gold_right += usize::from(run(&item.question).is_some_and(|(_, v)| v == *gold));
        if item.first {
            own.clear();
        }
        let mut question = item.question.clone();
        question.history.clone_from(&own);
        let mine = run(&question);
        if let Some(guess) = solver.answer(&page, &question) {
            judged.push((guess.signals, mine.as_ref().is_some_and(|(_, v)| v == gold)));
        }
        own_right += usize::from(mine.as_ref().is_some_and(|(_, v)| v == gold));
        let rounded = |v: &Value| v.number().map_or(v.clone(), |x| Value::Number(round5(x)));
        own.push(HistoryEntry {
            question: question.text.clone(),
            value: mine.as_ref().map(|(_, v)| rounded(v)),
            program: mine.map(|(p, _)| p),
            label: None,
            source: HistorySource::Own,
        });
    }
    (gold_right, own_right, n)
}

fn logistic(weights: &[f64], signals: &[f64]) -> f64 {
    1.0 / (1.0 + (-dot(weights, signals)).exp())
}

/// Logistic regression with a light penalty.
fn calibrate(judged: &[&(Vec<f64>, bool)]) -> Vec<f64> {
    let mut weights = vec![0.0; signal_names().len()];
    let n = judged.len().max(1) as f64;
    for _ in 0..4000 {
        let mut gradient: Vec<f64> = weights.iter().map(|w| 0.002 * w).collect();
        for (signals, right) in judged {
            let push = (logistic(&weights, signals) - f64::from(u8::from(*right))) / n;
            for (g, s) in gradient.iter_mut().zip(signals) {
                *g += push * s;
            }
        }
        for (w, g) in weights.iter_mut().zip(&gradient) {
            *w -= 0.5 * g;
        }
    }
    weights
}

/// The reliability of confidences fitted on the other folds, and their weights
/// fitted on all.
fn report_confidence(folds: &[Vec<(Vec<f64>, bool)>]) {
    let mut judged: Vec<(f64, bool)> = Vec::new();
    for (i, test) in folds.iter().enumerate() {
        let rest: Vec<_> = folds
            .iter()
            .enumerate()
            .filter(|(j, _)| *j != i)
            .flat_map(|(_, f)| f)
            .collect();
        let weights = calibrate(&rest);
        judged.extend(
            test.iter()
                .map(|(signals, right)| (logistic(&weights, signals), *right)),
        );
    }
    let n = judged.len() as f64;
    let brier: f64 = judged
        .iter()
        .map(|(p, right)| (p - f64::from(u8::from(*right))).powi(2))
        .sum::<f64>()
        / n;
    println!("confidence, cross-validated by page: Brier score {brier:.3}");
    println!("  from   n    mean  accuracy");
    for tenth in 0..10 {
        let low = f64::from(tenth) / 10.0;
        let bin: Vec<_> = judged
            .iter()
            .filter(|(p, _)| *p >= low && *p < low + 0.1)
            .collect();
        if !bin.is_empty() {
            let m = bin.len() as f64;
            println!(
                "  {low:.1} {:5}   {:.2}  {:.2}",
                bin.len(),
                bin.iter().map(|(p, _)| p).sum::<f64>() / m,
                bin.iter().filter(|(_, r)| *r).count() as f64 / m
            );
        }
    }
    println!("  at least   answered   accuracy of the answered");
    for tenth in [0, 3, 4, 5, 6, 7, 8, 9] {
        let least = f64::from(tenth) / 10.0;
        let kept: Vec<_> = judged.iter().filter(|(p, _)| *p >= least).collect();
        let m = kept.len().max(1) as f64;
        println!(
            "  {least:.1}        {:5.1} %    {:5.1} %",
            100.0 * kept.len() as f64 / n,
            100.0 * kept.iter().filter(|(_, r)| *r).count() as f64 / m
        );
    }
    let all: Vec<_> = folds.iter().flatten().collect();
    for (name, weight) in signal_names().iter().zip(calibrate(&all)) {
        println!("    [{name:?}, {weight:.2}],");
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = Vec::new();
    let mut l2 = 0.001;
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--l2" {
            l2 = arguments
                .next()
                .ok_or("--l2: a value is missing")?
                .parse()?;
        } else {
            files.push(PathBuf::from(argument));
        }
    }
    let mut all = Vec::new();
    for file in files {
        all.extend(items(&load(&Source::Path(file))?));
    }
    let start: Vec<f64> = feature_weights().iter().map(|(_, w)| *w).collect();
    let solver = Solver::with_weights(&start);
    let mut folds: Vec<Vec<(Vec<f64>, bool)>> = Vec::new();
    let (mut slots, mut whole) = ((0, 0), (0, 0, 0));
    for fold in 0..FOLDS {
        let (test, rest): (Vec<&Item>, Vec<&Item>) = all.iter().partition(|i| i.fold == fold);
        let weights = fit(&rest, &start, l2);
        let (right, n) = slot_accuracy(&examples(&solver, &test), &weights);
        slots = (slots.0 + right, slots.1 + n);
        let conversations: Vec<&Item> = test
            .into_iter()
            .filter(|i| !i.question.key.part.starts_with("qa"))
            .collect();
        let mut judged = Vec::new();
        let (gold, own, n) = answers(&Solver::with_weights(&weights), &conversations, &mut judged);
        folds.push(judged);
        whole = (whole.0 + gold, whole.1 + own, whole.2 + n);
    }
    let rate = |a: usize, b: usize| 100.0 * a as f64 / b.max(1) as f64;
    let everything: Vec<&Item> = all.iter().collect();
    let every = examples(&solver, &everything);
    println!(
        "choices, weights as they are: {:.1} %",
        rate(slot_accuracy(&every, &start).0, every.len())
    );
    println!(
        "choices, cross-validated by page: {:.1} % of {}",
        rate(slots.0, slots.1),
        slots.1
    );
    println!(
        "turns, cross-validated by page: gold history {:.1} %, own {:.1} %, of {}",
        rate(whole.0, whole.2),
        rate(whole.1, whole.2),
        whole.2
    );
    report_confidence(&folds);
    let weights = fit(&everything, &start, l2);
    println!(
        "choices, trained on all: {:.1} %",
        rate(slot_accuracy(&every, &weights).0, every.len())
    );
    for ((name, _), weight) in feature_weights().iter().zip(weights) {
        println!("    ({name:?}, {weight:.2}),");
    }
    Ok(())
}
