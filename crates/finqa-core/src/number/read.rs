//! Reads numbers as people and models write them in financial text.
//!
//! Answers, cells and sentences share one grammar: sign and currency in either order; digits with
//! thousands separated by commas, apostrophes or narrow spaces; then an exponent, a percent sign, a
//! scale word, a currency or a trailing minus. Parentheses around a number mean a minus: `(1,234)`
//! is -1234. Every character that touches the digits must be part
//! of the number or a known end of it. Otherwise nothing is read, and the caller gets the reason
//! ([`NotRead`]) instead of a wrong value.
//!
//! | function | reads |
//! |---|---|
//! | [`whole`] | a text that is one number and nothing else |
//! | [`answer`](super::answer()) | the number that an answer means |
//! | [`read`] | the first number of a text |
//! | [`readings`] | every number of a text |

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::Scale;
use super::digits::PlainNumber;
use super::fold::Folded;
use super::reading::{NotRead, NumberReading};
use super::words::{BASIS_POINTS, CODES, COUNTRIES, MARKS, PERCENT, scale_of_word, year_of};
use crate::pattern;
use crate::regex;
use crate::text::Pattern;

/// A whole run of digits and separators. If its start is malformed, the whole run is skipped, so
/// that its end is not read as a number of its own.
static RUN: Pattern = pattern!(r"^(?:[,./_':]?\p{N})+");

/// A currency at the end of the text before a number.
static MONEY: Pattern = pattern!(&format!(
    r"(?i)(?:(?:(?:\b(?:{COUNTRIES}))?[{MARKS}]|\b(?:{CODES})|\brs\.)\s*|\bus)$"
));

/// A currency after a number. The group `next` matches the start of another number, to which
/// the currency may belong instead.
static MONEY_BEHIND: Pattern = pattern!(&format!(
    r"(?i)^\s*(?:(?:{COUNTRIES})?[{MARKS}]|(?:{CODES})\b)(?P<next>\s*[\p{{N}}(.-])?"
));

/// A percent sign or word, or basis points, after a number; also `10-percent`.
static UNIT: Pattern = pattern!(&format!(
    r"(?i)^(?:(?P<percent>\s*%|(?:\s*|-)(?:{PERCENT})\b)|(?:\s*|-)(?:{BASIS_POINTS})\b)"
));

/// The repetition in `-2913 ( 2913 )`, as the dataset's cells print negative numbers.
static DOUBLED: Pattern = pattern!(r"^\s*\(\s*\$?\s*([0-9.,/]+)\s*(%?)\s*\)");

/// The text that may come before a sign: the start of the text, an opening mark, or a currency.
static OPENS: LazyLock<Regex> = LazyLock::new(|| {
    regex!(&format!(
        r#"(?i)(?:^|[(\[{{'":=≈~,;|→×*{MARKS}]|\b(?:{CODES}))\s*$"#
    ))
});

/// Texts that may not come directly before a number, each with the reason.
static BEFORE: LazyLock<[(Regex, NotRead); 4]> = LazyLock::new(|| {
    [
        (r"(?:[<>≤≥±∓]=?|\+/-)\s*$", NotRead::Unit),
        // The 1 in `Revenue(1)` is a footnote mark.
        (r"[\p{L}\p{N})]$", NotRead::Name),
        // A sign that is not the dash of a range or a hyphen.
        (r"(?:^|[^\p{L}\p{N}%.])[-+]$", NotRead::Sign),
        (
            r#"[^\s\p{L}\p{N})(\[{'"=≈~:;,.?!/|→…×*÷«•+-]$"#,
            NotRead::Unit,
        ),
    ]
    .map(|(before, reason)| (regex!(before), reason))
});

/// Text that may follow a number without changing it. The letters mean multiples (`x`), pence and
/// cents, and points. `¢` is not included, because it means a hundredth of the unit, which is not
/// supported.
static BEHIND: Pattern =
    pattern!(r#"(?i)^(?:$|\s|(?:x|p|c|pts?)\b|[!"'()*,./:;=?\[\]{|}~×≈→…÷»†‡•]|-(?:$|[-\s\w($]))"#);

/// A percent sign that is separated from the number.
static STRAY: Pattern = pattern!(&format!(r"^[-+*×^)\]\s{MARKS}]*[%‰‱]"));

/// The first number in `text`. `None` if there is none, or if the first candidate cannot be read
/// with certainty.
///
/// ```
/// use finqa_core::number::read;
/// assert_eq!(read("(5.2)").map(|r| r.value), Some(-5.2));
/// assert_eq!(read("about $1.2 billion").map(|r| r.scaled()), Some(1.2e9));
/// assert_eq!(read("28% ( 28 % )").map(|r| r.fraction()), Some(0.28));
/// assert!(read("1,2,3").is_none());
/// ```
pub fn read(text: &str) -> Option<NumberReading> {
    let mut scanner = Scanner::new(text);
    loop {
        let reading = scanner.next()?.reading;
        if reading != Err(NotRead::Name) {
            return reading.ok().map(|reading| scanner.restored(reading));
        }
    }
}

/// Every number in `text` that can be read with certainty, from left to right.
pub fn readings(text: &str) -> impl Iterator<Item = NumberReading> + '_ {
    let mut scanner = Scanner::new(text);
    std::iter::from_fn(move || {
        loop {
            if let Ok(reading) = scanner.next()?.reading {
                return Some(scanner.restored(reading));
            }
        }
    })
}

