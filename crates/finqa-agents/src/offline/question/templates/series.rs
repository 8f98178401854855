//! Templates over a whole row or column: its sum, its average, the difference between
//! its highest and lowest number.

use super::super::plan::{Pairing, ProgramPattern, ProgramPlan};
use super::super::slots::{SlotQuery, rank};
use super::super::wording::Wording;
use super::parts::added;
use super::{PlanContext, query};
use crate::offline::reading::facts::{Fact, Facts};
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// How many facts are considered for the rows and columns that they are in.
const LOOKED_AT: usize = 6;
/// Rows and columns tried, and the most numbers one may have.
const TRIED: usize = 3;
const LONGEST: usize = 12;

/// Plans over the rows and columns that the question names best.
pub(crate) fn series(facts: &Facts, asked: &Wording, context: &PlanContext) -> Vec<ProgramPlan> {
    let span = asked.periods_named();
    let one = [
        "weighted average",
        "price",
        "per",
        "each",
        "annual",
        "yearly",
    ];
    let average =
        asked.says(&["average", "mean", "averaged"]) && (span.is_some() || !asked.says(&one));
    let range = asked.says(&["highest", "largest", "maximum", "strongest", "best", "high"])
        && asked.says(&["lowest", "smallest", "minimum", "weakest", "worst", "low"])
        || asked.says(&["range"]);
    let sum = asked.sum() || asked.says(&["total", "in all", "all years", "aggregate"]);
    if !(average || range || sum) || asked.percent() {
        return Vec::new();
    }
    let mut base = query(facts, asked, &asked.phrase, context);
    if asked.years.len() > 1 {
        return Vec::new();
    }
    base.years = Vec::new();
    let mut found: Vec<Vec<usize>> = Vec::new();
    for (index, _) in rank(facts, &base, LOOKED_AT) {
        for run in runs(facts, index) {
            let run = narrow(facts, run, asked, span);
            let fits = (2..=LONGEST).contains(&run.len()) && (sum || of_periods(facts, &run));
            if fits && !found.contains(&run) && found.len() < TRIED {
                found.push(run);
            }
        }
    }
    let sure: f64 = if span.is_some() || asked.says(&["in all", "all years"]) {
        0.9
    } else {
        0.3
    };
    let mut out = Vec::new();
    for run in found {
        let (name, facts_used, prior) = if average {
            ("series average", run, sure)
        } else if range {
            ("series range", extremes(facts, &run), 0.6)
        } else {
            ("series sum", run, sure.min(0.6))
        };
        let slots: Vec<SlotQuery> = facts_used
            .into_iter()
            .map(|index| SlotQuery {
                only: Some(index),
                ..base.clone()
            })
            .collect();
        let pattern = match name {
            "series range" => Some(ProgramPattern::of_slots(Op::Subtract)),
            "series average" => added(slots.len())
                .zip(u32::try_from(slots.len()).ok())
                .map(|(sum, n)| ProgramPattern::step(Op::Divide, sum, ProgramPattern::constant(n))),
            _ => added(slots.len()),
        };
        out.extend(pattern.map(|pattern| ProgramPlan {
            name,
            pattern,
            slots,
            pairing: Pairing::Free,
            prior,
            kind: UnitKind::Number,
        }));
    }
    out
}

/// Whether a run is of one quantity at several times: no year twice, or quarters.
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

fn extremes(facts: &Facts, run: &[usize]) -> Vec<usize> {
    let size = |i: &&usize| facts.all.get(**i).map_or(0.0, |f| f.number);
    let by_size = |a: &&usize, b: &&usize| size(a).total_cmp(&size(b));
    let ends = [run.iter().max_by(by_size), run.iter().min_by(by_size)];
    ends.into_iter().flatten().copied().collect()
}

/// The row and the column of a cell, without totals and percentages.
fn runs(facts: &Facts, index: usize) -> Vec<Vec<usize>> {
    let Some((row, col)) = facts.all.get(index).and_then(Fact::cell) else {
        return Vec::new();
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

/// Only as many periods as are named: the latest, or the first that are due.
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
    let ahead = asked.says(&["next", "following", "first", "due", "within"]) && until.is_none();
    dated.sort_by_key(year);
    let skip = if ahead {
        0
    } else {
        dated.len().saturating_sub(n)
    };
    let kept: Vec<usize> = dated.into_iter().skip(skip).take(n).collect();
    if kept.len() == n { kept } else { Vec::new() }
}
