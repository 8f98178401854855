//! Questions that change one part of the one before: "and in 2022?", "what about rent?". They
//! are completed by the rest of it.

use super::phrases::Cue;
use super::question::{Token, TokenPart};
use super::table::LabelledTable;
use super::words::{PRONOUNS, lists};

/// How a question that leans on the one before begins.
const ELLIPTICAL: &str = "and then so also but same";

/// Whether a question can be understood without the ones before it.
pub(super) fn is_complete(table: &LabelledTable<'_>, tokens: &[Token]) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let elliptical = lists(ELLIPTICAL, text(0)) || text(1) == "about";
    let refers = tokens.iter().any(|token| lists(PRONOUNS, &token.text));
    let known = |token: &Token| token.stems().iter().any(|word| table.says(word));
    let over_all = |cue| matches!(cue, Cue::Largest | Cue::Smallest | Cue::Average);
    let dated = |token: &Token| token.span().is_some() || token.cue().is_some_and(over_all);
    let dated = table.periods.len() < 2 || tokens.iter().any(dated);
    !elliptical && !refers && dated && tokens.iter().any(known)
}

/// The question in full, if it changes one part of the one before.
pub(super) fn completed(
    table: &LabelledTable<'_>,
    before: &[Token],
    question: &[Token],
) -> Option<Vec<Token>> {
    let leads = |text: &str| text == "about" || lists(ELLIPTICAL, text);
    let says = |token: &&Token| token.part != TokenPart::Filler && !leads(&token.text);
    let new: Vec<&Token> = question.iter().filter(says).collect();
    let (spans, others): (Vec<&Token>, Vec<&Token>) =
        new.iter().partition(|token| token.span().is_some());
    let words = others.into_iter().filter(|one| !one.stems().is_empty());
    let words: Vec<&Token> = words.collect();
    if new.is_empty() || spans.len() + words.len() < new.len() {
        return None;
    }
    let mut out = before.to_vec();
    if !words.is_empty() {
        out = with_words(table, &out, &words)?;
    }
    if !spans.is_empty() {
        out = with_spans(out, &spans)?;
    }
    Some(out)
}

/// The question about other periods.
fn with_spans(mut out: Vec<Token>, new: &[&Token]) -> Option<Vec<Token>> {
    let old = out.iter_mut().filter(|token| token.span().is_some());
    let old: Vec<&mut Token> = old.collect();
    if old.is_empty() && new.len() == 1 {
        out.extend(new.iter().map(|token| (*token).clone()));
        return Some(out);
    }
    if old.len() != new.len() {
        return None;
    }
    for (token, new) in old.into_iter().zip(new) {
        let (was, is) = (token.span()?, new.span()?);
        // "And in 2022?" after a quarter may mean the quarter or the year.
        if was.length() < 12 && is.months.is_none() {
            return None;
        }
        let year = is.year.or(was.year);
        token.part = TokenPart::Period(year.map_or(is, |year| is.in_year(year)));
    }
    Some(out)
}

/// The question about another row or column.
fn with_words(table: &LabelledTable<'_>, before: &[Token], new: &[&Token]) -> Option<Vec<Token>> {
    let stems: Vec<&String> = new.iter().flat_map(|token| token.stems()).collect();
    let mut axes = [&table.rows, &table.columns].into_iter().filter(|labels| {
        let mut labels = labels.iter().skip(1);
        labels.any(|label| stems.iter().all(|word| label.says(word)))
    });
    let (Some(axis), None) = (axes.next(), axes.next()) else {
        return None;
    };
    let of_axis = |word: &String| axis.iter().skip(1).any(|label| label.says(word));
    let is_old = |token: &&Token| token.stems().iter().any(of_axis);
    let at = before.iter().position(|token| is_old(&token));
    let (first, rest) = before.split_at_checked(at.unwrap_or(before.len()))?;
    let kept = |token: &&Token| !is_old(token);
    let first = first.iter().filter(kept).chain(new.iter().copied());
    Some(first.chain(rest.iter().filter(kept)).cloned().collect())
}
