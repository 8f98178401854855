//! Lists the columns and rows whose figures can be compared with each other.

use crate::tables::find::fit::FitFigure;
use crate::tables::find::groups::FigureAt;
use crate::tables::find::keep;
use crate::tables::page::Tables;
use crate::tables::page::table::{Label, ReportRow, ReportTable};
use crate::tables::question::operand::Operand;
use crate::tables::words::{is_light, is_loose, same_word};

/// Figures of one column (`by_rows`) or of one row, which are compared with each other.
pub(crate) struct Line {
    pub(crate) by_rows: bool,
    /// The share, by weight, of the question's words that the line's labels have, from 0 to 1.
    pub(crate) score: f64,
    /// The number of words in the line's own label that the question lacks.
    pub(crate) unasked: usize,
    pub(crate) figures: Vec<FitFigure>,
}

/// A line whose score is not known, with its label and its section.
type Unscored<'t> = (Line, &'t Label, &'t [String]);

impl Line {
    /// A line whose labels have all words of the question.
    fn new(by_rows: bool, figures: Vec<FitFigure>) -> Self {
        Self {
            by_rows,
            score: 1.0,
            unasked: 0,
            figures,
        }
    }
}

impl Tables {
    /// The lines of all tables whose labels have the operand's words; in a report, some of the
    /// words are enough. Only rows are compared there, and percentages are left out.
    pub(crate) fn lines(&self, of: &Operand) -> Vec<Line> {
        let readings = of.without_total().meant_readings();
        let period = of.spans.first().copied();
        let mut out = Vec::new();
        for table in &self.tables {
            let figure = |row: usize, column: usize| {
                let figure = table.figure(row, column)?;
                let amount = table.single || !figure.percent;
                (amount && self.fits(figure.period, period)).then_some(figure)
            };
            let mut lines = lines_by_rows(table, &figure);
            if table.single {
                lines.extend(lines_by_columns(table, &figure));
            }
            let lines = lines.into_iter();
            out.extend(lines.filter_map(|line| self.scored(table, line, &readings)));
        }
        if self.is_report() {
            out.extend(self.same_rows(of));
        }
        out
    }

    /// A line with its score. Plans are dropped from it, unless it has nothing else. `None` if
    /// fewer than two figures are left, or if the page has a single table and no reading has all
    /// its words in the labels.
    fn scored(
        &self,
        table: &ReportTable,
        (mut line, label, section): Unscored<'_>,
        readings: &[Vec<String>],
    ) -> Option<Line> {
        keep(&mut line.figures, |one| !one.plan);
        let said = |word: &String| {
            label.says(word)
                || section.contains(word)
                || table.title.contains(word)
                || table.single && is_loose(word)
        };
        let (score, full) = self.weights.share(readings, &said);
        let unasked = |asked: &Vec<String>| {
            let meant = label.words.iter().filter(|own| !is_light(own));
            let unasked = meant.filter(|own| !asked.iter().any(|word| same_word(own, word)));
            unasked.count()
        };
        line.score = score;
        line.unasked = readings.iter().map(unasked).min().unwrap_or_default();
        (line.figures.len() > 1 && (full || !table.single)).then_some(line)
    }

    /// Lines of rows with the same label under different headings, such as "Operating income" under
    /// each segment. Only in reports.
    fn same_rows(&self, of: &Operand) -> Vec<Line> {
        let mut all = self.fitting_figures(of, of.spans.first().copied());
        all.retain(|one| one.full && !one.percent);
        all.sort_by_key(|one| (one.place.table, one.place.column, one.place.row));
        let row = |one: &FitFigure| self.row(one.place);
        let apart = |two: &[FitFigure]| match two {
            [a, b] => row(a)
                .zip(row(b))
                .is_some_and(|(a, b)| a.printed == b.printed && a.section_text != b.section_text),
            _ => true,
        };
        let column = |one: &FitFigure| (one.place.table, one.place.column);
        let lines = all.chunk_by(|a, b| column(a) == column(b));
        let lines = lines.filter(|line| line.len() > 1 && line.windows(2).all(apart));
        // The labels of `full` candidates have all words.
        lines.map(|line| Line::new(true, line.to_vec())).collect()
    }
}

/// One line for each column, with its figures in rows that are not totals. In a report, one line
/// for each section of a column.
fn lines_by_rows<'t>(table: &'t ReportTable, figure: FigureAt<'_>) -> Vec<Unscored<'t>> {
    let rows: Vec<(usize, &ReportRow)> = table.body().collect();
    let is_part = |(at, row): &&(usize, &ReportRow)| {
        let ends = table.single && !table.is_part(*at);
        !ends && !row.label.total
    };
    let mut out = Vec::new();
    for (c, column) in table.figure_columns() {
        for rows in rows.chunk_by(|(_, a), (_, b)| table.single || a.section == b.section) {
            let parts = rows.iter().filter(is_part);
            let figures = parts.filter_map(|(r, _)| figure(*r, c)).collect();
            let first = rows.first().filter(|_| !table.single);
            let section = first.map(|&(_, row)| &*row.section).unwrap_or_default();
            out.push((Line::new(true, figures), &column.label, section));
        }
    }
    out
}

/// The figures of each row without totals.
fn lines_by_columns<'t>(table: &'t ReportTable, figure: FigureAt<'_>) -> Vec<Unscored<'t>> {
    let line = |(r, row): (usize, &'t ReportRow)| {
        let columns = table.figure_columns();
        let parts = columns.filter(|(_, column)| !column.label.total);
        let figures = parts.filter_map(|(c, _)| figure(r, c)).collect();
        (Line::new(false, figures), &row.label, &*row.section)
    };
    table.body().map(line).collect()
}
