//! Writes a program as one expression tree, which is the last step with every reference replaced by
//! the step that it refers to.
//!
//! The tree is for analysing programs. Its values are those of the executor with two exceptions: an
//! expression has no value if any part of it is infinite or undefined, and nothing is computed with
//! the `yes` or `no` of a comparison. Steps that the last step does not use are dropped.

use std::sync::Arc;

use crate::number::{Value, literal};

use super::{Argument, Op, Program, ProgramStep, machine};

/// Maximum number of leaves, set by hand. Without a limit, a program in which every step adds the
/// previous result to itself doubles its leaves with every step.
const MOST_LEAVES: usize = 64;

/// A number in an expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf<T> {
    /// The number as written: `206588`, `4.02%`, `const_100`.
    pub literal: Arc<str>,
    /// The value as the official evaluator reads it.
    pub value: f64,
    /// The place where the number comes from, such as a cell; `()` if it is not needed.
    pub source: T,
}

impl<T> Leaf<T> {
    /// True for a constant such as `const_100`, which does not come from a page.
    pub fn is_constant(&self) -> bool {
        self.literal.starts_with("const_")
    }
}

/// An expression tree over numbers.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression<T> {
    Leaf(Leaf<T>),
    /// An operation on two expressions.
    Step(Op, Box<Self>, Box<Self>),
}

impl<T: Default> Expression<T> {
    /// A constant such as `const_100`.
    pub fn constant(n: u32) -> Self {
        Self::of(&format!("const_{n}"), f64::from(n))
    }

    /// A literal with the default source; `None` if the text is not a finite number.
    pub fn literal(text: &str) -> Option<Self> {
        let value = literal(text).filter(|value| value.is_finite())?;
        Some(Self::of(text, value))
    }

    /// Parses a program that reads no table, such as that of an earlier turn. `None` if the program
    /// is invalid, reads a table row, or has too many leaves.
    pub fn parse(program: &str) -> Option<Self> {
        Program::parse(program).ok()?.expression(|_| None)
    }

    fn of(text: &str, value: f64) -> Self {
        Self::Leaf(Leaf {
            literal: text.into(),
            value,
            source: T::default(),
        })
    }
}

impl<T> Expression<T> {
    /// The expression `op(a, b)`.
    pub fn step(op: Op, a: Self, b: Self) -> Self {
        Self::Step(op, Box::new(a), Box::new(b))
    }

    /// The unrounded value. `None` if the executor would fail. Also `None` if any step is not
    /// finite, although the official executor continues with infinity as Python does.
    pub fn value(&self) -> Option<Value> {
        self.value_with_leaves(&|leaf| leaf.value)
    }

    /// The value with these numbers instead of the leaves' own values. `None` if a number is not
    /// finite, or if a step has no value.
    pub fn value_with_leaves(&self, number: &impl Fn(&Leaf<T>) -> f64) -> Option<Value> {
        match self {
            Self::Leaf(leaf) => {
                let number = number(leaf);
                number.is_finite().then_some(Value::Number(number))
            }
            Self::Step(op, a, b) => {
                let (a, b) = (a.value_with_leaves(number)?, b.value_with_leaves(number)?);
                op.apply(a.number()?, b.number()?)
            }
        }
    }

    /// The value if it is a number; `None` for `yes` and `no`.
    pub fn number(&self) -> Option<f64> {
        self.value()?.number()
    }

    /// True if the whole expression is one constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Leaf(leaf) if leaf.is_constant())
    }

    /// The outermost operation and its arguments; `None` for a leaf.
    pub fn top(&self) -> Option<(Op, &Self, &Self)> {
        match self {
            Self::Leaf(_) => None,
            Self::Step(op, a, b) => Some((*op, a, b)),
        }
    }

    /// The expression and all of its sub-expressions. An expression comes before its parts, and its
    /// first argument before the second.
    pub fn parts(&self) -> Vec<&Self> {
        let mut parts = Vec::new();
        self.collect(&mut parts);
        parts
    }

    fn collect<'a>(&'a self, parts: &mut Vec<&'a Self>) {
        parts.push(self);
        if let Self::Step(_, a, b) = self {
            a.collect(parts);
            b.collect(parts);
        }
    }

    /// The leaves from left to right, including constants.
    pub fn leaves(&self) -> Vec<&Leaf<T>> {
        let mut leaves = Vec::new();
        self.each_leaf(&mut |leaf| leaves.push(leaf));
        leaves
    }

    /// Visits each leaf from left to right, including constants.
    pub fn each_leaf<'a>(&'a self, visit: &mut impl FnMut(&'a Leaf<T>)) {
        match self {
            Self::Leaf(leaf) => visit(leaf),
            Self::Step(_, a, b) => {
                a.each_leaf(visit);
                b.each_leaf(visit);
            }
        }
    }

    /// Lets `change` modify each leaf, from left to right.
    pub fn change_leaves(&mut self, change: &mut impl FnMut(&mut Leaf<T>)) {
        match self {
            Self::Leaf(leaf) => change(leaf),
            Self::Step(_, a, b) => {
                a.change_leaves(change);
                b.change_leaves(change);
            }
        }
    }

    /// True if both expressions have the same operations in the same places and `same` accepts each
    /// pair of leaves in the same place.
    pub fn matches<U>(
        &self,
        other: &Expression<U>,
        same: &impl Fn(&Leaf<T>, &Leaf<U>) -> bool,
    ) -> bool {
        match (self, other) {
            (Self::Leaf(a), Expression::Leaf(b)) => same(a, b),
            (Self::Step(x, a, b), Expression::Step(y, c, d)) => {
                x == y && a.matches(c, same) && b.matches(d, same)
            }
            _ => false,
        }
    }

    /// The text of the program: a single literal, or steps joined by `", "`. Equal sub-expressions
    /// become a single step.
    pub fn program(&self) -> String {
        let mut steps = Vec::new();
        let last = self.write(&mut steps);
        if steps.is_empty() {
            last.to_string()
        } else {
            super::joined(&steps)
        }
    }

    /// Appends the steps that are missing, and returns the argument that refers to this expression.
    fn write(&self, steps: &mut Vec<ProgramStep>) -> Argument {
        match self {
            Self::Leaf(leaf) => Argument::Literal {
                text: leaf.literal.to_string(),
                value: leaf.value,
            },
            Self::Step(op, a, b) => {
                let step = ProgramStep {
                    op: *op,
                    arguments: [a.write(steps), b.write(steps)],
                };
                let known = steps.iter().position(|known| *known == step);
                Argument::Reference(known.unwrap_or_else(|| {
                    steps.push(step);
                    steps.len() - 1
                }))
            }
        }
    }
}

