//! Lists the figures that may be the one asked for, and the cells that could not be read and fit a
//! question better than every figure that was read.

use finqa_core::page::period::Period;

use crate::tables::page::table::{Place, ReportTable};
use crate::tables::page::{TableResult, Tables, missing};
use crate::tables::question::operand::{Operand, Phrasing};
use crate::tables::words::{Stems, same_word};

/// Words of a section or a label whose figures are changes of balances.
pub(crate) static CHANGES: Stems = Stems::new("change changes increase decrease");

/// Words of a label whose figures are percentages: "Tax rate".
static RATE_STEMS: Stems = Stems::new("ratio rate margin yield return roic roe roa roce");

/// Cost of a single table's label for each of its words that the question lacks; a light word costs
/// 1.
pub(crate) const HEAVY: f64 = 10.0;

/// Bonus for a label with the words of the question over one with another name of the figure.
const SAID: f64 = 0.03;

/// A figure that may be the one asked for, with its score. `full` and `unqualified` decide whether
/// the figure is in doubt; `score` only orders the figures and shows which of them are tied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FitFigure {
    pub(crate) place: Place,
    pub(crate) score: f64,
    /// True if the labels have all words of the operand and no other word that names something.
    pub(crate) full: bool,
    /// True if `full`, and section and title say no more than the operand either, and the labels do
    /// not mean the opposite ("net loss" for "net income").
    pub(crate) unqualified: bool,
    /// False in a statement of a period if the section says more than where the row is and than
    /// the reading: "Share-based compensation included in expenses". In a balance sheet, rows with
    /// one name under two sections are parts of one balance.
    pub(crate) in_plain_section: bool,
    /// True if the reading that fits best is the first of the operand: the question's own words,
    /// for a part with those of its whole, and not another name of the figure.
    pub(crate) said: bool,
    /// True if that reading has the words of the operand's whole: "Services" under "Sales".
    pub(crate) within: bool,
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

impl Tables {
    /// All figures that fit an operand in a period, the best first. If the operand has `rows`, all
    /// dated figures of these fit equally well.
    pub(crate) fn fitting_figures(&self, of: &Operand, asked: Option<Period>) -> Vec<FitFigure> {
        if !of.rows.is_empty() {
            let figures = of.rows.iter().flat_map(|row| self.figures_of(*row));
            let dated = figures.filter(|one| one.period.is_some() && self.fits(one.period, asked));
            let as_said = |one: FitFigure| FitFigure {
                full: true,
                unqualified: true,
                said: true,
                ..one
            };
            return dated.map(as_said).collect();
        }
        let single = self.is_single_table();
        // In a single table, "at year end" means the figures of the year.
        let asked = asked.map(|asked| Period {
            instant: asked.instant && !single,
            ..asked
        });
        // A total is found by its label there, so "total" need not be among the words.
        let readings = if single {
            of.without_total().readings()
        } else {
            of.readings()
        };
        let mut all = self.fitting(self.figures(), &readings, asked);
        let percent = of.wants_percent();
        let is_rate = |one: &FitFigure| {
            let row = self.row(one.place);
            row.is_some_and(|row| row.label.is_one_of(&RATE_STEMS))
        };
        // If a row has an amount and its share of another, prefer the one asked for. A rate is
        // always printed as a percentage, so it loses nothing.
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

    /// The figures in a period that fit one of the readings, each with its fit to the best of them.
    pub(super) fn fitting(
        &self,
        figures: impl Iterator<Item = FitFigure>,
        readings: &[Phrasing],
        asked: Option<Period>,
    ) -> Vec<FitFigure> {
        let loses = readings.first().is_some_and(Phrasing::loses);
        let fit = |figure: FitFigure| {
            let table = self.table(figure.place)?;
            let fits = readings.iter().enumerate().filter_map(|(at, reading)| {
                let fit = if table.single {
                    table.fit_in_full(figure, &reading.words)?
                } else {
                    table.fit(figure, &reading.words, &self.weights)?
                };
                let said = at == 0;
                // "Net income" below zero is the net loss that is asked for.
                let is_meant = !reading.opposite || loses && fit.value < 0.0 && !table.single;
                Some(FitFigure {
                    score: fit.score + if said { SAID } else { 0.0 },
                    unqualified: fit.unqualified && is_meant,
                    said,
                    within: reading.within,
                    ..fit
                })
            });
            // A full fit of the first reading wins, even against a higher score of another one.
            let said = |one: &FitFigure| one.full && one.said;
            fits.max_by(|a, b| said(a).cmp(&said(b)).then(a.score.total_cmp(&b.score)))
        };
        let figures = figures.filter(|one| self.fits(one.period, asked));
        figures.filter_map(fit).collect()
    }

    /// Checks that no cell that could not be read fits the operand in full, and better than every
    /// figure that was found. Otherwise a worse fitting figure would be answered in its place.
    pub(crate) fn check_read(
        &self,
        of: &Operand,
        asked: Option<Period>,
        found: &[FitFigure],
    ) -> TableResult<()> {
        let unread = self.tables.iter().flat_map(|table| {
            table.body().flat_map(move |(r, row)| {
                let columns = row.unread.iter().map(|(c, _)| *c).filter(|c| *c > 0);
                columns.map(move |c| table.unknown(r, c))
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
        let why = self.why_unread(best.place).unwrap_or("not read");
        missing(format!("{} is {why}", self.full_name(best.place)))
    }
}

impl ReportTable {
    /// All figures, before their labels are compared.
    pub(crate) fn figures(&self) -> impl Iterator<Item = FitFigure> {
        (1..self.rows.len()).flat_map(|row| self.figures_of(row))
    }

    /// The figures of a row.
    pub(crate) fn figures_of(&self, row: usize) -> impl Iterator<Item = FitFigure> {
        (1..self.columns.len()).filter_map(move |column| self.figure(row, column))
    }

    /// A figure of the table before its labels are compared; `None` if the cell has none.
    pub(crate) fn figure(&self, row: usize, column: usize) -> Option<FitFigure> {
        let figure = self.rows.get(row)?.cells.get(column)?.as_ref()?;
        Some(FitFigure {
            value: figure.in_units(),
            percent: figure.percent,
            ..self.unknown(row, column)
        })
    }

    /// A figure of which only place, period and plan are known.
    pub(super) fn unknown(&self, row: usize, column: usize) -> FitFigure {
        FitFigure {
            place: self.place(row, column),
            in_plain_section: true,
            period: self.period_of(row, column),
            plan: self.columns.get(column).is_some_and(|column| column.plan)
                || self.rows.get(row).is_some_and(|row| row.plan),
            value: f64::NAN,
            ..FitFigure::default()
        }
    }

    /// True if the corner of a single table has the word. It is about all rows then.
    pub(crate) fn is_in_corner(&self, word: &str) -> bool {
        self.single && self.title.iter().any(|own| same_word(own, word))
    }
}
