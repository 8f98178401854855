//! Reading numbers as people and models write them in financial text.
//!
//! What it reads: `1,234.5`, `$-5`, `-$1,234.5`, `- 5`, `−5` (U+2212), `(5.2)`
//! as negative, `$1.2 billion`, `14.1%`, `1/2`, `1.5e6`, and the dataset's
//! doubled forms `-2913 ( 2913 )` and `28% ( 28 % )`. A number it cannot be
//! sure of (`1,2,3`, `--5`, `1e999`, a date, digits of another script) is no
//! number: the caller hears `None`, never a silent wrong value.

use std::ops::Range;

use super::Scale;

/// A number as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberReading {
    /// The number as written: `14.1` for `14.1%`, `1.2` for `$1.2 billion`.
    pub value: f64,
    /// Digits written after the decimal point (`14.10` has 2).
    pub decimals: u32,
    /// The decimals without trailing zeros (`14.10` has 1).
    pub significant_decimals: u32,
    /// Followed by a percent sign or word.
    pub percent: bool,
    /// The scale word that follows, if any. A trillion is 1,000 billions.
    pub scale: Option<Scale>,
    /// Bytes of the text that make up the number: sign, currency, percent and
    /// scale included.
    pub span: Range<usize>,
}

impl NumberReading {
    /// The value with a percent taken as a share: 0.141 for `14.1%`.
    pub fn fraction(&self) -> f64 {
        if self.percent {
            self.value / 100.0
        } else {
            self.value
        }
    }

    /// The value times its scale word: 1.2e9 for `$1.2 billion`.
    pub fn scaled(&self) -> f64 {
        self.value * self.scale.map_or(1.0, Scale::factor)
    }
}

/// The first number in `text`; `None` if there is none, or if the first thing
/// that looks like one cannot be read for certain.
///
/// ```
/// use finqa_core::number::read;
/// assert_eq!(read("(5.2)").map(|r| r.value), Some(-5.2));
/// assert_eq!(read("about $1.2 billion").map(|r| r.scaled()), Some(1.2e9));
/// assert_eq!(read("28% ( 28 % )").map(|r| r.fraction()), Some(0.28));
/// assert!(read("1,2,3").is_none());
/// ```
pub fn read(text: &str) -> Option<NumberReading> {
    Scanner::new(text).next_candidate()?.1
}

/// Every number in `text` that can be read for certain, from left to right.
pub fn readings(text: &str) -> impl Iterator<Item = NumberReading> + '_ {
    let mut scanner = Scanner::new(text);
    std::iter::from_fn(move || {
        loop {
            if let (_, Some(reading)) = scanner.next_candidate()? {
                return Some(reading);
            }
        }
    })
}

/// Walks over the text once; every call moves past one candidate.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
}

/// The digits of a candidate.
struct Digits {
    value: f64,
    decimals: u32,
    significant: u32,
    end: usize,
}

impl<'t> Scanner<'t> {
    fn new(text: &'t str) -> Self {
        Self { text, at: 0 }
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn before(&self, at: usize) -> &'t str {
        self.text.get(..at).unwrap_or_default()
    }

