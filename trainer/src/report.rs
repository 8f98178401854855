//! Prints the results of the cross-validation: how often the analyst is right on pages that its
//! weights were not trained on, and how well its confidence is calibrated.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use finqa_core::stats::Rate;
use finqa_embedded::training::{SHAPES, shape_of};

use crate::classes;
use crate::confidence::{self, logistic};
use crate::items::{Answer, FOLDS};
use crate::random::Random;

/// The answers of all folds, on pages that the weights were not trained on.
pub struct Report<'a>(pub Vec<Answer<'a>>);

impl<'a> Report<'a> {
    /// The number of questions and of right answers, for the questions of a file and for all
    /// others, by kind of history.
    pub fn rates_beside(&self, file: &str) -> BTreeMap<String, (usize, usize)> {
        let mut rates: BTreeMap<String, (usize, usize)> = BTreeMap::new();
        for answer in &self.0 {
            let of = if answer.item.file == file {
                file
            } else {
                "others"
            };
            let mode = match answer.history {
                "" => "stand-alone".to_owned(),
                history => format!("{history} history"),
            };
            let (n, right) = rates.entry(format!("{of}, {mode}")).or_default();
            *n += 1;
            *right += usize::from(answer.right);
        }
        rates
    }

    /// Prints how often answers are right: by file and history, and without TAT-QA by shape and by
    /// place of the figures.
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
                    add(format!("dev, first 100 and new train, {history} history"));
                }
            }
        }
        println!("right, 95 % interval by page; candidate; among the compared");
        for (name, answers) in &sets {
            print_rate(name, answers);
        }
        // The tables below leave out TAT-QA's questions, which are of other kinds and are judged by
        // another rule.
        let finqa = || self.0.iter().filter(|a| a.item.answer.is_none());
        println!("stand-alone, by gold's shape:");
        let mut by_shape: BTreeMap<&str, Vec<&Answer<'_>>> = BTreeMap::new();
        for answer in finqa().filter(|a| a.item.stand_alone) {
            let shape = answer.item.program.as_deref().and_then(shape_of);
            let name = shape.map_or("unreadable", |s| SHAPES[s]);
            by_shape.entry(name).or_default().push(answer);
        }
        for (name, answers) in &by_shape {
            print_rate(name, answers);
        }
        for (mode, history) in [("stand-alone", ""), ("turns, gold history", "gold")] {
            println!("by place of gold's figures, {mode}:");
            let mut by_place: BTreeMap<&str, Vec<&Answer<'_>>> = BTreeMap::new();
            for answer in finqa().filter(|a| a.history == history) {
                let place = classes::place_of_figures(answer.item);
                by_place.entry(place).or_default().push(answer);
            }
            for (name, answers) in &by_place {
                print_rate(name, answers);
            }
        }
        self.print_later_turns();
    }

    /// Prints how often turns after the first are right with own history, and how often the same
    /// turns are right with gold history. They are grouped by whether all earlier answers are
    /// right, and by which figures come from earlier turns.
    fn print_later_turns(&self) {
        let of = |history: &'static str| self.0.iter().filter(move |a| a.history == history);
        let with_gold: HashMap<_, _> = of("gold")
            .map(|a| (&a.item.question.key, a.right))
            .collect();
        let mut sets: BTreeMap<(&str, &str), Vec<(bool, bool)>> = BTreeMap::new();
        // The answers of a conversation follow each other, so one flag is enough.
        let mut all_right = true;
        for answer in of("own") {
            let item = answer.item;
            if !item.first {
                let before = if all_right {
                    "all before right"
                } else {
                    "one before wrong"
                };
                let both = (answer.right, with_gold[&item.question.key]);
                for taken in [classes::taken_from_earlier(item), "all"] {
                    sets.entry((taken, before)).or_default().push(both);
                }
            }
            all_right = answer.right && (all_right || item.first);
        }
        println!("turns after the first, own history: n, right; right with gold history");
        for ((taken, before), answers) in sets {
            let n = answers.len() as f64;
            let own = answers.iter().filter(|(own, _)| *own).count() as f64;
            let gold = answers.iter().filter(|(_, gold)| *gold).count() as f64;
            println!(
                "{taken}, {before:17} {n:5} {:5.1} % {:5.1} %",
                100.0 * own / n,
                100.0 * gold / n
            );
        }
    }

    /// The answers that have signals, from which a confidence is computed.
    fn with_signals(&self) -> impl Iterator<Item = &Answer<'a>> {
        self.0.iter().filter(|answer| !answer.signals.is_empty())
    }

    /// The weights of the confidence, fitted on the answers of all folds, or of all but `without`.
    /// Answers to TAT-QA's questions are not used.
    pub fn confidence(&self, without: Option<usize>) -> Vec<f64> {
        let used = self
            .with_signals()
            .filter(|answer| answer.item.answer.is_none() && Some(answer.item.fold) != without);
        confidence::fit(&used.collect::<Vec<_>>())
    }

    /// Prints how well the confidence is calibrated, by kind of history, and how often the surest
    /// answers are right. The confidence of each answer is by weights fitted on the other folds.
    pub fn print_confidence(&self) {
        let of_fold = |fold: usize| self.confidence(Some(fold));
        let of_fold: Vec<Vec<f64>> = (0..FOLDS).map(of_fold).collect();
        type Choose = fn(&Answer<'_>) -> bool;
        let modes: [(&str, Choose); 4] = [
            ("stand-alone", |a| {
                a.item.stand_alone && a.item.answer.is_none()
            }),
            ("own history", |a| a.history == "own"),
            ("gold history", |a| a.history == "gold"),
            ("TAT-QA, not trained on its file", |a| a.item.only_tested),
        ];
        for (name, chosen) in modes {
            let of_mode = self.with_signals().filter(|a| chosen(a));
            let mut of_mode: Vec<(f64, bool)> = of_mode
                .map(|a| (logistic(&of_fold[a.item.fold], &a.signals), a.right))
                .collect();
            if of_mode.is_empty() {
                continue;
            }
            println!("confidence, {name}: n, mean, right");
            for (tenth, bin) in bins(&of_mode)
                .into_iter()
                .enumerate()
                .filter(|(_, bin)| bin.n > 0.0)
            {
                let (mean, right) = (bin.confidence / bin.n, bin.right / bin.n);
                println!("  0.{tenth} {:5}  {mean:.2}  {right:.2}", bin.n);
            }
            let n = of_mode.len() as f64;
            let brier: f64 = of_mode
                .iter()
                .map(|(p, right)| (p - f64::from(u8::from(*right))).powi(2))
                .sum::<f64>()
                / n;
            println!(
                "  calibration error {:.3} (of a perfect one with the same confidences in 19 of 20 cases at most {:.3}), Brier score {brier:.3}",
                calibration_error(&of_mode),
                perfect_calibration_error(&of_mode),
            );
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

    /// Writes all answers, right ones too, to a file: a line of JSON for each.
    pub fn write_misses(&self, path: &Path) -> std::io::Result<()> {
        let mut text = String::new();
        for answer in self.0.iter() {
            let item = answer.item;
            let line = serde_json::json!({
                "file": item.file, "id": item.question.key.to_string(), "history": answer.history,
                "question": item.question.text, "gold": item.program, "guess": answer.program,
                "right": answer.right, "possible": answer.possible, "fold": item.fold,
                "whole": item.whole, "new": item.new, "signals": answer.signals,
                "page": item.page(),
            });
            text += &format!("{line}\n");
        }
        std::fs::write(path, text)
    }
}

/// Answers whose confidence is in the same tenth: their number, the sum of their confidences, and
/// the number of right ones.
#[derive(Clone, Copy, Default)]
struct Bin {
    n: f64,
    confidence: f64,
    right: f64,
}

/// Sorts answers (confidence, and whether it is right) into tenths of the confidence.
fn bins(answers: &[(f64, bool)]) -> [Bin; 10] {
    let mut bins = [Bin::default(); 10];
    for (p, right) in answers {
        // A confidence of 1 belongs to the last tenth.
        let bin = &mut bins[((10.0 * p) as usize).min(9)];
        bin.n += 1.0;
        bin.confidence += p;
        bin.right += f64::from(u8::from(*right));
    }
    bins
}

/// The mean difference between confidence and share of right answers over ten bins, each weighted
/// by its number of answers.
fn calibration_error(answers: &[(f64, bool)]) -> f64 {
    let apart = bins(answers)
        .iter()
        .map(|bin| (bin.confidence - bin.right).abs())
        .sum::<f64>();
    apart / answers.len().max(1) as f64
}

/// The 95th percentile of the calibration error if each answer is right as often as its
/// confidence says.
fn perfect_calibration_error(answers: &[(f64, bool)]) -> f64 {
    // Set by hand.
    const DRAWS: usize = 1000;
    let mut random = Random::new(1);
    let mut draw = |p: f64| (p, (random.below(1_000_000) as f64) < 1e6 * p);
    let mut errors: Vec<f64> = (0..DRAWS)
        .map(|_| calibration_error(&answers.iter().map(|(p, _)| draw(*p)).collect::<Vec<_>>()))
        .collect();
    errors.sort_by(f64::total_cmp);
    errors[DRAWS * 95 / 100]
}

/// Prints a line of the first table: the share of right answers with its interval, then the columns
/// that the heading names. Prints nothing for no answers.
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
        "{name:48} {:5} {:5.1} % [{:4.1}, {:4.1}]  {:5.1} {:5.1}",
        rate.n,
        100.0 * rate.rate,
        100.0 * rate.low,
        100.0 * rate.high,
        share(&|a| a.possible),
        share(&|a| a.compared),
    );
}
