//! The text of a question: its tokens, its years, and the phrases that say what it asks for.

use std::cell::OnceCell;
use std::rc::Rc;

use finqa_core::number::{Scale, UnitKind};

use crate::reading::cues::{CHANGES, Cue, cue_at};
use crate::reading::text::{TextToken, TokenKind, stem, tokenize};
use crate::reading::words::is_weak;

/// A question or a part of one, read once.
#[derive(Clone, Debug)]
pub(crate) struct Wording {
    pub tokens: Vec<TextToken<'static>>,
    /// The text as [`plain`] writes it: words in lower case, not stemmed, with a blank before and
    /// after each, so that phrases can be searched for as whole words.
    pub(crate) phrase: String,
    /// What its phrases ask for. "Up" and "down" alone are left out, because of "made up of".
    cues: Vec<Cue>,
    /// The years in order of mention. A range such as "2010-2013" has all its years.
    pub(crate) years: Vec<u16>,
    /// Computed on first use.
    common: OnceCell<CommonQuery>,
}

/// The requests of a question that apply to all of its slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CommonQuery {
    /// True if a percentage is requested.
    pub percent: bool,
    /// True if a count (`how many`, `number of`) is requested, not money.
    pub count: bool,
    /// The scale that the question asks for, as in "in millions".
    pub scale: Option<Scale>,
    /// The numbers in the question, without the years.
    pub(crate) named_numbers: Rc<[String]>,
}

impl Wording {
    /// Reads a text as it is written, in any case; on a user's page, after `Facts::written`.
    pub(crate) fn read(question: &str) -> Self {
        let lower = question.to_lowercase();
        let tokens = tokenize(&lower).into_iter().map(TextToken::into_owned);
        let tokens: Vec<_> = tokens.collect();
        let phrase = plain(&lower);
        Self {
            cues: cues(&phrase),
            common: OnceCell::new(),
            years: years(&tokens, &phrase),
            tokens,
            phrase,
        }
    }

    /// Its years, or these if it names none.
    pub(super) fn years_or<'a>(&'a self, others: &'a [u16]) -> &'a [u16] {
        if self.years.is_empty() {
            others
        } else {
            &self.years
        }
    }