impl Program {
    /// The program as one expression. A step over a table row becomes the leaf that `row` returns
    /// for the step's index. `None` if `row` returns `None`, or if there are more than 64 leaves.
    pub fn expression<T: Default>(
        &self,
        mut row: impl FnMut(usize) -> Option<Leaf<T>>,
    ) -> Option<Expression<T>> {
        let Some(last) = self.steps().len().checked_sub(1) else {
            return Expression::literal(self.literals().next()?);
        };
        let mut leaves: Vec<usize> = Vec::with_capacity(self.steps().len());
        for step in self.steps() {
            let of = |argument: &Argument| match argument {
                // The reference exists, because parsing has checked it.
                Argument::Reference(k) => leaves.get(*k).copied().unwrap_or(1),
                _ => 1,
            };
            let [a, b] = &step.arguments;
            leaves.push(if step.op.is_table() {
                1
            } else {
                of(a).saturating_add(of(b))
            });
        }
        // The limit on leaves also limits the recursion. A chain of 10,000 steps would otherwise
        // overflow the stack.
        if leaves.last().is_none_or(|leaves| *leaves > MOST_LEAVES) {
            return None;
        }
        self.written_out(last, &mut row)
    }

    /// The expression of one step. `None` if `row` returns `None`, or if a literal is not finite.
    fn written_out<T: Default>(
        &self,
        step: usize,
        row: &mut impl FnMut(usize) -> Option<Leaf<T>>,
    ) -> Option<Expression<T>> {
        let ProgramStep { op, arguments } = self.steps().get(step)?;
        if op.is_table() {
            return row(step).map(Expression::Leaf);
        }
        let mut argument = |argument: &Argument| match argument {
            Argument::Literal { text, .. } => Expression::literal(text),
            Argument::Reference(k) => self.written_out(*k, row),
            Argument::Row(_) | Argument::Unused(_) => None,
        };
        let [a, b] = arguments;
        Some(Expression::step(*op, argument(a)?, argument(b)?))
    }
}

impl Op {
    /// Applies the operation to two numbers. `None` if the result is not finite, and for table
    /// operations, which take a row.
    pub fn apply(self, a: f64, b: f64) -> Option<Value> {
        if self.is_table() {
            return None;
        }
        let value = machine::of_numbers(self, a, b)?;
        value.number().is_none_or(f64::is_finite).then_some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Plain = Expression<()>;

    #[test]
    fn programs_are_read_and_written() {
        for program in [
            "206588",
            "subtract(206588, 181001), divide(#0, 181001)",
            "add(1, 2), divide(#0, const_2), multiply(#1, 4.02%)",
        ] {
            assert_eq!(Plain::parse(program).unwrap().program(), program);
        }
        let unused = Plain::parse("subtract(1, 2), divide(3, const_100)").unwrap();
        assert_eq!(unused.program(), "divide(3, const_100)");
        assert_eq!(Plain::parse("table_max(a, none)"), None);
    }

    #[test]
    fn only_a_constant_alone_is_constant() {
        for (program, constant) in [
            ("const_100", true),
            ("100", false),
            ("add(1, const_2)", false),
        ] {
            assert_eq!(
                Plain::parse(program).unwrap().is_constant(),
                constant,
                "{program}"
            );
        }
    }

    #[test]
    fn a_program_that_doubles_itself_or_never_ends_is_not_written_out() {
        let repeated = |step: &dyn Fn(usize) -> String| {
            let steps: Vec<String> = (0..10_000).map(step).collect();
            format!("add(1, 2), {}", steps.join(", "))
        };
        let doubled = repeated(&|k| format!("add(#{k}, #{k})"));
        assert_eq!(Plain::parse(&doubled), None);
        assert_eq!(Plain::parse(&repeated(&|k| format!("add(#{k}, 1)"))), None);
    }

    #[test]
    fn equal_steps_are_computed_once() {
        let difference = Plain::parse("subtract(5, 3)").unwrap();
        let sum = Plain::step(Op::Add, difference.clone(), Plain::constant(1));
        let both = Plain::step(Op::Divide, difference, sum).program();
        assert_eq!(both, "subtract(5, 3), add(#0, const_1), divide(#0, #1)");
    }

    #[test]
    fn what_has_no_finite_value_has_none() {
        for program in [
            "divide(5, 0)",
            "exp(-8, 0.5)",
            "greater(5, 3), add(#0, 1)",
            "add(1e308, 1e308), multiply(#0, 0)",
            "exp(100, 80), multiply(#0, #0), divide(0, #1)",
        ] {
            assert_eq!(Plain::parse(program).unwrap().value(), None, "{program}");
        }
        assert_eq!(Plain::parse("add(inf, 1)"), None);
        let greater = Plain::parse("greater(5, 3)").unwrap();
        assert_eq!(greater.value(), Some(Value::Text("yes".into())));
    }
}
