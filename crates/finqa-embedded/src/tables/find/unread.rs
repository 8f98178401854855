//! Finds cells that could not be read and fit a question better than every figure that was read.

use finqa_core::page::period::Period;

use super::fit::FitFigure;
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
        let tables = self.tables.iter().enumerate();
        let unread = tables.flat_map(|(at, table)| {
            let rows = table.rows.iter().enumerate().skip(1);
            rows.flat_map(move |(r, row)| {
                let columns = row.unread.iter().map(|(c, _)| *c).filter(|c| *c > 0);
                columns.map(move |c| table.unknown(at, r, c))
            })
        });
        let unread = self.fitting(unread, &of.readings(), asked).into_iter();
        // `max_by` keeps the last: on a tie, the cell that comes first in the document is named.
        let full = unread.rev().filter(|one| one.full);
        let best = full.max_by(|a, b| a.score.total_cmp(&b.score));
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
