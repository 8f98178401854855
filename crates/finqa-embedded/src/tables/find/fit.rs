//! Lists the figures that may be the one asked for.
//!
//! The scores and costs below are set by hand with the reports of docs/embedded-analyst.md in view.

use std::collections::HashSet;
use std::sync::LazyLock;

use finqa_core::page::period::Period;

use crate::tables::page::table::{Place, ReportTable};
use crate::tables::page::weights::Weights;
use crate::tables::question::operand::{Operand, Phrasing};
use crate::tables::words::{same_word, stemmed as set};

/// Words of a section or a label whose figures are changes of balances.
pub(crate) static CHANGES: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("change changes increase decrease"));

/// Words of a label whose figures are percentages: "Tax rate".
static RATE_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("ratio rate margin yield return"));

/// Cost of a single table's label for each of its words that the question lacks; a light word costs
/// 1.
pub(crate) const HEAVY: f64 = 10.0;

/// Bonus for a label with the words of the question over one with another name of the figure.
const SAID: f64 = 0.03;

/// A figure that may be the one asked for, with its score.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FitFigure {
    pub(crate) place: Place,
    pub(crate) score: f64,
    /// True if the labels have all words of the operand and no other word that names something.
    pub(crate) full: bool,
    /// True if `full`, and section and title say no more than the operand either, and the labels do
    /// not mean the opposite ("net loss" for "net income"). It does not say that the table is a
    /// single one, which is the only table of a user's page (`Tables::is_single_table`).
    pub(crate) unqualified: bool,
    /// True if the labels fit the words of the question, not only another name of the figure.
    pub(crate) said: bool,
    pub(crate) period: Option<Period>,
    /// True for a figure of a budget or a forecast.
    pub(crate) plan: bool,
    /// The value with its scale: 5,000,000 for "5" in millions. NaN for a cell that is not read.
    pub(crate) value: f64,
    pub(crate) percent: bool,
    /// How much the label and the question differ: 4 for each word that only one of them has, 1 for
    /// a word of the company's name. The smallest is the row that says no more than the question.
    pub(crate) extra: usize,
}

impl ReportTable {
    /// For each figure of the table in a wanted period, its fit to the best reading of an operand.
    /// If `read` is false, the same for the cells that look like figures but could not be read.
    pub(crate) fn candidates(
        &self,
        at: usize,
        readings: &[Phrasing],
        weights: &Weights,
        wanted: &dyn Fn(Option<&Period>) -> bool,
        read: bool,
    ) -> Vec<FitFigure> {
        let mut out = Vec::new();
        for (r, row) in self.rows.iter().enumerate().skip(1) {
            for c in 1..row.cells.len() {
                let figure = if read {
                    self.figure(at, r, c)
                } else {
                    self.unread(at, r, c)
                };
                let (Some(figure), Some(column)) = (figure, self.columns.get(c)) else {
                    continue;
                };
                if !wanted(figure.period.as_ref()) {
                    continue;
                }
                let fits = readings.iter().enumerate().filter_map(|(at, reading)| {
                    let fit = if self.single {
                        self.fit_in_full(row, column, &reading.words)?
                    } else {
                        self.fit(row, column, &reading.words, weights)?
                    };
                    let said = at == 0;
                    // "Net income" below zero is the net loss that is asked for.
                    let lost =
                        figure.value < 0.0 && readings.first().is_some_and(|one| one.loses());
                    Some(FitFigure {
                        score: fit.score + if said { SAID } else { 0.0 },
                        full: fit.full,
                        unqualified: fit.unqualified && (!reading.opposite || lost && !self.single),
                        extra: fit.extra,
                        said,
                        ..figure
                    })
                });
                out.extend(fits.max_by(|a, b| a.score.total_cmp(&b.score)));
            }
        }
        out
    }

    /// A figure of the table before its labels are compared; `None` if the cell has none.
    pub(crate) fn figure(&self, table: usize, row: usize, column: usize) -> Option<FitFigure> {
        let figure = self.rows.get(row)?.cells.get(column)?.as_ref()?;
        Some(FitFigure {
            value: figure.value(),
            percent: figure.percent,
            ..self.unknown(table, row, column)
        })
    }

    /// A cell that could not be read, as a figure without a value.
    fn unread(&self, table: usize, row: usize, column: usize) -> Option<FitFigure> {
        let mut unread = self.rows.get(row)?.unread.iter();
        unread.find(|(at, _)| *at == column)?;
        Some(self.unknown(table, row, column))
    }

    /// A figure of which only place, period and plan are known.
    fn unknown(&self, table: usize, row: usize, column: usize) -> FitFigure {
        FitFigure {
            place: Place { table, row, column },
            score: 0.0,
            full: false,
            unqualified: false,
            said: false,
            period: self.period_of(row, column),
            plan: self.columns.get(column).is_some_and(|column| column.plan)
                || self.rows.get(row).is_some_and(|row| row.plan),
            value: f64::NAN,
            percent: false,
            extra: 0,
        }
    }

    /// The period of a cell, from its column or its row; `None` if neither names one.
    pub(crate) fn period_of(&self, row: usize, column: usize) -> Option<Period> {
        let row = self.rows.get(row)?.label.period;
        match (self.columns.get(column)?.label.period, row) {
            // The row completes a heading without a year, such as "Q1".
            (Some(column), Some(row)) if column.end.year.is_none() || self.single => {
                Some(column.or(row))
            }
            (None, Some(row)) => Some(row),
            // The title of a schedule names the day from which it counts, its rows name the years.
            (_, Some(row)) if self.columns.get(column)?.is_dated_by_title => Some(row),
            (column, _) => column,
        }
    }

    /// True if the corner of a single table has the word. It is about all rows then.
    pub(crate) fn is_heading(&self, word: &str) -> bool {
        self.single && self.title.iter().any(|own| same_word(own, word))
    }
}

/// All figures that fit an operand, the best first.
pub(crate) fn candidates(
    tables: &[ReportTable],
    operand: &Operand,
    weights: &Weights,
    wanted: &dyn Fn(Option<&Period>) -> bool,
) -> Vec<FitFigure> {
    // In a single table, a total is found by its label, so "total" need not be among the words.
    let single = tables.iter().any(|table| table.single);
    let readings = if single {
        operand.of_parts().readings()
    } else {
        operand.readings()
    };
    let percent = operand.wants_percent();
    let of =
        |(at, table): (usize, &ReportTable)| table.candidates(at, &readings, weights, wanted, true);
    let mut all: Vec<FitFigure> = tables.iter().enumerate().flat_map(of).collect();
    let is_rate = |one: &FitFigure| {
        let row = tables
            .get(one.place.table)
            .and_then(|table| table.rows.get(one.place.row));
        row.is_some_and(|row| row.label.is_one_of(&RATE_STEMS))
    };
    // If a row has an amount and its share of another, prefer the one asked for. A rate is always
    // printed as a percentage, so it loses nothing.
    for one in &mut all {
        if one.percent != percent && !(one.percent && !single && is_rate(one)) {
            one.score -= if single && percent { 5.0 * HEAVY } else { 0.3 };
            // In a report, a figure of the other kind is never a full fit.
            one.full &= single;
            one.unqualified &= single;
        }
    }
    // A stable sort: on a tie, the figure that comes first in the document wins.
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}
