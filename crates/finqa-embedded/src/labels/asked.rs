//! What a question asks for: an operation and its operands, as data.

use super::answer::{NoReading, Reading};
use super::cues::Cue;
use super::question::{Token, TokenPart};
use super::words::lists;
use finqa_core::page::period::{CalendarSpan, WHOLE};

#[derive(Clone, Debug)]
pub(super) struct Asked {
    pub(super) operation: Operation,
    /// Several are listed, one of some operations is a series.
    pub(super) operands: Vec<Operand>,
    /// As a share, or as a percentage of the earlier or the smaller figure.
    pub(super) relative: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    Figure,
    /// A change over time; a fall is positive if it is asked for.
    Change {
        falls: bool,
    },
    /// What the first is more than the second.
    Difference,
    Ratio,
    Sum,
    Average,
    Extreme {
        largest: bool,
        which: Option<Which>,
    },
    /// Whether the first is larger than the second.
    Compare,
    /// Whether it has risen, or fallen.
    Moved {
        falls: bool,
    },
}

/// What "which" asks for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Which {
    /// A period, of so many months.
    Period(Option<u8>),
    /// The stems of a noun: "segment".
    Label(Vec<String>),
}

/// A figure by the words that name it.
#[derive(Clone, Debug, Default)]
pub(super) struct Operand {
    /// Stems, and the words as the question spells them.
    pub(super) words: Vec<(String, String)>,
    pub(super) spans: Vec<CalendarSpan>,
    /// The two periods are the ends of a longer one.
    pub(super) through: bool,
    /// It is asked for from the first period to the second, in this order.
    pub(super) ordered: bool,
    /// So many of the last periods.
    pub(super) last: Option<usize>,
    pub(super) total: bool,
    /// A percentage that the page prints is meant.
    pub(super) percent: bool,
}

impl Operand {
    /// The same figure of other periods.
    pub(super) fn of_spans(&self, spans: Vec<CalendarSpan>) -> Self {
        Self {
            spans,
            ..self.clone()
        }
    }
}

const YES_NO: &str = "did does do is are was were has have";

/// Verbs between the whole and the part: "what share of sales came from A?"
const VERBS: &str = "is was are were comes came come made did do does has had have earned";

const TIMES: [(&str, Option<u8>); 6] = [
    ("year", Some(12)),
    ("season", Some(12)),
    ("half", Some(6)),
    ("quarter", Some(3)),
    ("month", Some(1)),
    ("period", None),
];

fn has(tokens: &[Token], cues: &[Cue]) -> bool {
    tokens
        .iter()
        .filter_map(Token::cue)
        .any(|cue| cues.contains(&cue))
}

fn names(tokens: &[Token]) -> bool {
    has(tokens, &[Cue::Total]) || tokens.iter().any(|token| !token.stems().is_empty())
}

fn is_dated(tokens: &[Token]) -> bool {
    tokens.iter().any(|token| token.span().is_some())
}

/// The tokens on both sides of the only place of a cue.
fn split(tokens: &[Token], cue: Cue) -> Option<(&[Token], &[Token])> {
    let mut sides = tokens.split(|token| token.cue() == Some(cue));
    match (sides.next(), sides.next(), sides.next()) {
        (Some(left), Some(right), None) => Some((left, right)),
        _ => None,
    }
}

/// Whether the token between two periods, and nothing else, joins them.
fn joins_periods(tokens: &[Token], at: usize) -> bool {
    let ends = [at.checked_sub(1), Some(at + 1)].map(|at| at.and_then(|at| tokens.get(at)));
    ends.iter()
        .all(|end| end.is_some_and(|end| end.span().is_some()))
}

fn goes_through(tokens: &[Token]) -> bool {
    let between = tokens.iter().any(|token| token.text == "between");
    let joins = |token: &Token| lists("to through until - \u{2013}", &token.text) || between;
    let mut inner = tokens
        .iter()
        .enumerate()
        .filter(|(at, _)| joins_periods(tokens, *at));
    inner.any(|(_, token)| joins(token))
}

