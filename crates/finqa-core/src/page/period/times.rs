//! Finds the periods that a text names.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::dates::{DayOrder, Named, dates, lists};
use super::{Date, Period, TO_DATE};
use crate::pattern;
use crate::regex;
use crate::text::Pattern;

/// Expressions for the length of a period, each with the length in months. If several match at the
/// same place, the first in this list counts.
static LENGTHS: LazyLock<Vec<(Regex, u8)>> = LazyLock::new(|| {
    let weeks = |numbers: &str| format!(r"\b(?:{numbers})[- ]weeks?\b");
    let forms = [
        // A retailer's quarter is read from 12 to 17 weeks, and its year from 52 or 53.
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
            r"\b(?:h[12]|[12]h)(?:[ -]?'?\d\d[abefp]?)?\b|\b(?:first|second|1st|2nd)[- ]half\b|\bhalf[- ]year".to_owned(),
            6,
        ),
        (
            r"\b(?:(?:first|second|third|fourth|1st|2nd|3rd|4th)[- ](?:fiscal )?)?quarter(?:ly)?(?: [1-4])?\b|\b(?:q ?[1-4]|[1-4] ?q)(?:[ -]?'?\d\d[abefp]?)?\b|\bqtr\b"
                .to_owned(),
            3,
        ),
        (
            r"\byears? end(?:ed|ing)\b|\bfiscal (?:years? )?(?:19|20)\d\d|\b(?:[fc]y ?'?|f(?:19|20))\d\d|\b(?:full|entire|whole)[- ](?:fiscal )?year\b|\bannual(?:ly)?\b"
                .to_owned(),
            12,
        ),
    ];
    let compiled = |(form, months): (String, u8)| (regex!(&form), months);
    forms.into_iter().map(compiled).collect()
});

/// Expressions for a quarter or half of a year.
static PART: Pattern = pattern!(
    r"^(?:(?:q|quarter) ?([1-4])|([1-4]) ?q|h([12])|([12])h|(first|1st)|(second|2nd)|(third|3rd)|(fourth|4th))"
);

/// Words for a point in time: "at December 31", "as of 2031-06-30", "year end".
static INSTANT: Pattern = pattern!(
    r"\b(?:at|as of|as at|on|since) (?:[a-z]{3,9}\.? \d|\d\d? [a-z]{3,9} |(?:19|20)\d\d-)|\b(?:at|by) the end\b|\bend of\b|\b(?:year|quarter|period)[- ]end\b"
);

/// Words that may separate the length of a period from its date.
const LINKS: &str = "of in the for ended ending on to through fiscal year period periods";

/// Words between two figures of a question, which can have periods of their own.
const JOINS: &str = "as to than and or with over by divided share percent percentage ratio versus vs compared minus \
    less plus";

/// The periods that a text names, with their places in the text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Times {
    pub found: Vec<Named>,
    /// The place of every expression of time, including dates that could not be read.
    pub said: Vec<Range<usize>>,
}

impl Times {
    /// Reads a lower-case text.
    pub fn read(text: &str) -> Self {
        Self::read_in(text, DayOrder::Unknown)
    }

