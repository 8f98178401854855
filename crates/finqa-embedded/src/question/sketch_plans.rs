//! Plans for each likely sketch of a follow-up: calculations with earlier answers and numbers, and
//! at most one new fact of the page.

use super::conversation::EarlierTurns;
use super::mention::{names_quantity, ratio_operands};
use super::plan::{LOW, PlanExpr, ProgramPlan, step};
use super::plan_question::PlanQuestion;
use super::proposal::{SketchOdds, likely};
use super::slot_scorer::SlotQuery;
use crate::expr::Expr;
use crate::sketch::SKETCHES;
use finqa_core::number::UnitKind::{Number, Percent, YesNo};
use finqa_core::program::Op;

/// Words between two operands of a follow-up, besides those of [`ratio_operands`]. The first that
/// the question has divides it.
const JOINS: [&str; 10] = [
    "multiplied by", "times", "over", "plus", "minus", "less", "including", "adding", "excluding",
    "without",
];

/// The plans for the likely sketches, the likeliest first; none without earlier turns. `odds` has
/// the log-odds of each sketch. All have the name "any turns": the choice reads the sketch from the
/// program again (`ChoiceContext::sketch`), because other plans can make the same program.
pub(crate) fn plans(q: &PlanQuestion<'_>, odds: &SketchOdds) -> Vec<ProgramPlan> {
    let names = likely(odds).filter_map(|i| SKETCHES.get(i).copied());
    let exprs = names.flat_map(|name| readings(name, q.earlier));
    let mut queries: Option<Vec<SlotQuery>> = None;
    let mut out = Vec::new();
    for expr in exprs {
        let kind = match &expr {
            // An average, or another scale.
            PlanExpr::Step(Op::Divide, _, b) if b.is_constant() => Number,
            PlanExpr::Step(Op::Divide, ..) => q.asked.quotient_kind(),
            PlanExpr::Step(Op::Subtract, a, b) if is_quotient(a) && is_quotient(b) => Percent,
            PlanExpr::Step(Op::Greater, ..) => YesNo,
            _ => Number,
        };
        let plan = |slots| ProgramPlan::new("any turns", expr.clone(), slots).free(LOW, kind);
        if expr.is_open() {
            let queries = queries.get_or_insert_with(|| queries_of(q));
            out.extend(queries.iter().map(|query| plan(vec![query.clone()])));
        } else {
            out.push(plan(Vec::new()));
        }
    }
    out
}

/// The queries for the new fact of a sketch: the parts of the question before and after words such
/// as "divided by" or "plus", if they name a quantity, and the question as a whole.
fn queries_of(q: &PlanQuestion<'_>) -> Vec<SlotQuery> {
    let joined = || JOINS.iter().find_map(|join| q.asked.split(join));
    let parts = ratio_operands(q.asked).or_else(joined);
    let parts = parts.into_iter().flat_map(|(a, b)| [b, a]);
    let named = parts.filter(|part| names_quantity(part));
    let named = named.map(|part| q.query(&part).amount());
    named.chain([q.whole().amount()]).collect()
}

/// True for an earlier answer that is a quotient. The difference of two is in percent.
fn is_quotient(operand: &PlanExpr) -> bool {
    matches!(operand, PlanExpr::Fixed(expr) if matches!(expr.top(), Some((Op::Divide, ..))))
}

/// The plans' expressions for a sketch after these turns: one for each choice of the earlier
/// numbers that it uses. `new` is a slot. None for a sketch without an earlier answer or number,
/// which `alone` plans, and for one that goes further back than the first turn.
fn readings(name: &str, earlier: &EarlierTurns) -> Vec<PlanExpr> {
    if !name.contains("answer") && !name.contains("used") {
        return Vec::new();
    }
    let Some((op, operands)) = name.split_once('(') else {
        return operand(name, earlier);
    };
    let operands = operands.trim_end_matches(')').split_once(", ");
    let Some((op, (a, b))) = Op::of(op).zip(operands) else {
        return Vec::new();
    };
    let (a, b) = (operand(a, earlier), operand(b, earlier));
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    // The two numbers of `subtract(used1, used1)` are different ones of the same turn.
    let different = pairs.filter(|(a, b)| a != b);
    different
        .map(|(a, b)| step(op, a.clone(), b.clone()))
        .collect()
}

