//! Handles cells whose content differs from a plain figure: cells that could not be read, sides of
//! accounts, and printed digits that are fewer than the stored ones.

use finqa_core::page::period::Period;
use finqa_core::program::Leaf;

use super::compute::DirectAnswer;
use super::find::FigureExpr;
use super::fit::{FitFigure, Weights};
use super::operand::Operand;
use super::page::{TableResult, Tables, missing};
use super::table::{Place, ReportTable};
use crate::expr::{literal_value, turn_sign};

impl Tables {
    /// Returns a doubt if a cell that could not be read fits the operand in full, and better than
    /// every figure that was found. Otherwise a worse fitting figure would be answered in its
    /// place.
    pub(super) fn is_read(
        &self,
        of: &Operand,
        asked: Option<Period>,
        found: &[FitFigure],
    ) -> TableResult<()> {
        let wanted = |period: Option<&Period>| self.fits(period, asked.as_ref());
        let unread = unread_candidates(&self.tables, of, &self.weights, &wanted);
        let best = unread.into_iter().find(|one| one.full);
        let better = |one: &FitFigure| one.full && best.is_none_or(|best| one.score >= best.score);
        let Some(best) = best.filter(|_| !found.first().is_some_and(better)) else {
            return Ok(());
        };
        let row = self
            .table(best.place())
            .and_then(|table| table.rows.get(best.row));
        let mut unread = row.into_iter().flat_map(|row| &row.unread);
        let why = unread.find(|(column, _)| *column == best.column);
        let why = why.map_or("not read", |(_, why)| why);
        missing(format!("{} is {why}", self.full_name(best.place())))
    }

    /// Adds the side of an account ("45 Dr") to a figure that is looked up. Returns a doubt for a
    /// calculation with such figures.
    pub(super) fn with_side(&self, answer: DirectAnswer) -> TableResult<DirectAnswer> {
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
    pub(super) fn print(&self, expr: &mut FigureExpr) -> Option<()> {
        let FigureExpr::Leaf(leaf) = expr else {
            return None;
        };
        let literal = self.cell(leaf.source?)?.printed()?;
        let mut printed = Leaf {
            value: literal_value(literal)?,
            literal: literal.into(),
            source: leaf.source,
        };
        // The answer keeps its sign, which may differ from that of the cell.
        if (printed.value < 0.0) != (leaf.value < 0.0) {
            turn_sign(&mut printed);
        }
        *leaf = printed;
        Some(())
    }
}

/// The cells that could not be read and fit an operand, the best first.
fn unread_candidates(
    tables: &[ReportTable],
    operand: &Operand,
    weights: &Weights,
    wanted: &dyn Fn(Option<&Period>) -> bool,
) -> Vec<FitFigure> {
    let readings = operand.readings();
    let tables = tables.iter().enumerate();
    let tables = tables.filter(|(_, table)| table.rows.iter().any(|row| !row.unread.is_empty()));
    let of = |(at, table): (usize, &ReportTable)| {
        table.candidates(at, &readings, weights, wanted, false)
    };
    let mut all: Vec<FitFigure> = tables.flat_map(of).collect();
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}
