//! The confidence: logistic regression on the signals of whole answers.

use finqa_agents::offline::RuleWeights;

use crate::slots::dot;

fn logistic(weights: &[f64], signals: &[f64]) -> f64 {
    1.0 / (1.0 + (-dot(weights, signals)).exp())
}

/// Logistic regression with a light penalty.
fn calibrate(judged: &[&(Vec<f64>, bool)]) -> Vec<f64> {
    let mut weights = vec![0.0; RuleWeights::embedded().confidence.len()];
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

/// Prints the reliability of confidences fitted on the other folds; returns the
/// weights fitted on all.
pub fn report(folds: &[Vec<(Vec<f64>, bool)>]) -> Vec<f64> {
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
    calibrate(&all)
}
