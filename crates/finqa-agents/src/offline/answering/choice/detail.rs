//! What the trees see of a candidate: its place among the others, how its facts are related,
//! its traits, and the cues of the question.

use super::cues::CUES;
use super::traits::TRAITS;
use super::{ChoiceContext, RULES, Standing};
use crate::offline::answering::filling::FilledPlan;
use crate::offline::expr::PageLeaf;
use crate::offline::question::plan::{Pairing, ProgramPlan};
use crate::offline::reading::facts::{Fact, Facts};
use crate::offline::shape::shape;

/// The features by themselves, before the traits and the cues.
const DETAILS: [&str; 47] = [
    "linear score",
    "behind the best linear score",
    "rank by linear score",
    "candidates of the same value",
    "kind as proposed",
    "rank of the kind",
    "lead of the likeliest kind",
    "look-up as proposed",
    "kind",
    "variant",
    "rule",
    "pairing",
    "slot score",
    "lowest slot score",
    "numbers",
    "distinct numbers",
    "cells",
    "percentages",
    "amounts of money",
    "rows",
    "columns",
    "rows apart",
    "columns apart",
    "first from a total row",
    "second from a total row",
    "first row",
    "first column",
    "last row of all",
    "last column of all",
    "years apart",
    "first fact's rank",
    "second fact's rank",
    "first fact's score",
    "second fact's score",
    "best fact's score",
    "best fact not used",
    "size",
    "whole number",
    "negative",
    "years asked for",
    "words",
    "earlier turns",
    "asked by itself",
    "rank in its kind",
    "behind the best of its kind",
    "value on the page",
    "words of no number's label",
];

/// The features of each of the first two facts, and of how they divide the question's words.
const OF_EACH: [&str; 27] = [
    "question words",
    "question words of its own",
    "share of its label",
    "year",
    "from a total row",
    "from a total column",
    "in the text",
    "percentage",
    "amount of money",
    "whole number",
    "place in the question",
    "lead",
    "words like the question's",
    "first year",
    "opening balance",
    "closing balance",
    "label words not asked for",
    "column words not asked for",
    "years before the latest",
    "rows named better",
    "largest of its column",
    "question words in its row",
    "question words in its column",
    "question words side by side",
    "question words by distance",
    "question words right before",
    "one or two bare digits",
];
const OF_BOTH: [&str; 7] = [
    "same row",
    "same column",
    "same sentence",
    "words of neither",
    "words of both",
    "first before second",
    "words of both labels",
];

/// The names of the features, in order.
pub(crate) fn names() -> Vec<String> {
    let own = DETAILS.iter().map(|name| (*name).to_owned());
    let each = ["first", "second"].into_iter().flat_map(|which| {
        OF_EACH
            .iter()
            .map(move |name| format!("{which} fact: {name}"))
    });
    let both = OF_BOTH.iter().map(|name| format!("both facts: {name}"));
    let own = own.chain(each).chain(both);
    let traits = TRAITS.iter().map(|name| format!("trait: {name}"));
    let cues = CUES.iter().map(|(name, _)| format!("cue: {name}"));
    own.chain(traits).chain(cues).collect()
}

