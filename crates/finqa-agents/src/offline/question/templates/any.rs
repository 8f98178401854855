//! Plans for the kinds of calculation that are likely by the words of the question, whatever
//! the other templates make of it: the facts that fit the question as a whole, and the values
//! of earlier turns.

use super::super::conversation::EarlierTurns;
use super::super::plan::ProgramPattern::Slot;
use super::super::plan::{Pairing, ProgramPattern, ProgramPlan, of_slots, step};
use super::super::slots::SlotQuery;
use super::parts::added;
use super::{PlanQuestion, change_pattern, factors, parts, series, steps, sums};
use crate::offline::expr::Expr;
use crate::offline::shape::SHAPES;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// How much less likely than the likeliest a kind may be.
const LEAST: f64 = -5.0;

pub(crate) fn proposed(q: &PlanQuestion<'_>, proposal: &[f64; SHAPES.len()]) -> Vec<ProgramPlan> {
    let facts = q.facts;
    let whole = q.whole().amount();
    let plan = |name, pattern, slots, pairing, kind| ProgramPlan {
        pairing,
        kind,
        ..ProgramPlan::new(name, pattern, slots)
    };
    let of = |n: usize| vec![whole.clone(); n];
    let dated = q.periods();
    let mut out = Vec::new();
    let compared = parts::comparison(q).is_some()
        || parts::direction(q).is_some()
        || steps::profit(q).is_some();
    let mut all: Vec<(usize, f64)> = proposal.iter().copied().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, _) in all
        .into_iter()
        .filter(|(_, likely)| *likely >= LEAST)
        .filter_map(|(i, likely)| Some((*SHAPES.get(i)?, likely)))
    {
        use Pairing::{Parts, Periods};
        use UnitKind::{Number, Percent, YesNo};
        let two = of_slots;
        let three = |op| step(op, two(Op::Add), Slot(2));
        match name {
            "difference" => {
                out.push(plan("any parts", two(Op::Subtract), of(2), Parts, Number));
                out.extend(dated.clone().map(|(a, b)| {
                    plan(
                        "any periods",
                        two(Op::Subtract),
                        vec![a, b],
                        Periods,
                        Number,
                    )
                }));
            }
            "relative change" => {
                out.push(plan("any parts", change_pattern(), of(2), Parts, Percent));
                out.extend(dated.clone().map(|(a, b)| {
                    plan(
                        "any periods",
                        change_pattern(),
                        vec![a, b],
                        Periods,
                        Percent,
                    )
                }));
            }
            "ratio" => {
                out.push(plan("any parts", two(Op::Divide), of(2), Parts, Percent));
                if let Some(total) = facts.total {
                    let mut slots = of(2);
                    if let Some(all) = slots.get_mut(1) {
                        all.words.retain(|(word, _)| *word != total);
                        all.words.push((total, 1.5));
                    }
                    out.push(plan("any share", two(Op::Divide), slots, Parts, Percent));
                }
                out.extend(sums::shares(facts, &whole));
            }
            "sum" => out.push(plan("any parts", two(Op::Add), of(2), Parts, Number)),
            "sum of three or more" => {
                out.extend(added(3).map(|sum| plan("any parts", sum, of(3), Parts, Number)));
                out.extend(series::sums(facts, &whole, false));
            }
            "average of three or more" => out.extend(series::sums(facts, &whole, true)),
            "average" => out.push(plan(
                "any parts",
                step(Op::Divide, two(Op::Add), ProgramPattern::constant(2)),
                of(2),
                Parts,
                Number,
            )),
            "product" => {
                out.push(plan("any parts", two(Op::Multiply), of(2), Parts, Number));
                out.extend(factors::factors(facts, &whole));
            }
            "comparison" if !compared => {
                out.push(plan("any parts", two(Op::Greater), of(2), Parts, YesNo))
            }
            "over a sum" => {
                out.push(plan(
                    "any parts",
                    step(Op::Divide, Slot(0), two(Op::Add)),
                    of(2),
                    Parts,
                    Percent,
                ));
                out.extend(sums::shares_of_column(facts, &whole));
            }
            "sum over" => out.push(plan("any parts", three(Op::Divide), of(3), Parts, Percent)),
            "difference over another" => out.push(plan(
                "any parts",
                step(Op::Divide, two(Op::Subtract), Slot(2)),
                of(3),
                Parts,
                Percent,
            )),
            _ => {}
        }
        if !q.state.turns.is_empty() {
            out.extend(of_turns(q.state, &whole, name));
        }
    }
    out
}

/// How many of the latest values are combined.
const COMBINED: usize = 4;

/// An operation on two earlier values, or on one of them and a number of the page.
fn of_turns(state: &EarlierTurns, whole: &SlotQuery, name: &str) -> Vec<ProgramPlan> {
    let (op, kind) = match name {
        "difference" | "difference of results" | "difference of ratios" => {
            (Op::Subtract, UnitKind::Number)
        }
        "ratio"
        | "over a sum"
        | "sum over"
        | "ratio of results"
        | "difference over another"
        | "relative change" => (Op::Divide, UnitKind::Percent),
        "sum" | "sum of three or more" | "sum of results" => (Op::Add, UnitKind::Number),
        "product" => (Op::Multiply, UnitKind::Number),
        _ => return Vec::new(),
    };
    let latest: Vec<&Expr> = state
        .turns
        .iter()
        .rev()
        .take(COMBINED)
        .map(|t| &t.expr)
        .collect();
    let mut out = Vec::new();
    let fixed = |expr| ProgramPlan::fixed("any turns", expr, kind);
    for (i, last) in latest.iter().enumerate() {
        for before in latest.iter().skip(i + 1) {
            let (a, b) = ((*before).clone(), (*last).clone());
            if name == "relative change" {
                let change = Expr::step(Op::Subtract, b, a.clone());
                out.push(fixed(Expr::step(Op::Divide, change, a)));
            } else {
                out.push(fixed(Expr::step(op, a, b)));
            }
        }
        if i < 2 && name != "relative change" {
            let known = ProgramPattern::Fixed((*last).clone());
            out.push(ProgramPlan {
                kind,
                ..ProgramPlan::new("any turns", step(op, known, Slot(0)), vec![whole.clone()])
            });
        }
    }
    out
}
