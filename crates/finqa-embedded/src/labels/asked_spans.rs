//! The periods that a question names.

use std::ops::Range;

use finqa_core::page::period::{CalendarSpan, NamedSpan, PeriodKind, spans};

/// The periods of a question, and the places that name a part of one.
#[derive(Debug, Default)]
pub(crate) struct AskedSpans {
    pub(crate) named: Vec<NamedSpan>,
    pub(crate) parts: Vec<Range<usize>>,
}

/// The periods of a question: a part of a year has the year that the question names.
pub(crate) fn asked_spans(text: &str) -> AskedSpans {
    let mut found = spans(text);
    let bare = |named: &NamedSpan| named.span.months.is_none();
    let calendar = |named: &NamedSpan| named.span.kind == PeriodKind::Calendar;
    let yearless = |named: &NamedSpan| named.span.year.is_none() && calendar(named);
    let mut years: Vec<u16> = found.iter().filter_map(|named| named.span.year).collect();
    years.dedup();
    let of_years = found.iter().filter(|named| yearless(named));
    let parts: Vec<CalendarSpan> = of_years.map(|named| named.span).collect();
    let apart = found.iter().all(|named| yearless(named) || bare(named));
    let mut dropped: Option<fn(&NamedSpan) -> bool> = None;
    match (parts.as_slice(), years.as_slice()) {
        // "the three months ended June 30, 2022 and 2021", "Q2 from 2022 to 2023"
        ([part], [_, ..]) if apart => {
            for named in found.iter_mut().filter(|named| bare(named)) {
                named.span.months = part.months;
            }
            dropped = Some(|named| named.span.year.is_none());
        }
        ([_, ..], [year]) => {
            for named in found.iter_mut().filter(|named| yearless(named)) {
                named.span.year = Some(*year);
            }
            // The year itself belongs to its parts.
            dropped = apart.then_some(|named| named.span.months.is_none());
        }
        // "Q2 2022 and 2021"
        ([], [_, ..]) => {
            let months = found.first().and_then(|first| first.span.months);
            let later = found.iter_mut().skip(1);
            for named in later.filter(|named| named.span.months.is_none()) {
                named.span.months = months;
            }
        }
        _ => {}
    }
    let drop = |named: &NamedSpan| dropped.is_some_and(|drop| drop(named));
    let (parts, named): (Vec<_>, Vec<_>) = found.into_iter().partition(drop);
    let parts = parts.into_iter().map(|named| named.at).collect();
    AskedSpans { named, parts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_core::page::period::WHOLE;

    type YearAndMonths = (Option<u16>, Option<(u8, u8)>);

    fn named(text: &str) -> Vec<YearAndMonths> {
        let found = asked_spans(&text.to_lowercase());
        found
            .named
            .iter()
            .map(|n| (n.span.year, n.span.months))
            .collect()
    }

    #[test]
    fn months_are_shown_as_they_are_written() {
        let shown = |months| {
            let year = Some(2025);
            let span = CalendarSpan {
                year,
                months: Some(months),
                ..CalendarSpan::default()
            };
            span.to_string()
        };
        assert_eq!(shown((4, 12)), "April to December of 2025");
        assert_eq!(shown((2, 2)), "February of 2025");
    }

    #[test]
    fn labels_and_questions_name_the_same_periods() {
        for text in [
            "Q3 2022", "3Q22", "third quarter of 2022", "2022 Q3",
            "three months ended September 30, 2022",
        ] {
            assert_eq!(named(text), [(Some(2022), Some((7, 9)))], "{text}");
        }
        for text in [
            "FY 2022", "fiscal 2022", "fiscal year 2022", "year ended December 31, 2022", "FY22",
        ] {
            assert_eq!(named(text), [(Some(2022), Some(WHOLE))], "{text}");
        }
        assert_eq!(named("2021/22"), [(Some(2022), None)]);
        assert_eq!(named("H1 2023"), named("first half of 2023"));
        assert_eq!(named("H1 2023"), named("first six months of 2023"));
        assert_eq!(named("Jan 2024"), [(Some(2024), Some((1, 1)))]);
        assert_eq!(
            named("six months ended June 30, 2023"),
            [(Some(2023), Some((1, 6)))]
        );
    }

    #[test]
    fn a_part_of_a_year_takes_the_year_of_the_question() {
        let (q3, q4) = (Some((7, 9)), Some((10, 12)));
        assert_eq!(
            named("from Q3 to Q4 2022"),
            [(Some(2022), q3), (Some(2022), q4)]
        );
        assert_eq!(
            named("in Q3 from 2021 to 2022"),
            [(Some(2021), q3), (Some(2022), q3)]
        );
        assert_eq!(
            named("in Q3 2022 and 2021"),
            [(Some(2022), q3), (Some(2021), q3)]
        );
        assert_eq!(named("in Q3"), [(None, q3)]);
    }

    #[test]
    fn amounts_and_verbs_are_not_periods() {
        for text in [
            "$ 2014", "2,014 shares", "2014.5", "what may sales be", "five years",
        ] {
            assert_eq!(named(text), [], "{text}");
        }
    }
}
