//! Puts facts into a plan's slots: the best joint choice, and the next best.

use super::expr::{Expr, Leaf, Op};
use super::facts::{Fact, Facts};
use super::plan::{Pairing, Pattern, Plan};
use super::slots::{Query, rank};

/// A plan with its slots filled.
#[derive(Clone, Debug)]
pub(crate) struct Filled {
    /// Index of the plan.
    pub plan: usize,
    /// The expression.
    pub expr: Expr,
    /// Mean slot score, with what the pairing adds.
    pub score: f64,
}

/// How many facts are tried in a slot.
const TRIED: usize = 8;

/// The best fillings of a plan, best first.
pub(crate) fn fill(facts: &Facts, plan: &Plan, index: usize, keep: usize) -> Vec<Filled> {
    let mut known = Vec::new();
    plan.pattern.known_facts(&mut known);
    let mut beam: Vec<(Vec<usize>, f64)> = vec![(Vec::new(), 0.0)];
    for query in &plan.slots {
        let ranked = rank(facts, query, TRIED);
        let mut next: Vec<(Vec<usize>, f64)> = Vec::with_capacity(beam.len() * ranked.len());
        for (chosen, so_far) in &beam {
            for (fact, score) in &ranked {
                let pairing: f64 = chosen
                    .iter()
                    .map(|other| pair(facts, plan.pairing, *other, *fact))
                    .sum();
                let pairing = if known.contains(fact) {
                    pairing - 4.0
                } else {
                    pairing
                };
                let mut facts = chosen.clone();
                facts.push(*fact);
                next.push((facts, so_far + score + pairing));
            }
        }
        next.sort_by(|a, b| b.1.total_cmp(&a.1));
        next.truncate(TRIED * 3);
        beam = next;
    }
    #[allow(clippy::cast_precision_loss, reason = "a plan has a handful of slots")]
    let slots = plan.slots.len().max(1) as f64;
    beam.into_iter()
        .take(keep)
        .filter_map(|(chosen, score)| {
            let leaves = leaves(facts, plan, &chosen)?;
            let expr = plan.pattern.fill(&leaves)?;
            expr.value()?;
            Some(Filled {
                plan: index,
                expr,
                score: score / slots,
            })
        })
        .collect()
}

/// What two facts add by standing as the pairing wants them.
fn pair(facts: &Facts, pairing: Pairing, a: usize, b: usize) -> f64 {
    let (Some(one), Some(two)) = (facts.all.get(a), facts.all.get(b)) else {
        return 0.0;
    };
    if pairing == Pairing::Free {
        return 0.0;
    }
    if a == b {
        return -6.0;
    }
    let dated = |f: &Fact| {
        f.cell()
            .and_then(|(r, _)| facts.rows.get(r))
            .is_some_and(|r| !r.years.is_empty())
    };
    match (one.cell(), two.cell()) {
        (Some((r1, c1)), Some((r2, c2))) => match pairing {
            Pairing::Periods if r1 == r2 => 1.5,
            Pairing::Periods if c1 == c2 && dated(one) && dated(two) => 1.5,
            Pairing::Periods => -0.5,
            _ if c1 == c2 => 1.0,
            _ if r1 == r2 && dated(one) => 0.8,
            _ => 0.0,
        },
        (None, None) if one.same_series(two) => 1.0,
        (None, None) => 0.2,
        _ => -0.8,
    }
}

/// The literals that go into the program.
fn leaves(facts: &Facts, plan: &Plan, chosen: &[usize]) -> Option<Vec<Expr>> {
    chosen
        .iter()
        .enumerate()
        .map(|(slot, i)| {
            let fact = facts.all.get(*i)?;
            let query = plan.slots.get(slot)?;
            Some(leaf(facts, plan, query, fact, *i))
        })
        .collect()
}

/// A fact as a literal: an outflow's magnitude, a percentage as it is printed.
fn leaf(facts: &Facts, plan: &Plan, query: &Query, fact: &Fact, index: usize) -> Expr {
    let single = matches!(plan.pattern, Pattern::Slot(_));
    let mut literal = fact.literal.clone();
    if fact.percent && !(query.percent || fact.cell().is_none()) {
        literal = literal.trim_end_matches('%').to_owned();
    }
    if literal.starts_with('-') && is_outflow(facts, fact) && (single || !mixes(plan)) {
        literal = literal.trim_start_matches('-').to_owned();
    }
    let value = super::expr::literal_value(&literal).unwrap_or(fact.number);
    Expr::Leaf(Leaf {
        literal,
        value,
        fact: Some(index),
    })
}

/// Sums keep signs: an outflow is set against inflows.
fn mixes(plan: &Plan) -> bool {
    matches!(plan.pattern, Pattern::Step(Op::Add, _, _))
}

/// Whether the row is called by what leaves: its minus sign only says so again.
fn is_outflow(facts: &Facts, fact: &Fact) -> bool {
    let Some((row, _)) = fact.cell() else {
        return false;
    };
    let name = facts
        .rows
        .get(row)
        .map(|r| r.name.as_str())
        .unwrap_or_default();
    let names = [
        "loss",
        "expenditure",
        "decrease",
        "charge",
        "cost",
        "expense",
        "liabilit",
        "debt",
        "payment",
        "paid",
        "purchase",
        "repurchase",
        "provision",
        "dividend",
        "deduct",
        "reduction",
        "settle",
        "depreciation",
        "tax",
        "interest",
    ];
    let both = ["gain", "income", "provided", "increase", "( used", "(used"];
    names.iter().any(|n| name.contains(n)) && !both.iter().any(|n| name.contains(n))
}
