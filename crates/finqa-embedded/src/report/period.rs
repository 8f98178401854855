//! The periods of a report's columns, and those that questions name in a person's words.

use std::sync::LazyLock;

use finqa_core::page::{Cover, MONTHS};
use finqa_core::regex;
use regex::Regex;

/// A day, a month or a year, as far as it is named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    pub(super) year: Option<u16>,
    pub(super) month: Option<u8>,
    pub(super) day: Option<u8>,
}

/// A period or a point in time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Period {
    /// How long it is: 3, 6, 9 or 12.
    pub(super) months: Option<u8>,
    /// Its first day, where it is named: "July 22 to September 30".
    pub(super) start: Option<Date>,
    pub(super) end: Date,
    /// Which quarter of its fiscal year it is.
    pub(super) quarter: Option<u8>,
    /// Only a point in time is meant: "at year end".
    pub(super) instant: bool,
}

/// The length of the year so far.
const TO_DATE: u8 = 0;

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let month = "(?:january|february|march|april|may|june|july|august|september|october|november\
        |december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)";
    let year = r"(?:19|20)\d\d";
    regex!(&format!(
        r"\b(?P<iso>{year})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b|\b(?:(?P<d1>\d\d?)(?:st|nd|rd|th)? )?(?P<m>{month})\b\.?(?: (?P<d>\d\d?)(?:st|nd|rd|th)?\b)?(?: ?,? ?(?:of )?(?P<y>{year})\b)?|\b(?P<bare>{year})\b|\bfy ?'?(?P<short>\d\d)\b"
    ))
});

/// How long a period is by its words; the first that is said counts.
static LENGTHS: LazyLock<Vec<(Regex, u8)>> = LazyLock::new(|| {
    let weeks = |numbers: &str| format!(r"\b(?:{numbers})[- ]weeks?\b");
    let forms = [
        (weeks("1[2-7]|twelve|thirteen|sixteen|seventeen"), 3),
        (weeks("2[4-8]|twenty[- ](?:four|six)"), 6),
        (weeks("3[6-9]|40|thirty[- ](?:six|nine)"), 9),
        (weeks("5[23]|fifty[- ](?:two|three)"), 12),
        (r"\byear[- ]to[- ]date\b|\bytd\b".to_owned(), TO_DATE),
        (r"\b(?:three|3)[- ]months?\b".to_owned(), 3),
        (r"\b(?:six|6)[- ]months?\b".to_owned(), 6),
        (r"\b(?:nine|9)[- ]months?\b".to_owned(), 9),
        (r"\b(?:twelve|12)[- ]months?\b".to_owned(), 12),
        (
            r"\bh[12]\b|\b(?:first|second|1st|2nd)[- ]half\b|\bhalf[- ]year".to_owned(),
            6,
        ),
        (
            r"\bq[1-4]\b|\b[1-4]q\b|\bquarter(?:ly)?\b|\bqtr\b".to_owned(),
            3,
        ),
        (
            r"\byears? end(?:ed|ing)\b|\bfiscal (?:years? )?(?:19|20)\d\d|\bfy ?'?\d\d|\b(?:full|entire|whole)[- ](?:fiscal )?year\b|\bannual(?:ly)?\b"
                .to_owned(),
            12,
        ),
    ];
    let compiled = |(form, months): (String, u8)| (regex!(&form), months);
    forms.into_iter().map(compiled).collect()
});

static QUARTER: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\bq([1-4])\b|\b([1-4])q\b|\b(first|second|third|fourth|1st|2nd|3rd|4th)[- ](?:fiscal )?quarter"
    )
});

static INSTANT: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"\b(?:at|as of|as at|on|since) (?:[a-z]{3,9}\.? \d|\d\d? [a-z]{3,9} |(?:19|20)\d\d-)|\b(?:at|by) the end\b|\bend of\b|\b(?:year|quarter|period)[- ]end\b"
    )
});

/// The word between the ends of a period.
static JOINS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"^ ?(?:to|through|until|and|-|\u{2013}|\u{2014}) ?$"));

/// What a text says of time, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Times {
    pub(super) periods: Vec<Period>,
    /// The text without what was read.
    pub(super) rest: String,
}