/// Reads a text that is one number and nothing else.
///
/// ```
/// use finqa_core::number::{NotRead, whole};
/// assert_eq!(whole(" \u{25b3}1,250 ").map(|r| r.value), Ok(-1250.0));
/// assert_eq!(whole("5 years"), Err(NotRead::Unit));
/// assert_eq!(whole("(45"), Err(NotRead::Unit));
/// ```
///
/// # Errors
/// The reason why the text is not exactly one number.
pub fn whole(text: &str) -> Result<NumberReading, NotRead> {
    let mut scanner = Scanner::new(text);
    let reading = scanner.next().ok_or(NotRead::NoNumber)?.reading?;
    let (before, behind) = (
        scanner.before(reading.span.start),
        scanner.behind(reading.span.end),
    );
    if before.trim().is_empty() && behind.trim().is_empty() {
        Ok(scanner.restored(reading))
    } else {
        Err(NotRead::Unit)
    }
}

/// A part of a text that looks like a number.
pub(super) struct NumberCandidate {
    /// The digits and everything that belongs to them, as a range in the folded text.
    pub(super) span: Range<usize>,
    /// The number, or the reason why it cannot be read. The number's span is a range in the folded
    /// text.
    pub(super) reading: Result<NumberReading, NotRead>,
}

/// What follows the digits of a number, before a minus.
#[derive(Default)]
struct NumberSuffix {
    /// The end of what was read, in the folded text.
    end: usize,
    /// True if the parenthesis before the digits is closed.
    closed: bool,
    percent: bool,
    basis_points: bool,
    /// The scale, and the power of ten by which the scale word exceeds it.
    scale: Option<(Scale, u32)>,
}

/// Finds the candidates of a text from left to right.
pub(super) struct Scanner<'t> {
    pub(super) folded: Folded<'t>,
    /// True if the text has a triangle that points down. A filled triangle that points up (`▲`) is
    /// then a plus, and otherwise a minus.
    falls: bool,
    at: usize,
}

impl Iterator for Scanner<'_> {
    type Item = NumberCandidate;

    fn next(&mut self) -> Option<NumberCandidate> {
        let floor = self.at;
        let start = floor + self.behind(floor).find(char::is_numeric)?;
        // `.27` starts at its decimal point.
        let point = start > floor && self.before(start).ends_with('.');
        let from = start - usize::from(point);
        // Always found, because `is_numeric` accepts the same characters as `\p{N}`.
        let run = RUN.find(self.behind(start)).map_or(1, |run| run.len());
        let reading = self.reading(from, floor, start + run);
        let span = match &reading {
            Ok(reading) => reading.span.clone(),
            Err(_) => from..start + run,
        };
        self.at = span.end.max(start + run);
        Some(NumberCandidate { span, reading })
    }
}

