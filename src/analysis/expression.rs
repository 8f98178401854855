//! A program as one expression with numbers at its leaves, which can be
//! changed one at a time and worked out again.

use finqa_core::number::{Value, round5};
use finqa_core::program::{Argument, Op, Program};

/// Programs beyond this many leaves are not searched: references written out
/// grow with every step.
const MOST_LEAVES: usize = 64;

/// A program written out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Expression {
    /// A number, by its place among the leaves.
    Leaf(usize),
    /// An operation on two.
    Node(Op, Box<Expression>, Box<Expression>),
}

/// A number of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Leaf {
    /// As a program reads it: 0.17 for `17%`.
    pub value: f64,
    /// As written; the label of the row for an operation over a row.
    pub text: String,
    /// `const_100` and its like, which stand on no page.
    pub constant: bool,
}

/// An expression and its leaves.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Formula {
    pub root: Expression,
    pub leaves: Vec<Leaf>,
}

impl Formula {
    /// Reads a program; `None` if it is invalid, too large, or its rows cannot
    /// be read from `table`.
    pub fn read(text: &str, table: &[Vec<String>]) -> Option<Self> {
        let program = Program::parse(text).ok()?;
        let mut leaves = Vec::new();
        if program.is_number() {
            let literal = program.literals().next()?;
            leaves.push(leaf(literal, finqa_core::number::literal(literal)?));
            return Some(Self {
                root: Expression::Leaf(0),
                leaves,
            });
        }
        let results = program.execute_steps(table).ok()?;
        let last = program.steps().len().checked_sub(1)?;
        let root = expand(&program, &results, last, &mut leaves, 0)?;
        Some(Self { root, leaves })
    }

    /// A single number.
    pub fn number(value: f64, text: &str) -> Self {
        Self {
            root: Expression::Leaf(0),
            leaves: vec![leaf(text, value)],
        }
    }

    /// The value.
    pub fn value(&self) -> Option<f64> {
        self.root.value(&self.values())
    }

    /// The leaves' values.
    pub fn values(&self) -> Vec<f64> {
        self.leaves.iter().map(|leaf| leaf.value).collect()
    }

    /// The leaves that stand on the page, equal numbers together: a number
    /// that is used twice is one piece of evidence.
    pub fn slots(&self) -> Vec<Vec<usize>> {
        let mut slots: Vec<Vec<usize>> = Vec::new();
        for (at, leaf) in self.leaves.iter().enumerate() {
            if leaf.constant {
                continue;
            }
            let same = slots.iter_mut().find(|slot| {
                let first = slot.first().and_then(|first| self.leaves.get(*first));
                first.is_some_and(|first| first.text == leaf.text)
            });
            match same {
                Some(slot) => slot.push(at),
                None => slots.push(vec![at]),
            }
        }
        slots
    }

    /// The parts of a relative change or share: what is divided, and by what.
    /// A division by a constant is an average or a change of scale.
    pub fn quotient(&self) -> Option<(&Expression, &Expression)> {
        let by_constant = |below: &Expression| match below {
            Expression::Leaf(at) => self.leaf(*at).is_some_and(|leaf| leaf.constant),
            Expression::Node(..) => false,
        };
        self.root
            .quotient()
            .filter(|(_, below)| !by_constant(below))
    }

    /// The leaf.
    pub fn leaf(&self, at: usize) -> Option<&Leaf> {
        self.leaves.get(at)
    }
}

fn leaf(text: &str, value: f64) -> Leaf {
    Leaf {
        value,
        text: text.to_owned(),
        constant: text.starts_with("const_"),
    }
}

fn expand(
    program: &Program,
    results: &[Value],
    step: usize,
    leaves: &mut Vec<Leaf>,
    depth: usize,
) -> Option<Expression> {
    // No tree of so few leaves is deeper, and a chain of steps reaches its first
    // leaf only at its end.
    if leaves.len() > MOST_LEAVES || depth > MOST_LEAVES {
        return None;
    }
    let found = program.steps().get(step)?;
    let [first, second] = &found.arguments;
    if let (true, Argument::Row(label)) = (found.op.is_table(), first) {
        leaves.push(Leaf {
            value: results.get(step)?.number()?,
            text: format!("{}({label})", found.op.name()),
            constant: false,
        });
        return Some(Expression::Leaf(leaves.len() - 1));
    }
    let mut argument = |argument: &Argument| match argument {
        Argument::Literal { text, value } => {
            leaves.push(leaf(text, *value));
            Some(Expression::Leaf(leaves.len() - 1))
        }
        Argument::Reference(k) => expand(program, results, *k, leaves, depth + 1),
        Argument::Row(_) | Argument::Unused(_) => None,
    };
    let (a, b) = (argument(first)?, argument(second)?);
    Some(Expression::Node(found.op, Box::new(a), Box::new(b)))
}

