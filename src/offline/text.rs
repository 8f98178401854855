//! Words of a filed text: lost escapes undone, dates reduced to years, tokens
//! stemmed so that a question's words meet the document's.
//!
//! It decides nothing about what a number means; `facts` does that.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A word, already stemmed.
    Word,
    /// A calendar year between 1980 and 2060.
    Year(u16),
    /// Any other number, as written without commas.
    Number,
    /// `,` `.` `$` `%` and brackets.
    Mark,
}

/// A token of running text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    /// The stem of a word, the digits of a number, or the mark itself.
    pub text: String,
    /// What it is.
    pub kind: Kind,
}

impl Token {
    /// Whether it is this mark or word.
    pub fn is(&self, text: &str) -> bool {
        self.text == text
    }

    /// The year, if it is one.
    pub fn year(&self) -> Option<u16> {
        match self.kind {
            Kind::Year(year) => Some(year),
            _ => None,
        }
    }
}

/// Number of a year, if the digits are one.
pub(crate) fn year_of(digits: &str) -> Option<u16> {
    let plain = digits.len() == 4 && digits.bytes().all(|b| b.is_ascii_digit());
    digits
        .parse()
        .ok()
        .filter(|year| plain && (1980..=2060).contains(year))
}

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Whether a raw word is a month or its usual abbreviation.
pub(crate) fn is_month(word: &str) -> bool {
    MONTHS
        .iter()
        .any(|m| *m == word || (word.len() >= 3 && word.len() <= 4 && m.starts_with(word)))
}

/// Splits filed text into tokens.
pub(crate) fn tokenize(text: &str) -> Vec<Token> {
    let mut out = Vec::with_capacity(text.len() / 5);
    for chunk in text.split_whitespace() {
        push_chunk(&chunk.to_lowercase(), &mut out);
    }
    out
}

