//! Builds series of figures of several periods.

use finqa_core::page::period::Period;
use finqa_core::page::{MONTHS, Statement};

use super::direct_answer::DirectAnswer;
use crate::tables::find::fit::FitFigure;
use crate::tables::find::periods::month_number;
use crate::tables::find::{Amount, AmountKind, places};
use crate::tables::page::{Doubt, TableResult, Tables, missing_if, open_if};
use crate::tables::question::operand::Operand;
use crate::tables::question::request::{Asked, Which};

impl Tables {
    /// Replaces "each of the last three years" by these years, and "each quarter of 2031" by its
    /// quarters. If the page lacks one of them, the operand gets no periods.
    pub(crate) fn with_each(&self, of: &Operand) -> Operand {
        let Some((count, months)) = of.each else {
            return of.clone();
        };
        let latest = self.figure(&of.of_spans(Vec::new()), None).ok();
        let place = latest.and_then(|one| places(&one.expr).next());
        // If the figure is not found, the first table tells the periods.
        let table = place.map_or(0, |at| at.table);
        if !of.spans.is_empty() {
            let parts = |span: &Period| {
                if span.length() <= months {
                    return Some(vec![*span]);
                }
                let parts = self.series_of(&of.of_spans(vec![*span]), Some(months), table);
                let all = parts.len() == usize::from(span.length() / months);
                all.then_some(parts)
            };
            let parts: Option<Vec<Vec<Period>>> = of.spans.iter().map(parts).collect();
            return of.of_spans(parts.unwrap_or_default().concat());
        }
        let mut spans = self.series_of(of, Some(months), table);
        let count = count.unwrap_or(spans.len());
        match spans.len().checked_sub(count) {
            // The latest of them. In a single table, they are in its order.
            Some(more) => {
                let mut latest = spans.split_off(more);
                let columns = self.tables.iter().take(1).flat_map(|table| &table.columns);
                let printed = columns.filter_map(|column| column.label.period);
                let order: Vec<Period> = printed.filter(|_| self.is_single_table()).collect();
                latest.sort_by_key(|span| order.iter().position(|own| own == span));
                of.of_spans(latest)
            }
            None => of.clone(),
        }
    }

    /// The figures of an operand in several periods, or in all rows or all columns of a single
    /// table; at least two.
    pub(crate) fn series(&self, of: &Operand, which: Option<&Which>) -> TableResult<Vec<Amount>> {
        let all_times =
            of.spans.is_empty() && self.is_single_table() && self.periods_of(0).len() > 1;
        let length = match which {
            Some(Which::Period(length)) => *length,
            None if of.spans.len() > 1 || all_times => None,
            _ => return self.in_labels(of, which),
        };
        open_if(!of.is_named() && !of.total)?;
        let undated = of.of_spans(Vec::new());
        let mut out = Vec::new();
        // In a report, the periods are those of the table with the latest figure.
        let of_report = self.is_report();
        let latest = of_report.then(|| self.figure(&undated, None)).transpose()?;
        let place = latest.and_then(|one| places(&one.expr).next());
        let spans = self.series_of(of, length, place.map_or(0, |at| at.table));
        let follows = |two: &[Period]| match two {
            [a, b] if b.end.day.is_none() => {
                month_number(a) + u16::from(b.length()) == month_number(b)
            }
            _ => true,
        };
        let gap = of.through && self.is_single_table() && !spans.windows(2).all(follows);
        missing_if(gap, "the page lacks a period between these")?;
        for span in spans {
            let amount = self.figure(&undated, Some(span))?;
            let name = self.name_of_period(span, &amount, which);
            out.push(Amount { name, ..amount });
        }
        missing_if(out.len() < 2, "the page has only one period of it")?;
        let is_total = |one: &Amount| {
            let row = one.place().and_then(|at| self.row(at));
            row.is_some_and(|row| row.label.total && row.label.period.is_some())
        };
        // "2031 Total" beside "2031 North"
        let totals = !of.total && out.iter().any(is_total);
        missing_if(totals, "totals and their parts fit")?;
        self.check_comparable(&out)?;
        self.are_of_one_kind(&out)?;
        Ok(out)
    }

    /// The figures of several periods, in the order asked, as one answer. A doubt about one is a
    /// doubt about all.
    pub(crate) fn each(&self, asked: &Asked, of: &Operand) -> TableResult<DirectAnswer> {
        let undated = of.of_spans(Vec::new());
        let figure = |span: &Period| self.figure(&undated, Some(*span));
        let found: Vec<Amount> = of.spans.iter().map(figure).collect::<TableResult<_>>()?;
        self.in_one_unit(&found)?;
        self.are_of_one_kind(&found)?;
        // "Net sales in 2031 and net sales in 2030" has "and", but names one figure.
        let named = of.names.len() + usize::from(!of.words.is_empty()) + usize::from(of.total);
        let figures: Vec<&FitFigure> = found.iter().filter_map(|one| one.at.as_ref()).collect();
        let two = self.may_be_two(of, &figures).filter(|_| named > 1);
        let unmet = self.unread(asked, &figures).or(two);
        let unmet = unmet.or_else(|| self.lacks_part(asked, &figures));
        let percent = |one: &Amount| one.kind == AmountKind::Percent;
        let percents: Vec<bool> = found.iter().map(percent).collect();
        let answers = found.into_iter().map(|one| {
            let doubt = one.doubt.clone().or_else(|| self.scale_doubt(&one));
            self.look_up(one, of).or_doubt(doubt)
        });
        let mut series = in_order("series", answers)?.or_doubt(unmet);
        // A column of percentages may print the sign once.
        for (value, percent) in series.values.iter_mut().zip(percents) {
            if percent && !value.ends_with('%') {
                value.push('%');
            }
        }
        series.label = Some(series.values.join("; "));
        Ok(series)
    }

