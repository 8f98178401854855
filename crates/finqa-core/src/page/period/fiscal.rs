//! Determines when a company's fiscal years end, and whether a column has the period that a
//! question names.

use super::{Date, Period, Times, month_of_end};
use crate::page::Cover;

/// The end of a company's fiscal years, and the rule by which the years are numbered.
#[derive(Clone, Copy, Debug)]
pub struct FiscalYears {
    /// The month in which the years end.
    last_month: u8,
    /// The difference between the calendar year in which a fiscal year ends and the number of the
    /// fiscal year. It is 1 if fiscal 2024 ends in 2025.
    behind: u16,
    /// True if years end in January and nothing tells how they are numbered.
    unclear: bool,
}

impl FiscalYears {
    /// Reads when fiscal years end and how they are numbered. They end in the month that the cover
    /// states; otherwise in the month in which most columns for 12 months end; otherwise in that of
    /// most dated columns, except for the report's own period; otherwise in December.
    pub fn read(cover: &Cover, columns: &[Period], weekly: bool) -> Self {
        let months_of = |is: &dyn Fn(&Period) -> bool| -> Vec<u8> {
            let all = columns.iter().filter(|period| is(period));
            all.filter_map(|period| month_of_end(period.end)).collect()
        };
        // The balance sheet in a quarterly report also has a column for the end of the last fiscal
        // year.
        let lasting = columns.iter().filter(|period| period.months.is_some());
        let latest = lasting.map(|period| period.end).max();
        let own = Times::heading(&cover.period_end).0.map(|period| period.end);
        let of_quarter = own.or(latest).and_then(month_of_end);
        let other = |period: &Period| {
            period.months.is_none()
                && period.end.day.is_some()
                && month_of_end(period.end) != of_quarter
        };
        let mut months = months_of(&|period| period.months == Some(12));
        if months.is_empty() {
            months = months_of(&other);
        }
        // On a tie, the latest month counts.
        let common = (1..=12).max_by_key(|month| months.iter().filter(|m| *m == month).count());
        let last_month = cover.year_end.or(common.filter(|_| !months.is_empty()));
        let plain = Self {
            // Assume calendar years if neither the cover nor a column tells.
            last_month: last_month.unwrap_or(12),
            behind: 0,
            unclear: false,
        };
        let named = cover
            .fiscal_year
            .zip(plain.year_of(Times::heading(&cover.period_end).0));
        // Retailers name a year that ends in January after the year in which it began.
        let retail = u16::from(weekly && plain.last_month == 1);
        let behind = named.map_or(retail, |(named, ends)| ends.saturating_sub(named));
        Self {
            behind,
            unclear: named.is_none() && !weekly && plain.last_month == 1,
            ..plain
        }
    }

    /// The difference between the calendar year in which a fiscal year ends and its number.
    pub fn behind(self) -> u16 {
        self.behind
    }

    /// True if a question names a year that may have another number in a dated column. Many
    /// companies name a year that ends in January after the year before.
    pub fn is_unclear(self, column: &Period, asked: &Period) -> bool {
        let named = asked.end.year.is_some() && asked.end.month.is_none();
        self.unclear && named && column.end.month.is_some()
    }

    /// The fiscal year in which a period ends. A period that consists only of a year is already a
    /// fiscal year. `None` without a year.
    pub fn year_of(self, period: Option<Period>) -> Option<u16> {
        let end = period?.end;
        let (Some(year), Some(month)) = (end.year, month_of_end(end)) else {
            return end.year;
        };
        let later = u16::from(month > self.last_month);
        Some((year + later).saturating_sub(self.behind))
    }

    /// The quarter of the fiscal year in which a date is, from 1. `None` if the date has no month.
    pub fn quarter_of(self, end: Date) -> Option<u8> {
        // The months before this one in the fiscal year. Adding 24 keeps the difference positive.
        let months = (month_of_end(end)? + 24 - self.last_month - 1) % 12;
        Some(months / 3 + 1)
    }

    /// True if a column has the period that a question names.
    pub fn fits(self, column: &Period, asked: &Period) -> bool {
        let (end, of) = (column.end, asked.end);
        if let Some(start) = asked.start {
            let same_end = match start.year {
                Some(_) => end.year == of.year,
                None => self.same_end(end, of),
            };
            return column.start == Some(start) && same_end;
        }
        if let (Some(asked), Some(months)) =
            (asked.months.filter(|_| !asked.instant), column.months)
            && asked != months
        {
            return false;
        }
        // A question about a point in time is about a balance, which has no length.
        if asked.instant && column.months.is_some() {
            return false;
        }
        // A question about part of a year cannot be about a balance, because a balance has a single
        // day.
        let part = asked.months.is_some_and(|months| months < 12) && !asked.instant;
        if part && column.months.is_none() && end.day.is_some() {
            return false;
        }
        // A column that names only a year is not read as part of a year.
        let undated = column.months.is_none() && end.month.is_none();
        if (part || asked.quarter.is_some()) && undated {
            return false;
        }
        if asked.quarter.is_some() && column.quarter.is_some() && asked.quarter != column.quarter {
            return false;
        }
        // The length of three months excludes halves, whose number is also in `quarter`.
        if let (Some(quarter), Some(3), Some(_)) = (asked.quarter, asked.months, end.month)
            && self.quarter_of(end) != Some(quarter)
        {
            return false;
        }
        if of.month.is_some() {
            return self.same_end(end, of);
        }
        let Some(year) = of.year else {
            return true;
        };
        // A year without a quarter or month means the company's fiscal year.
        let whole = asked.quarter.is_none() && asked.months.is_none_or(|months| months == 12);
        let ends = month_of_end(end).is_none_or(|month| month == self.last_month);
        // A length that the question names was compared above.
        let length = asked.months.is_some() || column.months.is_none_or(|months| months == 12);
        (!whole || ends && length) && self.year_of(Some(*column)) == Some(year)
    }

