//! Compares two runs over the same questions, pair by pair.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use rust_decimal::Decimal;
use rust_decimal::prelude::ToPrimitive;
use serde::Serialize;
use strum::VariantArray;

use crate::dataset::{Outcome, QuestionKey};
use crate::score::{EpochCard, Row, Rule, same_gold};
use finqa_core::stats::{LatencySummary, PairedDifference};
use finqa_core::text::counted;

use super::AnalysisError;
use super::answers::{Answers, InputDifference, letters};
use super::by_rule::RuleComparison;
use super::cause::Cause;
use super::misses::{Miss, MissExplainer, answer_text};
use super::verdict::Verdict;

/// Two runs compared question by question.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison<'p> {
    pub a: RunSide,
    pub b: RunSide,
    /// The number of questions that both runs have. All figures below are over these.
    pub questions: usize,
    /// The number of pairs of answers: one for each question and epoch.
    pub answers: usize,
    /// The number of report pages, which are the clusters of the intervals.
    pub pages: usize,
    /// The comparison by each rule that can judge a pair.
    pub rules: Vec<RuleComparison>,
    /// The rule that decides what a flip is.
    pub rule: Rule,
    /// The verdict by that rule; absent if the rule can judge no pair.
    pub verdict: Option<Verdict>,
    /// Questions that exactly one run answers correctly: first those that A answers correctly, then
    /// those of B.
    pub flips: Vec<Flip>,
    /// The causes of misses by that rule, the largest difference between the two counts first.
    pub causes: Vec<CauseChange>,
    pub spending: RunAmounts,
    /// The inputs in which the runs differ; absent if the run of a side is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settings: Option<Vec<InputDifference>>,
    /// True if `missing` is empty.
    pub complete: bool,
    /// The questions that are not compared because an answer or a gold is missing, one line each.
    pub missing: Vec<String>,
    /// Every pair of answers, in A's order.
    #[serde(skip)]
    pub pairs: Vec<AnswerPair<'p>>,
}

/// The answers of both runs to one question, in one epoch.
#[derive(Clone, Debug)]
pub struct AnswerPair<'p> {
    pub a: &'p Row,
    pub b: &'p Row,
    /// For A and for B: the miss, if the answer is wrong by the rule in use.
    pub misses: [Option<Miss>; 2],
}

/// The frequency of a cause in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CauseChange {
    pub cause: Cause,
    /// The number of A's misses with this cause.
    pub a: usize,
    /// The number of B's misses with this cause.
    pub b: usize,
    /// The number of A's misses with this cause where B has no miss.
    pub fixed: usize,
    /// The number of B's misses with this cause where A has no miss.
    pub new: usize,
}

/// One of the two runs.
#[derive(Clone, Debug, Serialize)]
pub struct RunSide {
    /// The file or folder it was read from.
    pub path: PathBuf,
    /// The model that was asked for; absent for a file of unknown origin.
    pub model: Option<String>,
    /// The number of answers: one for each question and epoch.
    pub questions: usize,
    /// The number of answers that are not compared, because the other run does not have the
    /// question.
    pub left_out: usize,
    /// Compares the epochs of this run over the questions that both runs have; empty for one epoch.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub epochs: Vec<EpochCard>,
}

/// A question that exactly one of the two runs answers correctly.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Flip {
    #[serde(flatten)]
    pub key: QuestionKey,
    /// The epoch, from 0.
    pub epoch: String,
    pub question: String,
    /// The gold answer.
    pub gold: String,
    pub a: String,
    pub b: String,
    /// The run whose answer is right.
    pub right: RunLetter,
    /// The cause of the other run's miss.
    pub cause: Cause,
    pub detail: String,
}

/// A or B.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RunLetter {
    /// The first run.
    A,
    /// The second run.
    B,
}

/// Time, rounds and cost of the pairs for which both runs recorded them.
#[derive(Clone, Debug, Serialize)]
pub struct RunAmounts {
    pub latency: Option<Amounts>,
    /// The latencies of A and of B, in seconds, over the same pairs.
    pub latencies: Option<[LatencySummary; 2]>,
    pub rounds: Option<Amounts>,
    /// US dollars per question.
    pub cost_usd: Option<Amounts>,
}

