//! The periods that a text names.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::{Date, Period};
use crate::page::years::{MONTHS, is_amount, year_of_two_digits};
use crate::regex;

/// The length of the year so far.
const TO_DATE: u8 = 0;

static DATE: LazyLock<Regex> = LazyLock::new(|| {
    let month = "(?:january|february|march|april|may|june|july|august|september|october|november\
        |december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)";
    let year = r"(?:19|20)\d\d";
    let nth = "(?:st|nd|rd|th)?";
    let forms = [
        format!(r"\b(?P<iso>{year})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b"),
        format!(r"\b(?P<dot_d>\d\d?)\.(?P<dot_m>\d\d?)\.(?P<dot>{year})\b"),
        format!(r"\b(?:fy ?)?(?P<first>{year})[/\u{{2013}}-](?P<last>(?:20)?\d\d)\b"),
        format!(r"\b(?P<m_y>{month})[-/'] ?'?(?P<y_m>\d\d)\b"),
        format!(
            r"\b(?:(?P<d1>\d\d?){nth} (?:of )?)?(?P<m>{month})\b\.?(?: (?P<d>\d\d?){nth}\b)?(?: ?,? ?(?:of )?(?P<y>{year})\b)?"
        ),
        // Actual or expected: "FY2024A", "2025E".
        format!(r"\b(?:fy ?'?)?(?P<bare>{year})[aef]?\b"),
        r"\bfy ?'?(?P<short>\d\d)[aef]?\b".to_owned(),
        r"\b(?:q[1-4]|[1-4]q|h[12]|[12]h)[ -]?'?(?P<of_part>\d\d)\b".to_owned(),
    ];
    regex!(&forms.join("|"))
});

