//! Compares three or more runs: each one with the first, over the questions that all of them have.

use std::collections::HashSet;
use std::path::PathBuf;

use serde::Serialize;

use crate::dataset::QuestionKey;
use crate::score::{Row, Rule};
use finqa_core::stats::{Interval, LatencySummary, Rate};

use super::AnalysisError;
use super::answers::Answers;
use super::by_rule::RuleComparison;
use super::compare::{Comparison, compare};
use super::verdict::Verdict;

/// Several runs over the same questions. The first is A, with which the others are compared.
#[derive(Clone, Debug, Serialize)]
pub struct SeveralRuns {
    pub rule: Rule,
    /// The number of questions that all runs have.
    pub questions: usize,
    /// The number of report pages that these questions are on.
    pub pages: usize,
    pub runs: Vec<ComparedRun>,
    /// The inputs in which the runs differ.
    pub settings: Vec<InputValues>,
    /// True if nothing is missing.
    pub complete: bool,
    /// One line for each thing that is missing.
    pub missing: Vec<String>,
}

/// One of several runs.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRun {
    /// `A`, `B`, `C`, …
    pub letter: String,
    /// The file or folder it was read from.
    pub path: PathBuf,
    /// The number of answers: one for each question and epoch.
    pub answers: usize,
    /// The number of answers that are not compared, because another run does not have the question.
    pub left_out: usize,
    /// The model that was asked for; absent for a file of unknown origin.
    pub model: Option<String>,
    /// The models that the servers say they answered with.
    pub served: Vec<String>,
    /// The number of pairs that the rule can judge. For the first run, the number of its own
    /// answers that the rule can judge.
    pub n: usize,
    /// The rate by the rule, from 0 to 1.
    pub rate: f64,
    /// 95 % interval of the rate, clustered by page.
    pub interval: Interval,
    /// The verdict on this run (as B) against the first run (as A); absent for the first run.
    pub verdict: Option<Verdict>,
    /// US dollars per question; absent if the cost of a question is unknown.
    pub cost_usd: Option<f64>,
    /// Latencies in seconds, if known.
    pub latency: Option<LatencySummary>,
}

/// An input whose value is not the same in all runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputValues {
    /// The name of an option, or the input in words.
    pub name: String,
    /// The value of each run; absent for a file of unknown origin.
    pub values: Vec<Option<String>>,
}

/// Compares each of the other runs with the first, by `rule`.
///
/// # Errors
/// The errors of [`compare`], and [`AnalysisError::NotJudged`] if the rule can judge no question.
pub fn compare_several(
    mut runs: Vec<Answers>,
    rule: Rule,
    common: bool,
) -> Result<SeveralRuns, AnalysisError> {
    let counts: Vec<usize> = runs.iter().map(|run| run.rows.len()).collect();
    if common {
        keep_common(&mut runs);
    }
    let Some((first, others)) = runs.split_first() else {
        return Err(AnalysisError::NotJudged { rule });
    };
    let comparisons = others
        .iter()
        .map(|other| compare(first, other, rule, common));
    let comparisons = comparisons.collect::<Result<Vec<_>, _>>()?;
    let judged = |comparison: &Comparison<'_>| {
        let mut lines = comparison.rules.iter();
        let line = lines.find(|line| line.rule == rule).copied();
        line.ok_or(AnalysisError::NotJudged { rule })
    };
    let lines = comparisons.iter().map(judged);
    let lines: Vec<RuleComparison> = lines.collect::<Result<_, _>>()?;
    // A pair is judged only if both of its answers can be judged, so each comparison has its own
    // set of pairs. The first run's rate is therefore computed from all its answers.
    let (Some((n, rate)), Some(comparison)) = (own_rate(first, rule), comparisons.first()) else {
        return Err(AnalysisError::NotJudged { rule });
    };
    let of_first = (n, rate.rate, rate.interval(), None);
    let of_others = lines.iter().zip(&comparisons);
    let of_others = of_others.map(|(line, comparison)| {
        let verdict = comparison.verdict.clone();
        (line.n, line.rate_b, line.interval_b, verdict)
    });
    let found = std::iter::once(of_first).chain(of_others);
    let compared = runs.iter().zip(counts).zip(found).enumerate();
    let compared = compared.map(|(at, ((run, answers), (n, rate, interval, verdict)))| {
        let by = run.given_by.as_ref();
        ComparedRun {
            letter: letter(at),
            path: run.path.clone(),
            answers,
            left_out: answers - run.rows.len(),
            model: by.map(|by| by.model.clone()),
            served: by.map(|by| by.served.clone()).unwrap_or_default(),
            n,
            rate,
            interval,
            verdict,
            cost_usd: cost(&run.rows),
            latency: LatencySummary::of(run.rows.iter().filter_map(|row| row.latency)),
        }
    });
    let missing = missing(&comparisons);
    Ok(SeveralRuns {
        rule,
        questions: comparison.questions,
        pages: comparison.pages,
        runs: compared.collect(),
        settings: differing_inputs(&runs),
        complete: missing.is_empty(),
        missing,
    })
}