/// The value of every feature.
pub(super) fn of(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    filled: &FilledPlan,
    sparse: &[(usize, f64)],
    standing: &Standing,
) -> Vec<f64> {
    let facts = context.facts;
    let shape = shape(&filled.expr);
    let all = filled.expr.leaves();
    let leaves: Vec<&PageLeaf> = all.into_iter().filter(|leaf| !leaf.is_constant()).collect();
    let used: Vec<(usize, &Fact)> = leaves
        .iter()
        .filter_map(|leaf| Some((leaf.source?, facts.all.get(leaf.source?)?)))
        .collect();
    let distinct = |pick: &dyn Fn(&Fact) -> Option<usize>| {
        let mut found: Vec<usize> = used.iter().filter_map(|(_, fact)| pick(fact)).collect();
        found.sort_unstable();
        found.dedup();
        count(found.len())
    };
    let count_of =
        |holds: &dyn Fn(&Fact) -> bool| count(used.iter().filter(|(_, fact)| holds(fact)).count());
    let nth = |k: usize| used.get(k).copied();
    let cell = |k: usize| nth(k).and_then(|(_, fact)| fact.cell());
    let apart = |pick: &dyn Fn((usize, usize)) -> usize| {
        cell(0)
            .zip(cell(1))
            .map_or(-20.0, |(a, b)| count(pick(b)) - count(pick(a)))
    };
    let total = |k: usize| flag(nth(k).is_some_and(|(_, fact)| fact.total));
    let latest = |k: usize| nth(k).and_then(|(_, fact)| fact.years.iter().max().copied());
    let rank = |k: usize| {
        nth(k).map_or(-1.0, |(index, _)| {
            let at = context.best_facts.iter().position(|(i, _)| *i == index);
            count(at.unwrap_or(context.best_facts.len()))
        })
    };
    let top = context.best_facts.first().map_or(0.0, |(_, score)| *score);
    let score = |k: usize| {
        nth(k).map_or(-20.0, |(index, _)| {
            let found = context.best_facts.iter().find(|(i, _)| *i == index);
            found.map_or(-10.0, |(_, score)| score - top)
        })
    };
    let best_used = context
        .best_facts
        .first()
        .is_some_and(|(best, _)| used.iter().any(|(index, _)| index == best));
    let kind = |i: usize| context.proposal.get(i).copied().unwrap_or_default();
    let better = context
        .proposal
        .iter()
        .filter(|p| **p > kind(shape))
        .count();
    let second = context
        .proposal
        .iter()
        .copied()
        .filter(|p| *p < 0.0)
        .fold(-20.0, f64::max);
    let value = filled.expr.number();
    let mut out = vec![
        standing.linear,
        standing.behind,
        count(standing.rank),
        count(standing.votes),
        kind(shape),
        count(better),
        second,
        kind(0),
        count(shape),
        count(filled.variant),
        count(
            RULES
                .iter()
                .position(|rule| *rule == plan.name)
                .unwrap_or(RULES.len()),
        ),
        match plan.pairing {
            Pairing::Free => 0.0,
            Pairing::Periods => 1.0,
            Pairing::Parts => 2.0,
        },
        filled.score,
        filled.lowest,
        count(leaves.len()),
        count({
            let mut literals: Vec<&str> = leaves.iter().map(|leaf| &*leaf.literal).collect();
            literals.sort_unstable();
            literals.dedup();
            literals.len()
        }),
        count_of(&|fact| fact.cell().is_some()),
        count_of(&|fact| fact.percent),
        count_of(&|fact| fact.dollar),
        distinct(&|fact| fact.cell().map(|(row, _)| row)),
        distinct(&|fact| fact.cell().map(|(_, col)| col)),
        apart(&|(row, _)| row),
        apart(&|(_, col)| col),
        total(0),
        total(1),
        cell(0).map_or(-1.0, |(row, _)| count(row)),
        cell(0).map_or(-1.0, |(_, col)| count(col)),
        flag(
            used.iter()
                .any(|(_, f)| f.cell().is_some_and(|(r, _)| r + 1 == facts.rows.len())),
        ),
        flag(
            used.iter()
                .any(|(_, f)| f.cell().is_some_and(|(_, c)| c + 1 == facts.columns.len())),
        ),
        latest(0)
            .zip(latest(1))
            .map_or(-50.0, |(a, b)| f64::from(a) - f64::from(b)),
        rank(0),
        rank(1),
        score(0),
        score(1),
        top,
        flag(!best_used),
        size(value),
        flag(value.is_some_and(|v| v.fract().abs() <= 0.0)),
        flag(value.is_some_and(|v| v < 0.0)),
        count(context.asked.years.len()),
        count(context.words.len()),
        count(context.state.turns.len()),
        flag(context.alone),
        count(standing.rank_in_kind),
        standing.behind_kind,
        flag(used.len() > 1 && value.is_some_and(|v| printed(facts, v))),
        context.uncovered(&filled.expr),
    ];
    of_operands(context, plan, &used, &mut out);
    let from = out.len();
    out.resize(from + TRAITS.len(), 0.0);
    let first = super::first_trait();
    for (i, value) in sparse {
        let at = i.checked_sub(first).filter(|at| *at < TRAITS.len());
        if let Some(slot) = at.and_then(|at| out.get_mut(from + at)) {
            *slot = *value;
        }
    }
    let cues = out.len();
    out.resize(cues + CUES.len(), 0.0);
    for cue in &context.cues {
        if let Some(slot) = out.get_mut(cues + cue) {
            *slot = 1.0;
        }
    }
    out
}

