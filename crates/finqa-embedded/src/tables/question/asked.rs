//! Reads what a question asks for: an operation and its operands.

use super::operand::Operand;
use super::operands::{SHARES, complete_pair, has, listed, operand, says, split};
use super::rank_question;
use super::request::{Asked, Operation, Which};
use super::token::{Token, TokenRole};
use super::two_requests::{add_figure, and_how, and_how_much, compared, on_year};
use crate::reading::cues::{CHANGES, Cue};
use crate::tables::words::{VERBS, is_light, lists};

/// A way to ask for an operation. A question has the first form in [`FORMS`] whose cue it has and
/// whose operands can be read, so the order of the forms matters. Rankings ("which segment grew
/// fastest") and extremes are read before the forms.
///
/// The fields: whether the question begins like a yes/no question; the cues, one of which must
/// occur (any question if empty); the places of the operands; the operation; whether words such as
/// "percent" or "growth" make it relative; and further cues that the operands can have.
struct Form(
    bool,
    &'static [Cue],
    OperandForm,
    Operation,
    bool,
    &'static [Cue],
);

/// The places of the operands in a question.
#[derive(Clone, Copy)]
enum OperandForm {
    One,
    /// "A, B and C": at least this many operands.
    Listed(usize),
    /// One operand on each side of the cue.
    Sides(Cue),
    /// Like `Sides`, but the second operand comes first: "is A less than B" compares B with A.
    Reversed(Cue),
    /// "What share of A came from B?": both follow the cue, and the whole comes first, but the
    /// operands are [part, whole]. A form with `Sides` comes before this one and rejects such a
    /// question, because nothing before the cue is a name. A period there belongs to both.
    WholeFirst(Cue),
}

use OperandForm::{Listed, One, Reversed, Sides, WholeFirst};

/// The cue of forms in which the first figure is the lower one.
const LOWER: &[Cue] = &[Cue::Less];
/// Further cues in the operands of a ratio.
const PERCENT: &[Cue] = &[Cue::Percent, Cue::Ratio];
/// Further cues in the operands of a difference.
const COMPARED: &[Cue] = &[Cue::Percent, Cue::Points];
/// Cues that make a result a percentage, unless the question asks for points.
const RELATIVE: &[Cue] = &[Cue::AsShareOf, Cue::Growth, Cue::Percent, Cue::ShareOf];
/// Further cues in a yes/no question for a change, which name the earlier period.
const AGO: &[Cue] = &[Cue::Versus, Cue::YearAgo];
/// Cues for a change, or for a comparison that is one.
#[rustfmt::skip]
const MOVES: &[Cue] = &[
    Cue::Change, Cue::Difference, Cue::Fall, Cue::Growth, Cue::Improve, Cue::Points, Cue::Rise, Cue::Versus,
    Cue::YearAgo,
];

/// Cues that may also be part of a question for one figure.
#[rustfmt::skip]
const NEUTRAL: &[Cue] = &[
    Cue::And, Cue::AsShareOf, Cue::Except, Cue::Percent, Cue::Share, Cue::ShareOf, Cue::Than, Cue::To,
    Cue::Total,
];

