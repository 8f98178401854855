//! Collects the steps of a program in the dataset's language, with one operation each.

use finqa_core::number::literal;
use finqa_core::program::{Argument, Op, ProgramStep};

/// A literal operand; `None` if `text` is not a number of the language.
pub(super) fn number(text: String) -> Option<Argument> {
    let value = literal(&text)?;
    Some(Argument::Literal { text, value })
}

/// The steps of a program that have been read so far.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) out: Vec<ProgramStep>,
    /// The results of the steps in the model's own program, to which its `#k` refer. A step with
    /// nested calls adds several steps to `out`, but only one result here.
    pub(super) positions: Vec<Argument>,
}

impl Steps {
    /// Adds a step and returns the reference to its result.
    pub(super) fn push(&mut self, op: Op, a: Argument, b: Argument) -> Argument {
        let arguments = [a, b];
        self.out.push(ProgramStep { op, arguments });
        Argument::Reference(self.out.len() - 1)
    }

    /// Adds a `table_*` step. The row label may contain commas and parentheses, so only the last
    /// comma separates the arguments. `None` for an unknown operation or without a comma.
    pub(super) fn table(&mut self, operation: &str, inside: &str) -> Option<Argument> {
        let op = Op::of(operation)?;
        let (label, unused) = inside.rsplit_once(',')?;
        let row = Argument::Row(label.trim().to_owned());
        Some(self.push(op, row, Argument::Unused(unused.trim().to_owned())))
    }

    /// Adds an operation on numbers (`table` adds operations on a row). `add` and `multiply` may
    /// have more than two arguments and then become several steps, because their grouping does not
    /// change the result. `None` for an unknown operation or any other number of arguments.
    pub(super) fn call(&mut self, operation: &str, arguments: Vec<Argument>) -> Option<Argument> {
        let op = Op::of(operation)?;
        match <[Argument; 2]>::try_from(arguments) {
            Ok([a, b]) => Some(self.push(op, a, b)),
            Err(more) if more.len() > 2 && matches!(op, Op::Add | Op::Multiply) => more
                .into_iter()
                .reduce(|left, right| self.push(op, left, right)),
            Err(_) => None,
        }
    }

    /// Resolves a reference (`#0`) or a constant (`const_100`). `None` for any other name, a
    /// reference to a step that does not exist, and a constant that is not a finite number.
    pub(super) fn name(&mut self, name: &str) -> Option<Argument> {
        if let Some(index) = name.strip_prefix('#') {
            return self.positions.get(index.parse::<usize>().ok()?).cloned();
        }
        // `const100` and `const__100` are read as `const_100`.
        let constant = name.strip_prefix("const")?.trim_start_matches('_');
        let constant = number(format!("const_{constant}"))?;
        // `const_inf` and `const_nan` are numbers of the language, but `from_analysis` executes
        // only finite ones.
        let is_finite = matches!(&constant, Argument::Literal { value, .. } if value.is_finite());
        is_finite.then_some(constant)
    }
}