    /// Returns a doubt if some of the figures are balances and others cover a period.
    fn are_of_one_kind(&self, all: &[Amount]) -> TableResult<()> {
        let kinds = all.iter().filter_map(|one| self.statement_of(&one.at?));
        let has = |kind: Statement| kinds.clone().any(|one| one == kind);
        let differ = has(Statement::Balances) && has(Statement::Flows);
        missing_if(differ, "only some of the figures are of the balance sheet")
    }

    /// The name of a period in an answer: the year if years are asked for, a date as "September 28,
    /// 2031", otherwise the heading.
    fn name_of_period(&self, span: Period, amount: &Amount, which: Option<&Which>) -> String {
        let whole = which == Some(&Which::Period(Some(12))) && !span.is_season();
        if let Some(year) = self.years.year_of(Some(span)).filter(|_| whole) {
            return year.to_string();
        }
        // A quarter is answered by its name and not by its last day.
        if let (Some(day), true) = (span.end.day, which.is_some() && span.months != Some(3)) {
            let month = span.end.month.map(usize::from);
            let month = month.and_then(|month| MONTHS.get(month.checked_sub(1)?));
            let (first, rest) = month.map_or(("", ""), |name| name.split_at(1));
            let year = span.end.year.map(|year| format!(", {year}"));
            let year = year.unwrap_or_default();
            return format!("{}{rest} {day}{year}", first.to_uppercase());
        }
        let mut labels = amount.place().into_iter().flat_map(|at| self.labels_of(at));
        let only = labels.find(|label| label.period.is_some() && label.words.is_empty());
        only.map_or_else(|| span.to_string(), |label| label.name.clone())
    }

    /// The periods of a series: those that the question names, all between two that it names, or
    /// all of one length.
    fn series_of(&self, of: &Operand, length: Option<u8>, table: usize) -> Vec<Period> {
        let mut all = self.periods_of(table);
        let has = |span: &Period| all.iter().any(|one| self.fits(Some(*one), Some(*span)));
        if !of.spans.iter().all(has) {
            all = self.all_periods_of(table, true);
        }
        let of_length = |length: u8| -> Vec<Period> {
            let all = all.iter().copied();
            all.filter(|period| period.length() == length).collect()
        };
        // "Which quarter of 2022" asks for the quarters of that year only.
        if let (Some(length), [year]) = (length, of.spans.as_slice()) {
            let mut all = of_length(length);
            all.retain(|part| part.end.year == year.end.year && length < year.length());
            return all;
        }
        if let ([a, b], true) = (of.spans.as_slice(), of.through) {
            let end = |end: Period| all.iter().find(|one| self.fits(Some(**one), Some(end)));
            if let (Some(a), Some(b)) = (end(*a), end(*b)) {
                // "From December to January" is not the year between them.
                if self.is_single_table() && a.order() > b.order() {
                    return Vec::new();
                }
                let (low, high) = (a.order().min(b.order()), a.order().max(b.order()));
                let mut all = of_length(a.length());
                all.retain(|span| low <= span.order() && span.order() <= high);
                return all;
            }
        }
        if of.spans.is_empty() {
            let lengths = [1, 3, 6, 12].into_iter();
            // On a tie, the longest. One is always found, so the 12 is not used.
            let common = lengths.max_by_key(|length| of_length(*length).len());
            return of_length(length.or(common).unwrap_or(12));
        }
        of.spans.clone()
    }
}

/// Answers as one with several values, in this order and with this name. A doubt about one is a
/// doubt about all.
pub(crate) fn in_order(
    name: &'static str,
    answers: impl Iterator<Item = DirectAnswer>,
) -> TableResult<DirectAnswer> {
    let answers: Vec<DirectAnswer> = answers.collect();
    let doubt = answers.iter().find_map(|one| one.doubt.clone());
    let values: Vec<String> = answers.iter().filter_map(DirectAnswer::printed).collect();
    let mut rest = answers.into_iter();
    let first = rest.next().ok_or(Doubt::Open)?;
    Ok(DirectAnswer {
        name,
        label: Some(values.join("; ")),
        values,
        others: rest.map(|one| one.expr).collect(),
        doubt,
        ..first
    })
}
