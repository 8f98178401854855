//! The periods of a question among those of a page, and which quantities add up over them.

use super::lines::{LabelledTable, is_year};
use super::quantities::{COUNTED_NEW, FLOWS, RATES, THINGS, WordList, is_stock};
use super::values::{DirectReader, NoReading, Reading, TableAmount};
use finqa_core::page::period::{CalendarSpan, PeriodKind};

/// A period of a question on the page.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PagePeriod {
    One(CalendarSpan),
    /// The sum of the first less the sum of the second.
    Composed(Vec<CalendarSpan>, Vec<CalendarSpan>),
    /// Several fit.
    Open,
    /// Only the page's text has it.
    InText,
    Missing,
}

impl LabelledTable<'_> {
    /// The only period of the page in the year of one that it lacks, or in the month of a day.
    pub(crate) fn only_part(&self, missing: CalendarSpan) -> Option<CalendarSpan> {
        let of_year = |span: &&CalendarSpan| span.year.is_some() && span.year == missing.year;
        let of_month = |span: &&CalendarSpan| span.range() == missing.range();
        let day = missing.day.is_some();
        let parts = self.periods.iter().filter(of_year);
        let mut parts = parts.filter(|span| !day || of_month(span));
        let only = parts.next().copied().filter(|_| day || is_year(missing));
        only.filter(|_| parts.next().is_none())
    }

    /// That the page lacks a period, and which parts of it the page has.
    pub(crate) fn lacks(&self, missing: CalendarSpan) -> NoReading {
        let (first, last) = missing.range();
        let of_missing = |span: &&CalendarSpan| {
            let (from, to) = span.range();
            let calendar = span.kind == PeriodKind::Calendar;
            let of_year = span.year.is_some() && span.year == missing.year;
            calendar && of_year && first <= from && to <= last
        };
        let parts: Vec<String> = self
            .periods
            .iter()
            .filter(of_missing)
            .map(|part| {
                CalendarSpan {
                    year: None,
                    ..*part
                }
                .to_string()
            })
            .collect();
        NoReading::Missing(if parts.is_empty() {
            format!("the page has no {missing}")
        } else {
            format!(
                "the page has only a part of {missing}: {}",
                parts.join(", ")
            )
        })
    }

    /// A question's period among those of the page.
    pub(crate) fn period(&self, asked: CalendarSpan) -> PagePeriod {
        if self.lists_days() && asked.day.is_none() {
            let days = self.periods.iter().filter(|span| span.is_day_within(asked));
            let mut years: Vec<Option<u16>> = days.map(|span| span.year).collect();
            years.dedup();
            return match years.as_slice() {
                [] => PagePeriod::Missing,
                [_] => PagePeriod::One(asked),
                _ => PagePeriod::Open,
            };
        }
        let of_year = |span: &&CalendarSpan| {
            asked.year.is_none() || span.year.is_none() || span.year == asked.year
        };
        let in_year: Vec<CalendarSpan> = self.periods.iter().filter(of_year).copied().collect();
        let written = |year: u16| {
            self.facts
                .sentences
                .iter()
                .any(|s| s.text.contains(&year.to_string()))
        };
        let yearless = in_year.iter().all(|span| span.year.is_none());
        let in_text = asked.year.is_none_or(written);
        if in_year.is_empty() || yearless && !in_text {
            let missing = !in_text && !self.cells.is_empty();
            return if missing {
                PagePeriod::Missing
            } else {
                PagePeriod::InText
            };
        }
        let exact = in_year.iter().filter(|span| {
            let day = asked.day.is_none() || span.day == asked.day;
            let closing = span.day.is_none() && asked.closes_month();
            let same_kind = span.kind == asked.kind;
            same_kind && span.range() == asked.range() && (day || closing)
        });
        match exact.copied().collect::<Vec<_>>().as_slice() {
            // Of a year and a fiscal year, the one that is asked for.
            [one] if one.covers(asked) => return PagePeriod::One(asked),
            [one] => return PagePeriod::One(*one),
            [] => {}
            // A month is none of its days.
            [a, b, ..] if a.range() == b.range() && a.year == b.year => return PagePeriod::Missing,
            [..] => return PagePeriod::Open,
        }
        // Among days, the last of December is one of the month too.
        let days = in_year.iter().any(|span| span.length() == 1);
        let closing = in_year.iter().find(|span| days && is_year(**span));
        if let Some(closing) = closing.filter(|_| asked.range() == (12, 12) && asked.day.is_none())
        {
            return PagePeriod::One(*closing);
        }
        match in_year.as_slice() {
            // A year's only column may be a day's: "March 31, 2023".
            [one] if is_year(asked) && one.length() == 1 => PagePeriod::One(*one),
            _ => composed(&in_year, asked).unwrap_or(PagePeriod::Missing),
        }
    }
}

