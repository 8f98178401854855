//! Builds the operands of a question from its tokens.

use super::operand::Operand;
use super::token::{Token, TokenRole};
use crate::reading::cues::Cue;
use crate::tables::words::{SaidWord, VERBS, is_light, plain_stems};

/// The stem in [`Operand::except`] that separates two names that are left out.
pub(crate) const AND: &str = ",";

/// Cues that ask for a percentage. A figure or a change can be asked for with them.
pub(crate) const SHARES: &[Cue] = &[Cue::Percent, Cue::Share];

/// True if any of the tokens is one of these cues.
pub(crate) fn has(tokens: &[Token], cues: &[Cue]) -> bool {
    let mut said = tokens.iter().filter_map(Token::cue);
    said.any(|cue| cues.contains(&cue))
}

/// True if any of the tokens is one of these words.
pub(crate) fn says(tokens: &[Token], list: &str) -> bool {
    tokens.iter().any(|token| token.is_in(list))
}

/// The tokens before and after a cue; `None` unless it occurs exactly once.
pub(crate) fn split(tokens: &[Token], cue: Cue) -> Option<(&[Token], &[Token])> {
    let mut sides = tokens.split(|token| token.cue() == Some(cue));
    let (left, right) = (sides.next()?, sides.next()?);
    sides.next().is_none().then_some((left, right))
}

/// True for two periods that are the ends of a longer one: "from 2029 to 2031".
fn goes_through(tokens: &[Token]) -> bool {
    let between = says(tokens, "between");
    let joins = |token: &Token| token.is_in("to through until - \u{2013}") || between;
    tokens.windows(3).any(|three| match three {
        [from, inner, to] => from.period().and(to.period()).is_some() && joins(inner),
        _ => false,
    })
}

/// Reads one operand. `None` if the tokens have a cue that is not in `allowed`; without `allowed`,
/// cues are skipped.
pub(crate) fn operand(tokens: &[Token], allowed: Option<&[Cue]>) -> Option<Operand> {
    let mut out = unnamed(tokens);
    let year = tokens.iter().find_map(|token| token.period()?.end.year);
    // True inside of "outside the US", up to its last word.
    let mut excludes = false;
    let mut stems = tokens.iter().flat_map(Token::stems);
    let others = stems.any(|word| !is_light(word));
    for (at, token) in tokens.iter().enumerate() {
        excludes = excludes && leaves_out(&mut out.except, token, tokens.get(at + 1));
        if excludes {
            continue;
        }
        match &token.role {
            TokenRole::Filler | TokenRole::PerYear => {}
            TokenRole::BothTerms => out.both_terms = true,
            TokenRole::Each(count, months) => out.each = Some((*count, *months)),
            TokenRole::Cue(Cue::Except) => {
                // The first word, which the label may have too: "Sales outside the US".
                let said = plain_stems(&token.text).into_iter().take(1);
                let said = said.map(|stem| SaidWord::new(stem, &token.text));
                out.except.extend(said);
                excludes = true;
            }
            TokenRole::Statement(named) => out.statement = Some(*named),
            // "How much of that was net income?" names a figure besides the earlier one; it is not
            // understood.
            TokenRole::Earlier(_) if allowed.is_some() && others => return None,
            TokenRole::Earlier(of) => out.add_earlier(of),
            TokenRole::Word(_) => out.words.extend(token.words()),
            TokenRole::Name(named) => out.add_name(*named),
            // In "from Q3 to Q4 2032", the year belongs to both quarters.
            TokenRole::Period(span) => out.add_span(*span, year),
            TokenRole::Cue(Cue::Total) => out.total = true,
            // "To" in "what was due to suppliers" joins nothing.
            TokenRole::Cue(Cue::To) => {}
            TokenRole::Cue(Cue::And) if allowed.is_none_or(|all| all.contains(&Cue::And)) => {
                let after = tokens.get(at..).unwrap_or_default();
                let names = |one: &Token| !one.stems().is_empty() || one.cue() == Some(Cue::Total);
                out.joins |= (out.is_named() || out.total) && after.iter().any(names);
            }
            TokenRole::Cue(cue) if allowed.is_none_or(|all| all.contains(cue)) => {
                out.percent |= SHARES.contains(cue);
            }
            TokenRole::Cue(_) => return None,
        }
    }
    let said = tokens.iter().flat_map(|token| plain_stems(&token.text));
    let said: Vec<String> = said.collect();
    out.rename(&said);
    Some(out)
}

