//! The steps of the dataset's language, one operation each.

use std::collections::HashMap;

use finqa_core::number::literal;
use finqa_core::program::{Argument, Op, ProgramStep, joined};

use super::super::types::{Leniency, Notes};
use super::read::{self, ProgramReader, WrittenStep};
use finqa_core::question::CitedEvidence;

/// The program that a text writes; `None` where it cannot be read, where a name, a
/// reference or an operation is unknown, or where nothing would be computed from it.
pub(super) fn program(text: &str, evidence: &[CitedEvidence], notes: &mut Notes) -> Option<String> {
    let steps = read::steps(text)?;
    let (last, before) = steps.split_last()?;
    let mut writer = Writer {
        evidence,
        notes,
        named: HashMap::new(),
        positions: Vec::new(),
        out: Vec::new(),
    };
    for step in before {
        let operand = writer.step(step)?;
        // A bare figure among steps computes nothing: whether `#k` counts it as a step
        // cannot be known.
        if step.name.is_none() && !matches!(operand, Argument::Reference(_)) {
            return None;
        }
    }
    let computed = writer.out.len();
    let operand = writer.step(last)?;
    if writer.out.is_empty() {
        return before.is_empty().then(|| operand.to_string());
    }
    if writer.out.len() == computed {
        // The last step only names a result.
        if operand != Argument::Reference(computed - 1) {
            return None;
        }
        writer.notes.add(Leniency::ProgramReferences);
    }
    Some(joined(&writer.out))
}

/// A literal operand.
pub(super) fn number(text: String) -> Option<Argument> {
    let value = literal(&text)?;
    Some(Argument::Literal { text, value })
}

pub(super) struct Writer<'e> {
    evidence: &'e [CitedEvidence],
    notes: &'e mut Notes,
    named: HashMap<String, Argument>,
    /// The operand of each step as written, for `#k`.
    positions: Vec<Argument>,
    out: Vec<ProgramStep>,
}

impl Writer<'_> {
    fn step(&mut self, step: &WrittenStep<'_>) -> Option<Argument> {
        let before = self.out.len();
        let mut reader = ProgramReader {
            rest: step.expression,
            writer: self,
        };
        let operand = reader.whole(0)?;
        // `469 - 77 = 392`: the stated result is dropped, because it is computed; `75 = 80`
        // says nothing.
        if step.states_result && self.out.len() == before {
            return None;
        }
        if self.out.len() > before + 1 {
            self.notes.add(Leniency::ProgramNested);
        }
        if let Some(name) = &step.name {
            self.notes.add(Leniency::ProgramReferences);
            self.named.insert(name.clone(), operand.clone());
        }
        if matches!(operand, Argument::Reference(_)) {
            self.positions.push(operand.clone());
        }
        Some(operand)
    }

    fn push(&mut self, op: Op, a: Argument, b: Argument) -> Argument {
        let arguments = [a, b];
        self.out.push(ProgramStep { op, arguments });
        Argument::Reference(self.out.len() - 1)
    }

    pub(super) fn infix(&mut self, op: Op, a: Argument, b: Argument) -> Argument {
        self.notes.add(Leniency::ProgramInfix);
        self.push(op, a, b)
    }

    /// `table_*`, whose row label may hold commas and parentheses.
    pub(super) fn table(&mut self, operation: &str, inside: &str) -> Option<Argument> {
        let op = Op::of(operation)?;
        let (label, unused) = inside.rsplit_once(',')?;
        let row = Argument::Row(label.trim().to_owned());
        Some(self.push(op, row, Argument::Unused(unused.trim().to_owned())))
    }

    pub(super) fn call(&mut self, operation: &str, arguments: Vec<Argument>) -> Option<Argument> {
        let (op, swapped) = match operation {
            "add" | "sum" | "plus" => (Op::Add, false),
            "subtract" | "sub" | "minus" | "difference" => (Op::Subtract, false),
            "multiply" | "mul" | "product" => (Op::Multiply, false),
            "divide" | "div" => (Op::Divide, false),
            "exp" | "pow" | "power" => (Op::Exp, false),
            "greater" | "gt" | "greater_than" => (Op::Greater, false),
            "less" | "lt" | "less_than" => (Op::Greater, true),
            "average" | "avg" | "mean" => return self.average(arguments),
            _ => return None,
        };
        match <[Argument; 2]>::try_from(arguments) {
            Ok([a, b]) if swapped => Some(self.push(op, b, a)),
            Ok([a, b]) => Some(self.push(op, a, b)),
            Err(more) if more.len() > 2 && matches!(op, Op::Add | Op::Multiply) => {
                self.notes.add(Leniency::ProgramSpelling);
                self.chain(op, more)
            }
            Err(_) => None,
        }
    }

    fn chain(&mut self, op: Op, arguments: Vec<Argument>) -> Option<Argument> {
        let left = arguments.into_iter();
        left.reduce(|left, right| self.push(op, left, right))
    }

    fn average(&mut self, arguments: Vec<Argument>) -> Option<Argument> {
        if arguments.len() < 2 {
            return None;
        }
        self.notes.add(Leniency::ProgramSpelling);
        let count = number(format!("const_{}", arguments.len()))?;
        let sum = self.chain(Op::Add, arguments)?;
        Some(self.push(Op::Divide, sum, count))
    }

    /// A named step, a reference, a constant or an evidence id.
    pub(super) fn name(&mut self, name: &str) -> Option<Argument> {
        if let Some(operand) = self.named.get(name) {
            return Some(operand.clone());
        }
        let digits = |rest: &str| rest.parse::<usize>().ok();
        if let Some(index) = name.strip_prefix('#').and_then(digits) {
            return self.positions.get(index).cloned();
        }
        if let Some(index) = name.strip_prefix('a').and_then(digits) {
            self.notes.add(Leniency::ProgramReferences);
            return self.positions.get(index).cloned();
        }
        if let Some(constant) = name.strip_prefix("const") {
            let constant = number(format!("const_{}", constant.trim_start_matches('_')))?;
            return is_finite(&constant).then_some(constant);
        }
        self.cited(name)
    }

    /// The one literal cited for an evidence id.
    fn cited(&mut self, id: &str) -> Option<Argument> {
        let mut cited = self.evidence.iter().filter(|e| e.id == id);
        let (Some(only), None) = (cited.next(), cited.next()) else {
            return None;
        };
        let cited = number(only.literal.replace(['$', ',', ' '], ""))?;
        self.notes.add(Leniency::ProgramEvidenceIds);
        is_finite(&cited).then_some(cited)
    }
}

fn is_finite(argument: &Argument) -> bool {
    matches!(argument, Argument::Literal { value, .. } if value.is_finite())
}
