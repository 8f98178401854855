//! The template's data above the list of pairs.

use serde::Serialize;

use crate::analysis::{Amounts, AnswersOrigin, CauseChange, Comparison, RuleComparison};
use crate::output::terminal::{rule_title, span};
use crate::score::Row;
use finqa_core::stats::{Interval, bootstrap_difference, percentile};

use super::super::figures::{BarPart, percent};
use super::ComparisonPage;
use super::pairs::{FACETS, ListedPair, pair_class, values_of};

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
    slices: Vec<FacetComparison>,
    causes: Vec<CauseLine<'a>>,
    spending: Vec<SpendLine>,
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
struct FacetComparison {
    facet: &'static str,
    title: &'static str,
    slices: Vec<ValueComparison>,
}

#[derive(Serialize)]
struct ValueComparison {
    name: String,
    n: usize,
    #[serde(flatten)]
    rates: Rates,
}

#[derive(Serialize)]
struct CauseLine<'a> {
    #[serde(flatten)]
    of: &'a CauseChange,
    /// In percent of the largest count.
    width_a: f64,
    width_b: f64,
    change: f64,
}

/// A quantity: median, P95 and mean of A and B, the difference of the means,
/// and the totals, in the order of the table's columns.
#[derive(Serialize)]
struct SpendLine {
    name: &'static str,
    n: usize,
    values: [f64; 9],
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
        let side =
            |letter, answers: &crate::analysis::Answers, side: &crate::analysis::RunSide, link| {
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
            slices: ["part", "kind", "effort"]
                .into_iter()
                .filter_map(|facet| slices(facet, pairs))
                .collect(),
            causes: causes(comparison),
            spending: spending(comparison, pairs),
        }
    }

    /// The names of A and B.
    pub(super) fn names(&self) -> [String; 2] {
        let [a, b] = &self.sides;
        [a.name.clone(), b.name.clone()]
    }
}

/// A run by its model and the start of its id, a file by its name.
fn name(answers: &crate::analysis::Answers) -> String {
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

/// The pairs by each value of a facet; `None` if all are of one.
fn slices(facet: &'static str, pairs: &[ListedPair<'_>]) -> Option<FacetComparison> {
    let at = FACETS.iter().position(|(key, _)| *key == facet)?;
    let (_, title) = FACETS.get(at)?;
    let values = values_of(pairs, at);
    let slice = |value: &str| {
        let of_value = pairs
            .iter()
            .filter(|listed| listed.facet(facet).iter().any(|own| own == value));
        let marks: Vec<(&str, bool, bool)> = of_value
            .filter_map(|listed| listed.marks().map(|(a, b)| (listed.page(), a, b)))
            .collect();
        let interval = bootstrap_difference(marks.iter().copied())?;
        let share = |hits: usize| percent(hits, marks.len()) / 100.0;
        let a = marks.iter().filter(|(_, a, _)| *a).count();
        let b = marks.iter().filter(|(_, _, b)| *b).count();
        Some(ValueComparison {
            name: value.to_owned(),
            n: marks.len(),
            rates: Rates::of(share(a), share(b), interval),
        })
    };
    let slices: Vec<ValueComparison> = values.into_iter().filter_map(slice).collect();
    (slices.len() > 1).then_some(FacetComparison {
        facet,
        title,
        slices,
    })
}

fn causes(comparison: &Comparison) -> Vec<CauseLine<'_>> {
    let changes = comparison.causes.iter();
    let most = changes.clone().map(|change| change.a.max(change.b)).max();
    let lines = changes.map(|change| CauseLine {
        of: change,
        width_a: percent(change.a, most.unwrap_or(0)),
        width_b: percent(change.b, most.unwrap_or(0)),
        change: change.b as f64 - change.a as f64,
    });
    lines.collect()
}

fn spending(comparison: &Comparison, pairs: &[ListedPair<'_>]) -> Vec<SpendLine> {
    let spending = &comparison.spending;
    let line = |name, amounts: Option<Amounts>, of: &dyn Fn(&Row) -> Option<f64>| {
        let amounts = amounts?;
        let known = pairs.iter().filter_map(|listed| {
            let [a, b] = listed.sides;
            of(a).zip(of(b))
        });
        let (mut a, mut b): (Vec<f64>, Vec<f64>) = known.unzip();
        a.sort_by(f64::total_cmp);
        b.sort_by(f64::total_cmp);
        Some(SpendLine {
            name,
            n: amounts.n,
            values: [
                percentile(&a, 0.5),
                percentile(&b, 0.5),
                percentile(&a, 0.95),
                percentile(&b, 0.95),
                amounts.mean_a,
                amounts.mean_b,
                amounts.difference,
                amounts.total_a,
                amounts.total_b,
            ],
        })
    };
    let rounds = |row: &Row| row.rounds().map(|n| n as f64);
    let cost = |row: &Row| {
        let cost = row.cost.as_ref();
        cost.and_then(rust_decimal::prelude::ToPrimitive::to_f64)
    };
    [
        line("seconds", spending.latency, &|answered| answered.latency),
        line("rounds", spending.rounds, &rounds),
        line("US dollars", spending.cost_usd, &cost),
    ]
    .into_iter()
    .flatten()
    .collect()
}