/// An operand in which only these cues may occur.
fn operand(tokens: &[Token], allowed: &[Cue]) -> Reading<Operand> {
    let first = tokens.iter().position(|token| token.span().is_some());
    let before = first.and_then(|at| tokens.get(at.checked_sub(1)?));
    let mut out = Operand {
        through: goes_through(tokens),
        ordered: before.is_some_and(|token| token.text == "from"),
        ..Operand::default()
    };
    let mut years = tokens.iter().filter_map(|token| token.span()?.year);
    let year = years.next();
    for (at, token) in tokens.iter().enumerate() {
        match &token.part {
            TokenPart::Filler => {}
            TokenPart::Word(stems) => {
                let words = stems.iter().map(|stem| (stem.clone(), token.text.clone()));
                out.words.extend(words);
            }
            TokenPart::Period(span) => {
                // "From Q3 to Q4 2032"
                let year = span.year.or(year);
                let span = CalendarSpan { year, ..*span };
                if !out.spans.contains(&span) {
                    out.spans.push(span);
                }
            }
            TokenPart::Cue(Cue::Total) => out.total = true,
            TokenPart::Cue(Cue::Last(count)) => out.last = Some(*count),
            // "What was due to suppliers"
            TokenPart::Cue(Cue::To) => {}
            TokenPart::Cue(Cue::And) if joins_periods(tokens, at) => {}
            TokenPart::Cue(cue) if allowed.contains(cue) => {
                out.percent |= matches!(cue, Cue::Share | Cue::Percent);
            }
            TokenPart::Cue(_) => return Err(NoReading::Open),
        }
    }
    // "For the three months ended June 30 from 2022 to 2023"
    let is_part = |span: &&CalendarSpan| span.months.is_some_and(|months| months != WHOLE);
    if let Some(part) = out.spans.iter().find(is_part).copied()
        && out.spans.len() > 1
        && out
            .spans
            .iter()
            .all(|span| *span == part || span.months.is_none())
    {
        out.spans.retain(|span| *span != part);
        out.spans
            .iter_mut()
            .for_each(|span| span.months = part.months);
    }
    Ok(out)
}