// The last form has no cue, so it reads what no form before it does.
#[rustfmt::skip] // A table: rustfmt would give each of its rows eight lines.
static FORMS: [Form; 28] = [
    // yes/no, cues, places of the operands, operation, may be relative, further cues
    Form(true, &[Cue::More], Sides(Cue::Or), Operation::Larger { largest: true }, false, &[]),
    Form(true, LOWER, Sides(Cue::Or), Operation::Larger { largest: false }, false, &[]),
    Form(true, &[Cue::Exceeds], Sides(Cue::Exceeds), Operation::Compare, false, &[]),
    Form(true, &[Cue::More], Sides(Cue::Than), Operation::Compare, false, &[]),
    Form(true, LOWER, Sides(Cue::Than), Operation::Compare, false, &[]),
    Form(true, &[Cue::Rise, Cue::Improve, Cue::Fall], One, Operation::Compare, false, AGO),
    // "Was A higher than a year ago?": "than" is in the phrase of `YearAgo`.
    Form(true, &[Cue::YearAgo], One, Operation::Compare, false, &[Cue::More, Cue::Less]),
    Form(true, &[], One, Operation::Exists, false, &[]),
    Form(false, &[Cue::Compound], One, Operation::Compound, false, &[Cue::Growth, Cue::Percent]),
    Form(false, &[Cue::Average], Listed(1), Operation::Average, false, &[]),
    Form(false, &[Cue::AsShareOf], Sides(Cue::AsShareOf), Operation::Ratio, true, PERCENT),
    Form(false, &[Cue::DividedBy], Sides(Cue::DividedBy), Operation::Ratio, true, PERCENT),
    Form(false, &[Cue::Ratio], Sides(Cue::To), Operation::Ratio, false, PERCENT),
    Form(false, &[Cue::ShareOf], Sides(Cue::ShareOf), Operation::Ratio, true, PERCENT),
    Form(false, &[Cue::ShareOf], WholeFirst(Cue::ShareOf), Operation::Ratio, true, PERCENT),
    Form(false, &[Cue::CoveredBy], Reversed(Cue::CoveredBy), Operation::Ratio, false, &[Cue::Multiple]),
    Form(false, &[Cue::Covers], Sides(Cue::Covers), Operation::Ratio, false, &[Cue::Multiple]),
    Form(false, &[Cue::Multiple], Sides(Cue::Multiple), Operation::Ratio, false, &[]),
    Form(false, &[Cue::Multiple], WholeFirst(Cue::Multiple), Operation::Ratio, false, &[]),
    Form(false, &[Cue::More], Sides(Cue::Than), Operation::Difference, true, COMPARED),
    Form(false, LOWER, Sides(Cue::Than), Operation::Difference, false, COMPARED),
    Form(false, LOWER, Sides(Cue::Less), Operation::Difference, false, COMPARED),
    Form(false, &[Cue::Minus], Sides(Cue::Minus), Operation::Difference, true, COMPARED),
    Form(false, &[Cue::Difference], Listed(2), Operation::Difference, true, SHARES),
    Form(false, MOVES, One, Operation::Difference, true, SHARES),
    Form(false, &[Cue::Sum, Cue::Plus], Listed(1), Operation::Sum, false, &[]),
    Form(false, &[Cue::Total], Listed(2), Operation::Sum, false, &[Cue::Sum]),
    Form(false, &[], One, Operation::Figure, false, SHARES),
];

/// Verbs with which a yes/no question begins.
const YES_NO: &str = "did does do is are was were has have";

/// Nouns of periods, separated by spaces, with their number of months.
const TIMES: [(&str, Option<u8>); 5] = [
    ("year season", Some(12)),
    ("half", Some(6)),
    ("quarter", Some(3)),
    ("month", Some(1)),
    ("period", None),
];

