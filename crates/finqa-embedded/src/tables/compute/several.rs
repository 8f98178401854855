//! Answers one question with several values: a figure in several periods.

use finqa_core::number::UnitKind;
use finqa_core::page::period::Period;

use super::direct_answer::DirectAnswer;
use crate::tables::find::{Amount, FigureExpr};
use crate::tables::page::{Doubt, TableResult, Tables};
use crate::tables::question::operand::Operand;

impl DirectAnswer {
    /// The value as it is printed in a list; `None` if it cannot be computed. The decimals of
    /// computed values are set by hand.
    fn printed(&self) -> Option<String> {
        let number = self.expr.number()?;
        Some(match (&self.expr, self.kind) {
            (FigureExpr::Leaf(leaf), UnitKind::Number) => leaf.literal.to_string(),
            (FigureExpr::Leaf(leaf), UnitKind::Percent) => format!("{}%", leaf.literal),
            (_, UnitKind::Percent) => format!("{:.1}%", number * 100.0),
            (_, UnitKind::Ratio) => format!("{number:.2}"),
            _ => finqa_core::number::round5(number).to_string(),
        })
    }
}

impl Tables {
    /// The figures of several periods, in the order asked. A doubt about one is a doubt about all.
    pub(crate) fn each(&self, of: &Operand) -> TableResult<DirectAnswer> {
        let undated = of.of_spans(Vec::new());
        let figure = |span: &Period| self.figure(&undated, Some(*span));
        let found: Vec<Amount> = of.spans.iter().map(figure).collect::<TableResult<_>>()?;
        self.in_one_unit(&found)?;
        self.are_of_one_kind(&found)?;
        let answers: Vec<DirectAnswer> = found
            .into_iter()
            .map(|one| DirectAnswer {
                doubt: one.doubt.clone().or_else(|| self.may_count(&one)),
                ..self.look_up(one, of)
            })
            .collect();
        let doubt = answers.iter().find_map(|one| one.doubt.clone());
        let values: Vec<String> = answers.iter().filter_map(DirectAnswer::printed).collect();
        let mut rest = answers.into_iter();
        let first = rest.next().ok_or(Doubt::Open)?;
        Ok(DirectAnswer {
            name: "series",
            label: Some(values.join("; ")),
            values,
            others: rest.map(|one| one.expr).collect(),
            doubt,
            ..first
        })
    }
}
