//! The emitter: an expression over literals, written as a program of the
//! dataset's language, and read back from the programs of earlier turns.

use std::borrow::Cow;
use std::sync::Arc;

use finqa_core::number::Value;

/// The operations the rules use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    /// `add`
    Add,
    /// `subtract`
    Subtract,
    /// `multiply`
    Multiply,
    /// `divide`
    Divide,
    /// `greater`
    Greater,
    /// `exp`
    Exp,
}

impl Op {
    fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Subtract => "subtract",
            Self::Multiply => "multiply",
            Self::Divide => "divide",
            Self::Greater => "greater",
            Self::Exp => "exp",
        }
    }

    fn of(name: &str) -> Option<Self> {
        [
            Self::Add,
            Self::Subtract,
            Self::Multiply,
            Self::Divide,
            Self::Greater,
            Self::Exp,
        ]
        .into_iter()
        .find(|op| op.name() == name)
    }
}

/// Leaves of the largest earlier program that is read: written out, references
/// double an expression with every step.
const MOST_LEAVES: usize = 64;

/// A literal of a program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    /// As written: `206588`, `4.02%`, `const_100`.
    pub literal: Arc<str>,
    /// As the official evaluator reads it.
    pub value: f64,
    /// The fact it was read from: an index into the fact store.
    pub fact: Option<usize>,
}

impl Leaf {
    /// Whether it is a constant such as `const_100`.
    pub fn is_constant(&self) -> bool {
        self.literal.starts_with("const_")
    }
}

/// An expression; its program has one step for each operation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expr {
    /// A literal.
    Leaf(Leaf),
    /// An operation on two expressions.
    Step(Op, Box<Expr>, Box<Expr>),
}

/// The value of a literal in the official evaluator.
pub(crate) fn literal_value(literal: &str) -> Option<f64> {
    let plain = if literal.contains(',') {
        Cow::Owned(literal.replace(',', ""))
    } else {
        Cow::Borrowed(literal)
    };
    if let Ok(value) = plain.parse::<f64>() {
        return value.is_finite().then_some(value);
    }
    if let Some(percent) = plain.strip_suffix('%') {
        return percent.parse::<f64>().ok().map(|v| v / 100.0);
    }
    let constant = plain.strip_prefix("const_")?;
    if constant == "m1" {
        Some(-1.0)
    } else {
        constant.parse().ok()
    }
}

impl Expr {
    /// A constant such as `const_100`.
    pub fn constant(n: u32) -> Self {
        Self::Leaf(Leaf {
            literal: format!("const_{n}").into(),
            value: f64::from(n),
            fact: None,
        })
    }

    /// A literal that is no fact, e.g. a number named in the question.
    pub fn literal(literal: &str) -> Option<Self> {
        let value = literal_value(literal)?;
        Some(Self::Leaf(Leaf {
            literal: literal.into(),
            value,
            fact: None,
        }))
    }

    /// `op(a, b)`
    pub fn step(op: Op, a: Self, b: Self) -> Self {
        Self::Step(op, Box::new(a), Box::new(b))
    }

