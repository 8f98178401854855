//! Trains the embedded analyst's weights:
//!
//! ```text
//! cargo run --release --example offline_train -- FILE... [--l2 X] [--choice-l2 X] [--split N]
//!     [--write data/offline_weights.json]
//! ```
//!
//! The slot scorer and the choice among candidates are conditional logits with an
//! L2 penalty, the confidence a logistic regression. It prints their accuracy
//! cross-validated by report page (pages of the first N records of each file
//! apart from the others). `--write` writes the weights trained on everything;
//! the next build of the program embeds them.

mod choice;
mod confidence;
mod items;
mod slots;

use std::collections::BTreeMap;
use std::path::PathBuf;

use convfinqa::dataset::{Source, load};
use finqa_agents::offline::{RuleAnalyst, RuleWeights};

use items::{FOLDS, Item, converse, items};

struct Options {
    files: Vec<PathBuf>,
    l2: f64,
    choice_l2: f64,
    split: usize,
    write: Option<PathBuf>,
}

fn options() -> Result<Options, Box<dyn std::error::Error>> {
    let mut out = Options {
        files: Vec::new(),
        l2: 0.001,
        choice_l2: 0.003,
        split: usize::MAX,
        write: None,
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .ok_or(format!("{argument}: a value is missing"))
        };
        match argument.as_str() {
            "--l2" => out.l2 = value()?.parse()?,
            "--choice-l2" => out.choice_l2 = value()?.parse()?,
            "--split" => out.split = value()?.parse()?,
            "--write" => out.write = Some(PathBuf::from(value()?)),
            file => out.files.push(PathBuf::from(file)),
        }
    }
    Ok(out)
}

/// Right and asked, by what was asked.
#[derive(Default)]
struct SummaryBuilder(BTreeMap<String, (usize, usize)>);

impl SummaryBuilder {
    fn add(&mut self, key: &str, right: bool) {
        let (n, all) = self.0.entry(key.to_owned()).or_default();
        *n += usize::from(right);
        *all += 1;
    }

    fn print(&self) {
        for (key, (n, all)) in &self.0 {
            println!("{key:44} {:5.1} % of {all}", rate(*n, *all));
        }
    }
}

fn rate(a: usize, b: usize) -> f64 {
    100.0 * a as f64 / b.max(1) as f64
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = options()?;
    let mut all = Vec::new();
    for file in &options.files {
        all.extend(items(&load(&Source::Path(file.clone()))?, options.split));
    }
    let embedded = RuleWeights::embedded();
    let start = &embedded.slots;
    let mut judged: Vec<Vec<(Vec<f64>, bool)>> = Vec::new();
    let mut tally = SummaryBuilder::default();
    for fold in 0..FOLDS {
        let (test, rest): (Vec<&Item>, Vec<&Item>) = all.iter().partition(|i| i.fold == fold);
        let slots = slots::fit(&rest, start, options.l2);
        let solver = RuleAnalyst::with_weights(RuleWeights {
            choice: choice::fit(&rest, &slots, options.choice_l2),
            slots: slots.clone(),
            ..embedded.clone()
        });
        for example in slots::examples(&solver, &test) {
            tally.add("choices of facts", slots::right(&example, &slots));
        }
        let asked = |item: &&&Item| item.gold.is_some();
        for item in test.iter().filter(asked) {
            let page = solver.index(&item.question.document);
            let value = solver
                .answer(&page, &item.question)
                .and_then(|g| item.value(&g.program));
            let right = value.is_some_and(|v| item.right(&v));
            let kind = if item.stand_alone {
                "stand-alone questions"
            } else {
                "turns over gold history"
            };
            tally.add(kind, right);
            tally.add(&format!("{kind}, {}", half(item)), right);
        }
        let turns: Vec<&Item> = test.into_iter().filter(|i| !i.stand_alone).collect();
        let own = converse(&solver, &turns);
        for answered in own.iter().filter(|a| a.item.gold.is_some()) {
            tally.add("turns over own history", answered.right);
            let key = format!("turns over own history, {}", half(answered.item));
            tally.add(&key, answered.right);
        }
        let signals = own.into_iter().filter(|a| !a.signals.is_empty());
        judged.push(signals.map(|a| (a.signals, a.right)).collect());
    }
    println!("cross-validated by page:");
    tally.print();
    let mut weights = RuleWeights {
        confidence: confidence::report(&judged),
        ..embedded.clone()
    };
    let everything: Vec<&Item> = all.iter().collect();
    let slots = slots::fit(&everything, start, options.l2);
    weights.slots.clone_from(&slots);
    let solver = RuleAnalyst::with_weights(weights.clone());
    let examples = slots::examples(&solver, &everything);
    let right = examples.iter().filter(|e| slots::right(e, &slots)).count();
    println!(
        "choices of facts, trained on all: {:.1} %",
        rate(right, examples.len())
    );
    weights.choice = choice::fit(&everything, &slots, options.choice_l2);
    if let Some(path) = options.write {
        for weight in [
            &mut weights.slots,
            &mut weights.choice,
            &mut weights.confidence,
        ]
        .into_iter()
        .flatten()
        {
            *weight = (*weight * 100.0).round() / 100.0;
        }
        std::fs::write(path, weights.to_json())?;
    }
    Ok(())
}

fn half(item: &Item) -> &'static str {
    if item.seen {
        "first pages"
    } else {
        "the other pages"
    }
}