    fn after(&self, at: usize) -> &'t str {
        self.text.get(at..).unwrap_or_default()
    }

    fn skip_spaces(&self, at: usize) -> usize {
        let rest = self.after(at);
        at + (rest.len() - rest.trim_start().len())
    }

    fn run(&self, at: usize, accept: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(at..).unwrap_or_default();
        at + rest.iter().take_while(|b| accept(**b)).count()
    }

    /// The next thing that looks like a number: where it starts, and the
    /// reading unless it is malformed.
    fn next_candidate(&mut self) -> Option<(usize, Option<NumberReading>)> {
        loop {
            let floor = self.at;
            let start = floor + self.after(floor).find(is_digit)?;
            let from = self.point_before(start, floor);
            let end = self.candidate_end(start);
            if self.is_part_of_a_word(from) {
                self.at = end;
                continue;
            }
            let reading = self.reading(from, floor, end);
            self.at = reading.as_ref().map_or(end, |r| r.span.end.max(end));
            return Some((from, reading));
        }
    }

    /// `.27` starts at its point.
    fn point_before(&self, start: usize, floor: usize) -> usize {
        match start.checked_sub(1) {
            Some(point) if point >= floor && self.byte(point) == Some(b'.') => point,
            _ => start,
        }
    }

    /// The end of the whole run that the candidate's digits belong to, so that
    /// the rest of a malformed number is not read as another one.
    fn candidate_end(&self, start: usize) -> usize {
        let rest = self.after(start);
        let run = rest
            .find(|c: char| !(c.is_numeric() || matches!(c, ',' | '.' | '/' | '_')))
            .unwrap_or(rest.len());
        let run = rest.get(..run).unwrap_or_default();
        start + run.trim_end_matches([',', '.', '/', '_']).len()
    }

    /// `fy2010`, `h1` and `#0` are names; `usd5` is money.
    fn is_part_of_a_word(&self, from: usize) -> bool {
        let before = self.before(from);
        let word_start = before.rfind(|c: char| !c.is_alphabetic()).map_or(0, |at| {
            at + before
                .get(at..)
                .and_then(|s| s.chars().next())
                .map_or(1, char::len_utf8)
        });
        let word = before.get(word_start..).unwrap_or_default();
        if word.is_empty() {
            return before.ends_with(['_', '#']);
        }
        !["usd", "us", "eur", "gbp", "rs"]
            .iter()
            .any(|money| word.eq_ignore_ascii_case(money))
    }

    fn reading(&self, from: usize, floor: usize, end: usize) -> Option<NumberReading> {
        let digits = self.number(from)?;
        if digits.end < end {
            return None;
        }
        let prefix = self.prefix(from, floor)?;
        let (mut value, mut decimals, mut significant) =
            (digits.value, digits.decimals, digits.significant);
        let mut end = digits.end;
        let (mut percent, mut scale) = (false, None);
        let mut parenthesis = prefix.parenthesis;
        // `(5.2%)`, `(5.2)%` and `(5.2 million)`: the closing parenthesis may
        // be before or after the percent sign and the scale word.
        for _ in 0..3 {
            if parenthesis == Parenthesis::Open {
                let close = self.skip_spaces(end);
                if self.byte(close) == Some(b')') {
                    parenthesis = Parenthesis::Closed;
                    end = close + 1;
                }
            }
            if !percent && let Some(at) = self.percent_end(end) {
                (percent, end) = (true, at);
            }
            if scale.is_none()
                && !percent
                && let Some((word, thousands, at)) = self.scale(end)
            {
                (scale, end) = (Some(word), at);
                if thousands {
                    value *= 1e3;
                    decimals = decimals.saturating_sub(3);
                    significant = significant.saturating_sub(3);
                }
            }
        }
        let mut start = prefix.start;
        let mut negative = prefix.minus;
        match parenthesis {
            Parenthesis::Closed => negative = true,
            Parenthesis::Open => start = prefix.without_parenthesis,
            Parenthesis::None => {}
        }
        if parenthesis == Parenthesis::None
            && let Some((at, inner_percent)) = self.doubled(end, digits.value)
        {
            percent |= inner_percent;
            end = at;
        }
        Some(NumberReading {
            value: if negative { -value } else { value },
            decimals,
            significant_decimals: significant,
            percent,
            scale,
            span: start..end,
        })
    }

    /// Digits, groups of thousands, a point, an exponent or a denominator.
    fn number(&self, from: usize) -> Option<Digits> {
        let whole_end = self.run(from, |b| b.is_ascii_digit() || b == b',');
        let whole_text = self.text.get(from..whole_end)?;
        // A comma after the digits is punctuation: `5, or 6`.
        let whole_text = whole_text.trim_end_matches(',');
        if !well_grouped(whole_text) {
            return None;
        }
        let mut end = from + whole_text.len();
        let (mut decimals, mut significant) = (0, 0);
        let mut plain = whole_text.replace(',', "");
        if self.byte(end) == Some(b'.') && self.byte(end + 1).is_some_and(|b| b.is_ascii_digit()) {
            let stop = self.run(end + 1, |b| b.is_ascii_digit());
            let fraction = self.text.get(end + 1..stop)?;
            plain.push('.');
            plain.push_str(fraction);
            decimals = u32::try_from(fraction.len()).ok()?;
            significant = u32::try_from(fraction.trim_end_matches('0').len()).ok()?;
            end = stop;
        }
        if plain.is_empty() {
            return None;
        }
        if let Some((exponent, stop)) = self.exponent(end) {
            plain.push_str(self.text.get(end..stop)?);
            end = stop;
            decimals = shifted(decimals, exponent);
            significant = shifted(significant, exponent);
        }
        let mut value: f64 = plain.parse().ok()?;
        if self.byte(end) == Some(b'/') && self.byte(end + 1).is_some_and(|b| b.is_ascii_digit()) {
            let stop = self.run(end + 1, |b| b.is_ascii_digit());
            let denominator: f64 = self.text.get(end + 1..stop)?.parse().ok()?;
            value /= denominator;
            end = stop;
        }
        value.is_finite().then_some(Digits {
            value,
            decimals,
            significant,
            end,
        })
    }

    fn exponent(&self, at: usize) -> Option<(i32, usize)> {
        if !matches!(self.byte(at), Some(b'e' | b'E')) {
            return None;
        }
        let digits = at + 1 + usize::from(matches!(self.byte(at + 1), Some(b'+' | b'-')));
        let end = self.run(digits, |b| b.is_ascii_digit());
        if end == digits || self.after(end).starts_with(char::is_alphabetic) {
            return None;
        }
        // An exponent too long for an i32 makes the value infinite or zero anyway.
        let exponent = self.text.get(at + 1..end)?.parse().unwrap_or(i32::MAX);
        Some((exponent, end))
    }

    fn percent_end(&self, at: usize) -> Option<usize> {
        let at = self.skip_spaces(at);
        let rest = self.after(at);
        if rest.starts_with('%') {
            return Some(at + 1);
        }
        ["percentage points", "percent", "per cent", "pct"]
            .iter()
            .find(|word| starts_with_word(rest, word))
            .map(|word| at + word.len())
    }

    /// The scale word, whether it is a trillion, and where it ends.
    fn scale(&self, at: usize) -> Option<(Scale, bool, usize)> {
        const WORDS: [(&str, Scale, bool); 14] = [
            ("thousands", Scale::Thousand, false),
            ("thousand", Scale::Thousand, false),
            ("k", Scale::Thousand, false),
            ("millions", Scale::Million, false),
            ("million", Scale::Million, false),
            ("mm", Scale::Million, false),
            ("mn", Scale::Million, false),
            ("m", Scale::Million, false),
            ("billions", Scale::Billion, false),
            ("billion", Scale::Billion, false),
            ("bn", Scale::Billion, false),
            ("b", Scale::Billion, false),
            ("trillions", Scale::Billion, true),
            ("trillion", Scale::Billion, true),
        ];
        let spaced = self.skip_spaces(at);
        let rest = self.after(spaced);
        WORDS
            .iter()
            // `5 m` may be metres and `5 b` a footnote: letters must touch the number.
            .filter(|(word, _, _)| spaced == at || word.len() > 2)
            .find(|(word, _, _)| starts_with_word(rest, word))
            .map(|(word, scale, thousands)| (*scale, *thousands, spaced + word.len()))
    }

    /// The second half of `-2913 ( 2913 )`: the same magnitude in parentheses.
    fn doubled(&self, at: usize, magnitude: f64) -> Option<(usize, bool)> {
        let open = self.skip_spaces(at);
        if self.byte(open) != Some(b'(') {
            return None;
        }
        let inner = self.skip_spaces(open + 1);
        let inner = self.skip_spaces(inner + usize::from(self.byte(inner) == Some(b'$')));
        let digits = self.number(inner)?;
        if (digits.value - magnitude).abs() > 0.0 {
            return None;
        }
        let percent = self.percent_end(digits.end);
        let close = self.skip_spaces(percent.unwrap_or(digits.end));
        (self.byte(close) == Some(b')')).then_some((close + 1, percent.is_some()))
    }

    /// Sign, currency and opening parenthesis before the digits.
    /// `None` when there is more than one sign.
    fn prefix(&self, from: usize, floor: usize) -> Option<Prefix> {
        let mut start = from;
        let mut prefix = Prefix {
            start: from,
            without_parenthesis: from,
            minus: false,
            parenthesis: Parenthesis::None,
        };
        let (mut signs, mut currency) = (0, false);
        loop {
            let before = self.text.get(floor..start).unwrap_or_default();
            let trimmed = before.trim_end();
            let spaced = trimmed.len() < before.len();
            let Some(mark) = trimmed.chars().next_back() else {
                break;
            };
            let at = floor + trimmed.len() - mark.len_utf8();
            match mark {
                '$' | '€' | '£' | '¥' if !currency => currency = true,
                '(' if prefix.parenthesis == Parenthesis::None => {
                    prefix.parenthesis = Parenthesis::Open;
                    prefix.without_parenthesis = prefix.start;
                }
                '-' | '+' | '\u{2212}' | '\u{2013}' if self.is_sign(at, mark, spaced) => {
                    signs += 1;
                    if signs > 1 {
                        return None;
                    }
                    prefix.minus = mark != '+';
                }
                _ => break,
            }
            start = at;
            prefix.start = at;
        }
        Some(prefix)
    }

    /// True if a dash at `at` is the sign of the number after it, and not the hyphen of
    /// `covid-19` or the dash of `2009 - 2010`.
    fn is_sign(&self, at: usize, mark: char, spaced: bool) -> bool {
        let before = self.before(at);
        let opens =
            before.trim_end().is_empty() || before.trim_end().ends_with(['$', '(', ':', '=']);
        let apart =
            before.ends_with(|c: char| c.is_whitespace() || matches!(c, '-' | '+' | '\u{2212}'));
        if spaced || mark == '\u{2013}' {
            opens
        } else {
            opens || apart
        }
    }
}

/// The signs and marks before the digits.
struct Prefix {
    start: usize,
    /// The start of the number if the parenthesis turns out not to belong to it.
    without_parenthesis: usize,
    minus: bool,
    parenthesis: Parenthesis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parenthesis {
    None,
    Open,
    Closed,
}

/// A digit of any script: those of other scripts make a candidate that cannot
/// be read, rather than being passed over.
fn is_digit(c: char) -> bool {
    c.is_numeric()
}

/// `1234`, `1,234,567` and the empty part before a point; not `1,2,3`.
fn well_grouped(digits: &str) -> bool {
    let mut groups = digits.split(',');
    let first = groups.next().unwrap_or_default();
    if !digits.contains(',') {
        return true;
    }
    (1..=3).contains(&first.len()) && groups.all(|group| group.len() == 3)
}

/// Decimals after shifting the point by the exponent.
fn shifted(decimals: u32, exponent: i32) -> u32 {
    u32::try_from(i64::from(decimals) - i64::from(exponent)).unwrap_or(0)
}

fn starts_with_word(text: &str, word: &str) -> bool {
    text.get(..word.len())
        .is_some_and(|start| start.eq_ignore_ascii_case(word))
        && !text
            .get(word.len()..)
            .is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests;
