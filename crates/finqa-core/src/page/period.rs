//! The periods that labels and questions name: years, halves, quarters, months.

use std::cmp::Reverse;
use std::ops::{Range, RangeInclusive};
use std::sync::LazyLock;

use super::years::{MONTHS, is_amount, year_of, year_of_two_digits};
use regex::{Captures, Regex};

/// A period of one year. Without months it is a whole year, without a year any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CalendarSpan {
    pub year: Option<u16>,
    /// The first and the last month, from 1.
    pub months: Option<(u8, u8)>,
    /// A day of its month.
    pub day: Option<u8>,
    /// It begins in the year before: "2021/22".
    pub season: bool,
}

/// All months of a year.
pub const WHOLE: (u8, u8) = (1, 12);

impl CalendarSpan {
    pub fn range(self) -> (u8, u8) {
        self.months.unwrap_or(WHOLE)
    }

    /// By its end; of two with one end the longer comes later. A year and a fiscal year are
    /// equal in it.
    pub fn order(self) -> (Option<u16>, u8, Reverse<u8>, Option<u8>) {
        let (first, last) = self.range();
        (self.year, last, Reverse(first), self.day)
    }

    /// Whether it covers the same months: `2022` and `FY 2022`.
    pub fn covers(self, other: Self) -> bool {
        self.order() == other.order()
    }

    /// Number of months.
    pub fn length(self) -> u8 {
        let (first, last) = self.range();
        last.saturating_sub(first) + 1
    }

    /// The same period of another year.
    pub fn in_year(self, year: u16) -> Self {
        let year = Some(year);
        Self { year, ..self }
    }

    /// What a row's and a column's label say together.
    pub fn and(self, other: Self) -> Self {
        Self {
            year: self.year.or(other.year),
            months: self.months.or(other.months),
            day: self.day.or(other.day),
            season: self.season || other.season,
        }
    }
}

impl std::fmt::Display for CalendarSpan {
    /// As a reader would name it: `third quarter of 2022`, `April to December of 2025`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let month = |n: u8| {
            let name = MONTHS.get(usize::from(n.saturating_sub(1)))?;
            let (first, rest) = name.split_at_checked(1)?;
            Some(first.to_ascii_uppercase() + rest)
        };
        let part = match self.range() {
            WHOLE => String::new(),
            (1, 3) => "first quarter".to_owned(),
            (4, 6) => "second quarter".to_owned(),
            (7, 9) => "third quarter".to_owned(),
            (10, 12) => "fourth quarter".to_owned(),
            (1, 6) => "first half".to_owned(),
            (7, 12) => "second half".to_owned(),
            (first, last) => {
                let named = month(first).zip(month(last));
                named.map_or_else(String::new, |(a, b)| match (first == last, self.day) {
                    (true, Some(day)) => format!("{day} {a}"),
                    (true, None) => a,
                    (false, _) => format!("{a} to {b}"),
                })
            }
        };
        match (part.is_empty(), self.year) {
            (true, Some(year)) => write!(f, "{year}"),
            (true, None) => f.write_str("full year"),
            (false, Some(year)) => write!(f, "{part} of {year}"),
            (false, None) => f.write_str(&part),
        }
    }
}

/// A period and where the text names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedSpan {
    pub at: Range<usize>,
    pub span: CalendarSpan,
}