/// How long a period is by its words; of several at one place the first counts.
static LENGTHS: LazyLock<Vec<(Regex, u8)>> = LazyLock::new(|| {
    let weeks = |numbers: &str| format!(r"\b(?:{numbers})[- ]weeks?\b");
    let forms = [
        (weeks("1[2-7]|twelve|thirteen|sixteen|seventeen"), 3),
        (weeks("2[4-8]|twenty[- ](?:four|six)"), 6),
        (weeks("3[6-9]|40|thirty[- ](?:six|nine)"), 9),
        (weeks("5[23]|fifty[- ](?:two|three)"), 12),
        (r"\byear[- ]to[- ]date\b|\bytd\b".to_owned(), TO_DATE),
        (
            r"\b(?:three|3)[- ]months?\b|\b3m[ -]?'?\d\d(?:\d\d)?\b".to_owned(),
            3,
        ),
        (r"\b(?:six|6)[- ]months?\b|\b6m\b".to_owned(), 6),
        (r"\b(?:nine|9)[- ]months?\b|\b9m\b".to_owned(), 9),
        (r"\b(?:twelve|12)[- ]months?\b".to_owned(), 12),
        (
            r"\b(?:h[12]|[12]h)(?:[ -]?'?\d\d)?\b|\b(?:first|second|1st|2nd)[- ]half\b|\bhalf[- ]year".to_owned(),
            6,
        ),
        (
            r"\b(?:(?:first|second|third|fourth|1st|2nd|3rd|4th)[- ](?:fiscal )?)?quarter(?:ly)?(?: [1-4])?\b|\b(?:q ?[1-4]|[1-4] ?q)(?:[ -]?'?\d\d)?\b|\bqtr\b"
                .to_owned(),
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

/// Which quarter or half it is.
static PART: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"^(?:(?:q|quarter) ?([1-4])|([1-4]) ?q|h([12])|([12])h|(first|1st)|(second|2nd)|(third|3rd)|(fourth|4th))"
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

fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|other| other == word)
}

/// Words between the length of a period and its date.
const LINKS: &str = "of in the for ended ending on to through fiscal year period periods";

/// A period, and where it is named.
type Named = (Range<usize>, Period);

/// What a text says of time, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    pub found: Vec<Named>,
    /// Where anything is said of time.
    pub said: Vec<Range<usize>>,
}

impl Times {
    /// Reads a text in lower case.
    pub fn read(text: &str) -> Self {
        let mut all = dates(text);
        for (form, months) in LENGTHS.iter() {
            for found in form.find_iter(text) {
                let part = PART.captures(found.as_str()).and_then(|part| {
                    let (at, said) = (1..9).find_map(|at| Some((at, part.get(at)?.as_str())))?;
                    said.parse().ok().or_else(|| u8::try_from(at - 4).ok())
                });
                let period = Period {
                    months: Some(*months),
                    quarter: part,
                    ..Period::default()
                };
                // "39 weeks" are not "9 months"; "fiscal 2024" has a date in it.
                let at = found.range();
                let taken = |other: &Named| {
                    other.0.start < at.end && at.start < other.0.end && other.1.months.is_some()
                };
                if !all.iter().any(taken) {
                    all.push((at, period));
                }
            }
        }
        all.sort_by_key(|(at, _)| (at.start, at.end));
        let at_one_place = |a: &Named, b: &Named| b.0.start < a.0.end;
        let all = joined(all, at_one_place);
        let mut found = joined(all, |a, b| follows(text, a, b));
        let instant = INSTANT.is_match(text);
        if found.is_empty() && instant {
            found.push((0..0, Period::default()));
        }
        let said = found.iter().map(|(at, _)| at.clone()).collect();
        share(&mut found);
        // "From December 31 to June 30": two points in time.
        let point = |one: &Period| one.end.day.is_some() && one.start.is_none();
        let points = found.len() > 1
            && (found.iter()).all(|(_, period)| point(period) && period.months.is_none());
        for (_, period) in &mut found {
            period.instant = instant || points;
        }
        Self { found, said }
    }

    pub fn periods(&self) -> impl Iterator<Item = Period> {
        self.found.iter().map(|(_, period)| *period)
    }

    /// The one period of a heading, and the rest of it; a heading with two years is of a change.
    pub fn heading(text: &str) -> (Option<Period>, String) {
        let lower = text.to_lowercase();
        let read = Self::read(&lower);
        let mut years: Vec<u16> = read.periods().filter_map(|one| one.end.year).collect();
        years.dedup();
        if years.len() > 1 {
            return (None, text.to_owned());
        }
        let year = years.first().copied();
        let best = (read.periods().filter(|one| one.start.is_some()).last())
            .or_else(|| read.periods().filter(|one| one.end.month.is_some()).last())
            .or_else(|| read.periods().last());
        let period = best.map(|one| Period {
            end: Date { year, ..one.end },
            instant: false,
            ..one
        });
        // Lower case may differ in length.
        let mut rest = if lower.len() == text.len() {
            text.to_owned()
        } else {
            lower
        };
        for at in &read.said {
            blank(&mut rest, at);
        }
        (period, rest)
    }
}

/// Replaces a part of a text by as many blanks.
pub fn blank(text: &mut String, at: &Range<usize>) {
    if text.get(at.clone()).is_some() {
        text.replace_range(at.clone(), &" ".repeat(at.len()));
    }
}

/// The dates of a text, those of the ends of one period together.
fn dates(text: &str) -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    for captures in DATE.captures_iter(text) {
        let Some(whole) = captures.get(0) else {
            continue;
        };
        let group = |names: &[&str]| {
            let group = names.iter().find_map(|name| captures.name(name))?;
            Some(group.as_str())
        };
        let month = group(&["m", "m_y"]).and_then(month_of);
        let end = Date {
            year: group(&["iso", "dot", "y", "bare", "first"])
                .and_then(|year| year.parse().ok())
                .or_else(|| year_of_two_digits(group(&["short", "y_m", "of_part"])?)),
            month: month.or_else(|| group(&["iso_m", "dot_m"])?.parse().ok()),
            day: group(&["iso_d", "dot_d", "d", "d1"]).and_then(|day| day.parse().ok()),
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
        if let (Some(first), Some(last)) = (end.year, group(&["last"])) {
            let last = last
                .get(last.len() - 2..)
                .and_then(|last| last.parse::<u16>().ok());
            period.start = Some(end);
            period.end.year = Some(first + 1);
            // "2019-2021" are two years.
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
            _ => out.push((whole.range(), period)),
        }
    }
    out
}

/// Whether two dates are the ends of one period. Two months are it in brackets or with a dash
/// only; elsewhere they may be two.
fn is_range(text: &str, first: &Range<usize>, from: usize, end: usize, day: Option<u8>) -> bool {
    let gap = text.get(first.end..from).unwrap_or_default();
    let opened = text
        .get(..first.start)
        .is_some_and(|before| before.trim_end().ends_with('('));
    let closed = text.get(end..).is_some_and(|after| after.starts_with(')'));
    let dash = !gap.contains(|c: char| c.is_alphanumeric());
    JOINS.is_match(gap) && (day.is_some() || dash || opened && closed)
}

/// What is said of time, neighbours that name one period together.
fn joined(all: Vec<Named>, are_one: impl Fn(&Named, &Named) -> bool) -> Vec<Named> {
    let mut out: Vec<Named> = Vec::new();
    for named in all {
        match out.last_mut() {
            Some(before) if are_one(before, &named) => {
                before.0.end = before.0.end.max(named.0.end);
                before.1 = before.1.with(named.1);
            }
            _ => out.push(named),
        }
    }
    out
}

/// Whether two neighbours name one period: "third quarter of fiscal 2022", "June 2022 quarter".
fn follows(text: &str, (at, a): &Named, (next, b): &Named) -> bool {
    let gap = text.get(at.end..next.start).unwrap_or_default();
    let plain = gap
        .chars()
        .all(|c| c.is_alphanumeric() || " ,.'".contains(c));
    let marks = |c: char| !c.is_alphanumeric();
    let linked = gap
        .split(marks)
        .filter(|word| !word.is_empty())
        .all(|word| lists(LINKS, word));
    let (undated, bare) = (a.end == Date::default(), b.end.month.is_none());
    if b.end == Date::default() {
        return !undated && a.months.is_none() && gap.chars().all(|c| " -,'".contains(c));
    }
    let month = a.end.month.is_some() && a.end.year.is_none() && bare && !gap.contains("to");
    plain && linked && (undated || month)
}

/// What is said once counts for all: the length, and the day of the year.
fn share(found: &mut Vec<Named>) {
    let undated = |period: &Period| period.end == Date::default();
    let mut lengths: Vec<u8> = found.iter().filter_map(|(_, one)| one.months).collect();
    let mut parts: Vec<u8> = found.iter().filter_map(|(_, one)| one.quarter).collect();
    lengths.sort_unstable();
    lengths.dedup();
    parts.sort_unstable();
    parts.dedup();
    let dated = found.iter().any(|(_, period)| !undated(period));
    if let ([months], true) = (lengths.as_slice(), parts.len() < 2) {
        for (_, period) in found.iter_mut() {
            period.months = Some(*months);
            period.quarter = period.quarter.or(parts.first().copied());
        }
        found.retain(|(_, period)| !dated || !undated(period));
    }
    let yearless = |period: &Period| period.end.year.is_none() && period.end.month.is_some();
    let bare = |period: &Period| period.end.year.is_some() && period.end.month.is_none();
    let days: Vec<Period> = (found.iter().map(|(_, one)| *one).filter(yearless)).collect();
    if let [day] = days.as_slice()
        && found.iter().all(|(_, one)| yearless(one) || bare(one))
        && found.len() > 1
    {
        let of_quarter = found.iter().any(|(_, one)| one.quarter.is_some());
        found.retain(|(_, one)| !yearless(one));
        for (_, period) in found.iter_mut().filter(|_| !of_quarter) {
            *period = period.or(*day);
        }
    }
}

/// By the first three letters.
fn month_of(word: &str) -> Option<u8> {
    let short = word.get(..3)?;
    let at = MONTHS.iter().position(|month| month.starts_with(short))?;
    u8::try_from(at + 1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_named_in_many_ways() {
        for (text, expected) in [
            ("h1 2023", "first half of 2023"),
            ("2h23", "second half of 2023"),
            ("three months ended june 30, 2022", "30 June of 2022"),
            ("six months to june 2022", "6 months to June of 2022"),
            ("(oct-dec)", "3 months to December"),
            ("q1 2031", "first quarter of 2031"),
            ("3q22", "third quarter of 2022"),
            ("q4'22", "fourth quarter of 2022"),
            ("1st quarter of 2031", "first quarter of 2031"),
            ("quarter 4", "fourth quarter"),
            ("quarter 2 2031", "second quarter of 2031"),
            ("3m 2024", "3 months of 2024"),
            ("second fiscal quarter", "second quarter"),
            ("3rd quarter of fiscal 2021", "third quarter of 2021"),
            ("2022, third quarter", "third quarter of 2022"),
            ("2021/22", "2022"),
            ("2019-2021", "2019; 2021"),
            ("fy24a", "2024"),
            ("fy98", "1998"),
            ("fy2019", "2019"),
            ("full-year", "full year"),
            ("sept-99", "September of 1999"),
            ("30.6.2021", "30 June of 2021"),
            ("2022-06-30", "30 June of 2022"),
            ("15th of may 2020", "15 May of 2020"),
            ("$ 2014", ""),
            ("2014.5", ""),
            ("sales may rise", ""),
            ("in may", "May"),
            ("april to december", "April; December"),
            (
                "from q3 to q4 2031", "third quarter; fourth quarter of 2031",
            ),
            (
                "full-year sales were made in q4", "full year; fourth quarter",
            ),
            (
                "three months ended june 30 from 2022 to 2023",
                "30 June of 2022; 30 June of 2023",
            ),
        ] {
            let found: Vec<String> = Times::read(text)
                .periods()
                .map(|one| one.to_string())
                .collect();
            assert_eq!(found.join("; "), expected, "{text}");
        }
    }

    #[test]
    fn periods_are_in_the_order_of_their_ends() {
        let order = |text: &str| Times::read(text).found[0].1.order();
        let ordered = [
            "2021", "q1 2022", "h1 2022", "30 june 2022", "q4 2022", "2022",
        ];
        for pair in ordered.windows(2) {
            assert!(order(pair[0]) < order(pair[1]), "{pair:?}");
        }
    }
}
