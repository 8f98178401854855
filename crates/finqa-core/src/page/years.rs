//! Decides which digits are a year. Labels, cells, sentences and questions all use these rules.

use std::ops::RangeInclusive;

pub use crate::number::{MONTHS, year_of};

/// Reads four digits in running text as a year from 1980 to 2060. Numbers outside this range, which
/// [`year_of`] accepts, are more often amounts in running text. The embedded analyst's weights were
/// trained with this range; docs/decisions.md states the cost of a wider one.
pub fn year_in_text(digits: &str) -> Option<u16> {
    year_of(digits).filter(|year| IN_TEXT.contains(year))
}

const IN_TEXT: RangeInclusive<u16> = 1980..=2060;

/// The year of a date that starts with its month: `12/31/09`, `12/29/2018` or `12/14`. `None` for
/// any other text.
pub fn year_of_date(text: &str) -> Option<u16> {
    let mut parts = text.split('/');
    let month: u8 = parts.next()?.parse().ok()?;
    // After the month, there is a year, or a day and a year.
    let dated = (1..=12).contains(&month) && (1..=2).contains(&parts.count());
    single_year(text).filter(|year| dated && IN_TEXT.contains(year))
}

/// The distinct years that `label` names, in order: `2009`, `december 31 , 2009`, `12/31/09`, and
/// also `december 312009`, in which a line break was lost. An amount such as `$ 2014` or `2,014` is
/// not a year.
///
/// ```
/// use finqa_core::page::years_in;
/// assert_eq!(years_in("year ended 12/31/04"), [2004]);
/// assert_eq!(years_in("2009 vs 2008"), [2009, 2008]);
/// assert!(years_in("$ 2014").is_empty());
/// ```
pub fn years_in(label: &str) -> Vec<u16> {
    if let Some(year) = month_and_year(label) {
        return vec![year];
    }
    let mut years = Vec::new();
    let bytes = label.as_bytes();
    let mut at = 0;
    while let Some(start) = bytes
        .get(at..)
        .and_then(|rest| rest.iter().position(u8::is_ascii_digit))
        .map(|offset| at + offset)
    {
        let end = bytes
            .get(start..)
            .and_then(|rest| rest.iter().position(|byte| !byte.is_ascii_digit()))
            .map_or(bytes.len(), |offset| start + offset);
        at = end;
        let before = label.get(..start).unwrap_or_default();
        let digits = label.get(start..end).unwrap_or_default();
        let after = label.get(end..).unwrap_or_default();
        if let Some(year) = year(before, digits, after)
            && !years.contains(&year)
        {
            years.push(year);
        }
    }
    years
}

/// The year that `label` names; `None` if it names none or several.
pub(super) fn single_year(label: &str) -> Option<u16> {
    match years_in(label).as_slice() {
        [year] => Some(*year),
        _ => None,
    }
}

/// The year of a label that consists only of a month and a year: `12/09`. `None` for any other
/// label.
fn month_and_year(label: &str) -> Option<u16> {
    let (month, year) = label.trim().split_once('/')?;
    let month: u8 = month.parse().ok()?;
    ((1..=12).contains(&month) && year.len() == 2)
        .then(|| year_of_two_digits(year))
        .flatten()
}

