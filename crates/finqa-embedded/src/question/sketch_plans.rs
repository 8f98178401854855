//! Plans for each likely sketch of a follow-up: calculations with earlier answers and numbers, and
//! at most one new fact of the page.

use super::arithmetic::numbers_said;
use super::conversation::EarlierTurn;
use super::mention::{names_quantity, ratio_operands};
use super::plan::Pairing::Free;
use super::plan::{HIGH, LOW, ProgramPlan, is_open, slot};
use super::plan_question::PlanQuestion;
use super::proposal::{SketchOdds, likely};
use super::slot_scorer::SlotQuery;
use super::wording::Wording;
use crate::distinct;
use crate::expr::Expr;
use crate::sketch::SKETCHES;
use finqa_core::number::UnitKind::{self, Number, Percent, YesNo};
use finqa_core::program::Op;

/// Words between two operands of a follow-up with the operation that they ask for. The first that
/// the question has divides it. "Divided by" is missing, because [`ratio_operands`] finds it first,
/// as a division.
const JOINS: [(&str, Op); 10] = [
    ("multiplied by", Op::Multiply),
    ("times", Op::Multiply),
    ("over", Op::Divide),
    ("plus", Op::Add),
    ("minus", Op::Subtract),
    ("less", Op::Subtract),
    ("including", Op::Add),
    ("adding", Op::Add),
    ("excluding", Op::Subtract),
    ("without", Op::Subtract),
];

/// A part of the question, or all of it, as the description of the new fact of a sketch.
struct NewFact {
    query: SlotQuery,
    /// The operation that joins the fact to another operand in the question, and whether the fact
    /// is its second operand; `None` if no part of the question names the fact.
    joined_by: Option<(Op, bool)>,
}

impl NewFact {
    /// The prior of a plan for this expression: [`HIGH`] if it is what the question asks for.
    fn prior(&self, expr: &Expr) -> f64 {
        let same = self.joined_by.is_some_and(|(asked, second)| {
            let Some((op, a, b)) = expr.top() else {
                return false;
            };
            let operand = if second { b } else { a };
            let ordered = matches!(op, Op::Subtract | Op::Divide);
            op == asked && (is_open(operand) || !ordered)
        });
        if same { HIGH } else { LOW }
    }
}

/// The plans for the likely sketches, the likeliest first; none without earlier turns. `odds` has
/// the log-odds of each sketch. All have the name "any turns": the choice reads the sketch from the
/// program again (`ChoiceContext::sketch`), because other plans can make the same program.
pub(crate) fn plans(q: &PlanQuestion<'_>, odds: &SketchOdds) -> Vec<ProgramPlan> {
    let names = likely(odds).filter_map(|i| SKETCHES.get(i).copied());
    let numbers = numbers_said(q.asked);
    let of_name = |name: &'static str| {
        let exprs = readings(name, q.earlier, &numbers).into_iter();
        exprs.map(move |expr| (kind_of(name, &expr, q.asked), expr))
    };
    let exprs = distinct(names.flat_map(of_name));
    let mut new_facts: Option<Vec<NewFact>> = None;
    let mut out = Vec::new();
    for (kind, expr) in exprs {
        let plan = |slots, prior| {
            ProgramPlan::new("any turns", expr.clone(), slots).paired(Free, prior, kind)
        };
        if is_open(&expr) {
            let new_facts = new_facts.get_or_insert_with(|| new_facts_of(q));
            let filled = new_facts.iter();
            out.extend(filled.map(|new| plan(vec![new.query.clone()], new.prior(&expr))));
        } else {
            out.push(plan(Vec::new(), LOW));
        }
    }
    out
}

/// The readings of the question as a description of a new fact: its parts before and after words
/// such as "divided by" or "plus", if they name a quantity, and the question as a whole.
fn new_facts_of(q: &PlanQuestion<'_>) -> Vec<NewFact> {
    let ratio = ratio_operands(q.asked).map(|parts| (parts, Op::Divide));
    let mut joins = JOINS.iter();
    let joined = || joins.find_map(|(join, op)| Some((q.asked.split(join)?, *op)));
    let parts = ratio.or_else(joined).into_iter();
    let parts = parts.flat_map(|((a, b), op)| [(b, (op, true)), (a, (op, false))]);
    let named = parts.filter(|(part, _)| names_quantity(part));
    let named = named.map(|(part, joined_by)| NewFact {
        query: q.query(&part).amount(),
        joined_by: Some(joined_by),
    });
    let whole = NewFact {
        query: q.whole().amount(),
        joined_by: None,
    };
    named.chain([whole]).collect()
}

/// The kind of value that a sketch's expression has, by the operation that the sketch itself names:
/// an earlier answer that is repeated counts as a number.
fn kind_of(name: &str, expr: &Expr, asked: &Wording) -> UnitKind {
    let is_quotient = |operand: &Expr| matches!(operand.top(), Some((Op::Divide, ..)));
    match expr.top().filter(|_| name.contains('(')) {
        // An average, or another scale.
        Some((Op::Divide, _, b)) if b.is_constant() => Number,
        Some((Op::Divide, ..)) => asked.quotient_kind(),
        Some((Op::Subtract, a, b)) if is_quotient(a) && is_quotient(b) => Percent,
        Some((Op::Greater, ..)) => YesNo,
        _ => Number,
    }
}