impl Expression {
    /// The value over these leaves; `None` for a comparison, a division by
    /// zero, or no finite number.
    pub fn value(&self, leaves: &[f64]) -> Option<f64> {
        let value = match self {
            Self::Leaf(at) => leaves.get(*at).copied()?,
            Self::Node(op, a, b) => {
                let (a, b) = (a.value(leaves)?, b.value(leaves)?);
                match op {
                    Op::Add => a + b,
                    Op::Subtract => a - b,
                    Op::Multiply => a * b,
                    Op::Divide => a / b,
                    Op::Exp => a.powf(b),
                    _ => return None,
                }
            }
        };
        value.is_finite().then_some(value)
    }

    /// The value where an earlier result was another one: whatever comes to
    /// `gold` counts as what was answered instead.
    #[allow(clippy::float_cmp, reason = "golds are filed at 5 decimals")]
    pub fn carried(&self, leaves: &[f64], answered: &[(f64, f64)]) -> Option<f64> {
        let plain = self.value(leaves)?;
        let instead = answered.iter().find(|(gold, _)| round5(plain) == *gold);
        match (instead, self) {
            (Some((_, own)), _) => Some(*own),
            (None, Self::Leaf(_)) => Some(plain),
            (None, Self::Node(op, a, b)) => {
                let leaves = [a.carried(leaves, answered)?, b.carried(leaves, answered)?];
                let (a, b) = (Box::new(Self::Leaf(0)), Box::new(Self::Leaf(1)));
                Self::Node(*op, a, b).value(&leaves)
            }
        }
    }

    /// Itself and everything within it, itself first.
    pub fn parts(&self) -> Vec<&Self> {
        let mut parts = vec![self];
        if let Self::Node(_, a, b) = self {
            parts.extend(a.parts());
            parts.extend(b.parts());
        }
        parts
    }

    /// The operations, in the order of [`Expression::parts`].
    pub fn operations(&self) -> Vec<Op> {
        self.parts()
            .into_iter()
            .filter_map(|part| match part {
                Self::Node(op, ..) => Some(*op),
                Self::Leaf(_) => None,
            })
            .collect()
    }

    /// With the `nth` operation replaced.
    pub fn with_operation(&self, nth: usize, op: Op) -> Self {
        let mut next = 0;
        self.replaced(nth, op, &mut next)
    }

    fn replaced(&self, nth: usize, by: Op, next: &mut usize) -> Self {
        match self {
            Self::Leaf(at) => Self::Leaf(*at),
            Self::Node(op, a, b) => {
                let op = if *next == nth { by } else { *op };
                *next += 1;
                let a = a.replaced(nth, by, next);
                let b = b.replaced(nth, by, next);
                Self::Node(op, Box::new(a), Box::new(b))
            }
        }
    }

    /// Whether two have the same shape and operations, whatever the leaves.
    pub fn same_shape(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Leaf(_), Self::Leaf(_)) => true,
            (Self::Node(x, a, b), Self::Node(y, c, d)) => {
                x == y && a.same_shape(c) && b.same_shape(d)
            }
            _ => false,
        }
    }

    /// The parts of a relative change or share at the root, ×100 aside: what
    /// is divided, and by what.
    fn quotient(&self) -> Option<(&Self, &Self)> {
        match self {
            Self::Node(Op::Divide, a, b) => Some((a, b)),
            Self::Node(Op::Multiply, a, _) => a.quotient(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_written_out_and_worked_out() {
        let formula = Formula::read("subtract(12, 10), divide(#0, 10)", &[]).unwrap();
        assert_eq!(formula.value(), Some(0.2));
        assert_eq!(formula.slots(), [vec![0], vec![1, 2]]);
        let swapped = formula.root.with_operation(0, Op::Multiply);
        assert_eq!(swapped.value(&formula.values()), Some(20.0));
        assert_eq!(formula.root.operations(), [Op::Divide, Op::Subtract]);
    }

    #[test]
    fn a_chain_of_ten_thousand_steps_overflows_no_stack() {
        let mut program = "add(1, 2)".to_owned();
        for step in 0..10_000 {
            program.push_str(&format!(", add(#{step}, 1)"));
        }
        assert!(Formula::read(&program, &[]).is_none());
    }

    #[test]
    fn a_program_that_doubles_itself_is_given_up() {
        let mut program = "multiply(2, 2)".to_owned();
        for step in 0..40 {
            program.push_str(&format!(", multiply(#{step}, #{step})"));
        }
        assert!(Formula::read(&program, &[]).is_none());
    }
}
