//! Rows of primary statements that have one name and differ.

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::fit::FitFigure;
use super::page::Tables;

/// How far a figure may differ that statements of one report repeat.
const ROUNDED_ALIKE: f64 = 0.0005;

impl Tables {
    /// The primary statement that a figure is in.
    pub(super) fn statement_of(&self, one: &FitFigure) -> Option<Statement> {
        self.table(one.place())?.statement
    }

    /// Whether a figure is in a statement of equity, which explains what the others state.
    pub(super) fn is_of_equity(&self, one: &FitFigure) -> bool {
        let table = self.table(one.place());
        table.is_some_and(|table| table.statement.is_some() && table.title.contains("equity"))
    }

    /// All figures of the primary statements.
    pub(super) fn statement_figures(&self) -> impl Iterator<Item = FitFigure> {
        let tables = self.tables.iter().enumerate();
        let tables = tables.filter(|(_, table)| table.statement.is_some());
        tables.flat_map(|(at, table)| {
            let rows =
                (1..table.rows.len()).flat_map(|r| (1..table.columns.len()).map(move |c| (r, c)));
            rows.filter_map(move |(r, c)| table.figure(at, r, c))
        })
    }

    /// Whether another primary statement of the same kind has another value for a row of the same
    /// name and period: depreciation by function and as a whole.
    pub(super) fn is_rival(&self, one: &FitFigure, best: &FitFigure) -> bool {
        let label = |of: &FitFigure| {
            let row = self.table(of.place())?.rows.get(of.row)?;
            Some((row.printed.to_lowercase(), &row.label.words))
        };
        let alike = label(one)
            .zip(label(best))
            .is_some_and(|((name, words), (own, of_best))| {
                // "Depreciation, excluding that of leased assets"
                let more = name.strip_prefix(own.trim());
                let more = more.map(|more| more.trim_start_matches([',', '(', ' ']));
                let parts = ["excluding", "including"];
                words == of_best && one.full >= best.full
                    || more.is_some_and(|more| parts.iter().any(|part| more.starts_with(part)))
            });
        // Statements of one report round alike.
        let apart = (one.value.abs() - best.value.abs()).abs() > ROUNDED_ALIKE * best.value.abs();
        let statement = self.statement_of(best);
        statement.is_some()
            && self.statement_of(one) == statement
            && one.table != best.table
            && alike
            && apart
            && one.period.map(Period::order) == best.period.map(Period::order)
    }
}
