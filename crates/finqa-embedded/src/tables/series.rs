//! Series of figures: of several periods, or of all rows or columns.

use finqa_core::page::period::Period;

use super::asked::Which;
use super::find::Amount;
use super::fit::{FitFigure, NameFit};
use super::operand::Operand;
use super::page::{Doubt, Reading, Tables, missing};
use super::words::{lists, lists_stem};

/// Words of a corner that say nothing of what the rows are.
const GENERIC: &str = "item line name description category million thousand billion usd eur tsd";

impl Tables {
    /// The periods of a table's cells, in their order in time.
    pub(super) fn periods_of(&self, at: usize) -> Vec<Period> {
        let Some(table) = self.tables.get(at) else {
            return Vec::new();
        };
        let mut periods: Vec<Period> = Vec::new();
        for (r, row) in table.rows.iter().enumerate().skip(1) {
            let cells = row.cells.iter().enumerate().skip(1);
            let dated = cells.filter(|(_, cell)| cell.is_some());
            for period in dated.filter_map(|(c, _)| table.period_of(r, c)) {
                if !periods.iter().any(|one| one.order() == period.order()) {
                    periods.push(period);
                }
            }
        }
        periods.sort_by_key(|period| period.order());
        periods
    }

    /// The figures of an operand in several periods, or in all rows or columns.
    pub(super) fn series(&self, of: &Operand, which: Option<&Which>) -> Reading<Vec<Amount>> {
        let all_times = of.spans.is_empty() && self.is_plain() && self.periods_of(0).len() > 1;
        let length = match which {
            Some(Which::Period(length)) => *length,
            None if of.spans.len() > 1 || all_times => None,
            _ => return self.in_labels(of, which),
        };
        if !of.is_named() && !of.total {
            return Err(Doubt::Open);
        }
        let undated = of.of_spans(Vec::new());
        let mut out = Vec::new();
        for span in self.series_of(of, length) {
            let amount = self.figure(&undated, Some(span), None)?;
            let mut labels = amount.place().into_iter().flat_map(|at| self.labels_of(at));
            let only = labels.find(|label| label.period.is_some() && label.words.is_empty());
            let name = only.map_or_else(|| span.to_string(), |label| label.name.clone());
            out.push(Amount { name, ..amount });
        }
        if out.len() < 2 {
            return missing("the page has only one period of it");
        }
        self.check(&out)?;
        Ok(out)
    }

    /// The periods of a series: those named, those between two, or all of one length.
    fn series_of(&self, of: &Operand, length: Option<u8>) -> Vec<Period> {
        let all = self.periods_of(0);
        let of_length = |length: u8| -> Vec<Period> {
            let all = all.iter().copied();
            all.filter(|period| period.length() == length).collect()
        };
        // "Which quarter of 2022": the year limits them.
        if let (Some(length), [year]) = (length, of.spans.as_slice()) {
            let mut all = of_length(length);
            all.retain(|part| part.end.year == year.end.year && length < year.length());
            return all;
        }
        if let ([a, b], true) = (of.spans.as_slice(), of.through) {
            let ends = [a, b].map(|end| all.iter().find(|one| self.years.fits(one, end)));
            if let [Some(a), Some(b)] = ends {
                let (low, high) = (a.order().min(b.order()), a.order().max(b.order()));
                let mut all = of_length(a.length());
                all.retain(|span| low <= span.order() && span.order() <= high);
                return all;
            }
        }
        if of.spans.is_empty() {
            let lengths = [1, 3, 6, 12].into_iter();
            let common = lengths.max_by_key(|length| of_length(*length).len());
            return of_length(length.or(common).unwrap_or(12));
        }
        of.spans.clone()
    }

    /// The figures that differ in their row alone, or in their column alone, totals left out.
    pub(super) fn in_labels(&self, of: &Operand, which: Option<&Which>) -> Reading<Vec<Amount>> {
        if of.spans.len() > 1 || !self.is_plain() {
            return Err(Doubt::Open);
        }
        self.known(of)?;
        let period = of.spans.first().copied();
        let mut cells = self.candidates(of, period);
        if let (Some(period), true) = (period, cells.is_empty()) {
            return missing(format!("the page has no {period}"));
        }
        let order = |one: &FitFigure| one.period.map(Period::order);
        if cells
            .windows(2)
            .any(|two| matches!(two, [a, b] if order(a) != order(b)))
        {
            return missing("the question names no period");
        }
        let readings = of.of_parts().readings();
        let by_rows = self.one_line(&mut cells, readings.first().ok_or(Doubt::Open)?)?;
        cells.sort_by_key(|one| one.place());
        let table = self.tables.first().ok_or(Doubt::Open)?;
        let is_total = |at: usize| table.columns.get(at).is_some_and(|one| one.label.total);
        cells.retain(|one| table.is_part(one.row) && (by_rows || !is_total(one.column)));
        let mut out: Vec<Amount> = Vec::new();
        for one in &cells {
            let label = self.labels_of(one.place()).nth(usize::from(!by_rows));
            let name = label.map_or_else(String::new, |label| label.name.clone());
            if out.iter().any(|other| other.name == name) {
                return missing(format!("several rows are of {name}"));
            }
            let amount = self.amount(*one).ok_or(Doubt::Open)?;
            out.push(Amount { name, ..amount });
        }
        if let Some(more) = cells.iter().find(|one| !one.full) {
            return Err(self.unclear(more.place()));
        }
        let generic = |word: &String| lists(GENERIC, word) || lists_stem(GENERIC, word);
        if let Some(Which::Label(noun)) = which
            && !table.title.iter().all(generic)
            && !noun.iter().any(|word| table.is_heading(word))
        {
            let noun = noun.join(" ");
            return missing(format!("the table does not say what a {noun} is"));
        }
        self.check(&out)?;
        Ok(out)
    }

    /// Leaves the cells of the only column that fits best, or of the only row; whether these are
    /// of several rows.
    fn one_line(&self, cells: &mut Vec<FitFigure>, asked: &[String]) -> Reading<bool> {
        let fit = |one: &FitFigure, by_row: bool| {
            let label = self.labels_of(one.place()).nth(usize::from(!by_row));
            let row = self
                .table(one.place())
                .and_then(|table| table.rows.get(one.row));
            label.map(|label| {
                let says = |word: &String| match by_row {
                    true => row.is_some_and(|row| row.says(word)),
                    false => label.says(word),
                };
                NameFit::read(label, asked, &says)
            })
        };
        let of_best = |by_row: bool, line: fn(&FitFigure) -> usize| {
            let fits: Vec<Option<NameFit>> = cells.iter().map(|one| fit(one, by_row)).collect();
            let costs = fits.iter().flatten().map(|fit| fit.cost);
            let least = costs.fold(f64::INFINITY, f64::min);
            let best = cells
                .iter()
                .zip(&fits)
                .filter(|(_, fit)| fit.is_some_and(|fit| fit.named && fit.cost <= least));
            let best: Vec<FitFigure> = best.map(|(one, _)| *one).collect();
            let first = best.first().map(line);
            let only = best.len() > 1 && best.iter().all(|one| Some(line(one)) == first);
            only.then_some(best)
        };
        let column = of_best(false, |one| one.column);
        let row = of_best(true, |one| one.row);
        let by_rows = column.is_some();
        *cells = match (column, row) {
            (Some(line), None) | (None, Some(line)) => line,
            _ => return Err(Doubt::Open),
        };
        Ok(by_rows)
    }
}