/// Words by which a question asks for money: "how much was spent on shares repurchased".
const OF_MONEY: &str = "amount cost costs dollar dollars much paid pay spend spent value worth";

/// An operand without a name, with what the cues and the phrases of the question say about it.
fn unnamed(tokens: &[Token]) -> Operand {
    let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
    let lower =
        has(tokens, &[Cue::YearAgo]) && has(tokens, &[Cue::Less]) && !has(tokens, &[Cue::More]);
    Operand {
        through: goes_through(tokens),
        falls: has(tokens, &[Cue::Fall]) || lower,
        improves: has(tokens, &[Cue::Improve]),
        of_company: says(
            tokens,
            "company company's group group's firm firm's overall",
        ),
        // An average balance is not that of one day.
        balance: !has(tokens, &[Cue::Average]) && says(tokens, "balance balances"),
        counts: matches!(texts.as_slice(), ["how", "many", ..] | ["number", "of", ..])
            || texts.contains(&"shares repurchased") && !says(tokens, OF_MONEY),
        ..Operand::default()
    }
}

/// Adds a token behind "outside" to what is left out. False for a period, a verb or an operation,
/// where the exclusion ends: "Sales outside the US in 2031".
fn leaves_out(except: &mut Vec<SaidWord>, token: &Token, next: Option<&Token>) -> bool {
    except.extend(token.words());
    let article = matches!(token.role, TokenRole::Filler) && !token.is_in(VERBS);
    // "Outside the US and Canada" leaves out both.
    let more = next.is_some_and(|next| !next.stems().is_empty());
    let joins = token.text == "," || token.cue() == Some(Cue::And) && more;
    if joins {
        except.push(SaidWord::new(AND, &token.text));
    }
    joins || article || !token.stems().is_empty()
}

/// The operands of "A, B and C" or "A plus B"; a single operand if nothing is listed. `None` if a
/// part is not a figure.
pub(crate) fn listed(tokens: &[Token], allowed: &[Cue], single: bool) -> Option<Vec<Operand>> {
    let joins = |token: &Token| matches!(token.cue(), Some(Cue::And | Cue::Plus));
    // A comma separates operands only before the last "and"; elsewhere it is punctuation.
    let is_and = |token: &Token| token.cue() == Some(Cue::And);
    let last = tokens.iter().rposition(is_and).unwrap_or_default();
    let (list, rest) = tokens.split_at(last);
    let list = list.split(|token| joins(token) || token.text == ",");
    let parts = list.chain(rest.split(joins));
    let parts = parts.filter(|part| !part.is_empty());
    let parts = parts.map(|part| operand(part, Some(allowed)));
    let parts = parts.collect::<Option<Vec<Operand>>>()?;
    // In "A and B from 2019 to 2021", it is unclear for which year A is asked, so such a list is
    // not looked up in a single table.
    let is_figure =
        |part: &Operand| (part.is_named() || part.total) && (part.spans.len() < 2 || !single);
    (parts.len() == 1 || parts.iter().all(is_figure)).then_some(parts)
}

/// Completes the two operands of a ratio, a difference or a comparison by each other. "Than in
/// 2019" names only a period, so it takes the other side's figure; a side without a period takes
/// the other's period. `None` if a side still names no figure.
pub(crate) fn complete_pair(mut a: Operand, mut b: Operand, single: bool) -> Option<Vec<Operand>> {
    // Copies, so that a side gives the other only what it had itself.
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
    let one = |of: &Operand| of.spans.len() < 2 || !single;
    let named = |of: &Operand| (of.is_named() || of.total) && one(of);
    (named(&a) && named(&b)).then(|| vec![a, b])
}