/// An amount per question, in both runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Amounts {
    /// The number of pairs for which both runs recorded the amount.
    pub n: usize,
    pub mean_a: f64,
    pub mean_b: f64,
    pub difference: f64,
    pub total_a: f64,
    pub total_b: f64,
}

impl Comparison<'_> {
    /// B − A by the rule in use; `None` if it can judge no pair.
    pub fn difference(&self) -> Option<PairedDifference> {
        difference(self.rule, &self.pairs)
    }
}

/// Compares two runs, whose rows are paired by id, part and epoch. `rule` decides what a flip is.
/// If `common` is true, questions that only one of the runs has are left out and counted; otherwise
/// they are an error.
pub fn compare<'p>(
    a: &'p Answers,
    b: &'p Answers,
    rule: Rule,
    common: bool,
) -> Result<Comparison<'p>, AnalysisError> {
    let mut pairs = pair_rows(a, b, common)?;
    for pair in &pairs {
        same_question(pair)?;
    }
    let missing = missing(a, b, rule, &pairs, common);
    explain_misses(a, b, rule, &mut pairs);
    let rows: Vec<[&Row; 2]> = pairs.iter().map(|pair| [pair.a, pair.b]).collect();
    let pages: HashSet<&str> = rows.iter().map(|[a, _]| a.filename.as_str()).collect();
    let questions: HashSet<&QuestionKey> = rows.iter().map(|[a, _]| &a.key).collect();
    let rules: Vec<RuleComparison> = Rule::VARIANTS
        .iter()
        .filter_map(|rule| RuleComparison::of(*rule, &rows))
        .collect();
    if rules.is_empty() {
        return Err(AnalysisError::NothingToCompare {
            questions: questions.len(),
        });
    }
    let line = rules.iter().find(|line| line.rule == rule);
    let verdict = line.zip(difference(rule, &pairs));
    let verdict = verdict.map(|(line, difference)| Verdict::of(line, &difference));
    let side = |answers: &Answers, epochs: Vec<EpochCard>| RunSide {
        path: answers.path.clone(),
        model: answers.given_by.as_ref().map(|by| by.model.clone()),
        questions: answers.rows.len(),
        left_out: answers.rows.len() - pairs.len(),
        epochs,
    };
    Ok(Comparison {
        a: side(a, EpochCard::of_rows(rows.iter().map(|[a, _]| *a))),
        b: side(b, EpochCard::of_rows(rows.iter().map(|[_, b]| *b))),
        questions: questions.len(),
        answers: pairs.len(),
        pages: pages.len(),
        rules,
        rule,
        verdict,
        flips: flips(rule, &pairs),
        causes: causes(&pairs),
        spending: RunAmounts {
            latency: amounts(&pairs, |row| row.latency),
            latencies: latencies(&pairs),
            rounds: amounts(&pairs, |row| row.rounds().map(|n| n as f64)),
            cost_usd: amounts(&pairs, |row| row.cost.as_ref().and_then(Decimal::to_f64)),
        },
        settings: a
            .given_by
            .as_ref()
            .zip(b.given_by.as_ref())
            .map(|(a, b)| a.differences(b)),
        complete: missing.is_empty(),
        missing,
        pairs,
    })
}

