//! Compares the periods of figures with those that a question asks for.

use std::collections::BTreeMap;

use finqa_core::page::Statement;
use finqa_core::page::period::{Period, TO_DATE};

use super::fit::FitFigure;
use super::keep;
use crate::tables::page::table::ReportTable;
use crate::tables::page::{Doubt, TableResult, Tables, missing};

/// The last month of a period, counted from the year 0, which is also that of a period without a
/// year.
pub(crate) fn month_number(period: &Period) -> u16 {
    12 * period.end.year.unwrap_or_default() + u16::from(period.last_month())
}

/// True unless a question names a year. Without one, the latest period is meant.
pub(crate) fn asks_for_latest(asked: Option<Period>) -> bool {
    asked.is_none_or(|asked| asked.end.year.is_none())
}

/// Keeps the figures of the latest period, if that is asked for. A plan is never the latest.
pub(crate) fn keep_latest(all: &mut Vec<FitFigure>, asked: Option<Period>) {
    if !asks_for_latest(asked) {
        return;
    }
    keep(all, |one| !one.plan);
    let latest = all.iter().filter_map(|one| Some(one.period?.end)).max();
    all.retain(|one| one.period.is_none_or(|period| Some(period.end) == latest));
}

impl Tables {
    /// True if a period is the one asked for, or if the question names none. On a page with a
    /// single table, a month without a year does not fit a question with a year.
    pub(crate) fn fits(&self, period: Option<Period>, asked: Option<Period>) -> bool {
        let Some(asked) = asked else { return true };
        period.is_some_and(|period| {
            let undated = self.is_single_table() && period.end.year.is_none();
            !(undated && asked.end.year.is_some()) && self.years.fits(&period, &asked)
        })
    }

    /// The figures that have the period asked for; without a year, those of the latest period.
    /// Figures without a period are left out.
    pub(crate) fn of_period(
        &self,
        figures: impl Iterator<Item = FitFigure>,
        asked: Option<Period>,
    ) -> Vec<FitFigure> {
        let fits = |one: &FitFigure| one.period.is_some() && self.fits(one.period, asked);
        let mut all: Vec<FitFigure> = figures.filter(fits).collect();
        keep_latest(&mut all, asked);
        all
    }

    /// The months of a year to date: those of the longest period in a report's statements that
    /// begins with the fiscal year. `None` if that is a whole year, or if a statement names a year
    /// to date.
    pub(crate) fn length_to_date(&self) -> Option<u8> {
        let flows = self.statements(Statement::Flows);
        let columns = flows.flat_map(|table| &table.columns);
        let periods: Vec<Period> = columns.filter_map(|one| one.label.period).collect();
        let begins = |period: &&Period| {
            let quarter = self.years.quarter_of(period.end);
            quarter.is_some_and(|quarter| period.months == Some(3 * quarter))
        };
        let longest = periods
            .iter()
            .filter(begins)
            .filter_map(|one| one.months)
            .max()?;
        let named = periods.iter().any(|one| one.months == Some(TO_DATE));
        (longest < 12 && !named).then_some(longest)
    }

    /// True if all columns of a report's statements of income, cash flows and equity are years.
    pub(crate) fn is_annual(&self) -> bool {
        let flows = self.statements(Statement::Flows);
        let columns = flows.flat_map(|table| &table.columns);
        let mut periods = columns.filter_map(|column| column.label.period).peekable();
        periods.peek().is_some() && periods.all(|period| period.length() == 12)
    }

    /// The periods of a table's cells, the earliest first. Plans are left out, unless there is
    /// nothing else.
    pub(crate) fn periods_of(&self, at: usize) -> Vec<Period> {
        match self.all_periods_of(at, false) {
            actual if actual.is_empty() => self.all_periods_of(at, true),
            actual => actual,
        }
    }

    /// The periods of a table's cells, the earliest first; those of plans only if `plans` is true.
    pub(crate) fn all_periods_of(&self, at: usize, plans: bool) -> Vec<Period> {
        let table = self.tables.get(at).into_iter();
        let cells = table.flat_map(ReportTable::figures);
        let cells = cells.filter(|one| plans || !one.plan);
        let mut periods = BTreeMap::new();
        for period in cells.filter_map(|one| one.period) {
            periods.entry(period.order()).or_insert(period);
        }
        periods.into_values().collect()
    }

    /// Checks that the period is not a year in a table of seasons such as "2031/32", because such a
    /// year belongs to two.
    pub(crate) fn check_period(&self, asked: Period) -> TableResult<()> {
        let bare = !asked.is_season() && asked.months.is_none() && self.is_single_table();
        if bare && self.periods_of(0).iter().any(|period| period.is_season()) {
            missing(format!("{asked} is a part of two seasons"))
        } else {
            Ok(())
        }
    }

    /// The reason for doubt if it is unknown which year a report's column is called.
    pub(crate) fn unclear_year(&self, one: &FitFigure, asked: Option<Period>) -> Option<Doubt> {
        let (column, asked) = (one.period?, asked?);
        let unclear = self.is_report() && self.years.is_unclear(&column, &asked);
        let year = asked.end.year.filter(|_| unclear)?;
        Some(Doubt::missing(format!(
            "the report does not say whether its {year} ends in January {year} or {}",
            year + 1
        )))
    }

    /// The reason why this row has no figure for a period: only it has none, or none of its year.
    pub(crate) fn no_period(&self, one: &FitFigure, asked: Period) -> Doubt {
        let near = |period: Period| {
            let of_year = asked.end.month.is_none() && period.end.year == asked.end.year;
            of_year || self.fits(Some(period), Some(asked))
        };
        let known = self.figures().filter_map(|one| one.period).any(near);
        Doubt::missing(if known {
            format!("{} has no figure of {asked}", self.name_of(one.place))
        } else {
            format!("the page has no {asked}")
        })
    }
}
