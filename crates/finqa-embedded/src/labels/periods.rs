//! The periods of a table against those that questions name.

use super::asked::Operand;
use super::table::LabelledTable;
use super::{Reading, missing};
use finqa_core::page::period::{CalendarSpan, WHOLE};

impl LabelledTable<'_> {
    /// The page's period that a question names, if it is the only one that can be meant.
    pub(super) fn period(&self, asked: CalendarSpan) -> Reading<CalendarSpan> {
        let bare = asked.months.is_none() && !asked.season;
        if bare && self.periods.iter().any(|span| span.season) {
            return missing(format!("{asked} is a part of two seasons"));
        }
        let same = |span: &&CalendarSpan| match asked.year {
            Some(_) => span.covers(asked),
            None => span.in_year(0).covers(asked.in_year(0)),
        };
        let found: Vec<&CalendarSpan> = self.periods.iter().filter(same).collect();
        match found.as_slice() {
            [] => {}
            [span] => return Ok(**span),
            _ => return missing("the question names no year"),
        }
        let of_year = self.periods.iter().filter(|span| span.year == asked.year);
        let of_year: Vec<CalendarSpan> = of_year.copied().collect();
        match of_year.as_slice() {
            // The only day of a year: "30 June 2023".
            [day] if asked.range() == WHOLE && day.day.is_some() => Ok(*day),
            [_, ..] if asked.range() == WHOLE => {
                missing(format!("the page has only a part of {asked}"))
            }
            _ => missing(format!("the page has no {asked}")),
        }
    }

    /// The periods of a series: those named, those between two, the last few, or all of one
    /// length.
    pub(super) fn series_of(&self, of: &Operand, length: Option<u8>) -> Reading<Vec<CalendarSpan>> {
        let of_length = |length: u8| -> Vec<CalendarSpan> {
            let all = self.periods.iter().copied();
            all.filter(|span| span.length() == length).collect()
        };
        // "Which quarter of 2022": the year limits them.
        if let (Some(length), [year]) = (length, of.spans.as_slice()) {
            let mut all = of_length(length);
            all.retain(|part| part.year == year.year && length < year.length());
            return Ok(all);
        }
        let named = of.spans.iter().map(|span| self.period(*span));
        let mut named: Vec<CalendarSpan> = named.collect::<Reading<_>>()?;
        if let ([a, b], true) = (named.as_slice(), of.through) {
            let (low, high) = (a.order().min(b.order()), a.order().max(b.order()));
            let mut all = of_length(a.length());
            all.retain(|span| low <= span.order() && span.order() <= high);
            return Ok(all);
        }
        if named.is_empty() {
            let lengths = [1, 3, 6, 12].into_iter();
            let common = lengths.max_by_key(|length| of_length(*length).len());
            named = of_length(length.or(common).unwrap_or(12));
        }
        Ok(named)
    }

    /// The period that a change is compared with: the same of the year before.
    pub(super) fn before(&self, late: CalendarSpan) -> Option<CalendarSpan> {
        let year = late.year.map(|year| year.saturating_sub(1));
        let year_ago = |span: &&CalendarSpan| span.year == year && span.range() == late.range();
        self.periods.iter().find(year_ago).copied()
    }
}