impl Times {
    /// Reads a text in lower case.
    pub(super) fn read(text: &str) -> Self {
        let months = LENGTHS
            .iter()
            .find_map(|(form, months)| form.is_match(text).then_some(*months));
        let quarter = QUARTER.captures(text).and_then(|found| {
            let word = found.iter().skip(1).flatten().next()?.as_str();
            let words = ["1st", "2nd", "3rd", "4th"];
            let names = ["first", "second", "third", "fourth"];
            let at = words.iter().position(|other| *other == word);
            let at = at.or_else(|| names.iter().position(|other| *other == word));
            at.and_then(|at| u8::try_from(at + 1).ok())
                .or_else(|| word.parse().ok())
        });
        let shared = Period {
            months,
            quarter,
            instant: INSTANT.is_match(text),
            ..Period::default()
        };
        let mut found: Vec<(std::ops::Range<usize>, Period)> = Vec::new();
        for captures in DATE.captures_iter(text) {
            let Some(whole) = captures.get(0) else {
                continue;
            };
            let group = |names: &[&str]| {
                let group = names.iter().find_map(|name| captures.name(name))?;
                Some(group.as_str())
            };
            let month = group(&["m"]).and_then(month_of);
            let end = Date {
                year: group(&["iso", "y", "bare"])
                    .and_then(|year| year.parse().ok())
                    .or_else(|| Some(2000 + group(&["short"])?.parse::<u16>().ok()?)),
                month: month.or_else(|| group(&["iso_m"])?.parse().ok()),
                day: group(&["iso_d", "d", "d1"]).and_then(|day| day.parse().ok()),
            };
            // "May" alone is a verb.
            if whole.as_str() == "may" {
                continue;
            }
            let period = Period { end, ..shared };
            match found.last_mut() {
                // The start of a period is of the same year.
                Some((at, before))
                    if before.end.year.is_none_or(|year| end.year == Some(year))
                        && before.end.month.is_some()
                        && before.start.is_none()
                        && month.is_some()
                        && JOINS.is_match(text.get(at.end..whole.start()).unwrap_or_default()) =>
                {
                    let start = Date {
                        year: None,
                        ..before.end
                    };
                    *before = Period {
                        start: Some(start),
                        ..period
                    };
                    at.end = whole.end();
                }
                _ => found.push((whole.range(), period)),
            }
        }
        let mut rest = String::new();
        let mut from = 0;
        for (at, _) in &found {
            rest.push_str(text.get(from..at.start).unwrap_or_default());
            from = at.end;
        }
        rest.push_str(text.get(from..).unwrap_or_default());
        rest = QUARTER.replace_all(&rest, " ").into_owned();
        for (form, _) in LENGTHS.iter() {
            rest = form.replace_all(&rest, " ").into_owned();
        }
        let mut periods: Vec<Period> = found.into_iter().map(|(_, period)| period).collect();
        periods.iter_mut().for_each(Period::measure);
        // "From December 31 to June 30": two points in time.
        if periods.len() > 1 && months.is_none() {
            let points = periods
                .iter()
                .all(|one| one.end.day.is_some() && one.start.is_none());
            periods.iter_mut().for_each(|one| one.instant |= points);
        }
        if periods.is_empty() && (months.is_some() || shared.instant) {
            periods.push(shared);
        }
        Self { periods, rest }
    }

    /// The one period of a heading; a heading with two years is of a change.
    pub(super) fn heading(text: &str) -> (Option<Period>, String) {
        let Self { periods, rest } = Self::read(&text.to_lowercase());
        let mut years: Vec<u16> = periods.iter().filter_map(|one| one.end.year).collect();
        years.dedup();
        if years.len() > 1 {
            return (None, text.to_lowercase());
        }
        let year = years.first().copied();
        let dated = |one: &&Period| one.start.is_some();
        let monthly = |one: &&Period| one.end.month.is_some();
        let best = periods.iter().rfind(dated);
        let best = best
            .or_else(|| periods.iter().rfind(monthly))
            .or(periods.last());
        let period = best.map(|one| Period {
            end: Date { year, ..one.end },
            instant: false,
            ..*one
        });
        (period, rest)
    }
}

