//! Compares the answer's program with gold's: which numbers and operations differ.

use super::cause::{Cause, CauseFound};
use super::expression::{Expression, Formula, Leaf, operations};
use super::places::PageFigures;
use finqa_core::number;

/// The cause that a difference between the two programs shows. `None` if they are equal, or if
/// their shapes are too different for a comparison number by number.
pub(super) fn difference(
    gold: &Formula,
    mine: &Formula,
    places: Option<&PageFigures>,
) -> Option<CauseFound> {
    if gold.root.matches(&mine.root, &|_, _| true) {
        let pairs: Vec<(&Leaf, &Leaf)> = gold.leaves().into_iter().zip(mine.leaves()).collect();
        let differing: Vec<_> = pairs.iter().filter(|(g, m)| !same(g, m)).copied().collect();
        if differing.is_empty() {
            return None;
        }
        // From the most specific cause to the least: another divisor, the same numbers swapped,
        // others.
        if let Some(found) = other_base(gold, mine, &differing) {
            return Some(found);
        }
        if same_leaves(gold, mine) {
            let detail = "the same numbers in different places";
            return Some(CauseFound::new(Cause::SwappedOperands, detail));
        }
        return other_numbers(&differing, places);
    }
    if let Some(found) = part_of(gold, mine) {
        return Some(found);
    }
    let (gold_ops, my_ops) = (operations(&gold.root), operations(&mine.root));
    if same_leaves(gold, mine) {
        let sorted = |ops: &[finqa_core::program::Op]| {
            let mut names: Vec<_> = ops.iter().map(|op| op.name()).collect();
            names.sort_unstable();
            names
        };
        return Some(if sorted(&gold_ops) == sorted(&my_ops) {
            CauseFound::new(
                Cause::SwappedOperands,
                "the same numbers and operations in another order",
            )
        } else {
            other_operations(gold, mine)
        });
    }
    None
}

/// The cause for two programs whose shapes are too different to compare number by number. It looks
/// at the numbers that only one of them uses, and if there are none, at the operations.
pub(super) fn evidence(gold: &Formula, mine: &Formula, places: Option<&PageFigures>) -> CauseFound {
    let only = |of: &Formula, not: &Formula| -> Vec<Leaf> {
        let missing = |leaf: &&Leaf| {
            !leaf.is_constant() && !not.leaves().iter().any(|other| same(leaf, other))
        };
        of.leaves().into_iter().filter(missing).cloned().collect()
    };
    let (missed, taken) = (only(gold, mine), only(mine, gold));
    if taken.is_empty() {
        return other_operations(gold, mine);
    }
    let pairs: Vec<(&Leaf, &Leaf)> = missed.iter().zip(&taken).collect();
    let found = if pairs.is_empty() {
        None
    } else {
        other_numbers(&pairs, places)
    };
    found.unwrap_or_else(|| other_operations(gold, mine))
}

/// The cause for programs with the right numbers that differ in their operations, or in how many
/// there are.
fn other_operations(gold: &Formula, mine: &Formula) -> CauseFound {
    let names = |formula: &Formula| {
        let ops = operations(&formula.root);
        // Operations are listed from the outermost one. Messages name them in the order of
        // execution.
        let names: Vec<_> = ops.iter().rev().map(|op| op.name()).collect();
        if names.is_empty() {
            "a look-up".to_owned()
        } else {
            names.join(", ")
        }
    };
    let steps = |formula: &Formula| operations(&formula.root).len();
    let cause = if steps(gold) == steps(mine) {
        Cause::Operator
    } else {
        Cause::Steps
    };
    CauseFound::new(cause, format!("{} instead of {}", names(mine), names(gold)))
}

fn same(a: &Leaf, b: &Leaf) -> bool {
    a.literal == b.literal || number::same(a.value, b.value)
}

/// True if both programs use the same numbers, in any order and however often.
fn same_leaves(a: &Formula, b: &Formula) -> bool {
    let sorted = |formula: &Formula| {
        let mut values = formula.values();
        values.sort_by(f64::total_cmp);
        values.dedup_by(|a, b| number::same(*a, *b));
        values
    };
    let (a, b) = (sorted(a), sorted(b));
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| number::same(*a, *b))
}