impl<'t> Scanner<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self {
            folded: Folded::new(text),
            falls: text.contains(['▼', '▽']),
            at: 0,
        }
    }

    /// Converts the span of a reading to the original text.
    pub(super) fn restored(&self, mut reading: NumberReading) -> NumberReading {
        let Range { start, end } = reading.span;
        reading.span = self.folded.place(start)..self.folded.place(end);
        reading
    }

    fn before(&self, at: usize) -> &str {
        self.folded.text.get(..at).unwrap_or_default()
    }

    fn behind(&self, at: usize) -> &str {
        self.folded.text.get(at..).unwrap_or_default()
    }

    /// Reads the number whose digits start at `from`. `floor` is the end of the previous number.
    /// `run` is the end of the digits and separators, all of which must be read.
    fn reading(&self, from: usize, floor: usize, run: usize) -> Result<NumberReading, NotRead> {
        // `fy2010`, `h1` and `#0` are names, but `usd5` is money.
        let before = self.before(from);
        let is_name = before.ends_with(char::is_alphabetic) && !MONEY.is_match(before);
        if is_name || before.ends_with(['_', '#', '№']) {
            return Err(NotRead::Name);
        }
        let number = PlainNumber::read(self.behind(from)).ok_or(NotRead::Digits)?;
        let end = from + number.length;
        if end < run {
            return Err(NotRead::Digits);
        }
        // "EUR 2017" and "2017 €m" are column headings, in which the year is not an amount of the
        // currency.
        let digits = self.folded.text.get(from..end);
        let heading = digits.is_some_and(|digits| year_of(digits).is_some());
        let (start, inside, plus, money) = self.prefix(from, floor, heading)?;
        let NumberSuffix {
            mut end,
            closed,
            mut percent,
            basis_points,
            scale,
        } = self.suffix(end, inside.is_some(), heading, money);
        // The minus of `45-` counts only if nothing but closing marks follows.
        let closes = |c: char| c.is_whitespace() || ")]}.\"'|".contains(c);
        let behind = self.behind(end).strip_prefix('-');
        let minus = behind.is_some_and(|rest| rest.chars().all(closes));
        // A trailing minus allows no other sign. Brackets mean a minus, so they allow no plus.
        if minus && (plus.is_some() || closed) || closed && plus == Some(true) {
            return Err(NotRead::Sign);
        }
        end += usize::from(minus);
        // The values must be equal; `==` on floats would need an exception from clippy.
        if inside.is_none()
            && let Some(doubled) = DOUBLED.captures(self.behind(end))
            && let [all, digits, mark] =
                [0, 1, 2].map(|at| doubled.get(at).map_or("", |it| it.as_str()))
            && PlainNumber::read(digits).is_some_and(|it| (it.value - number.value).abs() <= 0.0)
        {
            percent |= !mark.is_empty();
            end += all.len();
        }
        self.ends(end, percent)?;
        let (scale, power) = scale.unzip();
        let power = power.unwrap_or(0);
        // The power is 0 or 3 (`SCALES`), so the conversion cannot fail.
        let value = number.value * 10_f64.powi(i32::try_from(power).unwrap_or(0));
        let negative = minus || closed || plus == Some(false);
        Ok(NumberReading {
            value: if negative { -value } else { value },
            literal: match power {
                0 => number.literal,
                _ => value.to_string(),
            },
            decimals: number.decimals.saturating_sub(power),
            significant_decimals: number.significant.saturating_sub(power),
            percent,
            basis_points,
            loss: false,
            scale,
            span: inside.filter(|_| !closed).unwrap_or(start)..end,
        })
    }

    /// Reads the sign, the currency and the opening parenthesis before the digits. `floor` is the
    /// end of the previous number, and `heading` is true if the digits are a year. Returns the
    /// start of the number, the start to use if the parenthesis is never closed, the sign (true for
    /// a plus), and the currency.
    #[allow(clippy::type_complexity, reason = "taken apart where it is called")]
    fn prefix(
        &self,
        from: usize,
        floor: usize,
        heading: bool,
    ) -> Result<(usize, Option<usize>, Option<bool>, &str), NotRead> {
        let (mut start, mut inside, mut sign, mut money) = (from, None, None, "");
        loop {
            let before = self.folded.text.get(floor..start).unwrap_or_default();
            let trimmed = before.trim_end();
            let spaced = trimmed.len() < before.len();
            // A blank means that nothing comes before the number.
            let mark = trimmed.chars().next_back().unwrap_or(' ');
            let at =
                start - (before.len() - trimmed.len()) - mark.len_utf8() * usize::from(mark != ' ');
            if let Some(found) = MONEY.find(before)
                && !(heading && spaced && mark.is_alphabetic())
            {
                money = found.as_str().trim_end();
                start = floor + found.start();
            } else if mark == '(' && inside.is_none() {
                inside = Some(start);
                start = at;
            } else if let Some(plus) = self.sign(at, mark, spaced) {
                if sign.replace(plus).is_some() {
                    return Err(NotRead::Sign);
                }
                start = at;
            } else {
                break;
            }
        }
        let before = self.before(start);
        match BEFORE.iter().find(|(bad, _)| bad.is_match(before)) {
            Some((_, reason)) => Err(*reason),
            None => Ok((start, inside, sign, money)),
        }
    }

    /// Reads what may follow the digits in any order: parenthesis, percent sign, scale and currency.
    /// `opened` is true if a parenthesis is open, and `money` is the currency before the digits.
    /// In a `heading`, a currency after a blank is not part of the number.
    fn suffix(&self, from: usize, opened: bool, heading: bool, money: &str) -> NumberSuffix {
        let mut read = NumberSuffix {
            end: from,
            ..NumberSuffix::default()
        };
        let mut money = money.to_owned();
        loop {
            let behind = self.behind(read.end);
            let unitless = !read.percent && !read.basis_points && read.scale.is_none();
            if opened && !read.closed && behind.trim_start().starts_with(')') {
                read.closed = true;
                read.end += behind.find(')').unwrap_or(0) + 1;
            } else if unitless && let Some(found) = UNIT.captures(behind) {
                read.percent = found.name("percent").is_some();
                read.basis_points = !read.percent;
                read.end += found.get(0).map_or(0, |found| found.len());
            } else if unitless && let Some((found, length)) = scale_behind(behind, &money) {
                read.scale = Some(found);
                read.end += length;
            } else if let Some(found) = MONEY_BEHIND.captures(behind)
                && found.name("next").is_none()
                && let Some(found) = found.get(0).map(|found| found.as_str())
                && (money.is_empty() && !(heading && found.starts_with(' ')) || found == "$")
            {
                money = found.trim().to_owned();
                read.end += found.len();
            } else {
                return read;
            }
        }
    }

    /// The sign that `mark` gives to the number after it (true for a plus). `None` if the mark is
    /// not a sign but the hyphen of `covid-19` or the dash of `2009 - 2010`.
    fn sign(&self, at: usize, mark: char, spaced: bool) -> Option<bool> {
        let before = self.before(at);
        match mark {
            '-' | '+' => {
                // A long dash that is separated from the number means nil or separates words.
                let original = self.folded.original.get(self.folded.place(at)..);
                let long = spaced && original.is_some_and(|text| text.starts_with(['—', '―']));
                let opens = (!long || before.trim().is_empty()) && OPENS.is_match(before);
                let apart = before.ends_with(char::is_whitespace) && !spaced;
                // A second sign counts as one too, so that `prefix` refuses the number.
                (opens || apart || before.ends_with(['-', '+'])).then_some(mark == '+')
            }
            // Japanese reports mark a loss with a triangle. If some triangles in the text point
            // down, a filled triangle that points up is a plus.
            '△' | '▽' | '▼' | '▲' => {
                let touches = before.ends_with(char::is_alphanumeric);
                (!touches).then_some(mark == '▲' && self.falls)
            }
            _ => None,
        }
    }

    /// Returns an error if the text after the number may change its value.
    fn ends(&self, at: usize, percent: bool) -> Result<(), NotRead> {
        let behind = self.behind(at);
        // The hyphen in "12- month" joins words, but in "45.2- million" it is a minus.
        let word = behind
            .strip_prefix('-')
            .map_or("", |rest| first_word(rest.trim_start()));
        let signed = word.len() > 1 && (scale_of_word(word).is_some() || word == "percent");
        // A word may touch a percent sign if the blank between them was lost.
        let lost_blank = self.before(at).ends_with('%') && behind.starts_with(char::is_alphabetic);
        let touches = !lost_blank && !BEHIND.is_match(behind);
        let stray = !percent && STRAY.is_match(behind);
        if signed || touches || stray {
            Err(NotRead::Unit)
        } else {
            Ok(())
        }
    }
}

