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
use crate::expr::value_of;

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
        let stop = token.kind == TokenKind::Mark && matches!(&*token.text, "." | ";");
        let abbreviated = |word: &str| ["u.s", "inc", "corp", "no", "vs"].contains(&word);
        let before = current.last();
        if stop && !before.is_some_and(|t| is_month(&t.text) || abbreviated(&t.text)) {
            out.push(std::mem::replace(&mut current, Vec::with_capacity(USUAL)));
        } else if !token.is(".") {
            current.push(token);
        }
    }
    out.push(current);
    out.retain(|sentence| !sentence.is_empty());
    out
}

/// The amounts of a sentence with their years. `users_page` is true for a page of the user's,
/// where `2013` and `2014` are always years.
pub(crate) fn numbers(tokens: &[TextToken<'_>], users_page: bool) -> Vec<ProseNumber> {
    let mut out: Vec<ProseNumber> = Vec::new();
    // True inside parentheses that repeat the number before them: `13.4% ( 13.4 % )`.
    let mut repeats = false;
    for (at, token) in tokens.iter().enumerate() {
        repeats &= !token.is(")");
        if token.kind != TokenKind::Number || repeats {
            continue;
        }
        let (before, after) = (token_before(tokens, at), tokens.get(at + 1));
        // The day in `december 31`; `sentences` drops the dot of `dec . 31`.
        let is_day = |word: &str| token.text.len() <= 2 && is_month(word);
        if before.is_some_and(|word| is_day(&word.text) || names_a_reference(&word.text)) {
            continue;
        }
        let follows = |mark: &str| before.is_some_and(|token| token.is(mark));
        repeats = follows("(")
            && out.last().is_some_and(|last| {
                let digits = last.digits.trim_start_matches('-');
                last.end + 2 == at && digits == token.text.trim_start_matches('-')
            });
        // `( 3 )` is the mark of a footnote.
        let footnote = follows("(") && after.is_some_and(|token| token.is(")"));
        if repeats || footnote && token.text.len() <= 2 {
            continue;
        }
        let percent = after.is_some_and(|next| next.is("%") || next.is("percent"));
        let scale = after.and_then(|next| Scale::from_word(&next.text));
        out.push(ProseNumber {
            at,
            end: at + usize::from(percent || scale.is_some()),
            digits: token.text.to_string(),
            percent,
            dollar: follows("$"),
            scale,
            years: Vec::new(),
            run: out.len(),
        });
    }
    join_runs(tokens, &mut out);
    date(tokens, &mut out, users_page);
    out
}

fn token_before<'t>(tokens: &'t [TextToken<'t>], at: usize) -> Option<&'t TextToken<'t>> {
    tokens.get(at.checked_sub(1)?)
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
fn year_runs(tokens: &[TextToken<'_>], users_page: bool) -> Vec<Vec<(usize, u16)>> {
    let mut runs: Vec<Vec<(usize, u16)>> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let before = token_before(tokens, at);
        let Some(year) = token
            .year()
            .filter(|_| users_page || is_true_year(token, before))
        else {
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
fn is_true_year(token: &TextToken<'_>, before: Option<&TextToken<'_>>) -> bool {
    if !(token.is("2013") || token.is("2014")) {
        return true;
    }
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
fn date(tokens: &[TextToken<'_>], numbers: &mut [ProseNumber], users_page: bool) {
    let runs = year_runs(tokens, users_page);
    let places: Vec<usize> = numbers.iter().map(|number| number.at).collect();
    for list in numbers.chunk_by_mut(|a, b| a.run == b.run) {
        let (Some(first), Some(last)) = (list.first(), list.last()) else {
            continue;
        };
        let (first, last, count) = (first.at, last.end, list.len());
        let start = |years: &[(usize, u16)]| years.first().map_or(0, |(at, _)| *at);
        let after = runs.iter().find(|years| start(years) > last);
        let before = runs
            .iter()
            .rfind(|years| years.last().is_some_and(|(at, _)| *at < first));
        // `after`, unless an amount of another list is in between.
        let next = after.filter(|years| {
            let between = last + 1..start(years);
            !places.iter().any(|at| between.contains(at))
        });
        let pairs = |years: &&Vec<(usize, u16)>| count >= 2 && years.len() == count;
        let pairwise = next.filter(pairs).or(before.filter(pairs));
        let pairwise = pairwise.or(after.filter(pairs));
        let near = next.filter(|years| start(years) - last <= 10);
        let years = pairwise.or(near).or(before).or(next);
        let years = years.into_iter().flatten().map(|(_, year)| *year);
        if pairwise.is_some() {
            for (number, year) in list.iter_mut().zip(years) {
                number.years = vec![year];
            }
        } else {
            for number in list {
                number.years = years.clone().collect();
            }
        }
    }
}

/// The fact of an amount in a sentence. `words` has the word of each token, and `label` each word
/// once. The words near the amount are those of the 14 tokens before and the 8 after it. Both
/// numbers are set by hand.
pub(crate) fn fact(
    number: &ProseNumber,
    document_sentence: usize,
    sentence: usize,
    words: &[Option<u32>],
    label: &Arc<[u32]>,
) -> Fact {
    let around = number.at.saturating_sub(14)..(number.end + 9).min(words.len());
    let near = words.get(around).unwrap_or_default();
    let near = near.iter().flatten().copied().collect();
    // The tokenizer has parsed the digits, so the default is never used.
    let value: f64 = number.digits.parse().unwrap_or_default();
    let sign = if number.percent { "%" } else { "" };
    let literal: Arc<str> = format!("{}{sign}", number.digits).into();
    Fact {
        value: value_of(&literal, value),
        literal,
        number: value,
        percent: number.percent,
        dollar: number.dollar,
        scale: number.scale,
        place: FactPlace::Text {
            document_sentence,
            sentence,
            at: number.at,
        },
        label: Arc::clone(label),
        near,
        years: number.years.as_slice().into(),
        ..Fact::default()
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