    /// Reads a lower-case text whose dates have this order of day and month.
    fn read_in(text: &str, order: DayOrder) -> Self {
        let (mut all, unknown) = dates(text, order);
        for (form, months) in LENGTHS.iter() {
            for found in form.find_iter(text) {
                let part = PART.captures(found.as_str()).and_then(|part| {
                    let (at, said) = (1..9).find_map(|at| Some((at, part.get(at)?.as_str())))?;
                    // The groups 1 to 4 have digits. The groups 5 to 8 are words for 1 to 4.
                    said.parse().ok().or_else(|| u8::try_from(at - 4).ok())
                });
                let period = Period {
                    months: Some(*months),
                    quarter: part,
                    ..Period::default()
                };
                // Skip a length that overlaps a length found before. A date without a length, such
                // as "fiscal 2024", may overlap.
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
            // "At the end" names a point in time without a date.
            found.push((0..0, Period::default()));
        }
        let said = found.iter().map(|(at, _)| at.clone());
        let said = said.chain(unknown).collect();
        spread_shared_length(&mut found, text);
        // "From December 31 to June 30" names two points in time.
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

    /// The period that a heading names, and the heading without that period. A heading with two
    /// years is about a change, so it has no period.
    pub fn heading(text: &str) -> (Option<Period>, String) {
        Self::heading_in(text, DayOrder::Unknown)
    }

    /// Like [`Times::heading`], for dates with this order of day and month.
    pub fn heading_in(text: &str, order: DayOrder) -> (Option<Period>, String) {
        let lower = text.to_lowercase();
        let read = Self::read_in(&lower, order);
        let mut years: Vec<u16> = read.periods().filter_map(|one| one.end.year).collect();
        // Unsorted, because it matters only whether there is more than one year.
        years.dedup();
        if years.len() > 1 {
            return (None, text.to_owned());
        }
        let year = years.first().copied();
        // The most precise mention counts, and the last of several such mentions.
        let best = (read.periods().filter(|one| one.start.is_some()).last())
            .or_else(|| read.periods().filter(|one| one.end.month.is_some()).last())
            .or_else(|| read.periods().last());
        let period = best.map(|one| Period {
            end: Date { year, ..one.end },
            instant: false,
            ..one
        });
        // Converting to lower case may change the length of the text, and then the offsets do not
        // fit the original.
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

/// Overwrites part of a text with as many blanks, so that other offsets stay valid.
pub fn blank(text: &mut String, at: &Range<usize>) {
    if text.get(at.clone()).is_some() {
        text.replace_range(at.clone(), &" ".repeat(at.len()));
    }
}

/// Merges neighbouring mentions that name one period.
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

/// True if two neighbouring mentions name one period: "third quarter of fiscal 2022", "June 2022
/// quarter".
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

/// Applies a length or a day that the text states once to all of its periods.
fn spread_shared_length(found: &mut Vec<Named>, text: &str) {
    let undated = |period: &Period| period.end == Date::default();
    // In "third-quarter sales in fiscal 2024", the year is that of the quarter.
    if let [(part_at, part), (year_at, year)] = found.as_mut_slice() {
        let gap = text.get(part_at.end..year_at.start).unwrap_or_default();
        let within = gap.split_whitespace().next_back();
        let is_within = within.is_some_and(|word| lists("in of for during", word));
        // "Fourth-quarter income as a percentage of fiscal 2033 sales" names two periods.
        let is_one = !gap.split_whitespace().any(|word| lists(JOINS, word));
        let is_year = year.months == Some(12) && year.end.month.is_none();
        let is_part = undated(part) && part.months.is_some_and(|months| months < 12);
        if is_part && is_year && is_within && is_one {
            year.months = None;
        }
    }
    // In "2033 and Q4 2033", the first year is a whole one, because the quarter has its own.
    let of_own_year = |(at, one): &Named| {
        let said = text.get(at.clone()).unwrap_or_default();
        one.end.year.is_some() && PART.is_match(said)
    };
    let whole = found.iter().position(of_own_year).unwrap_or_default();
    let mut lengths: Vec<u8> = found.iter().filter_map(|(_, one)| one.months).collect();
    let mut parts: Vec<u8> = found.iter().filter_map(|(_, one)| one.quarter).collect();
    lengths.sort_unstable();
    lengths.dedup();
    parts.sort_unstable();
    parts.dedup();
    let dated = found.iter().any(|(_, period)| !undated(period));
    if let ([months], true) = (lengths.as_slice(), parts.len() < 2) {
        for (_, period) in found.iter_mut().skip(whole) {
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

impl Period {
    /// The period of an XBRL tag: `2024-09-28`, or `2023-10-01 to 2024-09-28`. `None` if the
    /// end is not a date. Without a start, the period has no length.
    pub fn of_tag(text: &str) -> Option<Self> {
        let (start, end) = match text.split_once(" to ") {
            Some((start, end)) => (Some(start), end),
            None => (None, text),
        };
        let end = Times::heading(end).0?.end;
        let days = |date: Date| {
            let (year, month, day) = (date.year?, date.month?, date.day?);
            // Every month counts 30 days.
            Some(360 * u32::from(year) + 30 * u32::from(month) + u32::from(day))
        };
        let start = start.and_then(|start| days(Times::heading(start).0?.end));
        // Rounds to months of 30 days, so that the 13 weeks of a retailer's quarter are three
        // months.
        let length = start.zip(days(end));
        let months = length.and_then(|(start, end)| (end + 15).checked_sub(start));
        Some(Self {
            months: months.and_then(|days| u8::try_from(days / 30).ok()),
            end,
            ..Self::default()
        })
    }
}

#[cfg(test)]
#[allow(clippy::too_many_lines, reason = "tables of cases")]
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
            (
                "third-quarter sales in fiscal 2033", "third quarter of 2033",
            ),
            (
                "fourth-quarter income as a percentage of fiscal 2033 sales",
                "fourth quarter; 2033",
            ),
            ("third quarter and fiscal 2033", "third quarter; 2033"),
            ("2033 and q4 2033", "2033; fourth quarter of 2033"),
            (
                "2032, 2033 and the first half of 2033", "2032; 2033; first half of 2033",
            ),
            (
                "q4 2032 and 2033",
                "fourth quarter of 2032; fourth quarter of 2033",
            ),
            ("quarter 2 2031", "second quarter of 2031"),
            ("3m 2024", "3 months of 2024"),
            ("second fiscal quarter", "second quarter"),
            ("3rd quarter of fiscal 2021", "third quarter of 2021"),
            ("2022, third quarter", "third quarter of 2022"),
            ("2021/22", "2022"),
            ("2019-2021", "2019; 2021"),
            ("2019–2021", "2019; 2021"),
            ("fy24a", "2024"),
            ("fy2025e", "2025"),
            ("cy31", "2031"),
            ("cy2031", "2031"),
            ("f2031", "2031"),
            ("2032b", "2032"),
            ("2032p", "2032"),
            ("fy2031 e", "2031"),
            ("q1 24e", "first quarter of 2024"),
            ("1q24a", "first quarter of 2024"),
            ("q4'25f", "fourth quarter of 2025"),
            ("2h25e", "second half of 2025"),
            ("2024/25e", "2025"),
            ("2019-2021e", "2019; 2021"),
            ("mar-25e", "March of 2025"),
            ("dec 2025e", "December of 2025"),
            ("2031.0", "2031"),
            ("2031-12", "December of 2031"),
            ("2010-11", "2011"),
            ("mar 2031", "March of 2031"),
            ("dec-31", "December of 2031"),
            ("dec-31 2032", "31 December of 2032"),
            ("2032 dec-30", "30 December of 2032"),
            ("12/31/31", "31 December of 2031"),
            ("31/12/2031", "31 December of 2031"),
            ("04/04/31", "4 April of 2031"),
            ("03/04/31", ""),
            ("13/13/31", ""),
            ("53 weeks ended february 1, 2032", "1 February of 2032"),
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
    fn a_column_decides_which_of_two_days_is_meant() {
        for (others, day) in [
            (["31/03/31", "30/06/31"], "3 April of 2031"),
            (["03/31/31", "06/30/31"], "4 March of 2031"),
            (["31/03/31", "03/31/31"], ""),
            (["05/06/31", "2031"], ""),
        ] {
            let order = DayOrder::of(others.into_iter());
            let (period, rest) = Times::heading_in("At 03/04/31", order);
            let period = period.map(|period| period.to_string());
            assert_eq!(period.unwrap_or_default(), day, "{others:?}");
            assert_eq!(rest.trim(), "At", "{others:?}");
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