/// The operands of "A, B and C" and "A plus B"; one if nothing is listed.
fn listed(tokens: &[Token], allowed: &[Cue]) -> Reading<Vec<Operand>> {
    let mut parts: Vec<Vec<Token>> = vec![Vec::new()];
    for (at, token) in tokens.iter().enumerate() {
        let joins = matches!(token.cue(), Some(Cue::And | Cue::Plus));
        let rest = tokens.get(at + 1..).unwrap_or_default();
        if joins && !joins_periods(tokens, at) {
            parts.push(Vec::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(token.clone());
        }
        // A comma, unless "and" follows it.
        let last = rest
            .first()
            .is_some_and(|next| next.cue() == Some(Cue::And));
        if token.comma && !token.stems().is_empty() && has(rest, &[Cue::And]) && !last {
            parts.push(Vec::new());
        }
    }
    let parts = parts.iter().map(|part| operand(part, allowed));
    let parts: Vec<Operand> = parts.collect::<Reading<_>>()?;
    match parts.len() > 1 && parts.iter().any(|part| part.words.is_empty()) {
        true => Err(NoReading::Open),
        false => Ok(parts),
    }
}

fn asked(operation: Operation, operands: Vec<Operand>, relative: bool) -> Reading<Asked> {
    Ok(Asked {
        operation,
        operands,
        relative,
    })
}

/// Reads what a question asks for.
pub(super) fn read(tokens: &[Token]) -> Reading<Asked> {
    if tokens
        .first()
        .is_some_and(|token| lists(YES_NO, &token.text))
    {
        return yes_no(tokens);
    }
    let (which, rest) = which(tokens).map_or((None, tokens), |(which, rest)| (Some(which), rest));
    let largest = has(tokens, &[Cue::Largest]);
    if which.is_some() || largest || has(tokens, &[Cue::Smallest]) {
        if largest == has(tokens, &[Cue::Smallest]) {
            return Err(NoReading::Open);
        }
        let of = operand(
            rest,
            &[Cue::Largest, Cue::Smallest, Cue::Share, Cue::Percent],
        )?;
        return asked(Operation::Extreme { largest, which }, vec![of], false);
    }
    if has(tokens, &[Cue::Average]) {
        return asked(Operation::Average, listed(tokens, &[Cue::Average])?, false);
    }
    if let Some((part, whole, relative)) = ratio(tokens)? {
        return asked(Operation::Ratio, vec![part, whole], relative);
    }
    let moves = [Cue::Change, Cue::Fall, Cue::Growth, Cue::Points, Cue::Rise];
    if has(
        tokens,
        &[Cue::Difference, Cue::Minus, Cue::Than, Cue::Versus],
    ) || has(tokens, &moves)
    {
        return change(tokens, has(tokens, &moves));
    }
    if has(tokens, &[Cue::Sum, Cue::Plus]) || has(tokens, &[Cue::Total]) && has(tokens, &[Cue::And])
    {
        let mut parts = listed(tokens, &[Cue::Sum])?;
        let several = parts.len() > 1;
        // "The total of A and B" is no total row.
        parts.iter_mut().for_each(|part| part.total &= !several);
        return asked(Operation::Sum, parts, false);
    }
    let of = operand(tokens, &[Cue::Percent, Cue::Share])?;
    match (of.spans.len() > 1 || of.last.is_some(), of.total) {
        (true, true) => asked(Operation::Sum, vec![of], false),
        (true, false) => Err(NoReading::Open),
        (false, _) => asked(Operation::Figure, vec![of], false),
    }
}

fn yes_no(tokens: &[Token]) -> Reading<Asked> {
    let exceeds = has(tokens, &[Cue::Exceeds]);
    let cue = if exceeds { Cue::Exceeds } else { Cue::Than };
    if let Some((left, right)) = split(tokens, cue) {
        let (more, less) = (has(left, &[Cue::More]), has(left, &[Cue::Less]));
        if exceeds && (more || less) || !exceeds && more == less {
            return Err(NoReading::Open);
        }
        let mut sides = sides(
            operand(left, &[Cue::More, Cue::Less])?,
            operand(right, &[])?,
        )?;
        if less {
            sides.reverse();
        }
        return asked(Operation::Compare, sides, false);
    }
    let falls = has(tokens, &[Cue::Fall]);
    let of = operand(tokens, &[Cue::Fall, Cue::Rise])?;
    match has(tokens, &[Cue::Rise]) == falls {
        true => Err(NoReading::Open),
        false => asked(Operation::Moved { falls }, vec![of], false),
    }
}

/// Both sides of a comparison: a side that names but a period is of the other's figure.
fn sides(mut a: Operand, mut b: Operand) -> Reading<Vec<Operand>> {
    if b.words.is_empty() && b.spans != a.spans && !b.spans.is_empty() {
        b.words.clone_from(&a.words);
        b.total = a.total;
    }
    if a.spans.is_empty() {
        a.spans.clone_from(&b.spans);
    }
    if b.spans.is_empty() {
        b.spans.clone_from(&a.spans);
    }
    let named = |of: &Operand| !of.words.is_empty() && of.spans.len() < 2 && of.last.is_none();
    if named(&a) && named(&b) {
        Ok(vec![a, b])
    } else {
        Err(NoReading::Open)
    }
}

/// What "which" or "when" asks for, and the rest of the question.
fn which(tokens: &[Token]) -> Option<(Which, &[Token])> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let at = usize::from(lists("in during for at", text(0)));
    if text(at) == "when" {
        return Some((Which::Period(None), tokens.get(at + 1..)?));
    }
    let rest = tokens
        .get(at + 1..)
        .filter(|_| lists("which what", text(at)))?;
    let ends = |token: &Token| lists(VERBS, &token.text) || token.cue().is_some();
    let (noun, rest) = rest.split_at(rest.iter().position(ends)?);
    let last = noun.last()?;
    let time = TIMES.iter().find(|(time, _)| *time == last.text);
    if let Some((_, length)) = time {
        return Some((Which::Period(*length), rest));
    }
    // "Which fiscal year" is read as a period of any year.
    if last.span().is_some_and(|span| span.year.is_none()) {
        return Some((Which::Period(Some(12)), rest));
    }
    let stems: Vec<String> = noun
        .iter()
        .flat_map(|token| token.stems().to_vec())
        .collect();
    let compares = has(rest, &[Cue::Largest, Cue::Smallest]);
    (compares && !stems.is_empty() && !is_dated(noun)).then_some((Which::Label(stems), rest))
}