/// True if the text next to the digits makes them an amount: `$ 2014`, `2,014`, `2014.5`, `2014%`.
pub(super) fn is_amount(before: &str, after: &str) -> bool {
    let decimals = after.strip_prefix(['.', ',']);
    before.trim_end().ends_with(['$', '€', '£'])
        || before.ends_with(['.', ','])
        || after.starts_with('%')
        || decimals.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// Reads digits as a year, if the text before and after them allows it: four digits, the last two
/// of a date, or the day and the year of a date without the space between them. Otherwise `None`.
fn year(before: &str, digits: &str, after: &str) -> Option<u16> {
    // The dot before the year of `31.12.2009` does not make it an amount.
    let dated = digits.len() == 4 && ends_in_day(before);
    // `2014 %` is a dash that lost its escape, not a year.
    if !dated && is_amount(before, after) || after.trim_start().starts_with('%') {
        return None;
    }
    match digits.len() {
        4 => year_of(digits),
        // `12/31/04` and `dec-04`; a lone two-digit number is not a year, and two digits
        // before another `/` or `-` are a month or a day.
        2 if is_date_before(before) && !after.starts_with(['/', '-']) => year_of_two_digits(digits),
        5 | 6 => {
            let (day, year) = digits.split_at_checked(digits.len() - 4)?;
            let day: u8 = day.parse().ok()?;
            let word = before.trim_end().rsplit(' ').next()?;
            ((1..=31).contains(&day) && is_month(word))
                .then(|| year_of(year))
                .flatten()
        }
        _ => None,
    }
}

/// True if `before` ends with a day and a month: `31.12.`.
fn ends_in_day(before: &str) -> bool {
    let number = |part: Option<&str>| {
        let part = part.and_then(|part| part.rsplit(' ').next());
        part.is_some_and(|part| (1..=31).contains(&part.parse::<u8>().unwrap_or(0)))
    };
    let mut parts = before.rsplit('.');
    parts.next() == Some("") && number(parts.next()) && number(parts.next())
}

/// Reads two digits as a year. `70` to `99` are in the 20th century and the others in the 21st,
/// because the reports begin in the 1990s. The limit is set by hand.
pub(super) fn year_of_two_digits(digits: &str) -> Option<u16> {
    let year: u16 = digits.parse().ok()?;
    (0..100)
        .contains(&year)
        .then_some(if year >= 70 { 1900 + year } else { 2000 + year })
}

/// True if `before` ends with `12/31/` or `dec-`, or with an apostrophe or `fy`.
fn is_date_before(before: &str) -> bool {
    let lower = before.trim_end().to_ascii_lowercase();
    if before.ends_with('\'') || before.ends_with('’') || lower.ends_with("fy") {
        return true;
    }
    let Some(front) = before.strip_suffix(['/', '-']) else {
        return false;
    };
    let day = front.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_day = day.len() < front.len();
    let month = day.strip_suffix(['/', '-']).unwrap_or("");
    // Four digits before the month are a year, and the number after it is then the day:
    // `2025-01-15`.
    let digits = month.len() - month.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    (has_day && (1..=2).contains(&digits))
        || is_month(front.rsplit([' ', '-']).next().unwrap_or(""))
}

/// True if a word is a month or its usual abbreviation: `Sept`, but not `market`.
pub fn is_month(word: &str) -> bool {
    let word = word.trim_end_matches('.');
    let short = (3..=4).contains(&word.len());
    MONTHS.iter().any(|month| {
        let whole = if short {
            month.get(..word.len())
        } else {
            Some(*month)
        };
        whole.is_some_and(|whole| whole.eq_ignore_ascii_case(word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn years_of_labels() {
        for (label, expected) in [
            ("2009", &[2009][..]),
            ("december 31 , 2009", &[2009]),
            ("december 312016", &[2016]),
            ("12/31/04", &[2004]),
            ("dec-98", &[1998]),
            ("12/09", &[2009]),
            ("1/2", &[]),
            ("growth of 12/09 units", &[]),
            ("fy09", &[2009]),
            ("FY09", &[2009]),
            ("FY 09", &[2009]),
            ("31.12.2024", &[2024]),
            ("2025-01-15", &[2025]),
            ("2025/01/15", &[2025]),
            ("1.234.2024", &[]),
            ("year ended june 30 2009 2008", &[2009, 2008]),
            ("2014 to 2014", &[2014]),
            ("2007 net revenue", &[2007]),
            ("$ 2014", &[]),
            ("2,014 shares", &[]),
            ("2014.5", &[]),
            ("5.000% notes due", &[]),
            ("312016 units", &[]),
            ("less than 1 year", &[]),
            ("10-40", &[]),
            ("", &[]),
        ] {
            assert_eq!(years_in(label), expected, "{label}");
        }
    }
}