/// Returns the lines of [`Comparison::missing`]. A run is expected to have a row for each question
/// of its plan. Two files are expected to have a row for each question of their records, unless the
/// user compares only common questions. Nothing is expected of a file that is compared with a run.
fn missing(
    a: &Answers,
    b: &Answers,
    rule: Rule,
    pairs: &[AnswerPair<'_>],
    common: bool,
) -> Vec<String> {
    let is_part = common || a.given_by.is_some() || b.given_by.is_some();
    let sides = [("A", a), ("B", b)].into_iter();
    let sides = sides.filter(|(_, side)| side.given_by.is_some() || !is_part);
    let mut lines: Vec<String> = sides
        .filter_map(|(name, side)| Some(format!("{name}: {}", side.missing_line()?)))
        .collect();
    let has_answers =
        |of: fn(&AnswerPair<'_>) -> Outcome| pairs.iter().any(|pair| of(pair) == Outcome::Answered);
    let answers = [
        ("A", has_answers(|pair| pair.a.outcome())),
        ("B", has_answers(|pair| pair.b.outcome())),
    ];
    for (name, _) in answers.into_iter().filter(|(_, has_answers)| !has_answers) {
        lines.push(format!("{name}: no question has an answer"));
    }
    let lacks_gold = |pair: &&AnswerPair<'_>| rule.lacks_gold(pair.a) || rule.lacks_gold(pair.b);
    let unscored = pairs.iter().filter(lacks_gold).count();
    if unscored > 0 {
        let all = counted(pairs.len(), "pair");
        lines.push(format!(
            "{unscored} of {all} without a gold for {}",
            rule.name()
        ));
    }
    lines
}

/// Pairs rows by question and epoch, in A's order. It is an error if there is no pair or, unless
/// `common`, if a row has none.
fn pair_rows<'p>(
    a: &'p Answers,
    b: &'p Answers,
    common: bool,
) -> Result<Vec<AnswerPair<'p>>, AnalysisError> {
    let key = |row: &'p Row| (&row.key, row.epoch);
    let of_b: HashMap<_, _> = b.rows.iter().map(|row| (key(row), row)).collect();
    let pair = |row: &'p Row| {
        Some(AnswerPair {
            a: row,
            b: of_b.get(&key(row)).copied()?,
            misses: [None, None],
        })
    };
    let pairs: Vec<AnswerPair<'p>> = a.rows.iter().filter_map(pair).collect();
    let name = |row: &Row| match row.epoch {
        0 => row.key.to_string(),
        epoch => format!("{}, epoch {epoch}", row.key),
    };
    if pairs.is_empty() {
        let first = |answers: &Answers| answers.rows.first().map(name).unwrap_or_default();
        return Err(AnalysisError::NothingInCommon {
            a: first(a),
            b: first(b),
        });
    }
    let (only_a, only_b) = (a.rows.len() - pairs.len(), b.rows.len() - pairs.len());
    if !common && only_a + only_b > 0 {
        let in_both: HashSet<_> = pairs.iter().map(|pair| key(pair.a)).collect();
        let other = a.rows.iter().chain(&b.rows);
        let example = other.into_iter().find(|row| !in_both.contains(&key(row)));
        return Err(AnalysisError::DifferentQuestions {
            common: pairs.len(),
            only_a,
            only_b,
            example: example.map(name).unwrap_or_default(),
        });
    }
    Ok(pairs)
}

/// Refuses a pair of different questions or golds. Two files may use one id for different
/// questions, and have different golds for one question.
fn same_question(pair: &AnswerPair<'_>) -> Result<(), AnalysisError> {
    let (a, b) = (pair.a, pair.b);
    let (ours, theirs) = (letters(&a.question), letters(&b.question));
    // A file of predictions may lack the texts.
    if !ours.is_empty() && !theirs.is_empty() && ours != theirs {
        return Err(AnalysisError::DifferentText { key: a.key.clone() });
    }
    let exe_ans = |row: &Row| row.gold.exe_ans.as_ref().map(ToString::to_string);
    let ground_truth = |row: &Row| row.ground_truth().map(Cow::into_owned);
    for (ours, theirs) in [(ground_truth(a), ground_truth(b)), (exe_ans(a), exe_ans(b))] {
        if let (Some(ours), Some(theirs)) = (ours, theirs)
            && !same_gold(&ours, &theirs)
        {
            return Err(AnalysisError::DifferentGold {
                key: a.key.clone(),
                a: ours,
                b: theirs,
            });
        }
    }
    Ok(())
}