/// Which fact a word of the question names, and what follows for each.
fn of_operands(
    context: &ChoiceContext<'_>,
    plan: &ProgramPlan,
    used: &[(usize, &Fact)],
    out: &mut Vec<f64>,
) {
    let facts = context.facts;
    let mut two: Vec<&Fact> = Vec::with_capacity(2);
    for (_, fact) in used {
        if two.len() < 2 && !two.iter().any(|known| std::ptr::eq(*known, *fact)) {
            two.push(fact);
        }
    }
    let total: f64 = context
        .said
        .iter()
        .map(|said| said.weight)
        .sum::<f64>()
        .max(0.1);
    let names = |fact: &Fact, word: u32| fact.label.contains(&word) || fact.near.contains(&word);
    let mut places = [-1.0; 2];
    for k in 0..2 {
        let Some(fact) = two.get(k) else {
            out.extend([-2.0; OF_EACH.len()]);
            continue;
        };
        let other = two.get(1 - k);
        let (mut named, mut own, mut place, mut weight, mut lead) = (0.0, 0.0, 0.0, 0.0, None);
        for (i, said) in context.said.iter().enumerate() {
            if !names(fact, said.word) {
                continue;
            }
            named += said.weight;
            if other.is_none_or(|other| !names(other, said.word)) {
                own += said.weight;
                place += said.weight * count(i);
                weight += said.weight;
                lead = lead.or(Some(said.lead));
            }
        }
        let place = if weight > 0.0 { place / weight } else { -1.0 };
        if let Some(slot) = places.get_mut(k) {
            *slot = place;
        }
        let row = fact.cell().and_then(|(row, _)| facts.rows.get(row));
        let matched: f64 = row.map_or(0.0, |row| {
            let label = row.label.iter();
            let known = label.filter(|word| context.said.iter().any(|said| said.word == **word));
            known.map(|word| facts.weight(*word)).sum()
        });
        let years = &context.asked.years;
        let alike = plan.slots.first().map_or(0.0, |query| {
            let found = query.alike.iter().filter(|(word, _)| names(fact, *word));
            found.map(|(_, weight)| weight).sum::<f64>() / total
        });
        out.extend([
            named / total,
            own / total,
            row.map_or(-1.0, |row| {
                if row.weight > 0.0 {
                    matched / row.weight
                } else {
                    0.0
                }
            }),
            if years.is_empty() || fact.years.is_empty() {
                0.0
            } else if fact.years.iter().any(|year| years.contains(year)) {
                1.0
            } else {
                -1.0
            },
            flag(fact.total),
            flag(fact.cell().is_some() && facts.total.is_some_and(|t| fact.near.contains(&t))),
            flag(fact.cell().is_none()),
            flag(fact.percent),
            flag(fact.dollar),
            flag(fact.number.fract().abs() <= 0.0),
            place,
            lead.map_or(-1.0, count),
            alike,
            flag(years.first().is_some_and(|year| fact.years.contains(year))),
            flag(fact.opening),
            flag(fact.closing),
            row.map_or(-1.0, |row| row.weight - matched),
            fact.cell()
                .and_then(|(_, col)| facts.columns.get(col))
                .map_or(-1.0, |column| {
                    let label = column.label.iter();
                    let unasked =
                        label.filter(|word| context.said.iter().all(|said| said.word != **word));
                    unasked.map(|word| facts.weight(*word)).sum()
                }),
            fact.years
                .iter()
                .max()
                .map_or(-50.0, |year| f64::from(*year) - f64::from(context.latest)),
            row.map_or(-1.0, |_| context.rows_named_better(fact)),
            fact.cell()
                .map_or(-1.0, |(_, col)| flag(context.largest(col, fact.number))),
        ]);
        out.extend(context.by_question(fact));
        let bare = !fact.dollar && !fact.percent && fact.scale.is_none();
        out.push(flag(bare && fact.literal.len() <= 2));
    }
    let cells = |k: usize| two.get(k).and_then(|fact| fact.cell());
    let pair = cells(0).zip(cells(1));
    let words = |wanted: usize| -> f64 {
        let by = |said: &&super::Said| {
            two.iter().filter(|fact| names(fact, said.word)).count() == wanted
        };
        context
            .said
            .iter()
            .filter(by)
            .map(|said| said.weight)
            .sum::<f64>()
            / total
    };
    let [first, second] = places;
    out.extend([
        pair.map_or(-1.0, |(a, b)| flag(a.0 == b.0)),
        pair.map_or(-1.0, |(a, b)| flag(a.1 == b.1)),
        flag(matches!(two.as_slice(), [a, b] if pair.is_none() && a.same_series(b))),
        words(0),
        words(2),
        if first < 0.0 || second < 0.0 {
            0.0
        } else {
            second - first
        },
        match two.as_slice() {
            [a, b] => {
                let shared = a.label.iter().filter(|word| b.label.contains(word)).count();
                count(shared) / count(a.label.len().max(b.label.len()).max(1))
            }
            _ => -1.0,
        },
    ]);
}

/// Whether a calculated value is a number of the table.
fn printed(facts: &Facts, value: f64) -> bool {
    let same = |fact: &Fact| (fact.number.abs() - value.abs()).abs() <= 1e-9 * value.abs();
    facts
        .all
        .iter()
        .any(|fact| fact.cell().is_some() && same(fact))
}

fn flag(condition: bool) -> f64 {
    f64::from(u8::from(condition))
}

fn count(n: usize) -> f64 {
    f64::from(u32::try_from(n).unwrap_or(u32::MAX))
}

/// The binary order of magnitude.
fn size(value: Option<f64>) -> f64 {
    let Some(value) = value else { return -30.0 };
    let exponent = (value.to_bits() >> 52) & 0x7ff;
    f64::from(u16::try_from(exponent).unwrap_or(0)) - 1023.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offline::shape::SHAPES;

    #[test]
    fn every_feature_has_its_own_name() {
        let mut names = names();
        let all = names.len();
        let operands = 2 * OF_EACH.len() + OF_BOTH.len();
        assert_eq!(all, DETAILS.len() + operands + TRAITS.len() + CUES.len());
        names.sort();
        names.dedup();
        assert_eq!(names.len(), all);
        assert_eq!(SHAPES.first(), Some(&"look-up"), "`look-up as proposed`");
    }
}
