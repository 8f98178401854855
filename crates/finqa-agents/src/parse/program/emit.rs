//! Expressions to the dataset's language, one operation a step.

use std::collections::HashMap;

use super::super::types::{Evidence, Leniency, Notes};
use super::read::{Expr, Step};

/// The program of `steps`; `None` where a name, a reference or an operation is
/// unknown, or nothing would be computed from what was written.
pub(super) fn program(steps: &[Step], evidence: &[Evidence], notes: &mut Notes) -> Option<String> {
    let (last, before) = steps.split_last()?;
    let mut emitter = Emitter {
        evidence,
        notes,
        named: HashMap::new(),
        positions: Vec::new(),
        out: Vec::new(),
    };
    for step in before {
        let operand = emitter.step(step)?;
        // A bare figure among steps computes nothing: whether it counts as a
        // step that `#k` refers to cannot be known.
        if step.name.is_none() && !operand.starts_with('#') {
            return None;
        }
    }
    let computed = emitter.out.len();
    let operand = emitter.step(last)?;
    if emitter.out.is_empty() {
        return before.is_empty().then_some(operand);
    }
    if emitter.out.len() == computed {
        // The last step only names a result.
        if operand != format!("#{}", computed - 1) {
            return None;
        }
        emitter.notes.add(Leniency::ProgramReferences);
    }
    Some(emitter.out.join(", "))
}

struct Emitter<'a> {
    evidence: &'a [Evidence],
    notes: &'a mut Notes,
    named: HashMap<String, String>,
    /// The operand of each step as written, for `#k`.
    positions: Vec<String>,
    out: Vec<String>,
}

impl Emitter<'_> {
    fn step(&mut self, step: &Step) -> Option<String> {
        let before = self.out.len();
        let operand = self.operand(&step.expr)?;
        if self.out.len() > before + 1 {
            self.notes.add(Leniency::ProgramNested);
        }
        if let Some(name) = &step.name {
            self.notes.add(Leniency::ProgramReferences);
            self.named.insert(name.clone(), operand.clone());
        }
        if operand.starts_with('#') {
            self.positions.push(operand.clone());
        }
        Some(operand)
    }

    fn operand(&mut self, expr: &Expr) -> Option<String> {
        match expr {
            Expr::Literal(digits) => Some(digits.clone()),
            Expr::Table(text) => Some(self.push(text.clone())),
            Expr::Name(name) => self.name(name),
            Expr::Call(operation, arguments) => {
                let arguments = arguments
                    .iter()
                    .map(|argument| self.operand(argument))
                    .collect::<Option<Vec<_>>>()?;
                self.call(operation, &arguments)
            }
        }
    }

    fn push(&mut self, step: String) -> String {
        self.out.push(step);
        format!("#{}", self.out.len() - 1)
    }

    fn call(&mut self, operation: &str, arguments: &[String]) -> Option<String> {
        let (operation, swapped) = match operation {
            "add" | "sum" | "plus" => ("add", false),
            "subtract" | "sub" | "minus" | "difference" => ("subtract", false),
            "multiply" | "mul" | "product" => ("multiply", false),
            "divide" | "div" => ("divide", false),
            "exp" | "pow" | "power" => ("exp", false),
            "greater" | "gt" | "greater_than" => ("greater", false),
            "less" | "lt" | "less_than" => ("greater", true),
            "average" | "avg" | "mean" => return self.average(arguments),
            _ => return None,
        };
        match arguments {
            [a, b] if swapped => Some(self.push(format!("{operation}({b}, {a})"))),
            [a, b] => Some(self.push(format!("{operation}({a}, {b})"))),
            [first, more @ ..] if more.len() > 1 && matches!(operation, "add" | "multiply") => {
                self.notes.add(Leniency::ProgramSpelling);
                Some(self.chain(operation, first, more))
            }
            _ => None,
        }
    }

    fn chain(&mut self, operation: &str, first: &str, more: &[String]) -> String {
        more.iter().fold(first.to_string(), |left, right| {
            self.push(format!("{operation}({left}, {right})"))
        })
    }

    fn average(&mut self, arguments: &[String]) -> Option<String> {
        let (first, more) = arguments.split_first()?;
        if more.is_empty() {
            return None;
        }
        self.notes.add(Leniency::ProgramSpelling);
        let sum = self.chain("add", first, more);
        Some(self.push(format!("divide({sum}, const_{})", arguments.len())))
    }

    /// A named step, a reference, a constant or an evidence id.
    fn name(&mut self, name: &str) -> Option<String> {
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
            let value = constant.trim_start_matches('_');
            let known = value == "m1" || value.parse::<f64>().is_ok_and(f64::is_finite);
            return known.then(|| format!("const_{value}"));
        }
        self.cited(name)
    }

    /// The one literal cited for an evidence id.
    fn cited(&mut self, id: &str) -> Option<String> {
        let mut cited = self.evidence.iter().filter(|e| e.id == id);
        let literal = match (cited.next(), cited.next()) {
            (Some(only), None) => only.literal.replace(['$', ',', ' '], ""),
            _ => return None,
        };
        let number = literal.trim_end_matches('%').parse::<f64>().ok()?;
        if !number.is_finite() {
            return None;
        }
        self.notes.add(Leniency::ProgramEvidenceIds);
        Some(literal)
    }
}
