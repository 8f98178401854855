//! The figures of questions on pages that the weights were not trained on.

use std::collections::BTreeMap;
use std::path::Path;

use finqa_core::stats::Rate;
use finqa_embedded::training::{SHAPES, shape_of};

use crate::classes;
use crate::confidence::{self, Judged};
use crate::items::Item;

pub struct Answer<'a> {
    pub item: &'a Item,
    /// Empty for a stand-alone question.
    pub history: &'static str,
    pub right: bool,
    /// The linear model alone is right.
    pub linear: bool,
    /// The place of the first right candidate by the linear model.
    pub place: Option<usize>,
    pub program: Option<String>,
    pub signals: Vec<f64>,
}

#[derive(Default)]
pub struct Report<'a>(Vec<Answer<'a>>);

impl<'a> Report<'a> {
    pub fn add(&mut self, answers: Vec<Answer<'a>>) {
        self.0.extend(answers);
    }

    pub fn print(&self) {
        let mut sets: BTreeMap<String, Vec<&Answer<'_>>> = BTreeMap::new();
        for answer in &self.0 {
            let item = answer.item;
            let history = answer.history;
            let mut add = |name: String| sets.entry(name).or_default().push(answer);
            if item.stand_alone {
                let pages = match (item.silver, item.abridged) {
                    (true, _) => "programs by search",
                    (_, true) => "other pages",
                    _ => "whole pages",
                };
                add(format!("{} stand-alone, {pages}", item.file));
                if item.file.starts_with("finqa/dev") {
                    add(format!("{} stand-alone", item.file));
                }
            } else if item.file.ends_with("extra") && !item.new {
                add(format!(
                    "{} on pages of the first 100, {history}",
                    item.file
                ));
            } else {
                add(format!("{}, {history} history", item.file));
                if !item.file.ends_with("extra") {
                    add(format!("dev and first 100, {history} history"));
                }
            }
        }
        println!("right, 95 % interval by page; linear alone; candidate; among the first 32");
        for (name, answers) in &sets {
            print_rate(name, answers);
        }
        println!("stand-alone, by gold's shape:");
        let mut by_shape: BTreeMap<&str, Vec<&Answer<'_>>> = BTreeMap::new();
        for answer in self.0.iter().filter(|a| a.item.stand_alone) {
            let shape = answer.item.program.as_deref().and_then(shape_of);
            let name = shape.map_or("unreadable", |s| SHAPES[s]);
            by_shape.entry(name).or_default().push(answer);
        }
        for (name, answers) in &by_shape {
            print_rate(name, answers);
        }
        println!("by class of question, stand-alone and gold history:");
        for (name, holds) in classes::CLASSES {
            let of_class = |a: &&Answer<'_>| a.history != "own" && holds(a.item);
            print_rate(name, &self.0.iter().filter(of_class).collect::<Vec<_>>());
        }
        println!("place of the first right candidate by the linear model, stand-alone:");
        let alone = || self.0.iter().filter(|a| a.item.stand_alone);
        let mut from = 0;
        for to in [1, 2, 4, 8, 16, 32, 64, usize::MAX] {
            let of = |a: &&Answer<'_>| a.place.is_some_and(|p| (from..to).contains(&p));
            println!("  from {from:2} {:5}", alone().filter(of).count());
            from = to;
        }
        println!(
            "  none    {:5}",
            alone().filter(|a| a.place.is_none()).count()
        );
    }

