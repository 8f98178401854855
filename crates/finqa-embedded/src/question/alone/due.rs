//! Plans for tables of payments by period: what is due within a span or after it, and its
//! share.

use super::super::plan::PlanExpr::Slot;
use super::super::plan::{ProgramPlan, step};
use super::super::plan_question::PlanQuestion;
use super::super::slots::{SlotQuery, rank};
use super::super::wording::Wording;
use super::parts::added;
use super::series::runs;
use crate::reading::facts::{Fact, Facts};
use finqa_core::number::UnitKind::{Number, Percent};
use finqa_core::program::Op;

/// "What is due within the next three years?", where the columns are "less than 1 year", "1-3
/// years" or years: the sum of those that end in time, and its share of the total.
pub(crate) fn due(q: &PlanQuestion<'_>) -> Vec<ProgramPlan> {
    let (facts, asked) = (q.facts, q.asked);
    let after = asked.says(&["after", "beyond", "later", "thereafter"]);
    let year = asked.years.first().filter(|_| asked.years.len() == 1);
    let Some(last) = (match (span(asked), year) {
        (Some(n), _) => Some(Last::Span(n)),
        (None, Some(year)) if after => Some(Last::Year(*year)),
        _ => None,
    }) else {
        return Vec::new();
    };
    let base = q.whole().undated();
    let mut tried: Vec<Vec<usize>> = Vec::new();
    let mut out = Vec::new();
    for run in rank(facts, &base, 8)
        .into_iter()
        .flat_map(|(i, _)| runs(facts, i))
    {
        if tried.contains(&run) || tried.len() >= TRIED {
            continue;
        }
        let ends = ends(facts, &run, &last);
        let in_time = |end: &Option<bool>| end.is_some_and(|within| within != after);
        if ends.iter().flatten().count() < 2 {
            continue;
        }
        let within: Vec<usize> = run
            .iter()
            .zip(&ends)
            .filter(|(_, end)| in_time(end))
            .map(|(index, _)| *index)
            .collect();
        let sum = match within.len() {
            0 => None,
            1 => Some(Slot(0)),
            n => added(n),
        };
        let slots: Vec<SlotQuery> = within.iter().map(|index| base.of_fact(*index)).collect();
        let plan = |expr, slots, kind| ProgramPlan::new("due", expr, slots).free(0.5, kind);
        if let Some(sum) = sum {
            let total = total(facts, &run).filter(|_| asked.percent() || asked.share());
            if let Some(total) = total {
                let whole = Slot(slots.len());
                let slots = slots.iter().cloned().chain([base.of_fact(total)]).collect();
                let share = step(Op::Divide, sum.clone(), whole);
                out.push(plan(share, slots, Percent));
            }
            out.push(plan(sum, slots, Number));
        }
        tried.push(run);
    }
    out
}

/// How many rows and columns are tried.
const TRIED: usize = 3;

/// Where the periods end that are asked for.
enum Last {
    /// So many years ahead.
    Span(u32),
    Year(u16),
}

/// For each number of a row or column whether its period ends in time; nothing for one
/// without a period.
fn ends(facts: &Facts, run: &[usize], last: &Last) -> Vec<Option<bool>> {
    let cell = |index: &usize| facts.all.get(*index).and_then(Fact::cell);
    let mut rows: Vec<usize> = run.iter().filter_map(cell).map(|(row, _)| row).collect();
    rows.dedup();
    let year = |index: &usize| facts.all.get(*index)?.years.iter().max().copied();
    let first = run.iter().filter_map(year).min();
    let of = |index: &usize| {
        let (row, column) = cell(index)?;
        let name = if rows.len() == 1 {
            &facts.columns.get(column)?.name
        } else {
            &facts.rows.get(row)?.name
        };
        let end = end(name);
        match last {
            Last::Span(n) => match (end, year(index)) {
                (Some(end), _) => Some(end <= *n),
                (None, Some(year)) => Some(u32::from(year - first?) < *n),
                (None, None) => None,
            },
            Last::Year(last) => match year(index) {
                Some(year) => Some(year <= *last),
                None => end.filter(|end| *end == u32::MAX).map(|_| false),
            },
        }
    };
    run.iter().map(of).collect()
}

/// The total of a row or column.
fn total(facts: &Facts, run: &[usize]) -> Option<usize> {
    let word = facts.total?;
    let cell = |index: &usize| facts.all.get(*index).and_then(Fact::cell);
    let (first, second) = (cell(run.first()?)?, cell(run.get(1)?)?);
    let along_row = first.0 == second.0;
    facts.all.iter().position(|fact| {
        let of_run = |(row, column): (usize, usize)| {
            if along_row {
                row == first.0 && fact.near.contains(&word)
            } else {
                column == first.1 && fact.label.contains(&word)
            }
        };
        fact.cell().is_some_and(of_run)
    })
}

/// The span of a question in years: "the next three years", "24 months", "1 year".
fn span(asked: &Wording) -> Option<u32> {
    let named = asked.periods_named().and_then(|n| u32::try_from(n).ok());
    let one = ["one year", "1 year", "12 months", "twelve months"];
    named.or_else(|| asked.says(&one).then_some(1))
}

/// In how many years the period of a column ends; a period without an end is the longest.
fn end(name: &str) -> Option<u32> {
    let lower = name.to_lowercase();
    let numbers: Vec<u32> = lower
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .filter(|n| (1..=30).contains(n))
        .collect();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    if says(&["thereafter"]) {
        return Some(u32::MAX);
    }
    if !says(&["year", "yr"]) {
        return None;
    }
    match numbers.as_slice() {
        _ if says(&["one year", "within a year"]) => Some(1),
        [_] if says(&["more than", "after", "over", "beyond", "greater", ">"]) => Some(u32::MAX),
        [n] | [_, n] => Some(*n),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_payments_ends_with_its_period() {
        assert_eq!(end("Less than 1 year"), Some(1));
        assert_eq!(end("payments due by period 1-3 years"), Some(3));
        assert_eq!(end("3 - 5 years"), Some(5));
        assert_eq!(end("more than 5 years"), Some(u32::MAX));
        assert_eq!(end("thereafter"), Some(u32::MAX));
        assert_eq!(end("2012"), None);
        assert_eq!(end("total"), None);
    }
}
