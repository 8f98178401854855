//! Recognizes days, and compares those on which periods end.

use finqa_core::page::period::{Date, DayOrder, Times};

use crate::tables::words::plain_stems;

/// True if two dates are at most about a week apart within a year. Fiscal years that end on a day
/// of the week end on slightly different dates.
pub(super) fn is_same_day(a: Date, b: Date) -> bool {
    let day = |date: Date| Some(31 * i32::from(date.month?) + i32::from(date.day?));
    day(a).zip(day(b)).is_some_and(|(a, b)| (a - b).abs() <= 7)
}

/// True for a text that is a day and nothing else, in either order of day and month.
pub(crate) fn is_day(text: &str) -> bool {
    let orders = [DayOrder::DayFirst, DayOrder::MonthFirst];
    orders.into_iter().any(|order| {
        let (period, rest) = Times::heading_in(text, order);
        let end = period.map(|period| period.end);
        end.is_some_and(|end| end.day.is_some()) && plain_stems(&rest).is_empty()
    })
}
