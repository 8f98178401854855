//! Finds the dates that a text names, in digits or words.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Date, Period};
use crate::page::years::{MONTHS, is_amount, year_of_two_digits};
use crate::regex;

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let month = "(?:january|february|march|april|may|june|july|august|september|october|november\
        |december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)";
    let year = r"(?:19|20)\d\d";
    let nth = "(?:st|nd|rd|th)?";
    let forms = [
        format!(r"\b(?P<iso>{year})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b"),
        format!(r"\b(?P<a>\d\d?)/(?P<b>\d\d?)/(?P<slash>{year}|\d\d)\b"),
        format!(r"\b(?P<dot_d>\d\d?)\.(?P<dot_m>\d\d?)\.(?P<dot>{year})\b"),
        format!(r"\b(?:fy ?)?(?P<first>{year})[/\u{{2013}}-](?P<last>(?:20)?\d\d)\b"),
        format!(r"\b(?P<m_y>{month})[-/'] ?'?(?P<y_m>\d\d)\b"),
        format!(
            r"\b(?:(?P<d1>\d\d?){nth} (?:of )?)?(?P<m>{month})\b\.?(?: (?P<d>\d\d?){nth}\b)?(?: ?,? ?(?:of )?(?P<y>{year})\b)?"
        ),
        // The letter means actual, budgeted or expected: "FY2024A", "CY2025E". A spreadsheet may
        // write the year as "2031.0".
        format!(r"\b(?:(?:[fc]y|f) ?'?)?(?P<bare>{year})(?:\.0|[abefp])?\b"),
        r"\b[fc]y ?'?(?P<short>\d\d)[abefp]?\b".to_owned(),
        r"\b(?:q[1-4]|[1-4]q|h[12]|[12]h)[ -]?'?(?P<of_part>\d\d)\b".to_owned(),
    ];
    regex!(&forms.join("|"))
});

/// Text that may separate the first and the last date of a period.
static JOINS: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"^ ?(?:to|through|until|and|-|\u{2013}|\u{2014}) ?$"));

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
        let group = |names: &[&str]| {
            let group = names.iter().find_map(|name| captures.name(name))?;
            Some(group.as_str())
        };
        let month = group(&["m", "m_y"]).and_then(month_of);
        let number = |names: &[&str]| group(names)?.parse::<u8>().ok();
        let slashed = number(&["a"]).zip(number(&["b"]));
        let slashed = match slashed.map(|(a, b)| order.month_and_day(a, b)) {
            Some(None) => {
                unknown.push(whole.range());
                continue;
            }
            known => known.flatten(),
        };
        let year = group(&["iso", "dot", "y", "bare", "first", "slash"]);
        let of_two = |year: &str| year_of_two_digits(year).filter(|_| year.len() == 2);
        let end = Date {
            year: year
                .and_then(|year| of_two(year).or_else(|| year.parse().ok()))
                .or_else(|| year_of_two_digits(group(&["short", "y_m", "of_part"])?)),
            month: month
                .or_else(|| number(&["iso_m", "dot_m"]))
                .or(slashed.map(|(month, _)| month)),
            day: number(&["iso_d", "dot_d", "d", "d1"]).or(slashed.map(|(_, day)| day)),
        };
        let (before, after) = (text.get(..whole.start()), text.get(whole.end()..));
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let bare_may = whole.as_str() == "may" && {
            let last = before.split_whitespace().last().unwrap_or_default();
            !(lists("about in of from to and for since until than between", last)
                || before.trim().is_empty() && after.trim().is_empty())
        };
        if bare_may || month.is_none() && is_amount(before, after) {
            continue;
        }
        let mut period = Period {
            end,
            ..Period::default()
        };
        let last = group(&["last"]).filter(|last| {
            // "2031-12" is a month, but "2011-12" is a season of two years.
            let month = last
                .parse()
                .is_ok_and(|month: u16| (1..=12).contains(&month));
            let next = end
                .year
                .is_some_and(|year| last.parse() == Ok((year + 1) % 100));
            if month && !next && last.len() == 2 {
                period.end.month = last.parse().ok();
            }
            period.end.month.is_none()
        });
        if let (Some(first), Some(last)) = (end.year, last) {
            let last = last
                .get(last.len() - 2..)
                .and_then(|last| last.parse::<u16>().ok());
            period.start = Some(end);
            period.end.year = Some(first + 1);
            // "2019-2021" names two years, not a season.
            if last != Some((first + 1) % 100) {
                let from = whole.start();
                let year = |year| Period {
                    end: Date {
                        year,
                        ..Date::default()
                    },
                    ..Period::default()
                };
                out.push((from..from + 4, year(Some(first))));
                out.push((
                    from + 5..whole.end(),
                    year(last.map(|last| first / 100 * 100 + last)),
                ));
                continue;
            }
        }
        match out.last_mut() {
            Some((at, start))
                if start.end.year.is_none_or(|year| end.year == Some(year))
                    && start.end.month.is_some()
                    && start.start.is_none()
                    && month.is_some()
                    && is_range(text, at, whole.start(), whole.end(), start.end.day) =>
            {
                period.start = Some(Date {
                    year: None,
                    ..start.end
                });
                period.measure();
                *start = period;
                at.end = whole.end();
            }
            _ => {
                short = number(&["y_m"]).map(|day| (out.len(), day)).or(short);
                out.push((whole.range(), period));
            }
        }
    }
    if let (Some((at, day)), [first, second]) = (short, out.as_slice())
        && let (dated, bare) = (
            if at == 0 { first } else { second },
            if at == 0 { second } else { first },
        )
        && bare.1.end.month.is_none()
        && (1..=31).contains(&day)
    {
        let end = Date {
            year: bare.1.end.year,
            day: Some(day),
            ..dated.1.end
        };
        out = vec![(first.0.start..second.0.end, Period { end, ..dated.1 })];
    }
    (out, unknown)
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

/// The number of a month, by the first three letters of its name.
fn month_of(word: &str) -> Option<u8> {
    let short = word.get(..3)?;
    let at = MONTHS.iter().position(|month| month.starts_with(short))?;
    u8::try_from(at + 1).ok()
}

pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}
