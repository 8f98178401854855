//! Reads the dates of tables, and prints them as they are stored in `SQLite`.
//!
//! OpenEnv's `finqa_env` guesses dates with dateutil. This file reads only the forms that occur in
//! reports. A column with a text in any other form stays text.

use jiff::civil::{Date, DateTime, Time};

use finqa_core::page::MONTHS;

/// Reads a date. A date in digits may have a time. `None` for a text in any other form.
pub(super) fn parse(text: &str) -> Option<DateTime> {
    let text = text.trim().to_lowercase();
    numeric(&text).or_else(|| worded(&text))
}

/// Prints a moment as `2024-12-31 00:00:00`, with six decimals if its seconds have a fraction.
pub(super) fn print(moment: DateTime) -> String {
    let micros = moment.subsec_nanosecond() / 1000;
    let whole = moment.strftime("%Y-%m-%d %H:%M:%S");
    match micros {
        0 => whole.to_string(),
        _ => format!("{whole}.{micros:06}"),
    }
}

/// Reads `2024-12`, `2024-12-31` or `12/31/2024`, each with or without a time. `None` for any other
/// text.
fn numeric(text: &str) -> Option<DateTime> {
    // The `t` is the `T` of ISO 8601, which `parse` wrote in lower case.
    let (day, time) = match text.split_once([' ', 't']) {
        Some((day, time)) => (day, clock(time.trim())?),
        None => (text, Time::midnight()),
    };
    let fields: Vec<&str> = day.split(['-', '/']).collect();
    let date = match fields.as_slice() {
        [year, month] => civil(year, month, "1"),
        [year, month, day] if year.len() == 4 => civil(year, month, day),
        // Month first, as in US filings and by dateutil's default.
        [month, day, year] => civil(year, month, day),
        _ => None,
    };
    Some(date?.to_datetime(time))
}

/// Reads `dec 31, 2024`, `31 december 2024` or `december 2024`. `None` for any other text.
fn worded(text: &str) -> Option<DateTime> {
    let words: Vec<&str> = text
        .split([' ', ',', '.', '-'])
        .filter(|w| !w.is_empty())
        .collect();
    let date = match words.as_slice() {
        [word, day, year] if month(word).is_some() => civil(year, &month(word)?, day)?,
        [day, word, year] if month(word).is_some() => civil(year, &month(word)?, day)?,
        [word, year] => civil(year, &month(word)?, "1")?,
        _ => return None,
    };
    Some(date.to_datetime(Time::midnight()))
}

/// The number of the month with this name or this three-letter abbreviation.
fn month(word: &str) -> Option<String> {
    let mut months = MONTHS.iter();
    let at = months.position(|month| *month == word || month.get(..3) == Some(word))?;
    Some((at + 1).to_string())
}

fn civil(year: &str, month: &str, day: &str) -> Option<Date> {
    let digits = [year, month, day].concat();
    if year.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

/// Reads a time. A `z` (UTC) is dropped, because `SQLite` stores the time as it is written.
fn clock(text: &str) -> Option<Time> {
    text.trim_end_matches('z').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_reports_are_read() {
        for (text, printed) in [
            ("2024-12", "2024-12-01 00:00:00"),
            ("2024-12-31", "2024-12-31 00:00:00"),
            ("12/31/2024", "2024-12-31 00:00:00"),
            ("2024-12-31T10:11:12", "2024-12-31 10:11:12"),
            ("2024-12-31 10:11:12.5", "2024-12-31 10:11:12.500000"),
            ("Dec 31, 2024", "2024-12-31 00:00:00"),
            ("december 31 2024", "2024-12-31 00:00:00"),
            ("31 dec 2024", "2024-12-31 00:00:00"),
            ("jan 2024", "2024-01-01 00:00:00"),
        ] {
            assert_eq!(parse(text).map(print).as_deref(), Some(printed), "{text}");
        }
        for text in [
            "total", "q1 2024", "2024 total", "december_31_2024", "5%", "", "13/31/2024",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
