//! A program as a single expression, so that its numbers and operations can be changed and the
//! value computed again.

use std::sync::Arc;

use finqa_core::number::round5;
use finqa_core::program::{self, Op, Program, ProgramStep};

/// A program whose references are replaced by the steps that they refer to. The source of a leaf is
/// its position among the leaves, from left to right.
pub(super) type Expression = program::Expression<usize>;

/// A number of a program. The result of an operation over a row of the table is a leaf too.
pub(super) type Leaf = program::Leaf<usize>;

/// A program that was read as an expression.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Formula {
    pub root: Expression,
}

impl Formula {
    /// Reads a program; `None` if it is invalid, too large, or cannot be executed on `table`.
    pub(crate) fn read(text: &str, table: &[Vec<String>]) -> Option<Self> {
        let program = Program::parse(text).ok()?;
        let results = program.execute_steps(table).ok()?;
        let mut root: Expression = program.expression(|at| {
            let ProgramStep { op, arguments } = program.steps().get(at)?;
            Some(Leaf {
                value: results.get(at)?.number()?,
                literal: format!("{}({})", op.name(), arguments.first()?).into(),
                source: 0,
            })
        })?;
        let mut places = 0..;
        root.change_leaves(&mut |leaf| leaf.source = places.next().unwrap_or_default());
        Some(Self { root })
    }

    /// A single number.
    pub(crate) fn number(value: f64, text: &str) -> Self {
        let literal = Arc::from(text);
        Self {
            root: Expression::Leaf(Leaf {
                literal,
                value,
                source: 0,
            }),
        }
    }

    /// The numbers, left to right.
    pub(crate) fn leaves(&self) -> Vec<&Leaf> {
        self.root.leaves()
    }

    /// The values of the leaves, left to right.
    pub(crate) fn values(&self) -> Vec<f64> {
        self.leaves().iter().map(|leaf| leaf.value).collect()
    }

    /// The leaves that are not constants, grouped by their literal, because a number that is used
    /// twice is one piece of evidence.
    pub(crate) fn slots(&self) -> Vec<Vec<&Leaf>> {
        let mut slots: Vec<Vec<&Leaf>> = Vec::new();
        for leaf in self.leaves() {
            if leaf.is_constant() {
                continue;
            }
            let same = slots.iter_mut().find(|slot| {
                let first = slot.first();
                first.is_some_and(|first| first.literal == leaf.literal)
            });
            match same {
                Some(slot) => slot.push(leaf),
                None => slots.push(vec![leaf]),
            }
        }
        slots
    }

    /// The dividend and the divisor of a relative change or a share. A multiplication after the
    /// division, such as by 100, is ignored. `None` if the divisor is a constant, because such a
    /// division is an average or a change of scale.
    pub(crate) fn quotient(&self) -> Option<(&Expression, &Expression)> {
        quotient(&self.root).filter(|(_, below)| !below.is_constant())
    }
}

fn quotient(expression: &Expression) -> Option<(&Expression, &Expression)> {
    match expression.top()? {
        (Op::Divide, a, b) => Some((a, b)),
        (Op::Multiply, a, _) => quotient(a),
        _ => None,
    }
}

/// The value of an expression for these values of its leaves; `None` if it is not a number.
pub(super) fn value(expression: &Expression, leaves: &[f64]) -> Option<f64> {
    let number = |leaf: &Leaf| leaves.get(leaf.source).copied().unwrap_or(f64::NAN);
    expression.value_with_leaves(&number)?.number()
}

/// The value of an expression if earlier turns had other results. `answered` has pairs of a gold
/// and the run's answer. A part of the expression that equals a gold is replaced by that answer.
/// `None` if a value cannot be computed or is not a number.
#[allow(clippy::float_cmp, reason = "the dataset stores golds with 5 decimals")]
pub(super) fn value_with_own_answers(
    expression: &Expression,
    answered: &[(f64, f64)],
) -> Option<f64> {
    let plain = expression.number()?;
    let instead = answered.iter().find(|(gold, _)| round5(plain) == *gold);
    match (instead, expression.top()) {
        (Some((_, own)), _) => Some(*own),
        (None, None) => Some(plain),
        (None, Some((op, a, b))) => op
            .apply(
                value_with_own_answers(a, answered)?,
                value_with_own_answers(b, answered)?,
            )?
            .number(),
    }
}

/// The operations of an expression, in the order of [`program::Expression::parts`].
pub(super) fn operations(expression: &Expression) -> Vec<Op> {
    let parts = expression.parts().into_iter();
    parts.filter_map(|part| Some(part.top()?.0)).collect()
}

/// The expression with the `nth` of its [`operations`] replaced.
pub(super) fn with_operation(expression: &Expression, nth: usize, op: Op) -> Expression {
    replaced(expression, nth, op, &mut 0)
}

/// Replaces the operation with the number `nth` by `by`. `next` is the number of the next
/// operation.
fn replaced(expression: &Expression, nth: usize, by: Op, next: &mut usize) -> Expression {
    let Some((op, a, b)) = expression.top() else {
        return expression.clone();
    };
    let op = if *next == nth { by } else { op };
    *next += 1;
    let a = replaced(a, nth, by, next);
    Expression::step(op, a, replaced(b, nth, by, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_written_out_and_worked_out() {
        let formula = Formula::read("subtract(12, 10), divide(#0, 10)", &[]).unwrap();
        assert_eq!(value(&formula.root, &formula.values()), Some(0.2));
        let slots = formula.slots().into_iter();
        let slots: Vec<Vec<usize>> = slots
            .map(|slot| slot.iter().map(|leaf| leaf.source).collect())
            .collect();
        assert_eq!(slots, [vec![0], vec![1, 2]]);
        let swapped = with_operation(&formula.root, 0, Op::Multiply);
        assert_eq!(value(&swapped, &formula.values()), Some(20.0));
        assert_eq!(operations(&formula.root), [Op::Divide, Op::Subtract]);
    }
}
