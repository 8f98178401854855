//! The operands of a question, from its tokens.

use super::fit::is_light;
use super::operand::Operand;
use super::phrases::Cue;
use super::question::{Token, TokenPart};
use super::words::{VERBS, lists, plain_stems};

/// What stands between two names that are left out, among their stems.
pub(super) const AND: &str = ",";

pub(super) const SHARES: &[Cue] = &[Cue::Percent, Cue::Share];

pub(super) fn has(tokens: &[Token], cues: &[Cue]) -> bool {
    let mut said = tokens.iter().filter_map(Token::cue);
    said.any(|cue| cues.contains(&cue))
}

fn goes_through(tokens: &[Token]) -> bool {
    let between = tokens.iter().any(|token| token.text == "between");
    let joins = |token: &Token| lists("to through until - \u{2013}", &token.text) || between;
    tokens.windows(3).any(|three| match three {
        [from, inner, to] => from.period().and(to.period()).is_some() && joins(inner),
        _ => false,
    })
}

/// An operand in which only these cues may occur; any if none are given.
pub(super) fn operand(tokens: &[Token], allowed: Option<&[Cue]>) -> Option<Operand> {
    let mut out = Operand {
        through: goes_through(tokens),
        falls: has(tokens, &[Cue::Fall]),
        improves: has(tokens, &[Cue::Improve]),
        balance: !has(tokens, &[Cue::Average])
            && tokens
                .iter()
                .any(|token| lists("balance balances", &token.text)),
        counts: match tokens {
            [first, second, ..] => matches!(
                (first.text.as_str(), second.text.as_str()),
                ("how", "many") | ("number", "of")
            ),
            _ => false,
        },
        ..Operand::default()
    };
    let year = tokens.iter().find_map(|token| token.period()?.end.year);
    let mut except = Vec::new();
    let others = tokens
        .iter()
        .flat_map(Token::stems)
        .any(|word| !is_light(word));
    for (at, token) in tokens.iter().enumerate() {
        // "Sales outside the US in 2031": up to the next period, verb or operation.
        if !out.except.is_empty() {
            let said = token
                .stems()
                .iter()
                .map(|stem| (stem.clone(), token.text.clone()));
            out.except.extend(said);
            let article = matches!(token.part, TokenPart::Filler) && !lists(VERBS, &token.text);
            // "Outside the US and Canada" leaves out both.
            let more = || {
                tokens
                    .get(at + 1)
                    .is_some_and(|next| !next.stems().is_empty())
            };
            let joins = token.text == "," || token.cue() == Some(Cue::And) && more();
            if joins {
                out.except.push((AND.to_owned(), token.text.clone()));
            }
            if joins || article || !token.stems().is_empty() {
                continue;
            }
            except.append(&mut out.except);
        }
        match &token.part {
            TokenPart::Filler | TokenPart::PerYear => {}
            TokenPart::BothTerms => out.both_terms = true,
            TokenPart::Each(count, months) => out.each = Some((*count, *months)),
            TokenPart::Cue(Cue::Except) => {
                let said = plain_stems(&token.text).into_iter();
                out.except = said
                    .map(|stem| (stem, token.text.clone()))
                    .take(1)
                    .collect();
            }
            TokenPart::Statement(named) => out.statement = Some(*named),
            // "How much of that was net income?" is not understood.
            TokenPart::Earlier(_) if allowed.is_some() && others => return None,
            TokenPart::Earlier(of) => {
                out.words.extend(of.words.iter().cloned());
                out.names.extend(of.names.iter().copied());
                out.spans.extend(of.spans.iter().copied());
                out.rows.clone_from(&of.rows);
                out.total |= of.total;
            }
            TokenPart::Word(stems) => {
                let words = stems.iter().map(|stem| (stem.clone(), token.text.clone()));
                out.words.extend(words);
            }
            TokenPart::Name(concept, said) => {
                if !out
                    .names
                    .iter()
                    .any(|(one, _)| std::ptr::eq(*one, *concept))
                {
                    out.names.push((concept, *said));
                    let name = concept.names.get(*said).into_iter().flatten();
                    out.total |= name.into_iter().any(|word| word == "total");
                }
            }
            TokenPart::Period(span) => {
                // "From Q3 to Q4 2032"
                let mut span = *span;
                span.end.year = span.end.year.or(year);
                if !out.spans.contains(&span) {
                    out.spans.push(span);
                }
            }
            TokenPart::Cue(Cue::Total) => out.total = true,
            // "What was due to suppliers"
            TokenPart::Cue(Cue::To) => {}
            TokenPart::Cue(Cue::And) if allowed.is_none_or(|all| all.contains(&Cue::And)) => {
                let after = tokens.get(at..).unwrap_or_default();
                out.joins |= out.is_named() && after.iter().any(|one| !one.stems().is_empty());
            }
            TokenPart::Cue(cue) if allowed.is_none_or(|all| all.contains(cue)) => {
                out.percent |= SHARES.contains(cue);
            }
            TokenPart::Cue(_) => return None,
        }
    }
    except.append(&mut out.except);
    out.except = except;
    let said: Vec<String> = tokens
        .iter()
        .flat_map(|token| plain_stems(&token.text))
        .collect();
    out.rename(&|word| said.contains(word));
    Some(out)
}

/// The operands of "A, B and C" and "A plus B"; one if nothing is listed.
pub(super) fn listed(
    tokens: &[Token],
    allowed: Option<&[Cue]>,
    plain: bool,
) -> Option<Vec<Operand>> {
    let joins = |token: &Token| matches!(token.cue(), Some(Cue::And | Cue::Plus));
    // A comma lists what comes before the last "and".
    let is_and = |token: &Token| token.cue() == Some(Cue::And);
    let last = tokens.iter().rposition(is_and).unwrap_or_default();
    let (list, rest) = tokens.split_at(last);
    let list = list.split(|token| joins(token) || token.text == ",");
    let parts = list.chain(rest.split(joins));
    let parts = parts.filter(|part| !part.is_empty());
    let parts = parts.map(|part| operand(part, allowed));
    let parts = parts.collect::<Option<Vec<Operand>>>()?;
    // "A and B from 2019 to 2021": which year of A is meant?
    let is_figure = |part: &Operand| part.is_named() && (part.spans.len() < 2 || !plain);
    (parts.len() == 1 || parts.iter().all(is_figure)).then_some(parts)
}

/// Both sides of a comparison. A side that names only a period ("than in 2019") asks for the figure
/// of the other side.
pub(super) fn sides(mut a: Operand, mut b: Operand, plain: bool) -> Option<Vec<Operand>> {
    let (first, second) = (a.clone(), b.clone());
    for (one, other) in [(first, &mut b), (second, &mut a)] {
        let bare = !other.spans.is_empty() || !other.except.is_empty();
        if !other.is_named() && !other.total && bare {
            other.words = one.words;
            other.names = one.names;
            other.rows = one.rows;
            other.total = one.total;
        }
        if other.spans.is_empty() {
            other.spans = one.spans;
        }
    }
    let one = |of: &Operand| of.spans.len() < 2 || !plain;
    let named = |of: &Operand| (of.is_named() || of.total) && one(of);
    (named(&a) && named(&b)).then(|| vec![a, b])
}