type Reader = fn(&Captures<'_>) -> Option<CalendarSpan>;

/// The forms, each before those that are part of it.
static FORMS: LazyLock<Vec<(Regex, Reader)>> = LazyLock::new(|| {
    let names = MONTHS
        .iter()
        .flat_map(|month| [*month, month.get(..3).unwrap_or(month)]);
    let month = names.chain(["sept"]).collect::<Vec<_>>().join("|");
    let count = "three|six|nine|twelve|3|6|9|12";
    let nth = "first|second|third|fourth|last|1st|2nd|3rd|4th";
    let until = format!(r"(?: ended| ending)?(?: in| on)?(?: ({month})\b\.?");
    let day = r"(?: \d{1,2}\b)?)?";
    let on = r"(?: (\d{1,2})(?:st|nd|rd|th)?\b)?";
    let digit = "([1-4])";
    let year = r"[ -]?'?(\d{4}|\d{2})\b";
    let (two, century) = (r"(\d\d?)", r"((?:19|20)\d\d)");
    let (two_digits, suffix) = (r"(\d\d)", "(?:st|nd|rd|th)");
    let forms: Vec<(String, Reader)> = vec![
        (format!(r"\b(3|6|9|12)m{year}"), |found| {
            in_year(found, 2, part((1, number(found, 1..=1)?)))
        }),
        // "3M" may be a name.
        (r"\b(6|9|12)m\b".to_owned(), |found| {
            part((1, number(found, 1..=1)?))
        }),
        (format!(r"\b(?:h([12])|([12])h){year}"), |found| {
            in_year(found, 3, half_of(number(found, 1..=2)?))
        }),
        (
            format!(r"\b(?:first )?({count})[- ]months?(?: periods?)?{until}{day}"),
            months_ended,
        ),
        (
            format!(r"\byears? (?:ended|ending)(?: in| on)?(?: (?:{month})\b\.?{day}"),
            |_| part(WHOLE),
        ),
        // "(January to March)" says which quarter is meant; elsewhere two months are two periods.
        (
            format!(r"\(({month})\b\.? ?(?:to|through|-|\u{{2013}}) ?({month})\b\.?\)"),
            |found| {
                let month = |group: usize| month_of(found.get(group)?.as_str());
                part((month(1)?, month(2)?))
            },
        ),
        (format!(r"\b(?:q{digit}|{digit}q){year}"), |found| {
            in_year(found, 3, quarter_of(number(found, 1..=2)?))
        }),
        (
            format!(r"\b(?:q ?{digit}|{digit} ?q|quarter {digit})\b"),
            |found| quarter_of(number(found, 1..=3)?),
        ),
        (
            format!(r"\b({nth})(?: fiscal)? (?:quarter|qtr)\b"),
            |found| quarter_of(ordinal(found.get(1)?.as_str())?),
        ),
        (r"\b(?:h([12])|([12])h)\b".to_owned(), |found| {
            half_of(number(found, 1..=2)?)
        }),
        (format!(r"\b({nth})[- ]half\b"), |found| {
            half_of(ordinal(found.get(1)?.as_str())?)
        }),
        // A season: "2021/22".
        (
            format!(r"\b(?:fy ?)?{century}[/\u{{2013}}-](?:20)?{two_digits}\b"),
            |found| {
                let first: u16 = found.get(1)?.as_str().parse().ok()?;
                let last: u16 = found.get(2)?.as_str().parse().ok()?;
                let year = Some(first + 1).filter(|year| year % 100 == last);
                Some(CalendarSpan {
                    season: true,
                    ..CalendarSpan::default().in_year(year?)
                })
            },
        ),
        // Actual or expected: "FY24A", "2025E".
        (r"\bfy ?'?(\d{4}|\d{2})[aef]?\b".to_owned(), |found| {
            in_year(found, 1, part(WHOLE))
        }),
        (r"\b(?:full|whole|entire)[- ]year\b".to_owned(), |_| {
            part(WHOLE)
        }),
        (r"\bfiscal(?: years?)?\b|\bfy\b".to_owned(), |_| part(WHOLE)),
        (format!(r"\b({month})[-/'] ?'?(\d\d)\b"), |found| {
            let month = month_of(found.get(1)?.as_str())?;
            in_year(found, 2, part((month, month)))
        }),
        (format!(r"\b{two}\.{two}\.{century}\b"), |found| {
            date_of_digits(found, 1, 2, 3)
        }),
        (format!(r"\b{century}-{two}-{two}\b"), |found| {
            date_of_digits(found, 3, 2, 1)
        }),
        (
            format!(r"\b{two}{suffix}?(?: of)?[ -]({month})\b\.?"),
            |found| day_of_month(found, 1, 2),
        ),
        (format!(r"\b({month})\b\.?{on}"), |found| {
            day_of_month(found, 2, 1)
        }),
        (format!(r"\b{century}[aef]?\b"), |found| {
            in_year(found, 1, Some(CalendarSpan::default()))
        }),
    ];
    let compiled = |(form, read): (String, Reader)| (crate::regex!(&form), read);
    forms.into_iter().map(compiled).collect()
});

fn part(months: (u8, u8)) -> Option<CalendarSpan> {
    let months = Some(months);
    Some(CalendarSpan {
        months,
        ..CalendarSpan::default()
    })
}

/// A span of the year that a group names.
fn in_year(found: &Captures<'_>, group: usize, span: Option<CalendarSpan>) -> Option<CalendarSpan> {
    Some(span?.in_year(full_year(found.get(group)?.as_str())?))
}

/// The number in the one of these groups that a form has found.
fn number(found: &Captures<'_>, mut groups: RangeInclusive<usize>) -> Option<u8> {
    let group = groups.find_map(|group| found.get(group))?;
    group.as_str().parse().ok()
}

fn quarter_of(number: u8) -> Option<CalendarSpan> {
    part((number * 3 - 2, number * 3))
}

fn half_of(number: u8) -> Option<CalendarSpan> {
    match number {
        1 => part((1, 6)),
        2 | 4 => part((7, 12)),
        _ => None,
    }
}

fn ordinal(word: &str) -> Option<u8> {
    Some(match word {
        "first" | "1st" => 1,
        "second" | "2nd" => 2,
        "third" | "3rd" => 3,
        "fourth" | "4th" | "last" => 4,
        _ => return None,
    })
}

fn month_of(word: &str) -> Option<u8> {
    let at = MONTHS
        .iter()
        .position(|month| month.starts_with(word.get(..3).unwrap_or(word)))?;
    u8::try_from(at + 1).ok()
}

/// A day of a named month, or the month. The last day of a year means the year.
fn day_of_month(found: &Captures<'_>, day: usize, month: usize) -> Option<CalendarSpan> {
    let month = month_of(found.get(month)?.as_str())?;
    let day = found.get(day).and_then(|day| day.as_str().parse().ok());
    day_in(day, month)
}

fn day_in(day: Option<u8>, month: u8) -> Option<CalendarSpan> {
    if (day, month) == (Some(31), 12) {
        return part(WHOLE);
    }
    let day = day.filter(|day| (1..=31).contains(day));
    let span = part((month, month))?;
    Some(CalendarSpan { day, ..span })
}

/// A date of digits. The last day of a year means the year.
fn date_of_digits(
    found: &Captures<'_>,
    day: usize,
    month: usize,
    year: usize,
) -> Option<CalendarSpan> {
    let day = number(found, day..=day)?;
    let month = number(found, month..=month)?;
    let span = day_in(Some(day), month).filter(|_| (1..=12).contains(&month));
    in_year(found, year, span)
}

fn full_year(digits: &str) -> Option<u16> {
    match digits.len() {
        2 => year_of_two_digits(digits),
        _ => year_of(digits),
    }
}

fn months_ended(found: &Captures<'_>) -> Option<CalendarSpan> {
    let count: u8 = match found.get(1)?.as_str() {
        "three" | "3" => 3,
        "six" | "6" => 6,
        "nine" | "9" => 9,
        _ => 12,
    };
    let last = found.get(2).and_then(|month| month_of(month.as_str()));
    let last = last.unwrap_or(count);
    (last >= count).then(|| part((last - count + 1, last)))?
}

/// The periods that a text in lower case names, in its order. A part of a year and the year
/// next to it are one.
pub fn spans(text: &str) -> Vec<NamedSpan> {
    let mut found: Vec<NamedSpan> = Vec::new();
    for (form, read) in FORMS.iter() {
        for captures in form.captures_iter(text) {
            let Some(whole) = captures.get(0) else {
                continue;
            };
            let at = whole.range();
            let free = found
                .iter()
                .all(|other| other.at.end <= at.start || at.end <= other.at.start);
            if free
                && is_period(text, &at)
                && let Some(span) = read(&captures)
            {
                found.push(NamedSpan { at, span });
            }
        }
    }
    found.sort_by_key(|named| named.at.start);
    let mut out: Vec<NamedSpan> = Vec::new();
    for named in found {
        let before = out.last_mut().filter(|before| joins(text, before, &named));
        match before {
            Some(before) => {
                let months = before.span.months.filter(|months| *months != WHOLE);
                before.span = CalendarSpan {
                    months: months.or(named.span.months).or(before.span.months),
                    ..before.span.and(named.span)
                };
                before.at.end = named.at.end;
            }
            None => out.push(named),
        }
    }
    out
}

/// Whether two neighbours name one period: `Q3 2022`, `third quarter of fiscal 2022`.
fn joins(text: &str, before: &NamedSpan, after: &NamedSpan) -> bool {
    let gap = text.get(before.at.end..after.at.start).unwrap_or_default();
    let words = |allowed: &[&str]| {
        let mut pieces = gap
            .split(|c: char| !c.is_alphanumeric())
            .filter(|word| !word.is_empty());
        pieces.all(|word| allowed.contains(&word))
    };
    let plain = gap
        .chars()
        .all(|c| c.is_alphanumeric() || " ,.'".contains(c));
    let years = (before.span.year, after.span.year);
    match years {
        (None, _) => plain && words(&["of", "in", "the", "for", "ended", "ending", "on"]),
        (Some(_), None) => gap.chars().all(|c| " -,".contains(c)) && after.span.months.is_some(),
        _ => false,
    }
}

/// Leaves out amounts such as `$ 2014` or `2014.5`, and the verb `may`.
fn is_period(text: &str, at: &Range<usize>) -> bool {
    let before = text.get(..at.start).unwrap_or_default();
    let after = text.get(at.end..).unwrap_or_default();
    let verb = text.get(at.clone()) == Some("may") && {
        let named = [
            "about", "in", "of", "from", "to", "and", "for", "since", "until", "than", "between",
        ];
        let last = before.split_whitespace().last().unwrap_or_default();
        let dated = after.trim_start().starts_with(|c: char| c.is_ascii_digit());
        !(named.contains(&last) || dated || before.trim().is_empty() && after.trim().is_empty())
    };
    !is_amount(before, after) && !verb
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_named_in_many_ways() {
        for (text, expected) in [
            ("3m 2024", "first quarter of 2024"),
            ("6m", "first half"),
            ("9m'24", "January to September of 2024"),
            ("12m24", "2024"),
            ("h1 2023", "first half of 2023"),
            ("2h23", "second half of 2023"),
            ("1h", "first half"),
            ("three months ended march 31", "first quarter"),
            ("three months ended june 30, 2022", "second quarter of 2022"),
            ("six months ended december 31, 2021", "second half of 2021"),
            (
                "nine months ended september 30, 2022", "January to September of 2022",
            ),
            ("nine months ended march 31, 2022", "31 March of 2022"),
            ("first nine months of 2022", "January to September of 2022"),
            ("twelve months", "full year"),
            ("year ended june 30, 2022", "2022"),
            ("years ending in december", "full year"),
            ("(january to march)", "first quarter"),
            ("(oct-dec)", "fourth quarter"),
            ("q1 2031", "first quarter of 2031"),
            ("3q22", "third quarter of 2022"),
            ("q 2", "second quarter"),
            ("quarter 4", "fourth quarter"),
            ("1 q", "first quarter"),
            ("first quarter of 2031", "first quarter of 2031"),
            ("1st quarter of 2031", "first quarter of 2031"),
            ("second fiscal quarter", "second quarter"),
            ("last qtr", "fourth quarter"),
            ("3rd quarter of fiscal 2021", "third quarter of 2021"),
            ("third half", ""),
            ("second half of 2020", "second half of 2020"),
            ("last half", "second half"),
            ("2021/22", "2022"),
            ("2021-2022", "2022"),
            ("2021/23", "2021"),
            ("fy24a", "2024"),
            ("fy 2019", "2019"),
            ("2025e", "2025"),
            ("full-year", "full year"),
            ("fiscal 2022", "2022"),
            ("fiscal years", "full year"),
            ("jan-24", "January of 2024"),
            ("sept-99", "September of 1999"),
            ("31.12.2022", "2022"),
            ("30.6.2021", "30 June of 2021"),
            ("30.13.2021", ""),
            ("2022-06-30", "30 June of 2022"),
            ("2022-13-30", "2022"),
            ("15th of may 2020", "15 May of 2020"),
            ("may 15, 2020", "15 May of 2020"),
            ("june 1st", "1 June"),
            ("december 31", "full year"),
            ("december 32 2020", "December of 2020"),
            ("31 dec 2019", "2019"),
            ("$ 2014", ""),
            ("2014.5", ""),
            ("2014%", ""),
            ("1850", ""),
            ("sales may rise", ""),
            ("in may", "May"),
            ("may", "May"),
            ("may 2020", "May of 2020"),
            ("2022, third quarter", "third quarter of 2022"),
            ("full year 2022 third quarter", "third quarter of 2022"),
            ("2022 and june", "2022; June"),
            ("third quarter and 2022", "third quarter; 2022"),
            ("third quarter; 2022", "third quarter; 2022"),
            ("2022 2021", "2022; 2021"),
            (
                "q1 2022 and q2 2023",
                "first quarter of 2022; second quarter of 2023",
            ),
            ("april to december", "April; December"),
        ] {
            let found: Vec<String> = spans(text)
                .iter()
                .map(|found| found.span.to_string())
                .collect();
            assert_eq!(found.join("; "), expected, "{text}");
        }
        let [season, part] =
            ["2021/22", "the six months of 2022"].map(|text| spans(text).remove(0));
        assert!(season.span.season && !part.span.season);
        assert_eq!((season.at, part.at), (0..7, 4..22));
    }

    #[test]
    fn periods_are_in_the_order_of_their_ends() {
        let span = |text: &str| spans(text).remove(0).span;
        let ordered = [
            "2021", "q1 2022", "30 june 2022", "h1 2022", "q4 2022", "2022",
        ];
        for pair in ordered.windows(2) {
            assert!(span(pair[0]).order() < span(pair[1]).order(), "{pair:?}");
        }
        assert!(span("2022").covers(span("fy 2022")) && !span("2022").covers(span("h2 2022")));
        assert_eq!(
            [span("q3"), span("2022")].map(CalendarSpan::length),
            [3, 12]
        );
        let quarter = span("q3").in_year(2022);
        assert_eq!(quarter, span("q3").and(span("2022")));
        assert_eq!(quarter, span("2022").and(span("q3")));
    }
}