fn push_chunk(chunk: &str, out: &mut Vec<Token>) {
    // `2019s` was an apostrophe, `201c`/`201d` quotes, `2014an` a dash before `an`.
    if matches!(chunk, "2019s" | "201c" | "201d") {
        return;
    }
    let chunk = chunk
        .strip_prefix("201c")
        .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        .or_else(|| {
            chunk
                .strip_prefix("2014")
                .or_else(|| chunk.strip_prefix("2013"))
                .filter(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
        })
        .unwrap_or(chunk);
    let mut rest =
        chunk.trim_matches(|c: char| matches!(c, '"' | '\u{201c}' | '\u{201d}' | '\'' | '`'));
    while let Some(first) = rest.chars().next() {
        if matches!(
            first,
            '$' | '(' | '[' | ',' | ';' | ':' | '?' | '\u{20ac}' | '\u{a3}'
        ) {
            mark(first, out);
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else {
            break;
        }
    }
    let core = rest.trim_end_matches([',', ';', ':', '?', ')', ']', '.', '!']);
    let tail = rest.get(core.len()..).unwrap_or_default();
    if !core.is_empty() {
        push_core(core, out);
    }
    for c in tail.chars() {
        mark(c, out);
    }
}

fn mark(c: char, out: &mut Vec<Token>) {
    out.push(Token {
        text: c.to_string(),
        kind: Kind::Mark,
    });
}

fn push_core(core: &str, out: &mut Vec<Token>) {
    if let Some(number) = core
        .strip_prefix("s&p")
        .filter(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    {
        word("s&p", out);
        out.push(Token {
            text: number.to_owned(),
            kind: Kind::Number,
        });
        return;
    }
    if let Some(quarter) = quarter(core) {
        word(quarter, out);
        word("quarter", out);
        return;
    }
    if let Some(year) = date_year(core) {
        if let Some(name) = month_of(core) {
            word(name, out);
        }
        out.push(Token {
            text: year.to_string(),
            kind: Kind::Year(year),
        });
        return;
    }
    let digits: String = core.chars().filter(|c| *c != ',').collect();
    let bare = digits.trim_end_matches('%');
    if bare.parse::<f64>().is_ok() && bare.contains(|c: char| c.is_ascii_digit()) {
        let kind = match year_of(&digits) {
            Some(year) if !core.contains(',') => Kind::Year(year),
            _ => Kind::Number,
        };
        out.push(Token {
            text: bare.to_owned(),
            kind,
        });
        if digits.ends_with('%') {
            mark('%', out);
        }
        return;
    }
    if matches!(core, "%" | "-" | "--" | "/" | "=" | "\u{2014}" | "\u{2013}") {
        out.push(Token {
            text: core.to_owned(),
            kind: Kind::Mark,
        });
        return;
    }
    let whole = matches!(core, "u.s" | "u.k" | "e.g") || core.contains('&') || core.contains('*');
    if whole {
        word(core, out);
        return;
    }
    for part in core.split(['-', '/', '\u{2013}', '\u{2014}']) {
        if let Some(year) = year_of(part) {
            out.push(Token {
                text: part.to_owned(),
                kind: Kind::Year(year),
            });
        } else if part.parse::<f64>().is_ok() {
            out.push(Token {
                text: part.to_owned(),
                kind: Kind::Number,
            });
        } else if !part.is_empty() {
            word(part, out);
        }
    }
}

fn word(raw: &str, out: &mut Vec<Token>) {
    let text = stem(raw);
    if !text.is_empty() {
        out.push(Token {
            text,
            kind: Kind::Word,
        });
    }
}

/// The ordinal of `q1` or `3q`.
fn quarter(core: &str) -> Option<&'static str> {
    let digit = core.strip_prefix('q').or_else(|| core.strip_suffix('q'))?;
    match digit {
        "1" => Some("first"),
        "2" => Some("second"),
        "3" => Some("third"),
        "4" => Some("fourth"),
        _ => None,
    }
}

/// The month of a date written in numbers.
fn month_of(core: &str) -> Option<&'static str> {
    let month = core.split('/').next()?.parse::<usize>().ok()?;
    MONTHS.get(month.checked_sub(1)?).copied()
}

/// The year of `12/31/09`, `12/29/2018` or `12/14`.
fn date_year(core: &str) -> Option<u16> {
    let mut parts = core.split('/');
    let (first, second, third) = (parts.next()?, parts.next()?, parts.next());
    if parts.next().is_some() || !(1..=12).contains(&first.parse::<u16>().ok()?) {
        return None;
    }
    let year = third.unwrap_or(second);
    let number = year.parse::<u16>().ok()?;
    match year.len() {
        4 => year_of(year),
        2 if number >= 80 => Some(1900 + number),
        2 if number < 50 => Some(2000 + number),
        _ => None,
    }
}

/// A light stemmer: plural, `-ing`, `-ed`, `-ly`, possessive; and a few names
/// that reports and questions write differently.
pub(crate) fn stem(raw: &str) -> String {
    let clean: String = raw
        .trim_end_matches("'s")
        .trim_end_matches("\u{2019}s")
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, '&' | '*'))
        .collect();
    let same = match clean.as_str() {
        "shareholder" | "shareholders" | "stockholder" | "stockholders" | "shareowner"
        | "shareowners" => "holder",
        "percentage" | "percentages" | "percentual" => "percent",
        "sales" | "sale" | "sold" => "sale",
        "paid" | "pay" | "payment" | "payments" | "pays" => "pay",
        "cost" | "costs" => "cost",
        "losses" | "loss" => "loss",
        "taxes" | "tax" => "tax",
        "leases" | "lease" | "leasing" => "lease",
        "expenditure" | "expenditures" => "expenditure",
        "expense" | "expenses" | "expensed" => "expense",
        "bought" | "purchased" | "purchase" | "purchases" => "purchase",
        "spent" => "spend",
        "held" => "hold",
        "qtr" | "qtrs" => "quarter",
        "1st" => "first",
        "2nd" => "second",
        "3rd" => "third",
        "4th" => "fourth",
        "jan" => "january",
        "feb" => "february",
        "aug" => "august",
        "sept" | "sep" => "september",
        "oct" => "october",
        "nov" => "november",
        "dec" => "december",
        "began" | "begin" | "beginning" => "begin",
        "ended" | "ending" | "ends" | "end" => "end",
        "operating" => "operating",
        "investing" => "investing",
        "financing" => "financing",
        _ => "",
    };
    if !same.is_empty() {
        return same.to_owned();
    }
    strip_suffix(&clean)
}

fn strip_suffix(word: &str) -> String {
    let n = word.len();
    if !word.is_ascii() || n <= 3 {
        return word.to_owned();
    }
    let cut = |k: usize| word.get(..n - k).unwrap_or(word).to_owned();
    if word.ends_with("ies") && n > 4 {
        return cut(3) + "y";
    }
    if n > 6 && word.ends_with("ing") {
        return cut(3);
    }
    if n > 5 && word.ends_with("ed") {
        return cut(2);
    }
    if n > 6 && word.ends_with("ly") {
        return cut(2);
    }
    if word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") {
        return cut(2);
    }
    if word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("is")
    {
        let singular = cut(1);
        return if singular.len() > 5 {
            singular.trim_end_matches('e').to_owned()
        } else {
            singular
        };
    }
    if n > 5 {
        word.trim_end_matches('e').to_owned()
    } else {
        word.to_owned()
    }
}