/// A period from others of one year: halves of quarters, what the first half leaves of a year.
fn composed(of_page: &[CalendarSpan], asked: CalendarSpan) -> Option<PagePeriod> {
    let calendar = |span: &&CalendarSpan| span.kind == PeriodKind::Calendar;
    let of_page: Vec<CalendarSpan> = of_page.iter().filter(calendar).copied().collect();
    let of_page = of_page.as_slice();
    if asked.kind != PeriodKind::Calendar {
        return None;
    }
    let (first, last) = asked.range();
    // Days add up to no month.
    let mut of_page_and_asked = of_page.iter().chain([&asked]);
    if of_page_and_asked.any(|span| span.day.is_some() && !span.closes_month()) {
        return None;
    }
    let mut years: Vec<Option<u16>> = of_page.iter().map(|span| span.year).collect();
    years.dedup();
    let [year] = years.as_slice() else {
        return None;
    };
    let at = |months: (u8, u8)| {
        of_page
            .iter()
            .find(|span| span.year == *year && span.range() == months)
    };
    for length in [6, 3, 1] {
        let mut parts = Vec::new();
        let mut from = first;
        while from <= last
            && let Some(part) = at((from, from + length - 1))
        {
            parts.push(*part);
            from += length;
        }
        if from == last + 1 && parts.len() > 1 {
            return Some(PagePeriod::Composed(parts, Vec::new()));
        }
    }
    let wholes = of_page
        .iter()
        .filter(|span| span.range().0 <= first && span.range().1 >= last);
    wholes.into_iter().find_map(|whole| {
        let (from, to) = whole.range();
        let rest = match (from == first, to == last) {
            (false, true) => (from, first - 1),
            (true, false) => (last + 1, to),
            _ => return None,
        };
        let rest = at(rest)?;
        Some(PagePeriod::Composed(vec![*whole], vec![*rest]))
    })
}

impl DirectReader<'_> {
    /// The page's period that a question names.
    pub(super) fn only_period(&self, asked: CalendarSpan) -> Reading<CalendarSpan> {
        match self.table.period(asked) {
            PagePeriod::One(period) => Ok(period),
            PagePeriod::Missing => Err(self.table.lacks(asked)),
            _ => Err(NoReading::Open),
        }
    }

    /// The periods of a series: those named, those between two, the last few, or all of one
    /// length.
    pub(crate) fn series(&self) -> Reading<Vec<CalendarSpan>> {
        let wording = &self.asked.wording;
        let periods = &self.table.periods;
        let length = match () {
            () if wording.says(&["quarter", "quarters"]) => Some(3),
            () if wording.says(&["month", "months", "monthly"]) => Some(1),
            () if wording.says(&["year", "years", "annual", "yearly"]) => Some(12),
            () => None,
        };
        let of_length = |length: u8| -> Vec<CalendarSpan> {
            periods
                .iter()
                .filter(|span| span.length() == length && span.kind == PeriodKind::Calendar)
                .copied()
                .collect()
        };
        let mut spans = Vec::new();
        for span in self.asked.spans() {
            let parts = length.is_some_and(|length| length < span.length());
            // "Which quarter of 2022": the year is not one of the series.
            if !(parts && is_year(*span)) {
                spans.push(self.only_period(*span)?);
            }
        }
        let within = self
            .asked
            .spans()
            .first()
            .filter(|span| spans.is_empty() && is_year(**span));
        let in_year = |span: &CalendarSpan| {
            within.is_none_or(|year| {
                span.year.is_none() || year.year.is_none() || span.year == year.year
            })
        };
        let found = match spans.as_slice() {
            [] => {
                let common = || {
                    let count = |length: &u8| of_length(*length).len();
                    [1, 3, 6, 12].into_iter().max_by_key(count).unwrap_or(12)
                };
                let all = of_length(length.unwrap_or_else(common));
                let all: Vec<_> = all.into_iter().filter(in_year).collect();
                match wording.periods_named() {
                    Some(n) if n > all.len() => {
                        return Err(NoReading::Missing(format!(
                            "the page has {} of the {n} periods",
                            all.len()
                        )));
                    }
                    Some(n) => all.into_iter().rev().take(n).rev().collect(),
                    None => all,
                }
            }
            [a, b] if self.asked.spans_through() => {
                let (low, high) = if a.order() <= b.order() {
                    (a, b)
                } else {
                    (b, a)
                };
                let all = of_length(a.length());
                all.into_iter()
                    .filter(|span| low.order() <= span.order() && span.order() <= high.order())
                    .collect()
            }
            _ => spans,
        };
        if found.len() > 1 {
            Ok(found)
        } else {
            Err(NoReading::Open)
        }
    }

    /// An error if the quantity of a row and column does not add up over time; a doubt if it
    /// may not.
    pub(super) fn check_accumulates(
        &mut self,
        amount: &TableAmount,
        span: CalendarSpan,
    ) -> Reading<()> {
        let labels = || self.table.labels_of(amount.place);
        let says = |list: &WordList| labels().any(|label| list.in_label(label));
        let writes = |word: &str| labels().any(|label| label.writes(word));
        let counts_new = COUNTED_NEW.iter().any(writes);
        let stock = labels().any(is_stock);
        if amount.percent || says(&RATES) || stock && !counts_new {
            return Err(NoReading::Missing(format!("the page has no {span}")));
        }
        let listed = self.table.lists_days() && says(&THINGS);
        if !says(&FLOWS) && !counts_new && !listed && !self.says_sum() {
            let name = labels().find(|label| !label.words.is_empty());
            let name = name.map_or("it", |label| &label.name);
            self.doubt(format!("{name} may not add up to {span}"));
        }
        Ok(())
    }
}
