//! Finds the dates that a text names, in digits or words.

use std::ops::Range;
use std::sync::LazyLock;

use regex::{Captures, Match, Regex};

use super::{Date, Period};
use crate::page::years::{MONTHS, is_amount, year_of_two_digits};
use crate::pattern;
use crate::regex;
use crate::text::Pattern;

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let month = "(?:january|february|march|april|may|june|july|august|september|october|november\
        |december|januar|februar|m\u{e4}rz|mai|juni|juli|oktober|dezember\
        |jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)";
    let year = r"(?:19|20)\d\d";
    let nth = "(?:st|nd|rd|th)?";
    // The letter means actual, budgeted, expected, forecast or projected: "FY2024A", "1Q25E".
    let mark = "[abefp]?";
    // At one place, the first form that matches counts, so a bare year comes after the full dates.
    let forms = [
        format!(r"\b(?P<iso>{year})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b"),
        format!(r"\b(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<slash>{year}|\d\d)\b"),
        format!(r"\b(?P<dot_d>\d\d?)\.(?P<dot_m>\d\d?)\.(?P<dot>{year})\b"),
        format!(r"\b(?:fy ?)?(?P<first>{year})[/\u{{2013}}-](?P<last>(?:20)?\d\d){mark}\b"),
        format!(r"\b(?P<m_y>{month})[-/'] ?'?(?P<y_m>\d\d){mark}\b"),
        format!(
            r"\b(?:(?P<d1>\d\d?){nth} (?:of )?)?(?P<m>{month})\b\.?(?: (?P<d>\d\d?){nth}\b)?(?: ?,? ?(?:of )?(?P<y>{year})\b)?"
        ),
        // A spreadsheet may write the year as "2031.0".
        format!(r"\b(?:(?:[fc]y|f) ?'?)?(?P<bare>{year})(?:\.0|{mark})\b"),
        format!(r"\b[fc]y ?'?(?P<short>\d\d){mark}\b"),
        format!(r"\b(?:q[1-4]|[1-4]q|h[12]|[12]h)[ -]?'?(?P<of_part>\d\d){mark}\b"),
    ];
    regex!(&forms.join("|"))
});

/// Text that may separate the first and the last date of a period.
static JOINS: Pattern = pattern!(r"^ ?(?:to|through|until|and|-|\u{2013}|\u{2014}) ?$");

/// Whether the day or the month comes first in dates like `03/04/31`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DayOrder {
    DayFirst,
    MonthFirst,
    #[default]
    Unknown,
}

impl DayOrder {
    /// Finds the order from those dates in which only one order is possible. `Unknown` if there are
    /// no such dates or they disagree.
    pub fn of<'t>(texts: impl Iterator<Item = &'t str>) -> Self {
        let (mut days, mut months) = (false, false);
        for text in texts {
            for date in DATE.captures_iter(&text.to_lowercase()) {
                let number = |name| date.name(name)?.as_str().parse::<u8>().ok();
                days |= number("a").is_some_and(|first| first > 12);
                months |= number("b").is_some_and(|second| second > 12);
            }
        }
        match (days, months) {
            (true, false) => Self::DayFirst,
            (false, true) => Self::MonthFirst,
            _ => Self::Unknown,
        }
    }

    /// The month and day for two numbers. `None` if the order is unknown and matters, or if the
    /// numbers are not a month and a day in any order.
    fn month_and_day(self, a: u8, b: u8) -> Option<(u8, u8)> {
        let (month, day) = match self {
            _ if a > 12 => (b, a),
            _ if b > 12 || a == b => (a, b),
            Self::MonthFirst => (a, b),
            Self::DayFirst => (b, a),
            Self::Unknown => return None,
        };
        ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((month, day))
    }
}

/// A period and its place in the text.
pub(super) type Named = (Range<usize>, Period);

/// Finds the dates of a text. The first and last date of a period become one entry. The second list
/// has the dates whose day and month cannot be told apart.
pub(super) fn dates(text: &str, order: DayOrder) -> (Vec<Named>, Vec<Range<usize>>) {
    let mut out: Vec<Named> = Vec::new();
    let mut unknown = Vec::new();
    // "Dec-31" is a month of 2031, unless a year is next to it; then 31 is the day.
    let mut short: Option<(usize, u8)> = None;
    for captures in DATE.captures_iter(text) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        let found = FoundDate(captures);
        let Some(end) = found.date(order) else {
            unknown.push(whole.range());
            continue;
        };
        if found.is_no_date(text, whole.range()) {
            continue;
        }
        let mut period = Period {
            end,
            ..Period::default()
        };
        let last = found.0.name("last").filter(|_| end.month.is_none());
        if let (Some(first), Some(last)) = (end.year, last) {
            // A season ends one year after it begins. Any other pair is two years.
            if last_digits(last.as_str()) != Some((first + 1) % 100) {
                out.extend(two_years(whole.start(), first, last));
                continue;
            }
            period.start = Some(end);
            period.end.year = Some(first + 1);
        }
        if let Some((at, start)) = out.last_mut()
            && found.month().is_some()
            && start.start.is_none()
            && start.end.month.is_some()
            && start.end.year.is_none_or(|year| end.year == Some(year))
            && is_range(text, at, whole.start(), whole.end(), start.end.day)
        {
            period.start = Some(Date {
                year: None,
                ..start.end
            });
            period.measure();
            *start = period;
            at.end = whole.end();
        } else {
            let day = found.number(&["y_m"]);
            short = day.map(|day| (out.len(), day)).or(short);
            out.push((whole.range(), period));
        }
    }
    if let Some((at, day)) = short
        && let Some(dated) = with_day(&out, at, day)
    {
        out = vec![dated];
    }
    (out, unknown)
}