    /// The value, unrounded; `None` where the evaluator would call it invalid.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Leaf(leaf) => Some(Value::Number(leaf.value)),
            Self::Step(op, a, b) => {
                let (a, b) = (a.value()?.number()?, b.value()?.number()?);
                let number = match op {
                    Op::Add => a + b,
                    Op::Subtract => a - b,
                    Op::Multiply => a * b,
                    Op::Divide if b == 0.0 => return None,
                    Op::Divide => a / b,
                    Op::Exp => a.powf(b),
                    Op::Greater => {
                        return Some(Value::Text(if a > b { "yes" } else { "no" }.to_owned()));
                    }
                };
                number.is_finite().then_some(Value::Number(number))
            }
        }
    }

    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        self.value()?.number()
    }

    /// Whether it is nothing but a constant.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Leaf(leaf) if leaf.is_constant())
    }

    /// The literals, left to right, constants included.
    pub fn leaves(&self) -> Vec<&Leaf> {
        let mut out = Vec::new();
        self.collect_leaves(&mut out);
        out
    }

    fn collect_leaves<'a>(&'a self, out: &mut Vec<&'a Leaf>) {
        match self {
            Self::Leaf(leaf) => out.push(leaf),
            Self::Step(_, a, b) => {
                a.collect_leaves(out);
                b.collect_leaves(out);
            }
        }
    }

    /// The last operation and its arguments.
    pub fn top(&self) -> Option<(Op, &Self, &Self)> {
        match self {
            Self::Leaf(_) => None,
            Self::Step(op, a, b) => Some((*op, a, b)),
        }
    }

    /// The program: a literal by itself, or steps joined by `", "`, an equal
    /// sub-expression computed once.
    pub fn program(&self) -> String {
        let mut steps = Vec::new();
        let last = self.emit(&mut steps);
        if steps.is_empty() {
            last
        } else {
            steps.join(", ")
        }
    }

    fn emit(&self, steps: &mut Vec<String>) -> String {
        match self {
            Self::Leaf(leaf) => leaf.literal.to_string(),
            Self::Step(op, a, b) => {
                let (a, b) = (a.emit(steps), b.emit(steps));
                let text = format!("{}({a}, {b})", op.name());
                if let Some(k) = steps.iter().position(|s| *s == text) {
                    return format!("#{k}");
                }
                steps.push(text);
                format!("#{}", steps.len() - 1)
            }
        }
    }

    /// Reads a program of an earlier turn: its last step with everything it
    /// refers to. `None` for what the rules do not use (`table_*`), cannot read,
    /// or find too large: a chat model may have written it.
    pub fn parse(program: &str) -> Option<Self> {
        // Each step with its leaves, references written out.
        let mut steps: Vec<(Self, usize)> = Vec::new();
        for step in program.split("),") {
            let step = step.trim().trim_end_matches(')');
            let Some((name, arguments)) = step.split_once('(') else {
                return if steps.is_empty() {
                    Self::literal(step)
                } else {
                    None
                };
            };
            let (a, b) = arguments.split_once(',')?;
            let argument = |text: &str| match text.trim().strip_prefix('#') {
                Some(k) => steps.get(k.parse::<usize>().ok()?).cloned(),
                None => Some((Self::literal(text.trim())?, 1)),
            };
            let ((a, of_a), (b, of_b)) = (argument(a)?, argument(b)?);
            let leaves = of_a + of_b;
            if leaves > MOST_LEAVES {
                return None;
            }
            steps.push((Self::step(Op::of(name.trim())?, a, b), leaves));
        }
        steps.pop().map(|(expr, _)| expr)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_and_written() {
        for program in [
            "206588",
            "subtract(206588, 181001), divide(#0, 181001)",
            "add(1, 2), divide(#0, const_2), multiply(#1, 4.02%)",
        ] {
            assert_eq!(Expr::parse(program).unwrap().program(), program);
        }
        let unused = Expr::parse("subtract(1, 2), divide(3, const_100)").unwrap();
        assert_eq!(unused.program(), "divide(3, const_100)");
        assert_eq!(Expr::parse("table_max(a, none)"), None);
    }

    #[test]
    fn an_earlier_program_that_doubles_itself_or_never_ends_is_given_up() {
        let repeated = |step: &dyn Fn(usize) -> String| {
            let steps: Vec<String> = (0..10_000).map(step).collect();
            format!("add(1, 2), {}", steps.join(", "))
        };
        assert_eq!(
            Expr::parse(&repeated(&|k| format!("add(#{k}, #{k})"))),
            None
        );
        assert_eq!(Expr::parse(&repeated(&|k| format!("add(#{k}, 1)"))), None);
    }

    #[test]
    fn equal_steps_are_computed_once() {
        let difference = Expr::parse("subtract(5, 3)").unwrap();
        let both = Expr::step(
            Op::Divide,
            difference.clone(),
            Expr::step(Op::Add, difference, Expr::constant(1)),
        );
        assert_eq!(
            both.program(),
            "subtract(5, 3), add(#0, const_1), divide(#0, #1)"
        );
    }

    #[test]
    fn division_by_zero_has_no_value() {
        assert_eq!(Expr::parse("divide(5, 0)").unwrap().value(), None);
        assert_eq!(
            Expr::parse("greater(5, 3)").unwrap().value(),
            Some(Value::Text("yes".into()))
        );
    }
}