/// Reads what a question asks for; `None` if it is not understood in full. In a single table, each
/// figure must have one period.
pub(crate) fn read(tokens: &[Token], single: bool) -> Option<Asked> {
    if !single {
        let (mut left_out, rest) = left_out(tokens).unwrap_or_else(|| (Vec::new(), tokens));
        if let Some((ranking, mut of)) = rank_question::read(rest) {
            // "Which region outside the US had the most sales?"
            left_out.extend(of.except.drain(..).map(|word| word.stem));
            return Some(Asked {
                left_out,
                unused: and_how(tokens).into_iter().collect(),
                ..Asked::new(Operation::Ranked(ranking), vec![of])
            });
        }
    }
    // In "debt in all, current and non-current", both parts are one figure and not a list.
    let is_both = |token: &Token| matches!(token.role, TokenRole::BothTerms);
    let both = !single && tokens.iter().any(is_both);
    let joins = |token: &Token| {
        matches!(token.cue(), Some(Cue::Sum | Cue::Total | Cue::And)) || token.text == ","
    };
    let kept = tokens.iter().filter(|token| !(both && joins(token)));
    let all = tokens;
    let tokens: &[Token] = &kept.cloned().collect::<Vec<Token>>();
    // "Which was larger, A or B?" has the same forms as "Was A or B larger?". "In which year was A
    // highest, 2030 or 2031?" asks for a period.
    let of_time = matches!(wanted_answer(tokens), Some((Which::Period(_), _)))
        && has(tokens, &[Cue::Largest, Cue::Smallest]);
    let yes_no = tokens.first()?.is_in(YES_NO) || has(tokens, &[Cue::Or]) && !of_time;
    let with_figure = and_how_much(tokens).filter(|_| single);
    let of_name = with_figure.unwrap_or(tokens);
    if !yes_no && let Some(extreme) = extreme(of_name, single) {
        return extreme.map(|asked| Asked {
            with_figure: with_figure.is_some(),
            unused: and_how(of_name).into_iter().collect(),
            ..asked
        });
    }
    let mut forms = FORMS.iter().filter(|Form(begins, ..)| *begins == yes_no);
    let mut asked = forms.find_map(|form| form.read(tokens, single))?;
    let several = |of: &Operand| of.spans.len() > 1 || of.each.is_some();
    let in_each = matches!(asked.operation, Operation::Figure | Operation::Ratio);
    let lists_them = |of: &Operand| !of.through && in_each;
    // "A year" with several periods can ask for their average or for the figure of each.
    let of_each = !matches!(asked.operation, Operation::Average | Operation::Compound)
        && (asked.since || asked.operands.iter().any(several))
        && !asked.operands.iter().all(lists_them);
    // "In 2031 and a year earlier" asks for two values and not for their change.
    let moves = has(tokens, CHANGES) || has(tokens, &[Cue::Versus]);
    let is_unmet = |token: &&Token| {
        let ago = token.cue() == Some(Cue::YearAgo) && token.text.starts_with("a year");
        of_each && token.is_of_each() || token.is_of_part() || ago && !moves
    };
    let unmet = tokens.iter().find(is_unmet);
    let one = |of: &Operand| of.spans.len() == 1;
    let bound = one_bound(tokens).filter(|_| single && asked.operands.iter().all(one));
    asked.unused.extend(bound);
    asked.unused.extend(unmet.map(|token| token.text.clone()));
    add_figure(&mut asked, all);
    Some(asked)
}

/// The word for a bound in "rent until March" and "rent from March", which may ask for a sum.
fn one_bound(tokens: &[Token]) -> Option<String> {
    let mut pairs = tokens.windows(2);
    pairs.find_map(|two| match two {
        [before, period] if period.period().is_some() => {
            let bounds = before.is_in("until till through to by from");
            bounds.then(|| before.text.clone())
        }
        _ => None,
    })
}

/// Reads a question that is not understood in full as one for the figure that its words name. Cues
/// of an operation become `unused`, so that the answer is a guess.
pub(crate) fn guess(tokens: &[Token]) -> Asked {
    let mut stems = tokens.iter().flat_map(Token::stems);
    let named = stems.any(|word| !is_light(word));
    let unused = tokens.iter().filter_map(|token| match token.cue() {
        Some(cue) => (!NEUTRAL.contains(&cue)).then(|| token.text.clone()),
        None => (named && token.is_earlier()).then(|| "that".to_owned()),
    });
    // Never the default: no cue is refused.
    let of = operand(tokens, None).unwrap_or_default();
    Asked {
        unused: unused.collect(),
        ..Asked::new(Operation::Figure, vec![of])
    }
}

