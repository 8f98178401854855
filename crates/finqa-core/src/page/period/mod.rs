//! Reads the periods that column headings and questions name: years, halves, quarters, months,
//! days, and the weeks that retailers count.

mod dates;
mod fiscal;
mod times;

use super::years::MONTHS;
pub use dates::DayOrder;
pub use fiscal::FiscalYears;
pub use times::{Times, blank};

/// The length of a year to date, which the text does not state.
pub const TO_DATE: u8 = 0;

/// A date. Parts that the text does not name are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    pub year: Option<u16>,
    pub month: Option<u8>,
    pub day: Option<u8>,
}

/// A period or a point in time. Parts that the text does not name are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// The length in months; [`TO_DATE`] for a year to date.
    pub months: Option<u8>,
    /// The first day, as in "July 22 to September 30". For a season such as "2021/22", the first
    /// year.
    pub start: Option<Date>,
    pub end: Date,
    /// The number of the quarter or half in its fiscal year, from 1.
    pub quarter: Option<u8>,
    /// True for a point in time instead of a period: "at year end".
    pub instant: bool,
}

impl Period {
    /// Computes the length from the months of the start and the end, if both are named.
    fn measure(&mut self) {
        if let Some(start) = self.start
            && let (Some(first), Some(last)) = (start.month, self.end.month)
        {
            // "January-June" includes both months. If the start is after the 7th (set by hand, as
            // in `month_of_end`), its month does not count. A remainder of 0 is a whole year.
            let from_middle = start.day.is_some_and(|day| day > 7);
            self.months = Some((last + 13 - first) % 12 - u8::from(from_middle && last != first))
                .map(|months| if months == 0 { 12 } else { months });
            if start.day.is_none() {
                self.start = None;
            }
        }
    }

    /// Combines two mentions of one period. The shorter length is the one that is meant: "nine
    /// months of fiscal 2024".
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
            // `Times::read_in` sets it later, for all periods of the text.
            instant: false,
        }
    }

    /// The same period one year earlier.
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

    /// Fills in the parts that the period lacks from a heading above it.
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

    /// The length in months. If no length is named, it is 1 for a month without a day and 12 for
    /// everything else.
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

    /// The last month: the named one, or else the last month of the quarter or half, or else
    /// December.
    pub fn last_month(self) -> u8 {
        let of_part = self.quarter.map(|part| part.saturating_mul(self.length()));
        self.end.month.or(of_part).unwrap_or(12)
    }

    /// A key for sorting by end. If two periods have the same end, the longer one comes later.
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
    /// Prints the period in words: `third quarter of 2022`, `6 months to June of 2025`.
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
            // A year is named by its last month alone.
            (Some(month), None, None | Some(1 | 12), _) => month,
            (Some(month), None, Some(length), _) => format!("{length} months to {month}"),
            (None, _, Some(6), Some(nth)) => format!("{nth} half"),
            (None, _, Some(3), Some(nth)) => format!("{nth} quarter"),
            (None, _, Some(TO_DATE), _) => "year to date".to_owned(),
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

/// The month by which a period is named. If a period ends in the first seven days of a month, this
/// is the month before, because years of 52 or 53 weeks can end a few days after the month. The
/// limit of seven days is set by hand.
fn month_of_end(end: Date) -> Option<u8> {
    let month = end.month?;
    let early = end.day.is_some_and(|day| day <= 7);
    // The month before January is December.
    Some(if early { (month + 10) % 12 + 1 } else { month })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_period_of_a_tag_has_a_length_and_an_end() {
        for (tag, expected, months) in [
            ("2031-09-28", "28 September of 2031", None),
            ("2030-09-29 to 2031-09-28", "28 September of 2031", Some(12)),
            ("2031-07-01 to 2031-09-30", "30 September of 2031", Some(3)),
            ("2030-12-30 to 2031-06-29", "29 June of 2031", Some(6)),
        ] {
            let period = Period::of_tag(tag).unwrap();
            assert_eq!(period.to_string(), expected, "{tag}");
            assert_eq!(period.months, months, "{tag}");
        }
        assert_eq!(Period::of_tag("forever"), None);
    }
}
