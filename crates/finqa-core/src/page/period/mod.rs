//! The periods that headings of columns and people's questions name: years, halves, quarters,
//! months, days, and weeks as retailers count them.

mod dates;
mod fiscal;
mod times;

use super::years::MONTHS;
pub use dates::DayOrder;
pub use fiscal::FiscalYears;
pub use times::{Times, blank};

/// A day, a month or a year, as far as it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    pub year: Option<u16>,
    pub month: Option<u8>,
    pub day: Option<u8>,
}

/// A period or a point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// How long it is, in months.
    pub months: Option<u8>,
    /// Its first day, where it is named: "July 22 to September 30". Of a season, "2021/22", its
    /// first year.
    pub start: Option<Date>,
    pub end: Date,
    /// Which quarter of its fiscal year it is, or which half.
    pub quarter: Option<u8>,
    /// Only a point in time is meant: "at year end".
    pub instant: bool,
}

impl Period {
    /// Takes the length from the start, if there is one.
    fn measure(&mut self) {
        if let Some(start) = self.start
            && let (Some(first), Some(last)) = (start.month, self.end.month)
        {
            // "January-June" counts both; a day may begin in the middle.
            let from_middle = start.day.is_some_and(|day| day > 7);
            self.months = Some((last + 13 - first) % 12 - u8::from(from_middle && last != first))
                .map(|months| if months == 0 { 12 } else { months });
            if start.day.is_none() {
                self.start = None;
            }
        }
    }

    /// Both together; the shorter length is meant: "nine months of fiscal 2024".
    fn with(self, other: Self) -> Self {
        let months = match (self.months, other.months) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        let (a, b) = (self.end, other.end);
        Self {
            months,
            start: self.start.or(other.start),
            end: Date {
                year: a.year.or(b.year),
                month: a.month.or(b.month),
                day: a.day.or(b.day),
            },
            quarter: self.quarter.or(other.quarter),
            instant: false,
        }
    }

    /// The same period of the year before.
    pub fn year_before(self) -> Self {
        let year_less = |year: Option<u16>| year.map(|year| year.saturating_sub(1));
        let end = Date {
            year: year_less(self.end.year),
            month: month_of_end(self.end),
            day: None,
        };
        let start = self.start.map(|start| Date {
            year: year_less(start.year),
            ..start
        });
        Self { start, end, ..self }
    }

    /// What it does not say, from a heading over it.
    pub fn or(self, over: Self) -> Self {
        let undated = self.end == Date::default();
        Self {
            months: self.months.or(over.months),
            start: self.start.or(over.start.filter(|_| undated)),
            end: Date {
                year: self.end.year.or(over.end.year),
                month: self.end.month.or(over.end.month),
                day: self
                    .end
                    .day
                    .or(over.end.day.filter(|_| self.end.month.is_none())),
            },
            quarter: self.quarter.or(over.quarter),
            instant: false,
        }
    }

    /// Its number of months.
    pub fn length(self) -> u8 {
        let dated = match (self.end.month, self.end.day) {
            (Some(_), None) => 1,
            _ => 12,
        };
        self.months.unwrap_or(dated)
    }

    pub fn is_season(self) -> bool {
        self.start.is_some_and(|start| start.year.is_some())
    }

    /// Its last month, by its own words.
    fn last_month(self) -> u8 {
        let of_part = self.quarter.map(|part| part * self.length());
        self.end.month.or(of_part).unwrap_or(12)
    }

    /// By its end; of two with one end the longer comes later.
    pub fn order(self) -> (Option<u16>, u8, Option<u8>, u8) {
        (
            self.end.year,
            self.last_month(),
            self.end.day,
            self.length(),
        )
    }
}

impl std::fmt::Display for Period {
    /// As a reader would name it: `third quarter of 2022`, `six months to June of 2025`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let month = self
            .end
            .month
            .and_then(|at| MONTHS.get(usize::from(at).checked_sub(1)?));
        let month = month.and_then(|name| {
            let (first, rest) = name.split_at_checked(1)?;
            Some(first.to_ascii_uppercase() + rest)
        });
        let nth = ["first", "second", "third", "fourth"];
        let nth = self
            .quarter
            .and_then(|part| nth.get(usize::from(part).checked_sub(1)?));
        let part = match (month, self.end.day, self.months, nth) {
            (Some(month), Some(day), ..) => format!("{day} {month}"),
            (Some(month), None, None | Some(1 | 12), _) => month,
            (Some(month), None, Some(length), _) => format!("{length} months to {month}"),
            (None, _, Some(6), Some(nth)) => format!("{nth} half"),
            (None, _, Some(3), Some(nth)) => format!("{nth} quarter"),
            (None, _, Some(length @ 1..12), _) => format!("{length} months"),
            _ => String::new(),
        };
        match (part.is_empty(), self.end.year) {
            (true, Some(year)) => write!(f, "{year}"),
            (true, None) => f.write_str("full year"),
            (false, Some(year)) => write!(f, "{part} of {year}"),
            (false, None) => f.write_str(&part),
        }
    }
}

/// The month that a period is called by: one that ends on the first days of a month is of the
/// month before.
fn month_of_end(end: Date) -> Option<u8> {
    let month = end.month?;
    let early = end.day.is_some_and(|day| day <= 7);
    Some(if early { (month + 10) % 12 + 1 } else { month })
}
