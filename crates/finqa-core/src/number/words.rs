//! Lists the words and marks that can be part of a number in answers and cells.

use super::Scale;
use crate::pattern;
use crate::text::Pattern;

/// The names of the months in lower case.
pub const MONTHS: [&str; 12] = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september",
    "october", "november", "december",
];

/// Reads four digits as a year from 1900 to 2099. The range is set by hand.
///
/// ```
/// use finqa_core::number::year_of;
/// assert_eq!(year_of("2009"), Some(2009));
/// assert!(["2,009", "2109", "209", "+209"].iter().all(|text| year_of(text).is_none()));
/// ```
pub fn year_of(digits: &str) -> Option<u16> {
    let plain = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let year = digits.parse().ok().filter(|_| plain)?;
    (1900..2100).contains(&year).then_some(year)
}

/// The words of each scale, and the power of ten that is left over if the words are larger than
/// every [`Scale`]: a trillion is 10^3 billion.
const SCALES: [(&str, Scale, u32); 6] = [
    ("thousand thousands k tsd 000 000s", Scale::Thousand, 0),
    (
        "million millions mm mn mln mil mill mio m",
        Scale::Million,
        0,
    ),
    ("billion billions bn bln bil mrd b", Scale::Billion, 0),
    ("trillion trillions tn trn t", Scale::Billion, 3),
    ("lakh lakhs lac lacs", Scale::Lakh, 0),
    ("crore crores cr", Scale::Crore, 0),
];

/// The scale of a word in any case, and the power of ten that is left over if the word is larger
/// than every [`Scale`].
///
/// ```
/// use finqa_core::number::{Scale, scale_of_word};
/// assert_eq!(scale_of_word("bn"), Some((Scale::Billion, 0)));
/// assert_eq!(scale_of_word("trillion"), Some((Scale::Billion, 3)));
/// assert_eq!(scale_of_word("shares"), None);
/// ```
pub fn scale_of_word(word: &str) -> Option<(Scale, u32)> {
    let mut scales = SCALES.iter();
    let known = scales.find(|(words, ..)| lists(words, word));
    known.map(|(_, scale, power)| (*scale, *power))
}

/// Words that change the number before them but are not supported. If one of them follows a figure,
/// the answer is not read.
pub(super) const UNREAD: &str = "hundred hundreds dozen dozens quadrillion quadrillions permille ppm ppb cr dr \
    keur teur meur kusd tusd musd kgbp mgbp kchf tchf mchf";

pub(super) const PERCENT: &str = r"percentage[\s-]points?|per\s?cent|pct(?:\spoints)?|pp|ppts?";

pub(super) const BASIS_POINTS: &str = r"basis[\s-]points?|bps?|bips";

/// Currency codes, as alternatives of a pattern. Any other code counts as a word.
pub(crate) const CODES: &str = "usd|eur|gbp|jpy|cny|rmb|inr|rs|chf|cad|aud|nzd|hkd|sgd|sek|nok|\
    dkk|krw|brl|mxn|zar|rub|pln|twd|thb";

/// Letters before a `$` that name its country: `US$`, `R$`.
pub(crate) const COUNTRIES: &str = "us|au?|ca?|nz|hk|nt|sg?|r|mx";

/// Currency signs, for a character class of a pattern.
pub(crate) const MARKS: &str = r"$£¥¤฿\u{20a0}-\u{20cf}";

static CURRENCY: Pattern = pattern!(&format!(
    r"(?i)^(?:(?:{COUNTRIES})?[{MARKS}]|(?:{CODES})|rs\.)$"
));

/// True if the text is a currency and nothing else.
///
/// ```
/// use finqa_core::number::is_currency;
/// assert!(["US$", "€", "chf", "Rs."].iter().all(|text| is_currency(text)));
/// assert!(!is_currency("units"));
/// ```
pub fn is_currency(text: &str) -> bool {
    CURRENCY.is_match(text)
}

/// True if a word, in any case, is in a list separated by spaces.
pub(super) fn lists(list: &str, word: &str) -> bool {
    list.split(' ')
        .any(|known| known.eq_ignore_ascii_case(word))
}

static ASKS_BASIS_POINTS: Pattern = pattern!(r"(?i)\b(?:basis[\s-]points?|bps?)\b");
static ASKS_LOSS: Pattern = pattern!(r"(?i)\b(?:loss|losses|deficit)\b");

/// True if a question asks for basis points.
pub fn asks_for_basis_points(question: &str) -> bool {
    ASKS_BASIS_POINTS.is_match(question)
}

/// True if a question names a loss or deficit, so that the answer may be the absolute amount.
pub fn asks_for_a_loss(question: &str) -> bool {
    ASKS_LOSS.is_match(question)
}
