//! Defines an answer from labels, with its expressions over the cells of tables. A looked-up
//! figure is shown as its cell prints it: with the side of an account ("45 Dr"), and with the
//! printed digits where they are fewer than the stored ones.

use finqa_core::number::{UnitKind, round5};
use finqa_core::program::Leaf;

use crate::expr::turn_sign;
use crate::tables::find::{FigureExpr, leaf, places};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing};

/// An answer found by labels: a figure, a calculation, or the label of a row or a column.
#[derive(Clone, Debug)]
pub(crate) struct DirectAnswer {
    /// The name of the operation as it is shown to people: "look-up", "relative change".
    pub(crate) name: &'static str,
    pub(crate) expr: FigureExpr,
    pub(crate) kind: UnitKind,
    /// The text that answers, if the answer is not a number ("Europe"), or all figures of a list.
    pub(crate) label: Option<String>,
    /// The expressions of a list of figures, without the first.
    pub(crate) others: Vec<FigureExpr>,
    /// The values of a list of figures, in the order asked; empty for a single answer.
    pub(crate) values: Vec<String>,
    /// The reason why the answer is only a guess; `None` for a sure one.
    pub(crate) doubt: Option<Doubt>,
    /// The probability that it is right, from 0 to 1.
    pub(crate) confidence: f64,
}

impl DirectAnswer {
    /// The expression of a single answer, or one for each figure of a list.
    pub(crate) fn exprs(&self) -> impl Iterator<Item = &FigureExpr> {
        [&self.expr].into_iter().chain(&self.others)
    }

    /// The value as it is printed in a list; `None` if it cannot be computed.
    pub(crate) fn printed(&self) -> Option<String> {
        let number = self.expr.number()?;
        Some(match (&self.expr, self.kind) {
            (FigureExpr::Leaf(leaf), UnitKind::Number) => leaf.literal.to_string(),
            (FigureExpr::Leaf(leaf), UnitKind::Percent) => format!("{}%", leaf.literal),
            (_, UnitKind::Percent) => format!("{:.1}%", number * 100.0),
            (_, UnitKind::Ratio) => format!("{number:.2}"),
            _ => round5(number).to_string(),
        })
    }

    /// The answer with this doubt, unless it has another one.
    pub(crate) fn or_doubt(mut self, doubt: Option<Doubt>) -> Self {
        self.doubt = self.doubt.or(doubt);
        self
    }

    /// A name with its figure as a second value, if that is asked for.
    pub(crate) fn with_figure(self, asked: bool) -> Self {
        if !asked {
            return self;
        }
        let values: Vec<String> = self
            .label
            .clone()
            .into_iter()
            .chain(self.printed())
            .collect();
        let label = Some(values.join("; "));
        Self {
            label,
            values,
            ..self
        }
    }

    /// The cells that the answer is computed from.
    pub(crate) fn places(&self) -> impl Iterator<Item = Place> {
        self.exprs().flat_map(places)
    }
}

impl Tables {
    /// Adds the side of an account ("45 Dr") to a figure that is looked up. Returns a doubt for a
    /// calculation with such figures.
    pub(crate) fn with_account_side(&self, answer: DirectAnswer) -> TableResult<DirectAnswer> {
        let side = |leaf: &Leaf<Option<Place>>| self.cell(leaf.source?)?.side();
        let first = answer.exprs().flat_map(FigureExpr::leaves).find_map(side);
        let Some(first) = first else {
            return Ok(answer);
        };
        match &answer.expr {
            FigureExpr::Leaf(leaf) if answer.name == "look-up" && answer.label.is_none() => {
                let label = Some(format!("{} {first}", leaf.literal));
                Ok(DirectAnswer { label, ..answer })
            }
            _ => missing("Dr and Cr are sides of an account, which are not compared"),
        }
    }

    /// Replaces the stored digits of a looked-up figure by the printed ones; `None` if there is
    /// nothing to replace.
    pub(crate) fn print(&self, expr: &mut FigureExpr) -> Option<()> {
        let FigureExpr::Leaf(own) = expr else {
            return None;
        };
        let place = own.source?;
        let literal = self.cell(place)?.printed()?.trim_end_matches('%');
        let mut printed = leaf(literal, place)?;
        // The answer keeps its sign, which may differ from that of the cell.
        if (printed.value < 0.0) != (own.value < 0.0) {
            turn_sign(&mut printed);
        }
        *own = printed;
        Some(())
    }
}
