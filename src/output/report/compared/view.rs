//! The template's data above the list of pairs.

use serde::Serialize;

use crate::analysis::{Answers, AnswersOrigin, CauseChange, Comparison, RuleComparison, RunSide};
use crate::output::terminal::{rule_title, span};
use finqa_core::stats::Interval;

use super::super::figures::{BarPart, percent};
use super::ComparisonPage;
use super::pairs::{ListedPair, pair_class};

/// Everything that the template prints.
#[derive(Serialize)]
pub(super) struct ComparisonView<'a> {
    same: bool,
    questions: usize,
    pages: usize,
    sides: [SideSummary<'a>; 2],
    headline: Option<RuleDifference<'a>>,
    rules: Vec<RuleDifference<'a>>,
    /// Half the width of the differences' axis, in points.
    reach: f64,
    ways: Vec<BarPart>,
    causes: Vec<CauseLine<'a>>,
}

#[derive(Serialize)]
struct SideSummary<'a> {
    letter: &'static str,
    name: String,
    path: String,
    report: Option<&'a str>,
    questions: usize,
    left_out: usize,
    right: usize,
    percent: f64,
    /// 95 %, clustered by page.
    interval: Option<String>,
}

/// A rule, its rates and their difference in percent.
#[derive(Serialize)]
struct RuleDifference<'a> {
    title: &'static str,
    headline: bool,
    of: &'a RuleComparison,
    #[serde(flatten)]
    rates: Rates,
}

/// Two rates and their difference, in percent.
#[derive(Serialize)]
struct Rates {
    a: f64,
    b: f64,
    difference: f64,
    low: f64,
    high: f64,
    /// `better`, `worse`, or `unclear` where the interval holds 0.
    verdict: &'static str,
}

#[derive(Serialize)]
struct CauseLine<'a> {
    #[serde(flatten)]
    of: &'a CauseChange,
    change: f64,
}

impl<'a> ComparisonView<'a> {
    pub(super) fn of(
        page: &ComparisonPage<'a>,
        pairs: &[ListedPair<'_>],
        links: &'a [Option<String>; 2],
    ) -> Self {
        let comparison = page.comparison;
        let rules: Vec<RuleDifference<'_>> = comparison
            .rules
            .iter()
            .map(|rule| RuleDifference::of(rule, comparison))
            .collect();
        let mut by_rule = comparison.rules.iter();
        let chosen = by_rule.find(|rule| rule.rule == comparison.rule);
        let widest = rules
            .iter()
            .map(|line| line.rates.low.abs().max(line.rates.high.abs()))
            .fold(0.0, f64::max);
        let [a, b] = page.answers;
        let [link_a, link_b] = links;
        let side = |letter, answers: &Answers, side: &RunSide, link| {
            let hits = chosen.map_or(0, |rule| match letter {
                "A" => rule.both + rule.only_a,
                _ => rule.both + rule.only_b,
            });
            SideSummary {
                letter,
                name: name(answers),
                path: side.path.display().to_string(),
                report: link,
                questions: side.questions,
                left_out: side.left_out,
                right: hits,
                percent: percent(hits, chosen.map_or(0, |rule| rule.n)),
                interval: chosen.map(|rule| {
                    span(match letter {
                        "A" => rule.interval_a,
                        _ => rule.interval_b,
                    })
                }),
            }
        };
        Self {
            same: comparison.same,
            questions: comparison.questions,
            pages: comparison.pages,
            sides: [
                side("A", a, &comparison.a, link_a.as_deref()),
                side("B", b, &comparison.b, link_b.as_deref()),
            ],
            headline: chosen.map(|rule| RuleDifference::of(rule, comparison)),
            rules,
            // A whole number of tens holds the widest interval.
            reach: 10.0 * (widest / 10.0).ceil().clamp(1.0, 10.0),
            ways: ways(pairs),
            causes: causes(comparison),
        }
    }

    /// The names of A and B.
    pub(super) fn names(&self) -> [String; 2] {
        let [a, b] = &self.sides;
        [a.name.clone(), b.name.clone()]
    }
}

/// A run by its model and the start of its id, a file by its name.
fn name(answers: &Answers) -> String {
    match (&answers.origin, &answers.model) {
        (AnswersOrigin::Run(id), Some(model)) => {
            // The end of an id tells runs of one minute apart.
            let short = id.rsplit('-').next().unwrap_or(id);
            format!("{model} ({})", short.get(..6).unwrap_or(short))
        }
        _ => answers.path.file_name().map_or_else(
            || answers.path.display().to_string(),
            |name| name.to_string_lossy().into_owned(),
        ),
    }
}

impl<'a> RuleDifference<'a> {
    fn of(rule: &'a RuleComparison, comparison: &Comparison) -> Self {
        Self {
            title: rule_title(rule.rule),
            headline: rule.rule == comparison.rule,
            of: rule,
            rates: Rates::of(rule.rate_a, rule.rate_b, rule.interval),
        }
    }
}

impl Rates {
    fn of(a: f64, b: f64, interval: Interval) -> Self {
        let Interval { low, high } = interval;
        Self {
            a: 100.0 * a,
            b: 100.0 * b,
            difference: 100.0 * (b - a),
            low: 100.0 * low,
            high: 100.0 * high,
            verdict: if low > 0.0 {
                "better"
            } else if high < 0.0 {
                "worse"
            } else {
                "unclear"
            },
        }
    }
}

fn ways(pairs: &[ListedPair<'_>]) -> Vec<BarPart> {
    let judged: Vec<(bool, bool)> = pairs.iter().filter_map(ListedPair::marks).collect();
    let mut x = 0.0;
    [
        ((true, true), "right", 3),
        ((false, true), "right", 0),
        ((true, false), "wrong", 0),
        ((false, false), "wrong", 3),
    ]
    .into_iter()
    .map(|(marks, class, shade)| {
        let count = judged.iter().filter(|found| **found == marks).count();
        let width = percent(count, judged.len());
        x += width;
        BarPart {
            name: pair_class(marks).to_owned(),
            facet: None,
            class,
            shade,
            count,
            x: x - width,
            width,
        }
    })
    .filter(|way| way.count > 0)
    .collect()
}

fn causes(comparison: &Comparison) -> Vec<CauseLine<'_>> {
    let lines = comparison.causes.iter().map(|change| CauseLine {
        of: change,
        change: change.b as f64 - change.a as f64,
    });
    lines.collect()
}