/// The number of answers of a run that the rule can judge, and the rate of those that are right.
/// `None` if it can judge none.
fn own_rate(run: &Answers, rule: Rule) -> Option<(usize, Rate)> {
    let judged = run.rows.iter().filter_map(|row| {
        let is_right = rule.mark(row)?;
        Some((row.filename.as_str(), &row.key, is_right))
    });
    let judged: Vec<_> = judged.collect();
    Some((judged.len(), Rate::of(judged.iter().copied())?))
}

/// The lines about missing questions and outcomes of all comparisons, without repetitions. Each
/// comparison calls its second run B; here the run has its letter among all runs.
fn missing(comparisons: &[Comparison<'_>]) -> Vec<String> {
    let mut missing: Vec<String> = Vec::new();
    for (at, comparison) in comparisons.iter().enumerate() {
        for line in &comparison.missing {
            let line = match line.strip_prefix("B: ") {
                Some(rest) => format!("{}: {rest}", letter(at + 1)),
                None => line.clone(),
            };
            if !missing.contains(&line) {
                missing.push(line);
            }
        }
    }
    missing
}

/// Removes the answers to questions that a run lacks.
fn keep_common(runs: &mut [Answers]) {
    let key = |row: &Row| (row.key.clone(), row.epoch);
    let sets: Vec<HashSet<(QuestionKey, u32)>> = runs
        .iter()
        .map(|run| run.rows.iter().map(key).collect())
        .collect();
    for run in runs {
        let in_all = |row: &Row| sets.iter().all(|set| set.contains(&key(row)));
        run.rows.retain(in_all);
    }
}

/// The mean cost of a question in US dollars; `None` if the cost of a question is unknown.
fn cost(rows: &[Row]) -> Option<f64> {
    use rust_decimal::prelude::ToPrimitive;
    let costs = rows.iter().map(|row| row.cost?.to_f64());
    let total = costs.sum::<Option<f64>>()?;
    (!rows.is_empty()).then(|| total / rows.len() as f64)
}

/// The inputs in which at least two runs differ.
fn differing_inputs(runs: &[Answers]) -> Vec<InputValues> {
    let known: Vec<_> = runs.iter().map(|run| run.given_by.as_ref()).collect();
    let Some(first) = known.iter().flatten().next() else {
        return Vec::new();
    };
    let lines = first.inputs.iter().enumerate().filter_map(|(at, input)| {
        let inputs: Vec<_> = known
            .iter()
            .map(|run| run.and_then(|run| run.inputs.get(at)))
            .collect();
        let identities: HashSet<_> = inputs
            .iter()
            .flatten()
            .map(|it| it.identity.as_ref().unwrap_or(&it.value))
            .collect();
        (identities.len() > 1).then(|| InputValues {
            name: input.name.clone(),
            values: inputs
                .iter()
                .map(|input| input.map(|it| it.value.clone()))
                .collect(),
        })
    });
    lines.collect()
}

/// `A`, `B`, …, `Z`, `A1`, …
fn letter(at: usize) -> String {
    let letter = char::from(b'A' + u8::try_from(at % 26).unwrap_or_default());
    match at / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}