/// The plans' expressions for a sketch after these turns: one for each choice of the earlier
/// numbers that it uses. The name of the sketch is parsed as it is written in [`SKETCHES`]; `new`
/// is a slot. None for a sketch without an earlier answer or number, which `by_words` plans, and
/// for one that goes further back than the first turn.
fn readings(name: &str, earlier: &[EarlierTurn], numbers: &[u32]) -> Vec<Expr> {
    if !name.contains("answer") && !name.contains("used") {
        return Vec::new();
    }
    let Some((op, operands)) = name.split_once('(') else {
        return operand(name, earlier, numbers);
    };
    let operands = operands.trim_end_matches(')').split_once(", ");
    let Some((op, (a, b))) = Op::of(op).zip(operands) else {
        return Vec::new();
    };
    let (a, b) = (operand(a, earlier, numbers), operand(b, earlier, numbers));
    let pairs = a.iter().flat_map(|a| b.iter().map(move |b| (a, b)));
    // The two numbers of `subtract(used1, used1)` are different ones of the same turn.
    let different = pairs.filter(|(a, b)| a != b);
    different
        .map(|(a, b)| Expr::step(op, a.clone(), b.clone()))
        .collect()
}

/// The values that an operand of a sketch can have: the answer of a turn, any of the numbers with
/// which a turn calculated, a constant, or a slot for a new fact. None if there is no such turn. A
/// constant can also be any of `numbers`, because few of them have a sketch of their own: "that
/// divided by 5" is like "that divided by 3".
fn operand(name: &str, earlier: &[EarlierTurn], numbers: &[u32]) -> Vec<Expr> {
    let turn = |prefix: &str| {
        let back: usize = name.strip_prefix(prefix)?.parse().ok()?;
        earlier.iter().nth_back(back.checked_sub(1)?)
    };
    if name == "new" {
        vec![slot(0)]
    } else if let Ok(number) = name.parse() {
        let all = distinct([number].into_iter().chain(numbers.iter().copied()));
        all.into_iter().map(Expr::constant).collect()
    } else if let Some(turn) = turn("answer") {
        vec![turn.expr.clone()]
    } else if let Some(turn) = turn("used") {
        let leaves = turn.expr.leaves().into_iter();
        let numbers = leaves.filter(|leaf| !leaf.is_constant());
        numbers.map(|leaf| Expr::Leaf(leaf.clone())).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::conversation::earlier_turns;
    use crate::question::plan_question::Inherited;
    use crate::reading::facts::Facts;
    use finqa_core::question::{HistoryEntry, HistorySource};

    fn history(programs: &[&str]) -> Vec<HistoryEntry> {
        let entry = |program: &&str| HistoryEntry {
            question: String::new(),
            value: None,
            program: Some((*program).into()),
            label: None,
            source: HistorySource::Gold,
        };
        programs.iter().map(entry).collect()
    }

    fn after(programs: &[&str]) -> Vec<EarlierTurn> {
        earlier_turns(&Facts::default(), &history(programs))
    }

    fn programs(name: &str, earlier: &[EarlierTurn]) -> Vec<String> {
        let read = readings(name, earlier, &[12]).into_iter();
        read.map(|expr| expr.program()).collect()
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
                vec![
                    format!("{change}multiply(#0, const_1000)"),
                    format!("{change}multiply(#0, const_12)"),
                ],
            ),
            (
                "divide(answer1, new)",
                vec![format!("{change}divide(#0, slot_0)")],
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
    fn a_plan_is_preferred_if_the_question_joins_its_operands_so() {
        let facts = Facts::default();
        let inherited = Inherited::after(&facts, &history(&["subtract(120, 100)"]));
        let preferred = |question: &str| -> Vec<String> {
            let asked = Wording::read(question);
            let q = PlanQuestion::new(&facts, &asked, &inherited);
            let plans = plans(&q, &[0.0; SKETCHES.len()]).into_iter();
            let high = plans.filter(|plan| plan.prior > LOW);
            let programs = high.map(|plan| plan.expr.program());
            let ends = programs.map(|program| program.replace("subtract(120, 100), ", ""));
            ends.filter(|end| end.contains("#0")).collect()
        };
        for (question, expected) in [
            ("what is that divided by sales?", vec!["divide(#0, slot_0)"]),
            ("what are sales less that?", vec!["subtract(slot_0, #0)"]),
            (
                "what is that plus sales?",
                vec!["add(#0, slot_0)", "add(slot_0, #0)"],
            ),
            ("what were sales?", vec![]),
        ] {
            assert_eq!(preferred(question), expected, "{question}");
        }
    }

    #[test]
    fn every_sketch_that_repeats_something_is_read() {
        let earlier = after(&["1", "subtract(2, 3)", "add(4, 5)", "divide(6, 7)"]);
        for name in SKETCHES {
            let repeats = name.contains("answer") || name.contains("used");
            assert_eq!(readings(name, &earlier, &[]).is_empty(), !repeats, "{name}");
        }
    }
}
