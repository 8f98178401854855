//! Finds cells that could not be read and fit a question better than every figure that was read.

use finqa_core::page::period::Period;

use super::fit::FitFigure;
use crate::tables::page::table::ReportTable;
use crate::tables::page::weights::Weights;
use crate::tables::page::{TableResult, Tables, missing};
use crate::tables::question::operand::Operand;

impl Tables {
    /// Returns a doubt if a cell that could not be read fits the operand in full, and better than
    /// every figure that was found. Otherwise a worse fitting figure would be answered in its
    /// place.
    pub(crate) fn is_read(
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
        let row = self.row(best.place).into_iter();
        let mut unread = row.flat_map(|row| &row.unread);
        let why = unread.find(|(column, _)| *column == best.place.column);
        let why = why.map_or("not read", |(_, why)| why);
        missing(format!("{} is {why}", self.full_name(best.place)))
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
    // A stable sort: on a tie, the cell that comes first in the document is named.
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}