/// The cause if one program is a part of the other: only one of them divides by a base, or has
/// further steps. Otherwise `None`.
fn part_of(gold: &Formula, mine: &Formula) -> Option<CauseFound> {
    let within = |whole: &Formula, part: &Formula| {
        let parts = whole.root.parts();
        parts
            .into_iter()
            // The first part is the whole program.
            .skip(1)
            .any(|found| found.matches(&part.root, &same))
    };
    let above = |whole: &Formula, part: &Formula| {
        let quotient = whole.quotient();
        quotient.is_some_and(|(above, _)| above.matches(&part.root, &same))
    };
    if above(gold, mine) {
        let detail = "gives the amount, not divided by the base";
        return Some(CauseFound::new(Cause::AbsoluteForRelative, detail));
    }
    if above(mine, gold) {
        let detail = "divides by a base, although the amount is asked for";
        return Some(CauseFound::new(Cause::AbsoluteForRelative, detail));
    }
    if within(gold, mine) {
        return Some(CauseFound::new(Cause::Steps, "stops before the last step"));
    }
    within(mine, gold).then(|| CauseFound::new(Cause::Steps, "continues after the last step"))
}

/// The cause for two relative changes that differ only in their divisor. Otherwise `None`.
fn other_base(gold: &Formula, mine: &Formula, differing: &[(&Leaf, &Leaf)]) -> Option<CauseFound> {
    let (above, below) = gold.quotient()?;
    let (_, mine_below) = mine.quotient()?;
    let (Expression::Step(finqa_core::program::Op::Subtract, ..), Expression::Leaf(base)) =
        (above, below)
    else {
        return None;
    };
    let Expression::Leaf(other) = mine_below else {
        return None;
    };
    let alone = differing.len() == 1 && !same(base, other);
    alone.then(|| {
        let detail = format!("divided by {} instead of {}", other.literal, base.literal);
        CauseFound::new(Cause::WrongBase, detail)
    })
}

/// The cause for programs of the same shape with different numbers. The numbers' places on the page
/// tell, for example, a wrong row from a wrong column. `None` if `pairs` is empty.
fn other_numbers(pairs: &[(&Leaf, &Leaf)], places: Option<&PageFigures>) -> Option<CauseFound> {
    let found: Vec<CauseFound> = pairs
        .iter()
        .map(|(gold, mine)| other_number(gold, mine, places))
        .collect();
    // If several numbers differ, report the most specific cause.
    [
        Cause::DashAsNumber,
        Cause::MissingEvidence,
        Cause::WrongRow,
        Cause::WrongColumn,
        Cause::WrongCell,
        Cause::Operator,
    ]
    .into_iter()
    .find_map(|cause| found.iter().find(|found| found.cause == cause).cloned())
}

/// The cause for one number that differs.
fn other_number(gold: &Leaf, mine: &Leaf, places: Option<&PageFigures>) -> CauseFound {
    let plain = || format!("{} instead of {}", mine.literal, gold.literal);
    // Constants come from the calculation and not from the page.
    if gold.is_constant() && mine.is_constant() {
        return CauseFound::new(Cause::Operator, plain());
    }
    if gold.literal.starts_with("table_") || mine.literal.starts_with("table_") {
        let row = |leaf: &Leaf| leaf.literal.split_once('(').map(|(_, row)| row.to_owned());
        // The same row with another function, such as `table_max` for `table_average`.
        let cause = if row(gold) == row(mine) {
            Cause::Operator
        } else {
            Cause::WrongRow
        };
        return CauseFound::new(cause, plain());
    }
    match places {
        Some(places) => other_place(gold, mine, places),
        None => CauseFound::new(Cause::WrongCell, plain()),
    }
}

/// The cause for a number that differs, by the places of both numbers on the page.
fn other_place(gold: &Leaf, mine: &Leaf, places: &PageFigures) -> CauseFound {
    let (own, taken) = (places.find(gold.value), places.find(mine.value));
    let detail = |place: &str, own: &str| {
        let at = |id: &str| {
            if id.is_empty() {
                String::new()
            } else {
                format!(" ({id})")
            }
        };
        format!(
            "{}{} instead of {}{}",
            mine.literal,
            at(place),
            gold.literal,
            at(own)
        )
    };
    let Some(first) = taken.first() else {
        let detail = format!(
            "{} is not on the page; gold uses {}",
            mine.literal, gold.literal
        );
        return CauseFound::new(Cause::MissingEvidence, detail);
    };
    if let Some(dash) = taken.iter().find(|place| place.dash) {
        return CauseFound::new(Cause::DashAsNumber, detail(&dash.id, ""));
    }
    for own in &own {
        for place in &taken {
            if let (Some(a), Some(b)) = (own.cell, place.cell)
                && a.0 == b.0
                && a.1 != b.1
            {
                return CauseFound::new(Cause::WrongColumn, detail(&place.id, &own.id));
            }
        }
    }
    let own = own
        .first()
        .map(|place| place.id.as_str())
        .unwrap_or_default();
    let detail = if own == first.id && first.cell.is_none() {
        // Both numbers are in the same sentence, so name the sentence once.
        format!("{}, both in sentence {own}", detail("", ""))
    } else {
        detail(&first.id, own)
    };
    CauseFound::new(Cause::WrongRow, detail)
}
