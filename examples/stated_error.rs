//! Measures `--max-error`: do its answers have at most the error that it states?
//!
//! ```text
//! cargo run --release --example stated_error -- [--folds FOLDER] [--write FILE] [PREDICTIONS RECORDS]...
//! ```
//!
//! For each file of predictions, it calibrates 200 times on a random half of the pages, and prints
//! how often the error over all pages at the chosen threshold exceeds the bound, and how many
//! answers are given. Then it simulates answers whose probabilities are known. `--folds` is that of
//! the example `second_opinion`. `--write` fits the built-in calibration to all files together.

#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a program of the developers, over files that they know"
)]

mod opinions;

use std::collections::HashSet;
use std::error::Error;
use std::path::Path;

use finqa_core::stats::Rate;
use finqa_score::calibration::{
    Calibration, ErrorLimit, Fitted, INPUTS, Inputs, JudgedAnswer, RiskCurve, inputs_of,
};
use finqa_score::score::Row;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use serde_json::Value;

use opinions::Opinions;

const SIMULATIONS: usize = 2_000;
const HALVES: usize = 200;
/// Intercept of the simulated answers' log odds, chosen so that about as many are wrong as among
/// the published ones.
const LEVEL: f64 = 0.45;
/// Number of inputs that come from the second opinion; they are the first ones.
const OF_OPINION: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (mut folds, mut write, mut files) = (None, None, Vec::new());
    for pair in arguments.chunks(2) {
        match pair {
            [flag, folder] if flag == "--folds" => folds = Some(Path::new(folder)),
            [flag, file] if flag == "--write" => write = Some(Path::new(file)),
            [predictions, records] => files.push((predictions, records)),
            _ => {
                return Err(
                    "usage: stated_error [--folds FOLDER] [--write FILE] [PREDICTIONS RECORDS]..."
                        .into(),
                );
            }
        }
    }
    let opinions = Opinions::new(folds)?;
    let mut all = Vec::new();
    for (predictions, records) in files {
        let rows = opinions.answers(predictions, records, false)?;
        println!("\n{predictions}");
        agreement(&rows);
        let judged: Vec<JudgedAnswer> = rows.iter().filter_map(judged).collect();
        for most in ["5%", "10%"] {
            let most = most.parse()?;
            halves("with the second opinion", &judged, most);
            halves("without it", &without_opinion(&judged), most);
        }
        all.extend(judged);
    }
    if let Some(path) = write {
        write_built_in(path, &all)?;
    }
    simulate();
    Ok(())
}

fn judged(row: &Row) -> Option<JudgedAnswer> {
    Some(JudgedAnswer {
        group: (hash(&row.filename), hash(&format!("{:?}", row.key))),
        inputs: inputs_of(&row.solution)?,
        right: row.accepted()?,
    })
}

fn hash(name: &str) -> u64 {
    let [a, b, c, d, e, f, g, h, ..] = *blake3::hash(name.as_bytes()).as_bytes();
    u64::from_le_bytes([a, b, c, d, e, f, g, h])
}

fn without_opinion(judged: &[JudgedAnswer]) -> Vec<JudgedAnswer> {
    let mut judged = judged.to_vec();
    for answer in &mut judged {
        answer.inputs[..OF_OPINION].fill(None);
    }
    judged
}

/// The answers whose probability of being right is at least `least`: their share of all answers,
/// and the mean of their probabilities of being wrong, which are in `answers`.
fn given(fitted: &Fitted, least: f64, answers: &[(Inputs, f64)]) -> (f64, f64) {
    let given = answers
        .iter()
        .filter(|(inputs, _)| fitted.model.probability(inputs) >= least);
    let (n, wrong) = given.fold((0.0, 0.0), |(n, sum), (_, wrong)| (n + 1.0, sum + wrong));
    (n / answers.len() as f64, wrong / f64::max(n, 1.0))
}

/// Simulates `n` answers on pages of one to seven, each with its true probability of being wrong.
/// Two answers on a page depend on the same random number with the probability `correlation`.
fn simulated(random: &mut ChaCha8Rng, n: usize, correlation: f64) -> Vec<(JudgedAnswer, f64)> {
    let mut out = Vec::new();
    while out.len() < n {
        let (page, luck): (u64, f64) = (random.random(), random.random());
        for _ in 0..random.random_range(1..=7).min(n - out.len()) {
            let agrees = f64::from(u8::from(random.random_bool(0.7)));
            let confidence: f64 = random.random();
            let right = 1.0 / (1.0 + (-LEVEL - 2.5 * agrees - 2.0 * (confidence - 0.5)).exp());
            let mut inputs = [None; INPUTS.len()];
            (inputs[0], inputs[1]) = (Some(agrees), Some(confidence));
            let own = if random.random_bool(correlation.sqrt()) {
                luck
            } else {
                random.random()
            };
            let answer = JudgedAnswer {
                group: (page, random.random()),
                inputs,
                right: own < right,
            };
            out.push((answer, 1.0 - right));
        }
    }
    out
}