    /// Its tokens without words for operations.
    pub(crate) fn content(&self) -> impl Iterator<Item = &TextToken<'static>> {
        self.tokens.iter().filter(|t| !is_weak(&t.text))
    }

    /// True if it has one of these phrases, as whole words.
    pub(crate) fn says(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.find(phrase).is_some())
    }

    /// True if one of its phrases is one of these cues.
    pub(crate) fn has(&self, cues: &[Cue]) -> bool {
        self.cues.iter().any(|own| cues.contains(own))
    }

    /// The first word of the question that has this stem, in lower case; the stem itself if there
    /// is none.
    pub(crate) fn spelled<'a>(&'a self, of: &'a str) -> &'a str {
        let trimmed = |word: &'a str| word.trim_matches(|c: char| !c.is_alphanumeric());
        let whole = self.phrase.split_whitespace();
        // "revenue/employee" and "year-end" are several words each.
        let parts = self.phrase.split(|c: char| !c.is_alphanumeric());
        let mut words = whole.chain(parts).map(trimmed);
        let found = words.find(|word| stem(word) == of || stem(word.trim_end_matches("'s")) == of);
        found.unwrap_or(of).trim_end_matches("'s")
    }

    /// The byte offset in `phrase` of the blank before the first occurrence of these whole words;
    /// `None` if it lacks them.
    pub(crate) fn find(&self, words: &str) -> Option<usize> {
        find(&self.phrase, words)
    }

    /// The requests of the question that apply to all of its slots.
    pub(crate) fn common(&self) -> &CommonQuery {
        let numbers = self.tokens.iter().filter(|t| t.kind == TokenKind::Number);
        self.common.get_or_init(|| CommonQuery {
            percent: self.percent(),
            count: self.says(&["how many", "number of", "shares"])
                && !self.says(&["price", "value", "amount"]),
            scale: self.scale(),
            named_numbers: numbers.map(|t| t.text.to_string()).collect(),
        })
    }

    /// The scale of "in millions" or "in million"; of several, the largest.
    fn scale(&self) -> Option<Scale> {
        let mut scales = Scale::ALL.into_iter().rev();
        scales.find(|scale| {
            let phrase = format!("in {}", scale.word());
            self.says(&[&phrase, &format!("{phrase}s")])
        })
    }

    /// The texts before and after the first occurrence of a connector as whole words. `None` if the
    /// question lacks it.
    pub(crate) fn split(&self, connector: &str) -> Option<(String, String)> {
        split(&self.phrase, connector)
    }

    /// True if the question begins with one of these phrases, as whole words.
    pub(crate) fn starts(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.find(phrase) == Some(0))
    }

    /// True if the question has a word for a percentage.
    pub(crate) fn percent(&self) -> bool {
        self.says(&["percent", "%", "percents"])
    }

    /// True if the question has a word for a change or a difference.
    pub(crate) fn change(&self) -> bool {
        // Not cues, because rows and columns of people's tables have these names.
        self.has(CHANGES) || self.says(&["variance", "gain"])
    }

    /// True if the words ask for a relative change, not for a change in percentage points.
    pub(crate) fn relative_change(&self) -> bool {
        if self.says(&["points"]) {
            return false;
        }
        self.change() && (self.percent() || self.says(&["how fast"]))
            || self.starts(&[
                "by what percent", "by how much percent", "what percent more", "what percent less",
            ])
            || self.says(&[
                "growth rate", "rate of growth", "rate of change", "growth percent", "roi",
                "return on investment", "rate of return",
            ])
    }

    /// True if the question has a word for a share or a ratio.
    pub(crate) fn share(&self) -> bool {
        self.has(&[Cue::Ratio, Cue::ShareOf, Cue::AsShareOf])
            || self.says(&[
                "portion", "proportion", "fraction", "represent", "represents", "represented",
                "in relation to", "as a percent", "divided by", "relative to",
            ])
    }

    /// The kind of a quotient that the question asks for.
    pub(super) fn quotient_kind(&self) -> UnitKind {
        if self.says(&["ratio", "divided by", "times"]) {
            UnitKind::Ratio
        } else {
            UnitKind::Percent
        }
    }

    /// The number of periods in a named span: 3 for "the last three years", "three quarters" and
    /// "the next 36 months". `None` for one period, for more than ten, and for months that are no
    /// full years.
    pub(crate) fn periods_named(&self) -> Option<usize> {
        // The empty word lets the last two words fill a window of three.
        let ended = std::iter::once("");
        let words: Vec<&str> = self.phrase.split_whitespace().chain(ended).collect();
        words.windows(3).find_map(|window| {
            let [count, between, unit] = window else {
                return None;
            };
            let unit = if matches!(*between, "years" | "months" | "year" | "quarters") {
                between
            } else if matches!(*between, "fiscal" | "consecutive" | "calendar") {
                unit
            } else {
                return None;
            };
            let spelled = ["two", "three", "four", "five", "six", "seven", "eight"];
            let n = match spelled.iter().position(|word| word == count) {
                Some(i) => i + 2,
                None => count.parse().ok()?,
            };
            match *unit {
                "months" => (n % 12 == 0 && n > 12).then_some(n / 12),
                "years" | "year" | "quarters" => (2..=10).contains(&n).then_some(n),
                _ => None,
            }
        })
    }

    /// True if the question has a word for a sum.
    pub(crate) fn sum(&self) -> bool {
        self.has(&[Cue::Sum, Cue::Plus])
            || self.says(&["added", "altogether", "in total", "aggregate of"])
    }

    /// True if the question has a word for an average.
    pub(crate) fn average(&self) -> bool {
        self.has(&[Cue::Average])
    }

    /// True if the question has a word for growth at a constant rate.
    pub(crate) fn compound(&self) -> bool {
        self.has(&[Cue::Compound]) || self.says(ANNUALIZED)
    }

    /// True if it begins like a yes/no question, or compares after another clause without a
    /// question word: "in 2011, did costs exceed sales?".
    pub(crate) fn asks_yes_no(&self) -> bool {
        const VERBS: [&str; 7] = ["did", "does", "do", "is", "are", "was", "were"];
        const OPEN: [&str; 9] = [
            "what", "how", "which", "when", "who", "where", "why", "whats", "much",
        ];
        // Only `VERBS` also count after another clause.
        let begins = self.starts(&VERBS)
            || self.starts(&[
                "has", "have", "will", "so did", "and did", "so was", "so is",
            ]);
        let compares = ["than", "exceed", "outperform", "increase", "decrease"];
        begins || self.says(&VERBS) && self.says(&compares) && !self.says(&OPEN)
    }

    /// `true` if the largest of several is requested, `false` for the smallest; `None` if neither
    /// is, or both are.
    pub(crate) fn extreme(&self) -> Option<bool> {
        let (most, least) = (self.has(&[Cue::Largest]), self.has(&[Cue::Smallest]));
        (most != least).then_some(most)
    }

    /// True if it is likely to be a yes/no question. Unlike [`Self::asks_yes_no`], this includes
    /// "which one is greater".
    pub(crate) fn yes_no(&self) -> bool {
        self.asks_yes_no()
            || self.says(&[
                "greater than the", "which one is greater", "was greater", "is greater",
            ])
    }
}

/// Words for a yearly rate, which is taken for one of several years.
pub(crate) const ANNUALIZED: &[&str] = &["annualized", "annualised"];