/// A match of [`DATE`].
struct FoundDate<'t>(Captures<'t>);

impl<'t> FoundDate<'t> {
    /// The text of the first of these groups that matched.
    fn group(&self, names: &[&str]) -> Option<&'t str> {
        let group = names.iter().find_map(|name| self.0.name(name))?;
        Some(group.as_str())
    }

    fn number(&self, names: &[&str]) -> Option<u8> {
        self.group(names)?.parse().ok()
    }

    /// True if what was found in the text at this place is the verb "may" or an amount.
    fn is_no_date(&self, text: &str, place: Range<usize>) -> bool {
        let (before, after) = (text.get(..place.start), text.get(place.end..));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let is_verb = text.get(place) == Some("may") && !is_month_may(before, after);
        is_verb || self.month().is_none() && is_amount(before, after)
    }

    /// The month that is written as a word.
    fn month(&self) -> Option<u8> {
        self.group(&["m", "m_y"]).and_then(month_of)
    }

    /// The date, or the first year of two. `None` if the order of day and month is unknown.
    fn date(&self, order: DayOrder) -> Option<Date> {
        let slashed = self.number(&["a"]).zip(self.number(&["b"]));
        let slashed = match slashed {
            Some((a, b)) => Some(order.month_and_day(a, b)?),
            None => None,
        };
        let year = self.group(&["iso", "dot", "y", "bare", "first", "slash"]);
        let of_two = |year: &str| year_of_two_digits(year).filter(|_| year.len() == 2);
        let year = year
            .and_then(|year| of_two(year).or_else(|| year.parse().ok()))
            .or_else(|| year_of_two_digits(self.group(&["short", "y_m", "of_part"])?));
        Some(Date {
            year,
            month: self
                .month()
                .or_else(|| self.number(&["iso_m", "dot_m"]))
                .or(slashed.map(|(month, _)| month))
                .or_else(|| self.month_after(year)),
            day: self
                .number(&["iso_d", "dot_d", "d", "d1"])
                .or(slashed.map(|(_, day)| day)),
        })
    }

    /// The month that follows a year: "2031-12" is a month, but "2011-12" is a season of two years.
    /// Otherwise `None`.
    fn month_after(&self, year: Option<u16>) -> Option<u8> {
        let last = self.group(&["last"]).filter(|last| last.len() == 2)?;
        let next = year.is_some_and(|year| last.parse() == Ok((year + 1) % 100));
        let month = last.parse().ok();
        month.filter(|month| (1..=12).contains(month) && !next)
    }
}

/// True if "may" between these texts is the month and not the verb.
fn is_month_may(before: &str, after: &str) -> bool {
    let last = before.split_whitespace().last().unwrap_or_default();
    lists(
        "about in of from to and for since until than between with vs",
        last,
    ) || before.trim().is_empty() && after.trim().is_empty()
}

/// The last two digits of the second year in "2019-2021" or "2019-21".
fn last_digits(last: &str) -> Option<u16> {
    last.get(last.len() - 2..)?.parse().ok()
}

/// The two years of a text such as "2019-2021", which is not a season. It begins at `start`, and
/// `last` is the second year as written.
fn two_years(start: usize, first: u16, last: Match<'_>) -> [Named; 2] {
    let year = |year| Period {
        end: Date {
            year,
            ..Date::default()
        },
        ..Period::default()
    };
    let second = last_digits(last.as_str()).map(|digits| first / 100 * 100 + digits);
    [
        // A year has four bytes, and the sign after it can have several.
        (start..start + 4, year(Some(first))),
        (last.range(), year(second)),
    ]
}

/// Joins two dates, if one is a year without a month. The other one, at the index `at`, is then a
/// month with this day. `None` if both have a month, or if there are not two.
fn with_day(dates: &[Named], at: usize, day: u8) -> Option<Named> {
    let [first, second] = dates else {
        return None;
    };
    let (dated, bare) = if at == 0 {
        (first, second)
    } else {
        (second, first)
    };
    let joins = bare.1.end.month.is_none() && (1..=31).contains(&day);
    joins.then(|| {
        let end = Date {
            year: bare.1.end.year,
            day: Some(day),
            ..dated.1.end
        };
        (first.0.start..second.0.end, Period { end, ..dated.1 })
    })
}

/// True if two dates are the first and last of one period. Two months without days count only if
/// they are in brackets or joined by a dash; otherwise they may be two periods.
fn is_range(text: &str, first: &Range<usize>, from: usize, end: usize, day: Option<u8>) -> bool {
    let gap = text.get(first.end..from).unwrap_or_default();
    let opened = text
        .get(..first.start)
        .is_some_and(|before| before.trim_end().ends_with('('));
    let closed = text.get(end..).is_some_and(|after| after.starts_with(')'));
    let dash = !gap.contains(|c: char| c.is_alphanumeric());
    JOINS.is_match(gap) && (day.is_some() || dash || opened && closed)
}

/// The number of a month, by the first three letters of its English or German name.
fn month_of(word: &str) -> Option<u8> {
    let short = match word.get(..3)? {
        "m\u{e4}" => "mar",
        "mai" => "may",
        "okt" => "oct",
        "dez" => "dec",
        short => short,
    };
    let at = MONTHS.iter().position(|month| month.starts_with(short))?;
    u8::try_from(at + 1).ok()
}

pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}
