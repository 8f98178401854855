//! Plans for the sum or the average of a whole row or column, or of the numbers of a sentence.
//!
//! A run is such a row, column or sentence, as the indices of its facts.

use std::collections::HashSet;

use super::super::plan::Pairing::Free;
use super::super::plan::{ProgramPlan, slot};
use super::super::plan_question::PlanQuestion;
use super::super::slot_scorer::best_facts;
use super::super::wording::Wording;
use crate::operations;
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::UnitKind::Number;

/// Number of best facts whose rows and columns are tried. Set by hand, like the next two; larger
/// ones make more candidates.
const LOOKED_AT: usize = 6;
/// Maximum number of runs that get a plan. The runs of the facts that fit best come first.
const TRIED: usize = 3;
/// Maximum number of facts in a run.
const LONGEST: usize = 12;

/// "What was the average rent of the last three years?": a plan for each of the runs that fit the
/// question best.
pub(crate) fn series(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let (facts, asked) = (q.facts, q.asked);
    let span = asked.periods_named();
    // With these words, no average is planned unless the question names a number of periods.
    let one = [
        "weighted average", "price", "per", "each", "annual", "yearly",
    ];
    let average = asked.average() && (span.is_some() || !asked.says(&one));
    let sum = asked.sum() || asked.says(&["total", "in all", "all years", "aggregate"]);
    // `parts` adds and averages the years that a question names.
    if !(average || sum) || asked.percent() || asked.years.len() > 1 {
        return Vec::new();
    }
    let base = q.whole().undated();
    let best = best_facts(facts, &base, LOOKED_AT).into_iter();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for run in best.flat_map(|(index, _)| runs(facts, index)) {
        let run = narrow(facts, run, asked, span);
        let fits = (2..=LONGEST).contains(&run.len()) && (sum || of_periods(facts, &run));
        if fits && !found.contains(&run) && found.len() < TRIED {
            found.push(run);
        }
    }
    let sure: f64 = if span.is_some() || asked.says(&["in all", "all years"]) {
        0.9
    } else {
        0.3
    };
    // The slots can only be filled with the facts of the run.
    let plan = |run: Vec<usize>| {
        let slots = (0..run.len()).map(slot);
        let (name, expr, prior) = if average {
            ("series average", operations::average(slots.collect()), sure)
        } else {
            ("series sum", operations::sum(slots), sure.min(0.6))
        };
        let slots = run.into_iter().map(|index| base.of_fact(index)).collect();
        Some(ProgramPlan::new(name, expr?, slots).paired(Free, prior, Number))
    };
    found.into_iter().filter_map(plan).collect()
}

/// True if the facts of a run are from different years, or all from quarters.
fn of_periods(facts: &Facts, run: &[usize]) -> bool {
    let of_run = run.iter().filter_map(|i| facts.all.get(*i));
    let of_run: Vec<&Fact> = of_run.collect();
    let latest = of_run.iter().filter_map(|fact| fact.latest_year());
    let years: HashSet<u16> = latest.collect();
    let quarter = facts.vocabulary.get("quarter");
    let quarters = quarter.is_some_and(|word| of_run.iter().all(|fact| fact.is_named(word)));
    years.len() == run.len() || quarters
}

/// The runs of a fact. A cell has two: its row and its column, without totals. They consist of
/// percentages if the cell is a percentage, and of other numbers if it is not. A number in a
/// sentence has one: the numbers of the sentence that are of its kind (a percentage or not, money
/// or not).
fn runs(facts: &Facts, index: usize) -> Vec<Vec<usize>> {
    let Some(fact) = facts.all.get(index) else {
        return Vec::new();
    };
    let pick = |part: &dyn Fn(&Fact) -> bool| -> Vec<usize> {
        let all = facts.all.iter().enumerate();
        let like = all.filter(|(_, other)| other.percent == fact.percent && part(other));
        like.map(|(i, _)| i).collect()
    };
    let Some((row, col)) = fact.cell() else {
        let listed = |other: &Fact| other.same_series(fact) && other.dollar == fact.dollar;
        return vec![pick(&listed)];
    };
    let total = |words: &[u32]| facts.total.is_some_and(|total| words.contains(&total));
    let of_row = |other: &Fact| {
        let within = other.cell().is_some_and(|(r, _)| r == row);
        within && !total(&other.near)
    };
    let of_column = |other: &Fact| {
        let part = |r: usize| r == row || !total(&other.label);
        let within = other.cell().is_some_and(|(r, c)| c == col && part(r));
        within && !total(&other.near)
    };
    vec![pick(&of_row), pick(&of_column)]
}

/// Shortens a run to the number of periods that the question names: the latest ones, up to a year
/// that it names, or the first ones in a question about the future. Empty if there are too few.
fn narrow(facts: &Facts, run: Vec<usize>, asked: &Wording, named: Option<usize>) -> Vec<usize> {
    let Some(n) = named else { return run };
    let year = |i: &usize| facts.all.get(*i)?.latest_year();
    let until = asked.years.first().copied();
    let fits = |i: &usize| year(i).is_some() && (until.is_none() || year(i) <= until);
    let mut dated: Vec<usize> = run.into_iter().filter(fits).collect();
    let ahead = asked.says(&["following", "first", "due", "within"]) && until.is_none();
    dated.sort_by_key(year);
    let skip = if ahead {
        0
    } else {
        dated.len().saturating_sub(n)
    };
    let kept: Vec<usize> = dated.into_iter().skip(skip).take(n).collect();
    if kept.len() == n { kept } else { Vec::new() }
}
