//! An answer from a report as an expression over the figures of its table.

use finqa_core::number::UnitKind;
use finqa_core::question::Document;

use super::question::AskedFor;
use crate::expr::{Expr, PageLeaf, literal_value};
use crate::labels::DirectAnswer;
use crate::operations;
use crate::reading::facts::Facts;

/// An answer from a table.
pub(crate) struct ReportAnswer<'r> {
    /// The table by itself.
    pub(crate) document: &'r Document,
    /// The row of the page that it begins in.
    pub(crate) first_row: usize,
    pub(super) cells: Vec<(usize, usize)>,
    pub(super) operation: AskedFor,
    pub(super) label: Option<String>,
    pub(crate) doubt: Option<String>,
}

impl ReportAnswer<'_> {
    /// The answer as an expression over the facts of its table.
    pub(crate) fn direct(&self, facts: &Facts) -> Option<DirectAnswer> {
        let leaf = |(row, column): &(usize, usize)| {
            let source = facts
                .all
                .iter()
                .position(|fact| fact.cell() == Some((*row, *column)))?;
            let literal = facts.all.get(source)?.literal.trim_end_matches('%');
            Some(Expr::Leaf(PageLeaf {
                literal: literal.into(),
                value: literal_value(literal)?,
                source: Some(source),
            }))
        };
        let leaves = self.cells.iter().map(leaf).collect::<Option<Vec<Expr>>>()?;
        let (name, expr, kind) = match (self.operation, leaves.as_slice()) {
            (AskedFor::Change { relative: true }, [late, early]) => {
                let change = operations::relative_change(late.clone(), early.clone());
                ("relative change", change, UnitKind::Percent)
            }
            (AskedFor::Change { .. }, [late, early]) => {
                let change = operations::difference(late.clone(), early.clone());
                ("change", change, UnitKind::Number)
            }
            (AskedFor::Share, [part, whole]) => {
                let share = operations::ratio(part.clone(), whole.clone());
                ("share", share, UnitKind::Percent)
            }
            (AskedFor::Ratio, [part, whole]) => {
                let ratio = operations::ratio(part.clone(), whole.clone());
                ("ratio", ratio, UnitKind::Number)
            }
            (AskedFor::Difference, [a, b]) => {
                let difference = operations::difference(a.clone(), b.clone());
                ("difference", difference, UnitKind::Number)
            }
            (AskedFor::Sum, _) => ("sum", operations::sum(leaves)?, UnitKind::Number),
            (_, [only]) => ("look-up", only.clone(), UnitKind::Number),
            _ => return None,
        };
        Some(DirectAnswer {
            name,
            expr,
            kind,
            label: self.label.clone(),
        })
    }
}