fn simulate() {
    println!(
        "\n{SIMULATIONS} simulated calibrations each, --max-error 5%: a bound is false if the error at its\n\
         threshold is above 5 % in truth. `wrong` is the share of all answers that are wrong.\n\
         answers  correlation  wrong  bounds  false  answers given"
    );
    for n in [50, 200, 1_000] {
        for correlation in [0.0, 0.2, 0.5] {
            let mut random = ChaCha8Rng::seed_from_u64(n as u64);
            let truth = simulated(&mut random, 10_000, 0.0);
            let truth: Vec<(Inputs, f64)> = truth
                .into_iter()
                .map(|(it, wrong)| (it.inputs, wrong))
                .collect();
            let (mut bounds, mut false_ones, mut share) = (0, 0, 0.0);
            for _ in 0..SIMULATIONS {
                let sample = simulated(&mut random, n, correlation);
                let sample: Vec<_> = sample.into_iter().map(|(answer, _)| answer).collect();
                let fitted = Fitted::to(&sample);
                let Some(point) = fitted.curve.within(0.05) else {
                    continue;
                };
                let (given, wrong) = given(&fitted, point.probability, &truth);
                bounds += 1;
                false_ones += usize::from(wrong > 0.05);
                share += given;
            }
            let wrong = truth.iter().map(|(_, wrong)| wrong).sum::<f64>() / truth.len() as f64;
            println!(
                "{n:7}  {correlation:11}  {:4.1} %  {bounds:6}  {false_ones:5}  {:11.1} %",
                100.0 * wrong,
                100.0 * share / f64::max(f64::from(bounds), 1.0),
            );
        }
    }
}

/// Prints how many answers are right if the opinion agrees, and how many if it differs.
fn agreement(rows: &[Row]) {
    let right = |agrees: bool| {
        let marks = rows.iter().filter_map(|row| {
            let found = row.solution.opinion.as_ref()?.agrees?;
            (found == agrees).then_some((&row.filename, &row.key, row.accepted()?))
        });
        Rate::of(marks).map_or_else(String::new, |rate| {
            let [percent, low, high] = [rate.rate, rate.low, rate.high].map(|it| 100.0 * it);
            format!("{percent:.1} % of {} ({low:.1}–{high:.1})", rate.n)
        })
    };
    println!(
        "  right where the opinion agrees {}, where it differs {}",
        right(true),
        right(false)
    );
}

fn halves(name: &str, judged: &[JudgedAnswer], most: ErrorLimit) {
    let pages: HashSet<u64> = judged.iter().map(|answer| answer.group.0).collect();
    let mut pages: Vec<u64> = pages.into_iter().collect();
    pages.sort_unstable();
    let known = |answers: &mut dyn Iterator<Item = &JudgedAnswer>| -> Vec<(Inputs, f64)> {
        answers
            .map(|it| (it.inputs, f64::from(u8::from(!it.right))))
            .collect()
    };
    let all = known(&mut judged.iter());
    let mut random = ChaCha8Rng::seed_from_u64(34);
    let (mut bounds, mut exceeded, mut share, mut elsewhere) = (0, 0, 0.0, 0.0);
    for _ in 0..HALVES {
        pages.shuffle(&mut random);
        let half: HashSet<u64> = pages.iter().take(pages.len() / 2).copied().collect();
        let is_in = |answer: &&JudgedAnswer| half.contains(&answer.group.0);
        let sample: Vec<_> = judged.iter().filter(is_in).cloned().collect();
        let fitted = Fitted::to(&sample);
        let Some(point) = fitted.curve.within(most.rate()) else {
            continue;
        };
        let others = known(&mut judged.iter().filter(|answer| !is_in(answer)));
        let (of_all, wrong) = given(&fitted, point.probability, &all);
        bounds += 1;
        exceeded += usize::from(wrong > most.rate());
        share += of_all;
        elsewhere += given(&fitted, point.probability, &others).1;
    }
    let per_bound = |sum: f64| 100.0 * sum / f64::max(f64::from(bounds), 1.0);
    // For comparison, a calibration on all pages.
    let whole = Fitted::to(judged).curve;
    println!(
        "  --max-error {most} {name}: {bounds} bounds in {HALVES} halves, {exceeded} exceeded; given \
         {:.1} %; of the other half's {:.1} % wrong\n    on all pages: {}",
        per_bound(share),
        per_bound(elsewhere),
        of_all(&whole, most)
    );
}

fn of_all(curve: &RiskCurve, most: ErrorLimit) -> String {
    let point = curve.within(most.rate());
    match point.and_then(|point| Some((point.n, point.measured?))) {
        Some((n, measured)) => format!(
            "{n} of {}, {} wrong, at most {:.1} %",
            curve.answers,
            measured.errors,
            100.0 * measured.bound
        ),
        None => format!(
            "none of {}: {}",
            curve.answers,
            curve.needs(most).unwrap_or_default()
        ),
    }
}

/// Writes the built-in calibration. It has no bounds, because they would not hold for another
/// model.
fn write_built_in(path: &Path, judged: &[JudgedAnswer]) -> Result<(), Box<dyn Error>> {
    let pages: HashSet<u64> = judged.iter().map(|answer| answer.group.0).collect();
    let errors = judged.iter().filter(|answer| !answer.right).count();
    let fitted = Fitted {
        curve: RiskCurve::default(),
        ..Fitted::to(judged)
    };
    let calibration = Calibration {
        fitted_on: format!(
            "{} published GPT-4o and Claude answers on {} pages of ConvFinQA",
            judged.len(),
            pages.len()
        ),
        date: jiff::Timestamp::now().strftime("%F").to_string(),
        ..Calibration::of(fitted, judged.len(), pages.len(), errors)
    };
    let mut json = serde_json::to_value(&calibration)?;
    round(&mut json);
    std::fs::write(path, format!("{json:#}\n"))?;
    println!("\nwrote {}", path.display());
    Ok(())
}

/// Rounds all numbers to four decimals; more would differ between processors.
fn round(json: &mut Value) {
    match json {
        Value::Object(fields) => fields.values_mut().for_each(round),
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Number(number) if number.is_f64() => {
            let rounded = (number.as_f64().unwrap_or_default() * 1e4).round() / 1e4;
            *json = rounded.into();
        }
        _ => {}
    }
}
