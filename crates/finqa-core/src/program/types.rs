//! Defines the typed form of a program.

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
    /// `yes` if a > b, otherwise `no`
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
    /// The name in programs: `table_max`.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The operation with this name.
    pub fn of(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// True for the operations over a table row.
    pub(crate) fn is_table(self) -> bool {
        matches!(
            self,
            Self::TableMax | Self::TableMin | Self::TableSum | Self::TableAverage
        )
    }
}

/// An argument of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument {
    /// A number: its text (`4.02%`, `const_100`) and its value (0.0402, 100).
    Literal {
        text: String,
        /// The value as [`crate::number::literal`] reads it; NaN if equality accepted a text
        /// that is not a number.
        value: f64,
    },
    /// `#k`, the result of the earlier step k.
    Reference(usize),
    /// The first argument of a `table_*` operation: the label of a table row.
    Row(String),
    /// The second argument of a `table_*` operation, usually `none`. It is never read.
    Unused(String),
}

/// One step, `operation(argument, argument)`.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramStep {
    pub op: Op,
    pub arguments: [Argument; 2],
}

/// A program that can be executed: its operations exist, its literals are numbers, and its
/// references point to earlier steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    pub(super) body: Body,
}

/// The content of a program.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// A look-up: a ConvFinQA program that is a single literal.
    Number { text: String, value: f64 },
    /// At least one step.
    Steps(Vec<ProgramStep>),
}

impl Program {
    /// The steps; empty if the program is a single number.
    pub fn steps(&self) -> &[ProgramStep] {
        match &self.body {
            Body::Number { .. } => &[],
            Body::Steps(steps) => steps,
        }
    }

    /// The last step, whose result is that of the program. `None` if the program is a single
    /// number.
    pub fn last_step(&self) -> Option<&ProgramStep> {
        self.steps().last()
    }

    /// True if the program is a single number.
    pub fn is_number(&self) -> bool {
        matches!(self.body, Body::Number { .. })
    }

    /// The literals as written, in order, including repetitions.
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

    /// The labels of the table rows that the program reads, in order.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        let arguments = self.steps().iter().flat_map(|step| &step.arguments);
        arguments.filter_map(|argument| match argument {
            Argument::Row(label) => Some(label.as_str()),
            _ => None,
        })
    }

    /// True if the last step multiplies by `const_100` or `100`, so that the value is in percent
    /// and not a fraction.
    pub fn ends_with_times_100(&self) -> bool {
        self.last_step().is_some_and(|step| {
            step.op == Op::Multiply
                && step.arguments.iter().any(|argument| {
                    matches!(argument, Argument::Literal { text, .. } if text == "const_100" || text == "100")
                })
        })
    }
}

/// Joins steps to the text of a program.
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
    /// Writes the program in the dataset's language. Parsing that text returns the same program.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.body {
            Body::Number { text, .. } => f.write_str(text),
            Body::Steps(steps) => f.write_str(&joined(steps)),
        }
    }
}