impl Form {
    /// Reads a question by this form. `None` if the question lacks the cues of the form, or if its
    /// operands cannot be read.
    fn read(&self, tokens: &[Token], single: bool) -> Option<Asked> {
        let Self(_, cues, places, operation, relative, also) = self;
        if !cues.is_empty() && !has(tokens, cues) {
            return None;
        }
        if *operation == Operation::Exists && !(single && asks_for_any(tokens)) {
            return None;
        }
        let allowed = [*cues, *also, &[Cue::And]].concat();
        let said = !has(tokens, &[Cue::Points]) && has(tokens, RELATIVE);
        let relative = *relative && said;
        // "How many percent less than A is B?" can be a share of either, so it is left open.
        let lower = *cues == LOWER && matches!(places, Sides(Cue::Than));
        if said && lower {
            return None;
        }
        let mut operands = self.operands(tokens, &allowed, single)?;
        if matches!(places, Listed(_))
            && *operation != Operation::Difference
            && operands.len() > 1
            && !takes_together(tokens, cues)
        {
            return None;
        }
        let divided = relative || *operation == Operation::Ratio;
        for one in &mut operands {
            // A percentage that is asked for is then the result, not a printed figure.
            one.percent &= !divided;
        }
        let applied = self.applied(&mut operands, single, tokens)?;
        if let Some(first) = operands.first_mut().filter(|_| lower) {
            first.falls = true;
        }
        // "Net loans to total loans" may be a ratio, but "payments to suppliers" is one figure.
        let named = |side| operand(side, None).is_some_and(|of| of.is_named());
        let joined = split(tokens, Cue::To)
            .filter(|(a, b)| !single && *operation == Operation::Figure && named(a) && named(b));
        // "Total debt to EBITDA" is a ratio, because both sides are known names. "How much of A
        // went to B" is not.
        let known =
            |of: &Operand| !of.names.is_empty() && of.words.iter().all(|word| is_light(&word.stem));
        if let Some((left, right)) = joined
            && !left.last().is_some_and(|last| last.is_in(VERBS))
            && let Some(pair) = two_operands(left, right, &allowed, single)
            && pair.iter().all(known)
        {
            return Some(Asked::new(Operation::Ratio, pair));
        }
        Some(Asked {
            relative,
            // "Versus 2019" names the earlier period, like "since 2019".
            since: says(tokens, "since")
                || on_year(tokens)
                || has(tokens, &[Cue::Versus]) && !has(tokens, &[Cue::YearAgo]),
            // With spaces, because `unmet` looks for it in the names of figures ("total").
            unused: (joined.map(|_| " to ".to_owned()).into_iter())
                .chain(matches!(places, One).then(|| compared(tokens)).flatten())
                .collect(),
            ..Asked::new(applied, operands)
        })
    }

    /// Reads the operands of this form in the order in which the operation takes them. `None` if a
    /// side of the form is missing or cannot be read as a figure.
    fn operands(&self, tokens: &[Token], allowed: &[Cue], single: bool) -> Option<Vec<Operand>> {
        let Self(yes_no, _, places, ..) = self;
        match places {
            One => Some(vec![operand(tokens, Some(allowed))?]),
            Listed(least) => listed(tokens, allowed, single).filter(|parts| parts.len() >= *least),
            Sides(cue) => {
                let (left, right) = split(tokens, *cue)?;
                let right = &named_again(left, right, single)?;
                // "In 2031, what share of sales came from Germany?" names both behind the cue.
                let unnamed = || left.iter().all(|token| token.stems().is_empty());
                let may_follow = matches!(cue, Cue::ShareOf | Cue::Multiple);
                if may_follow && unnamed() {
                    return None;
                }
                // Words before the verb belong to both sides: "In May, was A or B larger?"
                let verb = left.iter().position(|token| token.is_in(YES_NO));
                let before = left.get(..verb.filter(|_| *yes_no).unwrap_or_default())?;
                two_operands(left, &[before, right].concat(), allowed, single)
            }
            Reversed(cue) => {
                let (left, right) = split(tokens, *cue)?;
                two_operands(right, left, allowed, single)
            }
            WholeFirst(cue) => {
                let (before, after) = split(tokens, *cue)?;
                if before.iter().any(|token| !token.stems().is_empty()) {
                    return None;
                }
                let mut wholes = wholes(after);
                // A period before the cue belongs to both.
                let mut found = wholes.find_map(|(whole, part)| {
                    two_operands(part, &[before, whole].concat(), allowed, single)
                })?;
                // The label of the part may be a heading above a row with the name of the whole.
                if let [part, whole] = found.as_mut_slice() {
                    part.whole = (!single).then(|| Box::new(whole.clone()));
                }
                Some(found)
            }
        }
    }