/// The scale word after a number, and the number of bytes that are consumed. A single letter may
/// also be a unit or a footnote mark. It counts as a scale only if it touches the number, follows
/// an amount of money, or is a capital. A `t` must follow money, or be a capital that touches the
/// number. "Cr" counts only after rupees.
fn scale_behind(behind: &str, money: &str) -> Option<((Scale, u32), usize)> {
    let hyphen = behind.strip_prefix('-');
    let rest = hyphen.unwrap_or(behind.trim_start());
    let (word, gap) = (first_word(rest), behind.len() - rest.len());
    let scale = scale_of_word(word)?;
    let capital = word.starts_with(char::is_uppercase);
    let is_sure = match word {
        "cr" | "Cr" | "CR" => {
            ["₹", "₨", "inr", "rs", "rs."].contains(&money.to_lowercase().as_str())
        }
        "t" | "T" => !money.is_empty() || gap == 0 && capital,
        _ if word.len() > 1 => true,
        _ => hyphen.is_none() && (gap == 0 || capital || !money.is_empty()),
    };
    // `5 m²` is an area.
    let area = rest
        .get(word.len()..)
        .is_some_and(|rest| rest.starts_with(char::is_numeric));
    (is_sure && !area).then_some((scale, gap + word.len()))
}

fn first_word(text: &str) -> &str {
    let end = text
        .find(|c: char| !c.is_alphabetic())
        .unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests;
