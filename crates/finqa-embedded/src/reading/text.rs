//! Splits texts into tokens and stems their words, so that a question's words match the page's.
//! Dates become years (and months), and the remains of lost Unicode escapes are removed.
//!
//! What a number means is decided in `facts` and `prose`.

use std::borrow::Cow;

use finqa_core::page::{MONTHS, year_in_text, year_of_date};
use finqa_core::pattern;
use finqa_core::text::Pattern;

/// The kind of a token in a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// A word, already stemmed.
    Word,
    /// A calendar year of running text, by [`year_in_text`].
    Year(u16),
    /// Any other number, without its commas.
    Number,
    /// Punctuation, brackets, dashes, `%` and currency signs.
    Mark,
}

/// A word, number or mark of a text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextToken<'a> {
    /// The stem of a word, the digits of a number, or the mark itself. It borrows from the text
    /// unless characters had to be changed.
    pub text: Cow<'a, str>,
    pub kind: TokenKind,
}

impl TextToken<'_> {
    pub(crate) fn into_owned(self) -> TextToken<'static> {
        TextToken {
            text: Cow::Owned(self.text.into_owned()),
            kind: self.kind,
        }
    }

    /// True if it is this mark, stem or number.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.text == text
    }

    pub(crate) fn year(&self) -> Option<u16> {
        match self.kind {
            TokenKind::Year(year) => Some(year),
            _ => None,
        }
    }
}

/// Splits a text into tokens. The text must be in lower case; [`as_written`] must have been applied
/// to the texts of a user's page.
pub(crate) fn tokenize(text: &str) -> Vec<TextToken<'_>> {
    // An estimate of the number of tokens; the vector grows if there are more.
    let mut out = Vec::with_capacity(text.len() / 5);
    text.split_whitespace()
        .for_each(|chunk| push_chunk(chunk, &mut out));
    out
}

/// Separates a year from the letters after it in a text of the user's: there `2014e` is an estimate
/// for 2014. In the dataset, `2014an` is the remains of a dash before "an". Only
/// 2010 to 2019, which begin like a lost escape, are separated: `2024e` stays one word.
pub(crate) fn as_written(text: &str) -> Cow<'_, str> {
    static YEAR: Pattern = pattern!(r"\b(201[0-9])([A-Za-z])");
    YEAR.replace_all(text, "$1 $2")
}

/// Adds the tokens of a piece of text without white space.
fn push_chunk<'a>(chunk: &'a str, out: &mut Vec<TextToken<'a>>) {
    // The dataset lost the `\u` of Unicode escapes: `2019s` was an apostrophe and an s, `201c` and
    // `201d` were quotes, `2013` and `2014` before a letter were dashes.
    if matches!(chunk, "2019s" | "201c" | "201d") {
        return;
    }
    let word_after = |escape| {
        let rest = chunk.strip_prefix(escape)?;
        rest.starts_with(|c: char| c.is_ascii_alphabetic())
            .then_some(rest)
    };
    let found = ["201c", "2014", "2013"].into_iter().find_map(word_after);
    let chunk = found.unwrap_or(chunk);
    let bare = chunk.trim_matches(['"', '\u{201c}', '\u{201d}', '\'', '`']);
    let opens = ['$', '(', '[', ',', ';', ':', '?', '\u{20ac}', '\u{a3}'];
    let closes = [',', ';', ':', '?', ')', ']', '.', '!'];
    let (before, rest) = bare.split_at(bare.len() - bare.trim_start_matches(opens).len());
    let (core, after) = rest.split_at(rest.trim_end_matches(closes).len());
    for sign in before.split_inclusive(opens) {
        push(sign, TokenKind::Mark, out);
    }
    if !core.is_empty() {
        push_core(core, out);
    }
    for sign in after.split_inclusive(closes) {
        push(sign, TokenKind::Mark, out);
    }
}

/// Adds a token unless its text is empty, which is what stemming leaves of a lone apostrophe.
fn push<'a>(text: impl Into<Cow<'a, str>>, kind: TokenKind, out: &mut Vec<TextToken<'a>>) {
    let text = text.into();
    if !text.is_empty() {
        out.push(TextToken { text, kind });
    }
}

/// Adds the tokens of a piece without punctuation around it. The first form that fits decides: a
/// date also parses as several numbers.
fn push_core<'a>(core: &'a str, out: &mut Vec<TextToken<'a>>) {
    let is_digits = |text: &&str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if core.bytes().all(|b| b.is_ascii_lowercase()) {
        push(stem_of(core), TokenKind::Word, out);
    } else if let Some(number) = core.strip_prefix("s&p").filter(is_digits) {
        push("s&p", TokenKind::Word, out);
        push(number, TokenKind::Number, out);
    } else if let Some(quarter) = quarter(core) {
        push(quarter, TokenKind::Word, out);
        push("quarter", TokenKind::Word, out);
    } else if let Some(year) = year_of_date(core) {
        if let Some(name) = month_of(core) {
            push(name, TokenKind::Word, out);
        }
        push(year.to_string(), TokenKind::Year(year), out);
    } else if let Some((digits, kind, percent)) = number(core) {
        push(digits, kind, out);
        if percent {
            push("%", TokenKind::Mark, out);
        }
    } else if matches!(core, "%" | "-" | "--" | "/" | "=" | "\u{2014}" | "\u{2013}") {
        push(core, TokenKind::Mark, out);
    } else if matches!(core, "u.s" | "u.k" | "e.g") || core.contains(['&', '*']) {
        push(stem(core), TokenKind::Word, out);
    } else {
        for part in core.split(['-', '/', '\u{2013}', '\u{2014}']) {
            if let Some(year) = year_in_text(part) {
                push(part, TokenKind::Year(year), out);
            } else if part.parse::<f64>().is_ok() {
                push(part, TokenKind::Number, out);
            } else {
                push(stem(part), TokenKind::Word, out);
            }
        }
    }
}