    /// True if a column may end on the date that a question names. A day or year that either lacks
    /// fits any.
    fn same_end(self, end: Date, of: Date) -> bool {
        let same_day = of.day.is_none() || end.day.is_none() || of.day == end.day;
        let month = if of.day.is_some() && end.day.is_some() {
            end.month
        } else {
            month_of_end(end)
        };
        let of_month = if of.day.is_some() && end.day.is_none() {
            month_of_end(of)
        } else {
            of.month
        };
        let year = of.year.is_none() || end.year.is_none_or(|year| Some(year) == of.year);
        let same_month = month.is_none_or(|month| Some(month) == of_month);
        // A column that names only a year is a whole fiscal year.
        let whole = end.month.is_some() || of_month == Some(self.last_month);
        same_day && year && same_month && whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heading(text: &str) -> Period {
        Times::heading(text).0.unwrap()
    }

    #[test]
    fn headings_and_questions_meet() {
        let years = FiscalYears {
            last_month: 9,
            behind: 0,
            unclear: false,
        };
        for (column, asked, fits) in [
            (
                "Years ended September 28,2024", "net income in fiscal 2024", true,
            ),
            ("Years ended September 28,2024", "net income in 2024", true),
            (
                "Nine Months Ended June 29, 2024", "net income in 2024", false,
            ),
            (
                "Nine Months Ended June 29, 2024", "nine months of fiscal 2024", true,
            ),
            (
                "Three Months Ended July 1, 2023", "the June 2023 quarter", true,
            ),
            (
                "Three Months Ended July 1, 2023", "quarter ended July 1, 2023", true,
            ),
            (
                "Three Months Ended July 1, 2023", "third quarter of fiscal 2023", true,
            ),
            ("Three Months Ended July 1, 2023", "q1 2023", false),
            ("June 29, 2024", "at the end of fiscal 2024", false),
            ("September 28, 2024", "at the end of fiscal 2024", true),
            ("2024", "fiscal 2024", true),
            ("2024", "third quarter of 2024", false),
            ("2024", "six months of 2024", false),
            ("2024", "at the end of the third quarter of 2024", false),
            ("Q2 2024", "third quarter of 2024", false),
            ("Q3 2024", "third quarter of 2024", true),
            (
                "39 Weeks Ended November 2, 2024", "the 39 weeks ended November 2, 2024", true,
            ),
            (
                "Successor July 22 to September 30 2023", "July 22 to September 30, 2023", true,
            ),
            (
                "Predecessor July 1 to July 21 2023", "July 22 to September 30, 2023", false,
            ),
            ("6 Months Ended Mar. 29, 2025", "January-June 2025", false),
            ("January-June 2025", "first half of 2025", true),
        ] {
            let asked_for = Times::read(&asked.to_lowercase());
            let found = years.fits(&heading(column), &asked_for.found[0].1);
            assert_eq!(found, fits, "{column} for {asked}: {asked_for:?}");
        }
    }

    #[test]
    fn a_year_may_be_called_by_its_first_month() {
        let cover = Cover {
            period_end: "February 1, 2025".to_owned(),
            fiscal_year: Some(2024),
            year_end: Some(1),
            ..Cover::default()
        };
        let years = FiscalYears::read(&cover, &[], false);
        let asked = &Times::read("sales in fiscal 2024").found[0].1;
        assert!(years.fits(&heading("Fiscal year ended February 1, 2025"), asked));
        assert!(!years.fits(&heading("Fiscal year ended February 3, 2024"), asked));
        assert!(!years.is_unclear(&heading("Fiscal year ended February 1, 2025"), asked));
        // A heading that names the fiscal year itself is not shifted.
        for (named, fits) in [("Fiscal 2024", true), ("2024", true), ("FY25", false)] {
            assert_eq!(years.fits(&heading(named), asked), fits, "{named}");
        }
    }

    #[test]
    fn a_year_that_ends_in_january_is_unclear_unless_the_cover_names_it() {
        let cover = Cover {
            period_end: "January 28, 2023".to_owned(),
            ..Cover::default()
        };
        let column = heading("Fiscal Year Ended January 28, 2023");
        let years = FiscalYears::read(&cover, &[column], false);
        for (asked, unclear) in [
            ("sales in fiscal 2022", true),
            ("sales in the year ended January 28, 2023", false),
        ] {
            let asked = &Times::read(&asked.to_lowercase()).found[0].1;
            assert_eq!(years.is_unclear(&column, asked), unclear, "{asked:?}");
        }
        let asked = &Times::read("sales in fiscal 2022").found[0].1;
        assert!(!years.is_unclear(&heading("Fiscal 2022"), asked));
    }
}