/// The part and the whole of a ratio, and whether it is a share, if the question asks for one.
fn ratio(tokens: &[Token]) -> Reading<Option<(Operand, Operand, bool)>> {
    let of = |part: &[Token], whole: &[Token], relative: bool| {
        let cues = [Cue::Ratio, Cue::Percent];
        let (mut part, mut whole) = (operand(part, &cues)?, operand(whole, &cues)?);
        (part.percent, whole.percent) = (false, false);
        // "What share of full-year sales was made in Q4?"
        if part.words.is_empty() && !part.spans.is_empty() {
            part.words.clone_from(&whole.words);
        }
        let named = !part.words.is_empty() && (!whole.words.is_empty() || whole.total);
        Ok(named.then_some((part, whole, relative)))
    };
    if let Some((part, whole)) = split(tokens, Cue::AsShareOf) {
        return of(part, whole, true);
    }
    if let Some((part, whole)) = split(tokens, Cue::DividedBy) {
        return of(part, whole, has(tokens, &[Cue::Percent]));
    }
    if has(tokens, &[Cue::Ratio]) {
        let (part, whole) = split(tokens, Cue::To).ok_or(NoReading::Open)?;
        return of(part, whole, false);
    }
    let Some((before, after)) = split(tokens, Cue::ShareOf) else {
        return Ok(None);
    };
    if names(before) {
        return of(before, after, true);
    }
    let cut = |is: &dyn Fn(&Token) -> bool, both: &dyn Fn(&[Token], &[Token]) -> bool| {
        let places = after.iter().enumerate().filter(|(_, token)| is(token));
        let mut sides = places.map(|(at, _)| after.split_at(at));
        sides.find(|(left, right)| both(left, right))
    };
    let part_of = |whole: &[Token], part: &[Token]| names(whole) && (names(part) || is_dated(part));
    if let Some((whole, part)) = cut(&|token| lists(VERBS, &token.text), &part_of) {
        return of(part, whole, true);
    }
    // "The share of A in B"
    let in_whole = |part: &[Token], whole: &[Token]| names(part) && names(whole);
    let sides = cut(&|token| token.text == "in", &in_whole);
    sides.map_or(Err(NoReading::Open), |(part, whole)| of(part, whole, true))
}

fn change(tokens: &[Token], moves: bool) -> Reading<Asked> {
    let relative = !has(tokens, &[Cue::Points]) && has(tokens, &[Cue::Percent, Cue::Growth]);
    let plain = |of: Operand| Operand {
        percent: of.percent && !relative,
        ..of
    };
    let cues = [
        Cue::Change,
        Cue::Difference,
        Cue::Fall,
        Cue::Growth,
        Cue::Percent,
        Cue::Points,
        Cue::Rise,
        Cue::Share,
        Cue::Versus,
        Cue::More,
        Cue::Less,
    ];
    let than = split(tokens, Cue::Than);
    if let Some((left, right)) = than.or_else(|| split(tokens, Cue::Minus)) {
        let (more, less) = (has(left, &[Cue::More]), has(left, &[Cue::Less]));
        // As a share of the larger or of the smaller?
        if than.is_some() && more == less || less && relative {
            return Err(NoReading::Open);
        }
        let mut sides = sides(plain(operand(left, &cues)?), operand(right, &[])?)?;
        if less {
            sides.reverse();
        }
        return asked(Operation::Difference, sides, relative);
    }
    let mut parts = listed(tokens, &cues)?.into_iter().map(plain);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(a), Some(b), None) if has(tokens, &[Cue::Difference]) && !moves => {
            asked(Operation::Difference, sides(a, b)?, relative)
        }
        (Some(of), None, None) if !has(tokens, &[Cue::More, Cue::Less]) => {
            let falls = has(tokens, &[Cue::Fall]);
            asked(Operation::Change { falls }, vec![of], relative)
        }
        _ => Err(NoReading::Open),
    }
}