/// The cues of a text by [`plain`], in its order.
fn cues(phrase: &str) -> Vec<Cue> {
    let words: Vec<&str> = phrase.split_whitespace().collect();
    let (mut out, mut rest) = (Vec::new(), words.as_slice());
    while let Some(first) = rest.first() {
        let (cue, length) = cue_at(rest).map_or((None, 1), |(cue, length)| (Some(cue), length));
        let alone = length == 1 && matches!(*first, "up" | "down");
        out.extend(cue.filter(|_| !alone));
        rest = rest.get(length..).unwrap_or_default();
    }
    out
}

/// The byte offset of the blank before the first occurrence of these whole words in a text by
/// [`plain`]; `None` if it lacks them.
fn find(text: &str, words: &str) -> Option<usize> {
    let words = words.as_bytes();
    let mut places = text.as_bytes().windows(words.len() + 2);
    places.position(|place| matches!(place, [b' ', within @ .., b' '] if within == words))
}

/// The texts before and after the first occurrence of a connector as whole words. `None` if the
/// text lacks it.
pub(super) fn split(text: &str, connector: &str) -> Option<(String, String)> {
    let at = find(text, connector)?;
    let right = text.get(at + connector.len() + 2..)?;
    Some((plain(text.get(..at)?), plain(right)))
}

/// The words of a text, which must be in lower case, with a blank before and after each and without
/// punctuation. Some words become the one that the rules look for: "percentage" becomes "percent",
/// and "prior" becomes "previous".
fn plain(text: &str) -> String {
    let mut out = String::from(" ");
    for chunk in text.replace("\\n", " ").split_whitespace() {
        let word = chunk.trim_matches([',', '.', '?', ';', ':', '(', ')', '"', '\'', '!']);
        let word = match word {
            // The last three are remains of Unicode escapes (`reading::text`).
            "" | "2019s" | "201c" | "201d" => continue,
            "percentage" | "percentages" | "percentual" | "percent's" => "percent",
            "precedent" | "preceding" | "prior" => "previous",
            "subsequent" | "succeeding" | "next" => "following",
            other => other,
        };
        // Some questions lack the blank: `by1000`.
        match word.strip_prefix("by") {
            Some(number) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => {
                out.extend(["by ", number]);
            }
            _ => out.push_str(word),
        }
        out.push(' ');
    }
    out
}

/// The years of a question, each once. Two years become a range if they are written as one
/// (`2010-2013`, "2010 through 2013"), or if an average or a sum over the time between them is
/// asked for.
fn years(tokens: &[TextToken<'_>], phrase: &str) -> Vec<u16> {
    let mut out: Vec<u16> = Vec::new();
    for (i, token) in tokens.iter().enumerate() {
        let Some(year) = token.year() else { continue };
        let before = i.checked_sub(1).and_then(|j| tokens.get(j));
        // `$ 2010` is an amount.
        let money = before.is_some_and(|t| t.is("$"));
        if !money && !out.contains(&year) {
            out.push(year);
        }
    }
    if let &[first, last] = out.as_slice() {
        let says = |words: &str| find(phrase, words).is_some();
        let any = |words: &[&str]| words.iter().any(|word| says(word));
        let averaged = any(&["average", "total", "sum", "combined"])
            && !any(&["change", "percent", "difference"]);
        let spans = phrase.contains(&format!("{first}-{last}"))
            || says(&format!("{first} through {last}"))
            || averaged && says(&format!("{first} to {last}"))
            || averaged && says(&format!("{first} and {last}")) && says("between");
        if spans {
            return (first.min(last)..=first.max(last)).collect();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_average_between_two_years_counts_those_in_between() {
        let years = |text: &str| Wording::read(text).years;
        assert_eq!(
            years("what was the average rent between 2010 and 2012?"),
            [2010, 2011, 2012]
        );
        assert_eq!(
            years("what was the change in rent between 2010 and 2012?"),
            [2010, 2012]
        );
        assert_eq!(
            years("what was the total rent in 2010 and 2012?"),
            [2010, 2012]
        );
    }

    #[test]
    fn a_span_is_named_in_years_or_in_months() {
        let named = |text: &str| Wording::read(text).periods_named();
        assert_eq!(named("what is due in the next 36 months?"), Some(3));
        assert_eq!(named("the average of the last three fiscal years"), Some(3));
        assert_eq!(named("what is due in the next 12 months?"), None);
        assert_eq!(named("what was the rent in 2010?"), None);
    }

    #[test]
    fn percentage_points_are_a_plain_difference() {
        let relative = |text: &str| Wording::read(text).relative_change();
        assert!(relative("by what percentage did rent grow?"));
        assert!(!relative(
            "by how many percentage points did the occupancy grow?"
        ));
    }
}
