//! Reads questions with two requests: "sales in 2031 and their growth", "sales 2031 vs costs 2030".

use finqa_core::page::period::Period;

use super::operand::Operand;
use super::operands::{SHARES, has, operand, says, split};
use super::request::{Asked, Operation};
use super::token::Token;
use crate::reading::cues::{CHANGES, Cue};

/// Cues of what is computed from a figure, besides [`CHANGES`] and [`SHARES`].
#[rustfmt::skip]
const COMPUTED: &[Cue] = &[
    Cue::AsShareOf, Cue::Average, Cue::Compound, Cue::Ratio, Cue::ShareOf,
];

fn is_computed(token: &Token) -> bool {
    let lists = [COMPUTED, CHANGES, SHARES];
    let cue = token.cue();
    cue.is_some_and(|cue| lists.iter().any(|list| list.contains(&cue)))
}

fn named(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| !token.stems().is_empty())
}

/// The tokens of the figure and of the request behind it; `None` for all other questions.
fn sides(tokens: &[Token]) -> Option<(&[Token], &[Token])> {
    let is_and = |token: &Token| token.cue() == Some(Cue::And);
    let places = (0..tokens.len()).filter(|at| tokens.get(*at).is_some_and(is_and));
    let mut sides = places.filter_map(|at| Some((tokens.get(..at)?, tokens.get(at + 1..)?)));
    sides.find(|(figure, behind)| {
        let first = behind.iter().position(is_computed);
        let bare = first.is_some_and(|at| !behind.get(..at).is_some_and(named));
        // A percentage may be the figure itself: "the tax rate in percent, and its change".
        named(figure) && !has(figure, COMPUTED) && !has(figure, CHANGES) && bare
    })
}

/// Adds the figure to what a question asks for, if it asks for a change or a growth rate too and the
/// periods of both are clear. Otherwise, the "and" is a word that was not read.
pub(super) fn add_figure(asked: &mut Asked, tokens: &[Token]) {
    let Some((figure, behind)) = sides(tokens) else {
        return;
    };
    let Some((figure, change)) = read(asked, figure, behind) else {
        let what = behind.iter().find(|token| is_computed(token));
        let what = what.map_or("", |token| token.text.as_str());
        asked.unused.push(format!("and {what}"));
        return;
    };
    asked.since &= figure.spans.is_empty();
    asked.operands = vec![change];
    asked.figure = Some(figure);
}

/// The figure, and the operand of its change.
fn read(asked: &Asked, figure: &[Token], behind: &[Token]) -> Option<(Operand, Operand)> {
    let computes = matches!(asked.operation, Operation::Difference | Operation::Compound);
    let of = asked.only().filter(|_| computes && !named(behind))?;
    let figure = operand(figure, Some(SHARES))?;
    // "In dollars and in percent" asks for a third value.
    let more = has(behind, &[Cue::And]) || figure.through || figure.each.is_some();
    let own = operand(behind, None)?;
    // The other end of the change is the period of the figure: "sales in 2029 and growth to 2031".
    let joins = has(behind, &[Cue::Versus]) || says(behind, "since from to until through");
    let mut spans: Vec<Period> = match (own.spans.as_slice(), figure.spans.as_slice()) {
        ([], spans) => spans.to_vec(),
        ([to], [from]) if joins => vec![*from, *to],
        ([_], [_, _, ..]) if joins => return None,
        (own, _) => own.to_vec(),
    };
    spans.dedup();
    (!more).then(|| (figure, of.of_spans(spans)))
}

/// The "vs" between two different figures or two changes, which are more than one operand: "sales
/// 2031 vs costs 2030".
pub(super) fn compared(tokens: &[Token]) -> Option<String> {
    let (left, right) = split(tokens, Cue::Versus)?;
    let (a, b) = (operand(left, None)?, operand(right, None)?);
    let two = a.is_named() && b.is_named() && !a.is_same_figure(&b);
    let changes = has(left, CHANGES) && has(right, CHANGES);
    let cue = tokens.iter().find(|one| one.cue() == Some(Cue::Versus));
    // With spaces, because a label may have the letters.
    cue.filter(|_| two || changes)
        .map(|one| format!(" {} ", one.text))
}

/// True for "on 2030" behind a word for a change: "how much is income up on 2030?"
pub(super) fn on_year(tokens: &[Token]) -> bool {
    let year = |token: &Token| token.period().is_some_and(|span| span.end.day.is_none());
    let on = |two: &[Token]| matches!(two, [on, of] if on.text == "on" && year(of));
    has(tokens, CHANGES) && tokens.windows(2).any(on)
}

/// The "and how" of a question for a name that also asks for its value: "which region had the most
/// sales, and how much was it?"
pub(super) fn and_how(tokens: &[Token]) -> Option<String> {
    let at = tokens
        .iter()
        .position(|token| token.cue() == Some(Cue::And))?;
    let (before, behind) = tokens.split_at(at);
    let asks = behind
        .iter()
        .find(|token| named(before) && token.is_in("how what"))?;
    Some(format!("and {}", asks.text))
}

/// The tokens before "and how much was it?", if nothing else is behind "and".
pub(super) fn and_how_much(tokens: &[Token]) -> Option<&[Token]> {
    let at = tokens
        .iter()
        .rposition(|token| token.cue() == Some(Cue::And))?;
    let (before, behind) = tokens.split_at(at);
    let texts: Vec<&str> = behind.iter().map(|token| token.text.as_str()).collect();
    let asks = match texts.get(1..)? {
        ["how", "much" | "many", rest @ ..] | ["what", rest @ ..] => {
            matches!(rest, [] | ["was" | "is", "it" | "that"])
        }
        _ => false,
    };
    asks.then_some(before)
}

/// Words of a question about several periods that ask for something else than the figure of each, or
/// leave open which periods are meant; `None` if there are none.
pub(crate) fn unclear_periods(asked: &Asked, tokens: &[Token]) -> Option<String> {
    let several = |of: &Operand| of.spans.len() > 1 || of.each.is_some();
    let listed = asked.operands.iter().any(several);
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let pair = |words: [&str; 2]| texts.windows(2).any(|two| two == words);
    let in_each = matches!(asked.operation, Operation::Figure | Operation::Ratio);
    if in_each && listed {
        // "Sales in 2030 and 2031 in total" asks for their sum, unless the row is called a total.
        let total = texts.iter().rposition(|text| *text == "total");
        let last_name = tokens.iter().rposition(|token| !token.stems().is_empty());
        let sums = pair(["in", "total"]) || total > last_name || says(tokens, "altogether");
        let sums = sums || texts.contains(&"total of");
        let in_all = pair(["in", "all"]).then(|| "in all".to_owned());
        return sums.then(|| "total".to_owned()).or(in_all);
    }
    let of = asked.only()?;
    if !listed && in_each && !of.joins && !of.both_terms && says(tokens, "both") {
        return Some("both".to_owned());
    }
    // "By how much did sales grow in 2030 and in 2031?" asks for two changes.
    let compares = matches!(asked.operation, Operation::Difference | Operation::Compare);
    let dated = tokens
        .iter()
        .filter(|token| token.period().is_some())
        .count()
        > 1;
    let is_from = |token: &Token| {
        let compared = token.text.starts_with("compared");
        compared || token.is_in("vs versus against from since to between")
    };
    let two = compares && dated && !of.through && !tokens.iter().any(is_from);
    (two && asked.figure.is_none()).then(|| " and ".to_owned())
}
