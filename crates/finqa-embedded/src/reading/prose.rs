//! Finds the amounts in running text and the years that they belong to.
//!
//! In "rent was $ 5, $ 4 and $ 3 in 2007, 2006 and 2005", each amount gets one year. Days, years
//! and the numbers of notes are not amounts.
//!
//! The distances in tokens and the lengths of numbers are set by hand. They decide which facts
//! there are, so the weights depend on them.

use std::sync::Arc;

use finqa_core::number::Scale;
use finqa_core::page::is_month;

use super::fact::{Fact, FactPlace};
use super::text::{TextToken, TokenKind};
use crate::expr::literal_value;

/// An amount in a sentence.
#[derive(Clone, Debug)]
pub(crate) struct ProseNumber {
    /// Index of the amount's token in the sentence.
    pub at: usize,
    /// Index of the last token that belongs to the amount, such as `%` or "million".
    pub end: usize,
    pub digits: String,
    /// True if `%` or "percent" follows.
    pub percent: bool,
    /// True if `$` comes before.
    pub(crate) dollar: bool,
    pub scale: Option<Scale>,
    pub(crate) years: Vec<u16>,
    /// The list that the amount is in, as the index of the list's first amount. An amount that is
    /// in no list has its own index.
    pub run: usize,
}

/// Initial capacity for the tokens of a sentence; most sentences have fewer. Set by hand.
const USUAL: usize = 32;