/// By the first three letters.
fn month_of(word: &str) -> Option<u8> {
    let short = word.get(..3)?;
    let at = MONTHS.iter().position(|month| month.starts_with(short))?;
    u8::try_from(at + 1).ok()
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

    /// The same period of the year before.
    pub(super) fn year_before(self) -> Self {
        let end = Date {
            year: self.end.year.map(|year| year.saturating_sub(1)),
            month: month_of_end(self.end),
            day: None,
        };
        Self { end, ..self }
    }

    /// What it does not say, from a heading over it.
    pub(super) fn or(self, over: Self) -> Self {
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
}

/// The fiscal years of a company.
#[derive(Clone, Copy, Debug)]
pub(super) struct FiscalYears {
    /// The month that they end in.
    last_month: u8,
    /// How many years earlier they are called than they end.
    behind: u16,
}

impl FiscalYears {
    /// By the cover, or else by the month that most whole years of the columns end in.
    pub(super) fn read(cover: &Cover, columns: &[Period], weekly: bool) -> Self {
        let months_of = |is: &dyn Fn(&Period) -> bool| -> Vec<u8> {
            let all = columns.iter().filter(|period| is(period));
            all.filter_map(|period| month_of_end(period.end)).collect()
        };
        // A balance sheet of a quarter shows the end of the year before.
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
        let common = (1..=12).max_by_key(|month| months.iter().filter(|m| *m == month).count());
        let last_month = cover.year_end.or(common.filter(|_| !months.is_empty()));
        let plain = Self {
            last_month: last_month.unwrap_or(12),
            behind: 0,
        };
        let named = cover
            .fiscal_year
            .zip(plain.year_of(Times::heading(&cover.period_end).0));
        // Retailers call a year that ends in January by its first month.
        let retail = u16::from(weekly && plain.last_month == 1);
        let behind = named.map_or(retail, |(named, ends)| ends.saturating_sub(named));
        Self { behind, ..plain }
    }

    /// The fiscal year that a period ends in.
    fn year_of(self, period: Option<Period>) -> Option<u16> {
        let end = period?.end;
        let later = month_of_end(end).is_some_and(|month| month > self.last_month);
        end.year
            .map(|year| year + u16::from(later))
            .map(|year| year.saturating_sub(self.behind))
    }

    fn quarter_of(self, end: Date) -> Option<u8> {
        let months = (month_of_end(end)? + 24 - self.last_month - 1) % 12;
        Some(months / 3 + 1)
    }

    /// Whether a column is of the period that a question names.
    pub(super) fn fits(self, column: &Period, asked: &Period) -> bool {
        let (end, of) = (column.end, asked.end);
        if let Some(start) = asked.start {
            return column.start == Some(start) && self.same_end(end, of);
        }
        if let (Some(asked), Some(months)) =
            (asked.months.filter(|_| !asked.instant), column.months)
            && asked != months
        {
            return false;
        }
        if asked.instant && column.months.is_some() {
            return false;
        }
        // A balance is of a day, what a part of a year brought is not.
        let part = asked.months.is_some_and(|months| months < 12) && !asked.instant;
        if part && column.months.is_none() && end.day.is_some() {
            return false;
        }
        // A year alone is not known to be a part of one.
        let undated = column.months.is_none() && end.month.is_none();
        if (part || asked.quarter.is_some()) && undated {
            return false;
        }
        if asked.quarter.is_some() && column.quarter.is_some() && asked.quarter != column.quarter {
            return false;
        }
        if let (Some(quarter), Some(_), None) = (asked.quarter, end.month, of.day)
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
        // A year without more ends with the company's.
        let whole = asked.quarter.is_none() && asked.months.is_none_or(|months| months == 12);
        let ends = month_of_end(end).is_none_or(|month| month == self.last_month);
        let length = asked.months.is_some() || column.months.is_none_or(|months| months == 12);
        (!whole || ends && length) && self.year_of(Some(*column)) == Some(year)
    }

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
        // A year alone is a company's whole year.
        let whole = end.month.is_some() || of_month == Some(self.last_month);
        same_day && year && same_month && whole
    }
}

/// The month that a period is called by: one that ends on the first days of a month is of the
/// month before.
fn month_of_end(end: Date) -> Option<u8> {
    let month = end.month?;
    let early = end.day.is_some_and(|day| day <= 7);
    Some(if early { (month + 10) % 12 + 1 } else { month })
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
            let found = years.fits(&heading(column), &asked_for.periods[0]);
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
        let asked = &Times::read("sales in fiscal 2024").periods[0];
        assert!(years.fits(&heading("Fiscal year ended February 1, 2025"), asked));
        assert!(!years.fits(&heading("Fiscal year ended February 3, 2024"), asked));
    }
}
