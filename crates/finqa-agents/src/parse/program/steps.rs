//! The steps of the dataset's language, one operation each.

use finqa_core::number::literal;
use finqa_core::program::{Argument, Op, ProgramStep};

/// A literal operand.
pub(super) fn number(text: String) -> Option<Argument> {
    let value = literal(&text)?;
    Some(Argument::Literal { text, value })
}

/// The steps of a program so far.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) out: Vec<ProgramStep>,
    /// The operand of each step as written, for `#k`.
    pub(super) positions: Vec<Argument>,
}

impl Steps {
    pub(super) fn push(&mut self, op: Op, a: Argument, b: Argument) -> Argument {
        let arguments = [a, b];
        self.out.push(ProgramStep { op, arguments });
        Argument::Reference(self.out.len() - 1)
    }

    /// `table_*`, whose row label may hold commas and parentheses.
    pub(super) fn table(&mut self, operation: &str, inside: &str) -> Option<Argument> {
        let op = Op::of(operation)?;
        let (label, unused) = inside.rsplit_once(',')?;
        let row = Argument::Row(label.trim().to_owned());
        Some(self.push(op, row, Argument::Unused(unused.trim().to_owned())))
    }

    /// An operation over numbers; those over a row are `table`'s.
    pub(super) fn call(&mut self, operation: &str, arguments: Vec<Argument>) -> Option<Argument> {
        let op = Op::of(operation)?;
        match <[Argument; 2]>::try_from(arguments) {
            Ok([a, b]) => Some(self.push(op, a, b)),
            // `add(a, b, c)`
            Err(more) if more.len() > 2 && matches!(op, Op::Add | Op::Multiply) => more
                .into_iter()
                .reduce(|left, right| self.push(op, left, right)),
            Err(_) => None,
        }
    }

    /// A reference or a constant.
    pub(super) fn name(&mut self, name: &str) -> Option<Argument> {
        if let Some(index) = name.strip_prefix('#') {
            return self.positions.get(index.parse::<usize>().ok()?).cloned();
        }
        let constant = name.strip_prefix("const")?.trim_start_matches('_');
        let constant = number(format!("const_{constant}"))?;
        let is_finite = matches!(&constant, Argument::Literal { value, .. } if value.is_finite());
        is_finite.then_some(constant)
    }
}