/// The digits and the kind of a number or a year, and whether it is a percentage; `None` for any
/// other text. "2,012" is a number and not a year, because years have no comma.
fn number(core: &str) -> Option<(Cow<'_, str>, TokenKind, bool)> {
    let bare = core.trim_end_matches(['%', ',']);
    let digits: Cow<'_, str> = if bare.contains(',') {
        bare.replace(',', "").into()
    } else {
        bare.into()
    };
    if digits.parse::<f64>().is_err() || !digits.contains(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let kind = year_in_text(core).map_or(TokenKind::Number, TokenKind::Year);
    Some((digits, kind, core.ends_with('%')))
}

/// The ordinal of a quarter: "first" for `q1`, "third" for `3q`. `None` for any other text.
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

/// The name of the month of a numeric date such as `12/31/09`, month first.
fn month_of(core: &str) -> Option<&'static str> {
    let month = core.split('/').next()?.parse::<usize>().ok()?;
    MONTHS.get(month.checked_sub(1)?).copied()
}

/// The stem of a word in lower case: without possessive, plural, `-ing`, `-ed` and `-ly`. Words
/// that reports and questions spell differently have the same stem: "shareholders", "stockholder".
pub(crate) fn stem(raw: &str) -> Cow<'_, str> {
    let mut bare = raw;
    for possessive in ["'s", "\u{2019}s"] {
        while let Some(rest) = bare.strip_suffix(possessive) {
            bare = rest;
        }
    }
    let kept = |c: char| c.is_alphanumeric() || matches!(c, '&' | '*');
    if bare.chars().all(kept) {
        stem_of(bare)
    } else {
        let clean: String = bare.chars().filter(|c| kept(*c)).collect();
        Cow::Owned(stem_of(&clean).into_owned())
    }
}

/// The stem of a word without an apostrophe or other marks. The list has only words that
/// [`strip_suffix`] reduces to another stem.
fn stem_of(clean: &str) -> Cow<'_, str> {
    let same = match clean.as_bytes() {
        b"shareholder" | b"shareholders" | b"stockholder" | b"stockholders" | b"shareowner"
        | b"shareowners" => "holder",
        b"percentage" | b"percentages" | b"percentual" => "percent",
        b"sold" => "sale",
        b"paid" | b"payment" | b"payments" => "pay",
        b"leasing" => "lease",
        b"expenditure" | b"expenditures" => "expenditure",
        b"expense" | b"expenses" | b"expensed" => "expense",
        b"bought" | b"purchased" | b"purchase" | b"purchases" => "purchase",
        b"spent" => "spend",
        b"held" => "hold",
        b"qtr" | b"qtrs" => "quarter",
        b"1st" => "first",
        b"2nd" => "second",
        b"3rd" => "third",
        b"4th" => "fourth",
        b"jan" => "january",
        b"feb" => "february",
        b"aug" => "august",
        b"sept" | b"sep" => "september",
        b"oct" => "october",
        b"nov" => "november",
        b"dec" => "december",
        b"began" | b"beginning" => "begin",
        b"ended" | b"ending" => "end",
        b"operating" => "operating",
        b"investing" => "investing",
        b"financing" => "financing",
        _ => return strip_suffix(clean),
    };
    Cow::Borrowed(same)
}

/// A word without its ending. Words of three letters or less, and those with letters outside ASCII,
/// are left as they are. The minimum lengths keep "shed" and "spring" whole.
fn strip_suffix(word: &str) -> Cow<'_, str> {
    let n = word.len();
    if !word.is_ascii() || n <= 3 {
        return word.into();
    }
    let cut = |k: usize| word.get(..n - k).unwrap_or(word);
    if word.ends_with("ies") && n > 4 {
        return format!("{}y", cut(3)).into();
    }
    let by_two = n > 5 && word.ends_with("ed")
        || n > 6 && word.ends_with("ly")
        || ["sses", "xes", "ches"]
            .iter()
            .any(|end| word.ends_with(end));
    let stem = if n > 6 && word.ends_with("ing") {
        cut(3)
    } else if by_two {
        cut(2)
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        let singular = cut(1);
        // The limit of the words in the singular below, so that "charges" and "charge" agree.
        if singular.len() > 5 {
            singular.trim_end_matches('e')
        } else {
            singular
        }
    } else if n > 5 {
        word.trim_end_matches('e')
    } else {
        word
    };
    stem.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let texts = tokenize(text).into_iter().map(|t| t.text.into_owned());
        texts.collect()
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
    fn a_year_of_the_users_own_text_keeps_its_letters_apart() {
        assert_eq!(
            words(&as_written("2014e and 2013a")),
            ["2014", "e", "and", "2013", "a"]
        );
        assert_eq!(as_written("5 items of 2014"), "5 items of 2014");
    }

    #[test]
    fn dates_become_years_and_quarters_words() {
        let years =
            |t: &str| -> Vec<u16> { tokenize(t).iter().filter_map(TextToken::year).collect() };
        assert_eq!(
            years("from 12/31/09 to 12/29/2018, 2011-2013; 2,011 shares"),
            [2009, 2018, 2011, 2013]
        );
        assert_eq!(words("12/31/10"), ["december", "2010"]);
        assert_eq!(words("q4"), words("4th qtr"));
        assert_eq!(words("q4"), words("fourth quarter"));
    }

    #[test]
    fn singular_and_plural_meet() {
        assert_eq!(
            words("obligations expenses liabilities leases"),
            words("obligation expense liability lease")
        );
    }
}