/// The values that an operand of a sketch can have: the answer of a turn, any of the numbers with
/// which a turn calculated, a constant, or a slot for a new fact. None if there is no such turn.
fn operand(name: &str, earlier: &EarlierTurns) -> Vec<PlanExpr> {
    let turn = |prefix: &str| {
        let back: usize = name.strip_prefix(prefix)?.parse().ok()?;
        earlier.back(back.checked_sub(1)?)
    };
    if name == "new" {
        vec![PlanExpr::Slot(0)]
    } else if let Ok(number) = name.parse() {
        vec![PlanExpr::constant(number)]
    } else if let Some(turn) = turn("answer") {
        vec![PlanExpr::Fixed(turn.expr.clone())]
    } else if let Some(turn) = turn("used") {
        let leaves = turn.expr.leaves().into_iter();
        let numbers = leaves.filter(|leaf| !leaf.is_constant());
        numbers
            .map(|leaf| PlanExpr::Fixed(Expr::Leaf(leaf.clone())))
            .collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reading::facts::Facts;
    use finqa_core::question::{HistoryEntry, HistorySource};

    fn after(programs: &[&str]) -> EarlierTurns {
        let entry = |program: &&str| HistoryEntry {
            question: String::new(),
            value: None,
            program: Some((*program).into()),
            label: None,
            source: HistorySource::Gold,
        };
        let history: Vec<HistoryEntry> = programs.iter().map(entry).collect();
        EarlierTurns::read(&Facts::default(), &history)
    }

    fn programs(name: &str, earlier: &EarlierTurns) -> Vec<String> {
        let slot = Expr::literal("7").unwrap();
        let filled = readings(name, earlier);
        let filled = filled
            .iter()
            .filter_map(|plan| plan.fill(std::slice::from_ref(&slot)));
        filled.map(|expr| expr.program()).collect()
    }

    #[test]
    fn a_sketch_is_read_with_the_values_of_earlier_turns() {
        let earlier = after(&["120", "100", "subtract(120, 100)"]);
        let change = "subtract(120, 100), ";
        for (name, expected) in [
            ("new", vec![]),
            ("answer2", vec!["100".to_owned()]),
            ("used1", vec!["120".to_owned(), "100".to_owned()]),
            (
                "subtract(answer3, answer2)",
                vec!["subtract(120, 100)".to_owned()],
            ),
            ("subtract(answer4, answer1)", vec![]),
            (
                "multiply(answer1, 1000)",
                vec![format!("{change}multiply(#0, const_1000)")],
            ),
            (
                "divide(answer1, new)",
                vec![format!("{change}divide(#0, 7)")],
            ),
            (
                "divide(answer1, used1)",
                vec![
                    format!("{change}divide(#0, 120)"),
                    format!("{change}divide(#0, 100)"),
                ],
            ),
            (
                "subtract(used1, used1)",
                vec![
                    "subtract(120, 100)".to_owned(),
                    "subtract(100, 120)".to_owned(),
                ],
            ),
        ] {
            assert_eq!(programs(name, &earlier), expected, "{name}");
        }
    }

    #[test]
    fn every_sketch_that_repeats_something_is_read() {
        let earlier = after(&["1", "subtract(2, 3)", "add(4, 5)", "divide(6, 7)"]);
        for name in SKETCHES {
            let repeats = name.contains("answer") || name.contains("used");
            assert_eq!(readings(name, &earlier).is_empty(), !repeats, "{name}");
        }
    }
}