    /// The operation on these operands, which it adapts. `None` if it cannot be applied to them.
    fn applied(
        &self,
        operands: &mut Vec<Operand>,
        single: bool,
        tokens: &[Token],
    ) -> Option<Operation> {
        let Self(_, _, _, operation, ..) = self;
        match (operation, operands.as_mut_slice()) {
            // A list with "total" as an item is not a sum.
            (Operation::Sum, parts @ [_, _, ..]) if !parts.iter().all(Operand::is_named) => {
                return None;
            }
            // "Total" in "the total of A and B" does not ask for a row called total.
            (Operation::Sum, [_, _, ..]) => operands.iter_mut().for_each(|one| one.total = false),
            (Operation::Figure, [of]) if of.spans.len() > 1 && single => {
                // "Rent from April to June" is what these months add up to, unlike "from 2029 to
                // 2031", which can ask for each year.
                let months = of.through && of.spans.iter().all(|span| span.length() < 12);
                if of.total || months {
                    return Some(Operation::Sum);
                }
                // "How much was paid in 2030 and 2031?" may ask for the sum.
                return (!of.through && !says(tokens, "much many")).then_some(Operation::Figure);
            }
            // "The total in each year" can mean one sum or each total.
            (Operation::Figure, [of]) if of.each.is_some() && of.total && single => return None,
            (Operation::Difference, [one, other]) => {
                *operands = complete_pair(one.clone(), other.clone(), single)?;
            }
            (Operation::Difference, [_, _, ..]) => return None,
            _ => {}
        }
        Some(operation.clone())
    }
}

/// The right side of a form, in which the words that name the part replace "its": "the North's
/// profit as a share of its sales" is about the sales of the North. `None` if the left side names
/// nothing but its figure, as in "Did sales exceed their budget?", or if the table is a single one.
fn named_again(left: &[Token], right: &[Token], single: bool) -> Option<Vec<Token>> {
    let Some(at) = right.iter().position(|token| token.is_in("its their")) else {
        return Some(right.to_vec());
    };
    let of_word = |token: &&Token| matches!(token.role, TokenRole::Word(_));
    let named: Vec<Token> = left.iter().filter(of_word).cloned().collect();
    let (before, after) = (right.get(..at)?, right.get(at + 1..)?);
    (!single && !named.is_empty()).then(|| [before, &named, after].concat())
}

/// True for "did we pay any rent" and "was there a loan", which ask whether there is an amount.
fn asks_for_any(tokens: &[Token]) -> bool {
    let asks = tokens
        .get(1)
        .is_some_and(|it| it.is_in("we i they you it there company"));
    let mut first = tokens.iter().take(6);
    asks && first.any(|token| token.is_in("any a an"))
}

/// True if a question takes the figures of a list together: "the total of A and B", "A and B
/// together", "A and B in total". "Total A and B" may ask for two figures, like "the sum of A and
/// the sum of B".
fn takes_together(tokens: &[Token], cues: &[Cue]) -> bool {
    let is_of_list = |two: &&[Token]| match two {
        [first, next] => {
            let leads = first.cue().is_some_and(|cue| cues.contains(&cue));
            let of = first.text.ends_with(" of") || next.text == "of";
            leads && of && !first.is_in("all both")
        }
        _ => false,
    };
    let last_name = tokens.iter().rposition(|token| !token.stems().is_empty());
    let total = tokens.iter().rposition(|token| token.text == "total");
    match tokens.windows(2).filter(is_of_list).count() {
        0 => cues.contains(&Cue::Sum) || total > last_name,
        lists => lists == 1,
    }
}

