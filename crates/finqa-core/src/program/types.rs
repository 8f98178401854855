//! The typed program and what can be asked of it.

use std::fmt;

use strum::{EnumString, IntoStaticStr};

/// An operation of the language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Op {
    /// a + b
    Add,
    /// a - b
    Subtract,
    /// a * b
    Multiply,
    /// a / b
    Divide,
    /// a to the power of b
    Exp,
    /// `yes` if a > b, else `no`
    Greater,
    /// The largest number of a table row.
    TableMax,
    /// The smallest number of a table row.
    TableMin,
    /// The sum of a table row.
    TableSum,
    /// The mean of a table row.
    TableAverage,
}

impl Op {
    /// The name as written in programs.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The operation of that name.
    pub fn of(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// True if it reads a table row.
    pub(crate) fn is_table(self) -> bool {
        matches!(
            self,
            Self::TableMax | Self::TableMin | Self::TableSum | Self::TableAverage
        )
    }
}

/// An operand of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number as written (`4.02%`, `const_100`) and its value (0.0402, 100).
    Literal {
        /// As written.
        text: String,
        /// The value by [`crate::number::literal`].
        value: f64,
    },
    /// `#k`: the result of step k, which is an earlier one.
    Reference(usize),
    /// A table row by its label, the first argument of `table_*`.
    Row(String),
    /// The second argument of `table_*`, which nothing reads; `none` as a rule.
    Unused(String),
}

/// `operation(argument, argument)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramStep {
    pub op: Op,
    /// First and second argument.
    pub arguments: [Argument; 2],
}

/// A program that can be executed: every operation is known, every literal a
/// number, every reference points back.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(super) body: Body,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// A look-up of ConvFinQA: one literal, which is its own value.
    Number { text: String, value: f64 },
    /// One step or more.
    Steps(Vec<ProgramStep>),
}

impl Program {
    /// The steps; none when the program is a single number.
    pub fn steps(&self) -> &[ProgramStep] {
        match &self.body {
            Body::Number { .. } => &[],
            Body::Steps(steps) => steps,
        }
    }

    /// The last step, whose result is the program's.
    pub fn last_step(&self) -> Option<&ProgramStep> {
        self.steps().last()
    }

    /// True if the program is a single number, a look-up.
    pub fn is_number(&self) -> bool {
        matches!(self.body, Body::Number { .. })
    }

    /// The literals as written, in order, repeated ones repeated.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        let alone = match &self.body {
            Body::Number { text, .. } => Some(text.as_str()),
            Body::Steps(_) => None,
        };
        let within = self.steps().iter().flat_map(|step| &step.arguments);
        alone
            .into_iter()
            .chain(within.filter_map(|argument| match argument {
                Argument::Literal { text, .. } => Some(text.as_str()),
                _ => None,
            }))
    }

    /// The labels of the table rows it reads, in order.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        let arguments = self.steps().iter().flat_map(|step| &step.arguments);
        arguments.filter_map(|argument| match argument {
            Argument::Row(label) => Some(label.as_str()),
            _ => None,
        })
    }

    /// True if the last step multiplies by `const_100` (or `100`): the value is then in
    /// percent and not a fraction.
    pub fn ends_with_times_100(&self) -> bool {
        self.last_step().is_some_and(|step| {
            step.op == Op::Multiply
                && step.arguments.iter().any(|argument| {
                    matches!(argument, Argument::Literal { text, .. } if text == "const_100" || text == "100")
                })
        })
    }
}

/// The steps as a program writes them.
pub fn joined(steps: &[ProgramStep]) -> String {
    let steps: Vec<String> = steps.iter().map(ToString::to_string).collect();
    steps.join(", ")
}

impl fmt::Display for Argument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal { text, .. } | Self::Row(text) | Self::Unused(text) => f.write_str(text),
            Self::Reference(step) => write!(f, "#{step}"),
        }
    }
}

impl fmt::Display for ProgramStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second] = &self.arguments;
        write!(f, "{}({first}, {second})", self.op.name())
    }
}

impl fmt::Display for Program {
    /// In the dataset's language; parses back to the same program.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            Body::Number { text, .. } => f.write_str(text),
            Body::Steps(steps) => f.write_str(&joined(steps)),
        }
    }
}