/// Splits tokens at full stops and semicolons. A full stop after a month or an abbreviation such as
/// "inc" is dropped and ends no sentence.
pub(crate) fn sentences(tokens: Vec<TextToken<'_>>) -> Vec<Vec<TextToken<'_>>> {
    let mut out = Vec::new();
    let mut current: Vec<TextToken<'_>> = Vec::with_capacity(USUAL);
    for token in tokens {
        let stop = token.kind == TokenKind::Mark
            && matches!(&*token.text, "." | ";")
            && !current.last().is_some_and(|t| {
                is_month(&t.text) || matches!(t.text.as_ref(), "u.s" | "inc" | "corp" | "no" | "vs")
            });
        if stop {
            if !current.is_empty() {
                out.push(std::mem::replace(&mut current, Vec::with_capacity(USUAL)));
            }
        } else if !token.is(".") {
            current.push(token);
        }
    }
    if !current.is_empty() {
        out.push(current);
    }
    out
}

/// The amounts of a sentence with their years. `own` is true for a page of the user's, where `2013`
/// and `2014` are always years.
pub(crate) fn numbers(tokens: &[TextToken<'_>], own: bool) -> Vec<ProseNumber> {
    let mut out: Vec<ProseNumber> = Vec::new();
    // Set while inside parentheses that repeat the number before them: `13.4% ( 13.4 % )`.
    let mut depth_of_double: Option<usize> = None;
    for (at, token) in tokens.iter().enumerate() {
        if token.is(")") {
            depth_of_double = None;
        }
        if token.kind != TokenKind::Number || depth_of_double.is_some() {
            continue;
        }
        let before = |k: usize| at.checked_sub(k).and_then(|i| tokens.get(i));
        let after = |k: usize| tokens.get(at + k);
        if before(1).is_some_and(|t| names_a_reference(&t.text)) || is_day(tokens, at) {
            continue;
        }
        let doubled = before(1).is_some_and(|t| t.is("("))
            && out
                .last()
                .is_some_and(|last| last.end + 2 == at && same_digits(&last.digits, &token.text));
        if doubled {
            depth_of_double = Some(at);
            continue;
        }
        // `( 3 )` is the mark of a footnote.
        let footnote = before(1).is_some_and(|t| t.is("(")) && after(1).is_some_and(|t| t.is(")"));
        if footnote && token.text.len() <= 2 {
            continue;
        }
        let mut end = at;
        let mut percent = false;
        let mut scale = None;
        if let Some(next) = after(1) {
            percent = next.is("%") || next.is("percent");
            scale = Scale::from_word(&next.text);
            if percent || scale.is_some() {
                end = at + 1;
            }
        }
        let dollar = before(1).is_some_and(|t| t.is("$"));
        out.push(ProseNumber {
            at,
            end,
            digits: token.text.to_string(),
            percent,
            dollar,
            scale,
            years: Vec::new(),
            run: out.len(),
        });
    }
    join_runs(tokens, &mut out);
    date(tokens, &mut out, own);
    out
}

/// True if two numbers differ at most in their signs.
fn same_digits(a: &str, b: &str) -> bool {
    a.trim_start_matches('-') == b.trim_start_matches('-')
}

/// True for words whose number is not an amount: "note 12", "level 3", "s&p 500".
fn names_a_reference(word: &str) -> bool {
    [
        "note", "item", "section", "page", "topic", "asu", "no", "sfas", "rule", "level", "form",
        "fin", "fas", "exhibit", "chapter", "tier", "s&p", "poor", "russell", "fortune", "article",
        "ias", "phase",
    ]
    .contains(&word)
}

/// True for the day in `december 31` or `dec . 31`.
fn is_day(tokens: &[TextToken<'_>], at: usize) -> bool {
    let word = |i: Option<usize>| {
        i.and_then(|i| tokens.get(i))
            .is_some_and(|t| is_month(&t.text))
    };
    let small = tokens.get(at).is_some_and(|t| t.text.len() <= 2);
    let dotted =
        at >= 2 && tokens.get(at - 1).is_some_and(|t| t.is(".")) && word(at.checked_sub(2));
    small && (word(at.checked_sub(1)) || dotted)
}

/// True if a token (a stem) can be between two amounts of one list, such as "and" or "million", or
/// is a number of at most five characters.
fn joins(token: &TextToken<'_>) -> bool {
    let words = [
        ",", "and", "$", "or", "approximate", "(", ")", "%", "million", "billion", "thousand",
        "percent", "respective", "about", "to", "versu",
    ];
    words.contains(&&*token.text) || token.kind == TokenKind::Number && token.text.len() <= 5
}

/// Gives the amounts of a list the same run. Two amounts are in one list if at most eight tokens
/// are between them and [`joins`] accepts each of these.
fn join_runs(tokens: &[TextToken<'_>], numbers: &mut [ProseNumber]) {
    let mut previous: Option<(usize, usize)> = None;
    for number in numbers.iter_mut() {
        if let Some((end, run)) = previous {
            let between = tokens.get(end + 1..number.at).unwrap_or_default();
            if between.len() <= 8 && between.iter().all(joins) {
                number.run = run;
            }
        }
        previous = Some((number.end, number.run));
    }
}

/// The lists of years in a sentence, such as `2007 , 2006 and 2005`; a lone year is a list of one.
/// Each year comes with the index of its token.
fn year_runs(tokens: &[TextToken<'_>], own: bool) -> Vec<Vec<(usize, u16)>> {
    let mut runs: Vec<Vec<(usize, u16)>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Some(year) = token.year().filter(|_| own || is_true_year(tokens, at)) else {
            continue;
        };
        if let Some(run) = runs.last_mut()
            && let Some((last, _)) = run.last()
        {
            let between = tokens.get(last + 1..at).unwrap_or_default();
            let words = [
                ",", "and", "or", "december", "31", "june", "30", "september", "fiscal", "year",
                "the", "end", "compar", "with", "to", "versu",
            ];
            let listed = between.iter().all(|t| words.contains(&&*t.text));
            if listed && between.len() <= 5 {
                run.push((at, year));
                continue;
            }
        }
        runs.push(vec![(at, year)]);
    }
    runs
}

/// False for a `2013` or `2014` that can be the remains of a dash. They are years only after a
/// month, another year, or a word that a year can follow.
fn is_true_year(tokens: &[TextToken<'_>], at: usize) -> bool {
    let Some(token) = tokens.get(at) else {
        return false;
    };
    if !(token.is("2013") || token.is("2014")) {
        return true;
    }
    let before = at.checked_sub(1).and_then(|i| tokens.get(i));
    let words = [
        "in", "of", "for", "during", "since", "to", "from", "through", "fiscal", "and", ",", "by",
        "year", "until", "before", "after", "between", "than", "with", "31", "30", "29", "28",
        "early", "late", "mid", "quarter", "the",
    ];
    before.is_some_and(|t| words.contains(&&*t.text) || is_month(&t.text) || t.year().is_some())
}

/// Gives each amount its years.
///
/// A list of amounts takes a list of as many years, one each: the next list if no other amount is
/// in between, else the last list before the amounts, else the next list with amounts in between.
/// Other amounts take all years of one list: the next if it is at most ten tokens away, else the
/// last before them, else the next at any distance, as long as no other amount is in between.
fn date(tokens: &[TextToken<'_>], numbers: &mut [ProseNumber], own: bool) {
    let runs = year_runs(tokens, own);
    let mut by_run: Vec<(usize, usize, usize, usize)> = Vec::new(); // run, count, first, last token
    for number in numbers.iter() {
        match by_run.last_mut() {
            Some(last) if last.0 == number.run => {
                last.1 += 1;
                last.3 = number.end;
            }
            _ => by_run.push((number.run, 1, number.at, number.end)),
        }
    }
    for (run, count, first, last) in by_run {
        let after = runs
            .iter()
            .find(|years| years.first().is_some_and(|(at, _)| *at > last));
        let before = runs
            .iter()
            .rev()
            .find(|years| years.last().is_some_and(|(at, _)| *at < first));
        // True if the amounts of another list are between this list and the years.
        let blocked = |years: &Vec<(usize, u16)>| {
            years.first().is_some_and(|(at, _)| {
                numbers
                    .iter()
                    .any(|n| n.run != run && n.at > last && n.at < *at)
            })
        };
        let same_size = |years: &&Vec<(usize, u16)>| years.len() == count;
        let listed = if count >= 2 {
            after
                .filter(|y| same_size(y) && !blocked(y))
                .or_else(|| before.filter(same_size))
                .or_else(|| after.filter(same_size))
        } else {
            None
        };
        let single = || {
            let near =
                after.filter(|y| !blocked(y) && y.first().is_some_and(|(at, _)| at - last <= 10));
            near.or(before).or(after.filter(|y| !blocked(y)))
        };
        let years = listed.or_else(single);
        for (index, number) in numbers.iter_mut().filter(|n| n.run == run).enumerate() {
            if let Some(years) = years {
                number.years = if listed.is_some() {
                    years.get(index).map(|(_, y)| *y).into_iter().collect()
                } else {
                    years.iter().map(|(_, y)| *y).collect()
                };
            }
        }
    }
}

/// The words of a sentence, each once, in order of first occurrence.
pub(crate) fn distinct(words: &[Option<u32>]) -> Vec<u32> {
    let mut out = Vec::with_capacity(words.len());
    for word in words.iter().flatten() {
        if !out.contains(word) {
            out.push(*word);
        }
    }
    out
}

/// The fact of an amount in a sentence. `words` has the word of each token, and `label` each word
/// once. The words near the amount are those of the 14 tokens before and the 8 after it. Both
/// numbers are set by hand.
pub(crate) fn fact(
    number: &ProseNumber,
    filed: usize,
    sentence: usize,
    words: &[Option<u32>],
    label: &Arc<[u32]>,
) -> Fact {
    let around = number.at.saturating_sub(14)..(number.end + 9).min(words.len());
    let near = words.get(around).unwrap_or_default();
    let near = near.iter().flatten().copied().collect();
    // The tokenizer has parsed the digits, so the default is never used.
    let value: f64 = number.digits.parse().unwrap_or_default();
    let literal: Arc<str> = if number.percent {
        format!("{}%", number.digits).into()
    } else {
        number.digits.as_str().into()
    };
    Fact {
        // The official evaluator reads the literal, so its value counts.
        value: literal_value(&literal).unwrap_or(value),
        literal,
        number: value,
        percent: number.percent,
        dollar: number.dollar,
        scale: number.scale,
        place: FactPlace::Text {
            filed,
            sentence,
            run: number.run,
            at: number.at,
        },
        label: Arc::clone(label),
        near,
        years: number.years.as_slice().into(),
        total: false,
        opening: false,
        closing: false,
        adds_rows: None,
        adds_columns: None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::text::tokenize;
    use super::*;

    fn dated(text: &str) -> Vec<(String, Vec<u16>)> {
        let split = sentences(tokenize(text));
        split
            .iter()
            .flat_map(|tokens| numbers(tokens, false))
            .map(|n| (n.digits, n.years))
            .collect()
    }

    #[test]
    fn lists_of_amounts_and_years_are_aligned_pairwise() {
        let found = dated(
            "rent was $ 5 million , $ 4.5 million and $ 3 million in 2007 , 2006 and 2005 , respectively .",
        );
        let expected = [("5", 2007), ("4.5", 2006), ("3", 2005)];
        assert_eq!(
            found,
            expected.map(|(digits, year)| (digits.to_owned(), vec![year]))
        );
    }

    #[test]
    fn an_amount_takes_the_year_that_follows_it() {
        let found = dated("rent was $ 2.2 billion for 2011 , and $ 2.0 billion for 2010 .");
        let expected = [("2.2", 2011), ("2.0", 2010)];
        assert_eq!(
            found,
            expected.map(|(digits, year)| (digits.to_owned(), vec![year]))
        );
    }

    #[test]
    fn days_notes_doubled_percentages_and_names_are_not_amounts() {
        let digits: Vec<String> = dated(
            "as of december 31 , 2009 , note 12 says that margin was 13.4% ( 13.4 % ) against the s&p 500 .",
        )
        .into_iter()
        .map(|(digits, _)| digits)
        .collect();
        assert_eq!(digits, ["13.4"]);
    }
}