/// Two operands, each completed by the other. `None` if one has a cue that is not in `allowed`.
fn two_operands(
    first: &[Token],
    second: &[Token],
    allowed: &[Cue],
    single: bool,
) -> Option<Vec<Operand>> {
    let first = operand(first, Some(allowed))?;
    complete_pair(first, operand(second, Some(allowed))?, single)
}

/// Ways to split the tokens into a whole and a part: "A came from B", or "B in A".
fn wholes(tokens: &[Token]) -> impl Iterator<Item = (&[Token], &[Token])> {
    let sides = move |words: &'static str| {
        let places = tokens.iter().enumerate();
        let places = places.filter(move |(_, token)| token.is_in(words));
        places.map(move |(at, _)| tokens.split_at(at))
    };
    let of_part = sides("in").map(|(part, whole)| (whole, part));
    sides(VERBS).chain(sides("from")).chain(of_part)
}

/// The stems that "apart from A, which …" or "after A, which …" leaves out, and the rest of the
/// question; `None` for other questions.
fn left_out(tokens: &[Token]) -> Option<(Vec<String>, &[Token])> {
    let first = tokens.first()?;
    let leaves_out = first.cue() == Some(Cue::Except) || first.text == "after";
    let at = tokens.iter().position(|token| token.is_in("which what"))?;
    let (before, rest) = tokens.split_at(at);
    let named = before.iter().filter(|token| token.text != "after");
    let stems = named.flat_map(Token::stems);
    leaves_out.then(|| (stems.cloned().collect(), rest))
}

/// Reads a question for the highest or lowest: in a report, only for the period of it. `None` for
/// other questions, `Some(None)` if it is unclear which is asked for.
fn extreme(tokens: &[Token], single: bool) -> Option<Option<Asked>> {
    let (which, rest) =
        wanted_answer(tokens).map_or((None, tokens), |(which, rest)| (Some(which), rest));
    let largest = has(tokens, &[Cue::Largest]);
    let smallest = has(tokens, &[Cue::Smallest]);
    let of_time = matches!(which, Some(Which::Period(_)));
    if which.is_none() && !largest && !smallest || !single && !of_time {
        return None;
    }
    let cues: &[Cue] = if single {
        &[Cue::Share, Cue::Percent, Cue::Or]
    } else {
        &[Cue::And, Cue::Or]
    };
    let cues = [cues, &[Cue::Largest, Cue::Smallest]].concat();
    let of = operand(rest, Some(&cues)).filter(|_| largest != smallest);
    Some(of.map(|of| Asked::new(Operation::Extreme { largest, which }, vec![of])))
}

/// The answer that "which" or "when" wants, and the rest of the question. `None` if neither a time
/// nor, with a word such as "highest", the label of a row is asked for.
fn wanted_answer(tokens: &[Token]) -> Option<(Which, &[Token])> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let at = usize::from(lists("in during for at", text(0)));
    let rest = tokens.get(at + 1..)?;
    if text(at) == "when" {
        return Some((Which::Period(None), rest));
    }
    let ends = |token: &Token| token.is_in(VERBS) || token.cue().is_some();
    let end = rest.iter().position(ends);
    let end = end.filter(|_| lists("which what", text(at)))?;
    let (noun, after) = rest.split_at(end);
    // "Which year 2029 to 2031 had …" asks for one of these years.
    let dated = noun.iter().position(|token| token.period().is_some());
    let (time, behind) = rest.split_at(dated.unwrap_or(end));
    let times = |last: &Token| TIMES.iter().find(|(times, _)| last.is_in(times));
    if let Some((_, length)) = time.last().and_then(times) {
        return Some((Which::Period(*length), behind));
    }
    noun.last()?;
    let words: Vec<_> = noun.iter().flat_map(Token::words).collect();
    let compares = has(after, &[Cue::Largest, Cue::Smallest]);
    (compares && !words.is_empty() && dated.is_none()).then_some((Which::Label(words), after))
}
