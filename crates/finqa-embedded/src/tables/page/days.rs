//! Compares the days on which periods end.

use finqa_core::page::period::Date;

/// True if two dates are at most about a week apart within a year. Fiscal years that end on a day
/// of the week end on slightly different dates.
pub(super) fn is_same_day(a: Date, b: Date) -> bool {
    let day = |date: Date| Some(31 * i32::from(date.month?) + i32::from(date.day?));
    day(a).zip(day(b)).is_some_and(|(a, b)| (a - b).abs() <= 7)
}
