//! Plans for the sum or the average of a whole row or column, or of the numbers of a sentence.
//!
//! A run is such a row, column or sentence, as the indices of its facts. The priors are set by
//! hand, as in the other files of this folder.

use super::super::plan::{PlanExpr, ProgramPlan};
use super::super::plan_question::PlanQuestion;
use super::super::slots::{SlotQuery, rank};
use super::super::wording::Wording;
use super::parts::added;
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
    let average =
        asked.says(&["average", "mean", "averaged"]) && (span.is_some() || !asked.says(&one));
    let sum = asked.sum() || asked.says(&["total", "in all", "all years", "aggregate"]);
    // `parts` adds and averages the years that a question names.
    if !(average || sum) || asked.percent() || asked.years.len() > 1 {
        return Vec::new();
    }
    let base = q.whole().undated();
    let found = distinct_runs(facts, &base, |run| {
        let run = narrow(facts, run, asked, span);
        (sum || of_periods(facts, &run)).then_some(run)
    });
    let sure: f64 = if span.is_some() || asked.says(&["in all", "all years"]) {
        0.9
    } else {
        0.3
    };
    let plan = |run: Vec<usize>| {
        if average {
            mean(&run).map(|expr| over("series average", expr, run, &base, sure))
        } else {
            let expr = added(run.len());
            expr.map(|expr| over("series sum", expr, run, &base, sure.min(0.6)))
        }
    };
    found.into_iter().filter_map(plan).collect()
}

/// A plan whose slots can only be filled with the facts of a run.
fn over(
    name: &'static str,
    expr: PlanExpr,
    run: Vec<usize>,
    base: &SlotQuery,
    prior: f64,
) -> ProgramPlan {
    let slots = run.into_iter().map(|index| base.of_fact(index)).collect();
    ProgramPlan::new(name, expr, slots).free(prior, Number)
}

/// The average of all slots; `None` for a run of less than two facts, whose average is a look-up.
fn mean(run: &[usize]) -> Option<PlanExpr> {
    let average = operations::average((0..run.len()).map(PlanExpr::Slot).collect());
    average.filter(|_| run.len() >= 2)
}

/// The runs of the facts that fit best, each once. `keep` shortens or refuses a run.
fn distinct_runs(
    facts: &Facts,
    base: &SlotQuery,
    keep: impl Fn(Vec<usize>) -> Option<Vec<usize>>,
) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (index, _) in rank(facts, base, LOOKED_AT) {
        for run in runs(facts, index).into_iter().filter_map(&keep) {
            let fits = (2..=LONGEST).contains(&run.len());
            if fits && !found.contains(&run) && found.len() < TRIED {
                found.push(run);
            }
        }
    }
    found
}

/// True if the facts of a run are from different years, or all from quarters.
fn of_periods(facts: &Facts, run: &[usize]) -> bool {
    let of = |i: &usize| facts.all.get(*i);
    let mut years: Vec<u16> = run
        .iter()
        .filter_map(|i| of(i)?.years.iter().max().copied())
        .collect();
    years.sort_unstable();
    years.dedup();
    let quarter = facts.vocabulary.get("quarter");
    let quarters = quarter.is_some_and(|word| {
        run.iter()
            .all(|i| of(i).is_some_and(|f| f.near.contains(&word) || f.label.contains(&word)))
    });
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
    let Some((row, col)) = fact.cell() else {
        let listed = |other: &Fact| {
            other.same_series(fact) && other.percent == fact.percent && other.dollar == fact.dollar
        };
        let all = facts.all.iter().enumerate();
        return vec![all.filter(|(_, f)| listed(f)).map(|(i, _)| i).collect()];
    };
    let percent = facts.all.get(index).is_some_and(|f| f.percent);
    let part = |fact: &Fact| {
        let total = facts.total;
        fact.percent == percent
            && total.is_none_or(|t| !fact.near.contains(&t))
            && (fact.cell().is_some_and(|(r, _)| r == row)
                || total.is_none_or(|t| !fact.label.contains(&t)))
    };
    let all = || facts.all.iter().enumerate();
    let pick = |along: &dyn Fn((usize, usize)) -> bool| -> Vec<usize> {
        all()
            .filter(|(_, f)| f.cell().is_some_and(along) && part(f))
            .map(|(i, _)| i)
            .collect()
    };
    vec![pick(&|(r, _)| r == row), pick(&|(_, c)| c == col)]
}

/// Shortens a run to the number of periods that the question names: the latest ones, up to a year
/// that it names, or the first ones in a question about the future. Empty if there are too few.
fn narrow(facts: &Facts, run: Vec<usize>, asked: &Wording, named: Option<usize>) -> Vec<usize> {
    let Some(n) = named else { return run };
    let year = |i: &usize| {
        facts
            .all
            .get(*i)
            .and_then(|f| f.years.iter().max().copied())
    };
    let mut dated: Vec<usize> = run.into_iter().filter(|i| year(i).is_some()).collect();
    let until = asked.years.first().copied();
    if let Some(until) = until {
        dated.retain(|i| year(i) <= Some(until));
    }
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