/// Explains the wrong answers of both sides, and stores the causes in `pairs`.
fn explain_misses<'p>(a: &'p Answers, b: &'p Answers, rule: Rule, pairs: &mut [AnswerPair<'p>]) {
    for (side, answers) in [a, b].into_iter().enumerate() {
        let mut searcher = MissExplainer::of(answers);
        for pair in &mut *pairs {
            let row = if side == 0 { pair.a } else { pair.b };
            if let (Some(false), Some(miss)) = (rule.mark(row), pair.misses.get_mut(side)) {
                *miss = Some(searcher.explain(row, answers.turns_of(row)));
            }
        }
    }
}

/// For each cause, the misses of each run that it explains, and how many of these are no miss in
/// the other run. The largest difference between the runs comes first.
fn causes(pairs: &[AnswerPair<'_>]) -> Vec<CauseChange> {
    let is = |miss: &Option<Miss>, cause| miss.as_ref().is_some_and(|miss| miss.cause == cause);
    let count = |holds: &dyn Fn(&[Option<Miss>; 2]) -> bool| {
        pairs.iter().filter(|pair| holds(&pair.misses)).count()
    };
    let mut changes: Vec<CauseChange> = Cause::VARIANTS
        .iter()
        .map(|&cause| CauseChange {
            cause,
            a: count(&|[a, _]| is(a, cause)),
            b: count(&|[_, b]| is(b, cause)),
            fixed: count(&|[a, b]| is(a, cause) && b.is_none()),
            new: count(&|[a, b]| a.is_none() && is(b, cause)),
        })
        .filter(|change| change.a + change.b > 0)
        .collect();
    // A stable sort, so that equal differences stay in the order of `Cause`.
    changes.sort_by_key(|change| std::cmp::Reverse(change.a.abs_diff(change.b)));
    changes
}

/// The pairs in which the rule accepts only one answer, first those in which it accepts A's.
fn flips(rule: Rule, pairs: &[AnswerPair<'_>]) -> Vec<Flip> {
    let flipped = |right: RunLetter| {
        pairs.iter().filter_map(move |pair| {
            let marks = (rule.mark(pair.a)?, rule.mark(pair.b)?);
            let [a, b] = &pair.misses;
            let miss = match (right, marks) {
                (RunLetter::A, (true, false)) => b.as_ref()?,
                (RunLetter::B, (false, true)) => a.as_ref()?,
                _ => return None,
            };
            let row = pair.a;
            Some(Flip {
                key: row.key.clone(),
                epoch: row.epoch.to_string(),
                question: row.question.clone(),
                // Empty for a stand-alone question whose gold has a value but no printed answer.
                gold: row.ground_truth().unwrap_or_default().into_owned(),
                a: answer_text(row),
                b: answer_text(pair.b),
                right,
                cause: miss.cause,
                detail: miss.detail.clone(),
            })
        })
    };
    flipped(RunLetter::A).chain(flipped(RunLetter::B)).collect()
}

fn difference(rule: Rule, pairs: &[AnswerPair<'_>]) -> Option<PairedDifference> {
    PairedDifference::of(pairs.iter().filter_map(|pair| {
        let (a, b) = (rule.mark(pair.a)?, rule.mark(pair.b)?);
        Some((pair.a.filename.as_str(), a, b))
    }))
}

fn latencies(pairs: &[AnswerPair<'_>]) -> Option<[LatencySummary; 2]> {
    let both = pairs
        .iter()
        .filter_map(|pair| pair.a.latency.zip(pair.b.latency));
    let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
    Some([LatencySummary::of(a)?, LatencySummary::of(b)?])
}

/// The amounts over the pairs for which both runs have one; `None` if there are none.
fn amounts(pairs: &[AnswerPair<'_>], of: impl Fn(&Row) -> Option<f64>) -> Option<Amounts> {
    let (mut n, mut total_a, mut total_b) = (0, 0.0, 0.0);
    for pair in pairs {
        if let (Some(a), Some(b)) = (of(pair.a), of(pair.b)) {
            n += 1;
            total_a += a;
            total_b += b;
        }
    }
    (n > 0).then(|| Amounts {
        n,
        mean_a: total_a / n as f64,
        mean_b: total_b / n as f64,
        difference: (total_b - total_a) / n as f64,
        total_a,
        total_b,
    })
}
