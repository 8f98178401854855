//! Reads plain digits: groups of thousands, a decimal point, an exponent or a denominator.

use super::fold::THIN;
use crate::pattern;
use crate::text::Pattern;

/// An exponent, a denominator or a ratio to one after the digits: `e6`, `× 10^6`, `/2`, `:1`.
static EXPONENT: Pattern = pattern!(
    r"(?xi)^(?:e(?P<e>[-+]?[0-9]+)\b
        |\s*[×*x]\s*10(?:\^[{(]?(?P<power>[-+]?[0-9]+)[)}]?|(?P<raised>[⁺⁻]?[⁰¹²³⁴-⁹]+)))?
        (?:/(?P<by>[0-9]+)|:1\b)?"
);

/// A number as its digits state it, before sign, unit and scale are applied.
pub(super) struct PlainNumber {
    pub(super) value: f64,
    pub(super) literal: String,
    pub(super) decimals: u32,
    pub(super) significant: u32,
    /// The number of bytes read.
    pub(super) length: usize,
}

impl PlainNumber {
    /// Reads the number at the start of a text. `None` if it has none, or if the digits are
    /// grouped in a way that is not supported (`1,2,3`).
    pub(super) fn read(text: &str) -> Option<Self> {
        let at = |from: usize| text.get(from..).unwrap_or_default();
        let mut end = whole_part(text)?;
        let digit = |byte: &u8| byte.is_ascii_digit();
        let mut literal: String = text
            .bytes()
            .take(end)
            .filter(digit)
            .map(char::from)
            .collect();
        let fraction = at(end).strip_prefix('.').map_or(0, digits);
        let fraction = at(end)
            .get(..fraction + usize::from(fraction > 0))
            .unwrap_or_default();
        literal.push_str(fraction);
        end += fraction.len();
        let raises = at(end).trim_start().starts_with(EXPONENTS);
        let found = raises.then(|| EXPONENT.captures(at(end))).flatten();
        let part = |name: &str| Some(found.as_ref()?.name(name)?.as_str());
        let raised = |text: &str| text.chars().map(unraised).collect::<Option<String>>();
        let exponent = part("e").or(part("power")).map(str::to_owned);
        let exponent = exponent.or_else(|| raised(part("raised")?));
        // An exponent that does not fit an i32 makes the value infinite or zero in any case.
        let exponent = exponent.map(|text| text.parse().unwrap_or(i32::MAX));
        if let Some(exponent) = exponent.filter(|_| !literal.is_empty()) {
            literal = format!("{literal}e{exponent}");
        }
        let mut value: f64 = literal.parse().ok()?;
        if let Some(denominator) = part("by") {
            // Division by zero gives an infinite value, which is refused below.
            value /= denominator.parse::<f64>().ok()?;
            literal = value.to_string();
        }
        let decimals = |digits: &str| {
            let digits = i64::try_from(digits.len()).unwrap_or(i64::MAX);
            // A large exponent leaves no decimals.
            u32::try_from(digits - i64::from(exponent.unwrap_or(0))).unwrap_or(0)
        };
        let fraction = fraction.trim_start_matches('.');
        value.is_finite().then(|| Self {
            value,
            literal,
            decimals: decimals(fraction),
            significant: decimals(fraction.trim_end_matches('0')),
            length: end
                + found
                    .as_ref()
                    .and_then(|found| found.get(0))
                    .map_or(0, |all| all.len()),
        })
    }
}

/// The number of bytes of the digits before the decimal point, with the marks between their groups.
/// `None` if they are grouped in a way that is not supported.
fn whole_part(text: &str) -> Option<usize> {
    let at = |from: usize| text.get(from..).unwrap_or_default();
    let first = digits(text);
    let mut end = first;
    let separator = at(end)
        .chars()
        .next()
        .filter(|c| matches!(*c, ',' | '\'' | THIN));
    while let Some(group) = separator.and_then(|c| at(end).strip_prefix(c)) {
        match digits(group) {
            // A group after a leading zero is refused: `0,345` may have a decimal comma.
            3 if first <= 3 && !text.starts_with('0') => end = text.len() - group.len() + 3,
            // A comma without digits after it is punctuation. A narrow space before a group of
            // other than three digits separates two numbers.
            0 => break,
            _ if separator == Some(THIN) => break,
            _ => return None,
        }
    }
    Some(end)
}

/// The number of digits at the start of a text.
fn digits(text: &str) -> usize {
    text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len()
}

/// Converts a superscript digit or sign to its plain form.
fn unraised(c: char) -> Option<char> {
    let at = "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻".chars().position(|raised| raised == c)?;
    "0123456789+-".chars().nth(at)
}

/// The characters that can start an exponent, a denominator or a ratio. Before any other character,
/// the slower pattern is skipped.
const EXPONENTS: [char; 8] = ['e', 'E', 'x', 'X', '×', '*', '/', ':'];