/// Words interned for one document.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<String, u32>,
}

impl Vocabulary {
    /// The id of a stem, made if it is new.
    pub fn intern(&mut self, stem: &str) -> u32 {
        if let Some(id) = self.ids.get(stem) {
            return *id;
        }
        let id = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.insert(stem.to_owned(), id);
        id
    }

    /// The id of a stem the document has.
    pub fn get(&self, stem: &str) -> Option<u32> {
        self.ids.get(stem).copied()
    }

    /// The id of a stem the document has, else of the word closest to it by a
    /// common beginning of six letters or more (`amortiz…`).
    pub fn find(&self, stem: &str) -> Option<u32> {
        if let Some(id) = self.ids.get(stem) {
            return Some(*id);
        }
        let shared = |other: &str| {
            stem.bytes()
                .zip(other.bytes())
                .take_while(|(a, b)| a == b)
                .count()
        };
        if stem.len() < 6 || !stem.is_ascii() {
            return None;
        }
        self.ids
            .iter()
            .map(|(other, id)| (shared(other), std::cmp::Reverse(other.len()), *id))
            .filter(|(n, _, _)| *n >= 6 || (*n == 5 && *n + 1 >= stem.len()))
            .max()
            .map(|(_, _, id)| id)
    }

    /// How many words there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Words that never name what is asked for.
const STOP: &str = "a an the of in on at for to from by and or as is was were are be been being it \
    its that this these those they them their what which who how much many do does did has have had \
    with than then so about if would will can could year years during between over there also again \
    specific specifically into per when where both while we our us i such any not but only same each \
    s t period periods ones respectively related relation regarding concerning across throughout \
    within be becomes become let one two three four five all time times now";

/// Words of the operation rather than of the thing: they count little in a slot.
const WEAK: &str = "value values amount amounts number balance figure change changes changed \
    difference differences increase increases increased decrease decreased decline declined growth \
    grew grow rate percent percentage portion proportion ratio share represent represents \
    represented million millions billion billions thousand thousands dollar dollars sum combined \
    combine average mean company fiscal compared compare net total totals due recorded reported \
    december june september march 31 30 1 end ended ending date divided multiplied plus less minus \
    variation fluctuation considered considering including include included reduction variance vary \
    varied quotient product result initial original investment 100 conclude concluded observed \
    following previous prior last first next subsequent preceding precedent converted convert \
    greater higher lower larger more less calculate say assuming full expressed terms form \
    month months quarter highest lowest percentages beginning begin";

fn stems(words: &str) -> HashSet<String> {
    words.split_whitespace().map(stem).collect()
}

/// Whether a stem never names what is asked for.
pub(crate) fn is_stop(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(STOP));
    STEMS.contains(stem)
}

/// Whether a stem belongs to the operation rather than to the thing.
pub(crate) fn is_weak(stem: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| stems(WEAK));
    STEMS.contains(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|t| t.text).collect()
    }

    #[test]
    fn lost_escapes_and_marks() {
        assert_eq!(
            words("the company 2019s 201crestricted stock 201d"),
            ["the", "company", "restrict", "stock"]
        );
        assert_eq!(
            words("$ 4.5 million, 3.2%"),
            ["$", "4.5", "million", ",", "3.2", "%"]
        );
    }

    #[test]
    fn dates_become_years() {
        let years = |t: &str| -> Vec<u16> { tokenize(t).iter().filter_map(Token::year).collect() };
        assert_eq!(
            years("from 12/31/09 to 12/29/2018, 2011-2013"),
            [2009, 2018, 2011, 2013]
        );
        assert_eq!(years("2,011 shares"), Vec::<u16>::new());
    }

    #[test]
    fn dates_and_quarters_are_words_however_they_are_written() {
        assert_eq!(words("12/31/10"), ["december", "2010"]);
        assert_eq!(words("q4"), words("4th qtr"));
        assert_eq!(words("q4"), words("fourth quarter"));
    }

    #[test]
    fn singular_and_plural_meet() {
        for (a, b) in [
            ("obligations", "obligation"),
            ("expenses", "expense"),
            ("liabilities", "liability"),
            ("leases", "lease"),
        ] {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
    }
}