    fn judged(&self) -> Vec<Judged<'_>> {
        let answered = self.0.iter().filter(|answer| !answer.signals.is_empty());
        let judged = answered.map(|answer| Judged {
            signals: &answer.signals,
            right: answer.right,
            fold: answer.item.fold,
        });
        judged.collect()
    }

    /// The weights of the confidence.
    pub fn confidence(&self) -> Vec<f64> {
        let judged = self.judged();
        confidence::fit(&judged.iter().collect::<Vec<_>>())
    }

    pub fn print_confidence(&self) {
        let judged = self.judged();
        let confidences = confidence::cross_fitted(&judged);
        let answered = self.0.iter().filter(|answer| !answer.signals.is_empty());
        let all: Vec<(&Answer<'_>, f64)> = answered.zip(confidences).collect();
        type Choose = fn(&Answer<'_>) -> bool;
        let modes: [(&str, Choose); 3] = [
            ("stand-alone", |a| a.item.stand_alone),
            ("own history", |a| a.history == "own"),
            ("gold history", |a| a.history == "gold"),
        ];
        for (name, chosen) in modes {
            let mut of_mode: Vec<(f64, bool)> = all
                .iter()
                .filter(|(answer, _)| chosen(answer))
                .map(|(answer, p)| (*p, answer.right))
                .collect();
            let n = of_mode.len().max(1) as f64;
            let mut error = 0.0;
            println!("confidence, {name}: n, mean, right");
            for tenth in 0..10 {
                let low = f64::from(tenth) / 10.0;
                let bin: Vec<_> = of_mode
                    .iter()
                    .filter(|(p, _)| *p >= low && (*p < low + 0.1 || tenth == 9))
                    .collect();
                if bin.is_empty() {
                    continue;
                }
                let m = bin.len() as f64;
                let mean = bin.iter().map(|(p, _)| p).sum::<f64>() / m;
                let right = bin.iter().filter(|(_, right)| *right).count() as f64 / m;
                error += m / n * (mean - right).abs();
                println!("  {low:.1} {:5}  {mean:.2}  {right:.2}", bin.len());
            }
            let brier: f64 = of_mode
                .iter()
                .map(|(p, right)| (p - f64::from(u8::from(*right))).powi(2))
                .sum::<f64>()
                / n;
            println!("  calibration error {error:.3}, Brier score {brier:.3}");
            of_mode.sort_by(|a, b| b.0.total_cmp(&a.0));
            for share in [0.1, 0.2, 0.25, 0.3, 0.4, 0.5] {
                let kept = &of_mode[..(n * share) as usize];
                let right = kept.iter().filter(|(_, right)| *right).count();
                println!(
                    "  the surest {:3.0} %: from {:.2}, right {:.1} %",
                    100.0 * share,
                    kept.last().map_or(1.0, |(p, _)| *p),
                    100.0 * right as f64 / kept.len().max(1) as f64
                );
            }
        }
    }

    pub fn write_misses(&self, path: &Path) -> std::io::Result<()> {
        let mut text = String::new();
        for answer in self.0.iter() {
            let item = answer.item;
            let line = serde_json::json!({
                "file": item.file, "id": item.question.key.to_string(), "history": answer.history,
                "question": item.question.text, "gold": item.program, "guess": answer.program,
                "right": answer.right, "place": answer.place, "fold": item.fold,
                "whole": item.whole, "new": item.new, "signals": answer.signals,
                "page": item.page(), "linear": answer.linear,
            });
            text += &format!("{line}\n");
        }
        std::fs::write(path, text)
    }
}

fn print_rate(name: &str, answers: &[&Answer<'_>]) {
    let marks = answers.iter().map(|a| {
        let key = &a.item.question.key;
        (a.item.page(), key.clone(), a.right)
    });
    let Some(rate) = Rate::of(marks) else { return };
    let share = |holds: &dyn Fn(&Answer<'_>) -> bool| {
        let n = answers.iter().filter(|a| holds(a)).count();
        100.0 * n as f64 / answers.len() as f64
    };
    println!(
        "{name:48} {:5} {:5.1} % [{:4.1}, {:4.1}]  {:5.1} {:5.1} {:5.1}",
        rate.n,
        100.0 * rate.rate,
        100.0 * rate.low,
        100.0 * rate.high,
        share(&|a| a.linear),
        share(&|a| a.place.is_some()),
        share(&|a| a.place.is_some_and(|p| p < 32)),
    );
}
