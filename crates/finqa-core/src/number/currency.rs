//! Finds the currency that a text names.

use super::words::{CODES, COUNTRIES, MARKS};
use crate::pattern;
use crate::text::Pattern;

/// Names of currencies in words.
const NAMES: &str = "dollars?|euros?|pounds|sterling|yen|rupees?";

/// A sign, a code (also as in `TEUR`) or a name.
static NAMED: Pattern = pattern!(&format!(
    r"(?i)(?:\b(?:{COUNTRIES}))?[{MARKS}]|\b[tkm]?(?P<code>{CODES})(?:m|k|bn)?\b|\b(?P<name>{NAMES})\b"
));

/// The currencies with a sign of their own: the sign, the code, and the beginning of the name in
/// [`NAMES`].
const SIGNS: [(&str, &str, &str); 5] = [
    ("$", "usd", "dollar"),
    ("€", "eur", "euro"),
    ("£", "gbp", "pounds"),
    ("¥", "jpy", "yen"),
    ("₹", "inr", "rupee"),
];

/// The first currency that a text names, in the form that is written before a number: `$`, `US$`,
/// `€`, or a code such as `CHF` if the currency has no sign.
///
/// ```
/// use finqa_core::number::currency_in;
/// let found = |text| currency_in(text);
/// assert_eq!(found("(in millions of euros)").as_deref(), Some("€"));
/// assert_eq!(found("US$m").as_deref(), Some("US$"));
/// assert_eq!(found("CHF million").as_deref(), Some("CHF"));
/// assert_eq!(found("USD/shares").as_deref(), Some("$"));
/// assert_eq!(found("in millions"), None);
/// ```
pub fn currency_in(text: &str) -> Option<String> {
    currencies(text).map(|(written, _)| written).next()
}

/// Like [`currency_in`], but ignores a currency directly before digits: the label
/// `Notes of $500 due 2031` does not state a unit. `None` without any other currency.
pub fn currency_of_label(text: &str) -> Option<String> {
    let before_digits = |end: &usize| {
        let rest = text.get(*end..).unwrap_or_default().trim_start();
        // "$ 000" is a unit, thousands of dollars.
        rest.starts_with(|c: char| c.is_ascii_digit() || c == '.') && !rest.starts_with("000")
    };
    let mut found = currencies(text).filter(|(_, end)| !before_digits(end));
    found.next().map(|(written, _)| written)
}

/// The currencies in a text, each with the offset of its end.
fn currencies(text: &str) -> impl Iterator<Item = (String, usize)> + '_ {
    NAMED.captures_iter(text).filter_map(|found| {
        let whole = found.get(0)?;
        let word = found.name("code").or(found.name("name"));
        let written = match word.map(|word| word.as_str().to_lowercase()) {
            None => whole.as_str().to_uppercase(),
            // The end of "Mrs" is not a currency.
            Some(word) if word == "rs" => {
                let alone = whole.as_str().to_lowercase().starts_with("rs");
                alone.then(|| "₹".to_owned())?
            }
            Some(word) if word == "sterling" => "£".to_owned(),
            Some(word) => {
                let mut signs = SIGNS.iter();
                let sign = signs.find(|(_, code, name)| word == *code || word.starts_with(name));
                sign.map_or_else(|| word.to_uppercase(), |(sign, ..)| (*sign).to_owned())
            }
        };
        Some((written, whole.end()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_currency_is_found_in_each_of_its_forms() {
        for (text, written) in [
            ("$ in millions, except per share", Some("$")),
            ("A$m", Some("A$")),
            ("£'000", Some("£")),
            ("TEUR", Some("€")),
            ("EURm", Some("€")),
            ("Rs. in crore", Some("₹")),
            ("RMB’000", Some("RMB")),
            ("millions of yen", Some("¥")),
            ("R million", None),
            ("Shares in thousands", None),
            ("cash and cash equivalents", None),
        ] {
            assert_eq!(currency_in(text).as_deref(), written, "{text}");
        }
    }

    #[test]
    fn an_amount_in_a_label_is_not_its_unit() {
        for (text, written) in [
            ("Notes of $500 due 2031", None),
            ("Common stock, $.01 par value", None),
            ("Revenue ($m)", Some("$")),
            ("Costs ($000)", Some("$")),
        ] {
            assert_eq!(currency_of_label(text).as_deref(), written, "{text}");
        }
    }
}
