//! Completes follow-up questions, which change one part of the question before them: "and in
//! 2022?", "what about rent?".

use finqa_core::page::period::Period;
use finqa_core::pattern;
use finqa_core::text::Pattern;

use super::names::name_at;
use super::operand::Operand;
use super::operands::{has, operand, says};
use super::request::{Asked, Operation};
use super::token::{Token, TokenRole};
use crate::reading::cues::{CHANGES, Cue};
use crate::reading::outflow::names_cost;
use crate::tables::page::Tables;
use crate::tables::words::{PRONOUNS, VERBS, has_one_of, is_light, lists_stem};

/// First words of a question that refers to the one before.
const ELLIPTICAL: &str = "and then so also but same";

/// Words before the part that a follow-up changes.
const LEADS: &str = "and then so also but same about";

/// True if a question begins like one that refers to the question before it.
pub(crate) fn is_elliptical(tokens: &[Token]) -> bool {
    let is_in = |at: usize, list: &str| tokens.get(at).is_some_and(|token| token.is_in(list));
    is_in(0, ELLIPTICAL) || is_in(1, "about")
}

/// The year before the one that the last question asked for.
static YEAR_BEFORE: Pattern = pattern!(
    r"(?i)\b(?:in |of |for )?(?:the (?:year before|(?:previous|prior|preceding) (?:fiscal )?year)|a year (?:before|earlier|ago))\b"
);

/// The year that the last question asked for.
static SAME_YEAR: Pattern =
    pattern!(r"(?i)\b(?:in |of |for )?(?:that|the same) (?:fiscal )?year\b");

/// Words that compare with a year instead of asking for that year's figure.
static COMPARES: Pattern = pattern!(
    r"(?i)\b(?:than|compared?|comparison|versus|vs|against|from|since|change|gr[eo]w|growth|r[io]se|risen|f[ae]ll|increased?|decreased?|declined?|difference)\b"
);

/// Replaces "that year" and "the year before" by the year they mean after the last question. The
/// text is unchanged if the last question has no single year.
pub(crate) fn with_year(text: &str, before: Option<&Asked>) -> String {
    let year = before.and_then(|before| match before.only()?.spans.as_slice() {
        [span] if span.end.month.is_none() => Some((span.instant, span.end.year?)),
        _ => None,
    });
    let Some((instant, year)) = year else {
        return text.to_owned();
    };
    let at = if instant { "at the end of" } else { "in" };
    let dated = |year: u16| format!("{at} {year}");
    let same = SAME_YEAR.replace_all(text, dated(year));
    if COMPARES.is_match(text) {
        return same.into_owned();
    }
    YEAR_BEFORE.replace_all(&same, dated(year - 1)).into_owned()
}

/// Pronouns that can mean a figure.
const REFERRING: &str = "that this these those";

/// Words after which "that" is a pronoun and not a conjunction or an article: "is that", "than it".
const BEFORE_PRONOUN: &str = "is was are were did does has had of than to from";

/// The index of a pronoun that means the figure of the last question: behind a verb, or at the
/// start of the question. If the question names a figure itself, "it" means the company.
fn pronoun(tokens: &[Token]) -> Option<usize> {
    let named = tokens.iter().any(|token| !token.stems().is_empty());
    let leads = tokens.iter().take_while(|token| is_lead(token)).count();
    let refers = |(at, token): (usize, &Token)| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let behind_verb = before.is_some_and(|before| before.is_in(BEFORE_PRONOUN));
        (token.is_in(REFERRING) || token.text == "it" && !named) && (behind_verb || at == leads)
    };
    tokens.iter().enumerate().position(refers)
}

/// The reason for doubt if the question has a pronoun that was not read as the last figure. "That"
/// in "debt that is due" is not a reference.
pub(crate) fn refers_back(tokens: &[Token]) -> Option<String> {
    let verbs = "is was are were has have had will it they the we";
    let mut words = tokens.iter().enumerate();
    let (_, word) = words.find(|(at, token)| {
        let filler = matches!(token.role, TokenRole::Filler);
        let follows = tokens.get(at + 1).is_some_and(|next| next.is_in(verbs));
        filler && token.is_in(REFERRING) && !follows
    })?;
    Some(format!("{:?} may be of the question before", word.text))
}

/// Cues for an operation with two figures.
#[rustfmt::skip]
const RELATIONS: &[Cue] = &[
    Cue::AsShareOf, Cue::DividedBy, Cue::Minus, Cue::Multiple, Cue::Plus, Cue::Ratio, Cue::ShareOf,
    Cue::Than,
];

fn is_lead(token: &Token) -> bool {
    token.is_in(LEADS)
}

/// The tokens of a question about a report with the figure of the last question, or its part, in
/// place of a pronoun, and true if there is one. "And as a share of net sales?" has an implied
/// pronoun. `None` if the question refers to a figure that is not known.
pub(crate) fn with_earlier(
    tables: &Tables,
    mut tokens: Vec<Token>,
    before: Option<&Asked>,
) -> Option<(Vec<Token>, bool)> {
    if let Some(of_part) = before.and_then(|before| of_same_part(before, &tokens)) {
        return Some((of_part, true));
    }
    if let Some(of_revenue) = before.and_then(|before| margin_of(tables, before, &tokens)) {
        tokens = of_revenue;
    }
    let leads = tokens.iter().take_while(|token| is_lead(token)).count();
    if tokens.get(leads).and_then(Token::cue) == Some(Cue::AsShareOf) {
        tokens.insert(leads, Token::new("that", TokenRole::Filler));
    }
    match pronoun(&tokens) {
        Some(at) => Some((with_figure(before?, &tokens, at)?, true)),
        None if leans(&tokens, before) => None,
        None => Some((tokens, false)),
    }
}

/// True if a question without a pronoun for a figure needs the last one: for a side of a relation,
/// or for the part that "its" refers to.
fn leans(tokens: &[Token], before: Option<&Asked>) -> bool {
    let mut operands = before.into_iter().flat_map(|before| &before.operands);
    let of_part = operands.any(|of| !of.words.is_empty());
    of_part && says(tokens, "its their") || is_elliptical(tokens) && has(tokens, RELATIONS)
}

/// "And its operating income?" as a question about the part that the last question was about, in
/// the same period; `None` for other questions.
fn of_same_part(before: &Asked, tokens: &[Token]) -> Option<Vec<Token>> {
    let of = before.only()?;
    let its = tokens.iter().position(|token| token.is_in("its their"))?;
    let is_name = |token: &Token| matches!(token.role, TokenRole::Name(..));
    let of_part = !of.words.is_empty() && !of.names.is_empty();
    if !of_part || !tokens.iter().any(is_name) || has(tokens, RELATIONS) {
        return None;
    }
    let (leads, rest) = tokens.split_at(its);
    let leads = leads.iter().filter(|token| !is_lead(token)).cloned();
    let dated = tokens.iter().any(|token| token.period().is_some());
    let spans = of.spans.iter().filter(|_| !dated);
    let spans = spans.map(|span| Token::new(span.to_string(), TokenRole::Period(*span)));
    let rest = rest.iter().skip(1).cloned().chain(spans);
    Some(leads.chain(part_words(of)).chain(rest).collect())
}

/// Tokens for the words of a figure that name its part, such as a segment.
fn part_words(of: &Operand) -> impl Iterator<Item = Token> {
    let words = of.words.iter();
    words.map(|word| Token::new(&word.text, TokenRole::Word(vec![word.stem.clone()])))
}

/// Words of the names of profits, which have margins.
const PROFITS: &str = "income profit earnings ebit ebitda contribution";

/// "What margin is that?" after a profit as "that as a percentage of revenue", with the part that
/// the last question was about; `None` for other questions.
fn margin_of(tables: &Tables, before: &Asked, tokens: &[Token]) -> Option<Vec<Token>> {
    let of = before.only()?;
    let row = of.rows.first().and_then(|at| tables.row(*at));
    let name = row.map_or_else(|| of.spelled(), |row| row.printed.to_lowercase());
    let profit = has_one_of(PROFITS, &name) && !names_cost(&name);
    let mut stems = tokens.iter().flat_map(Token::stems);
    let margin = stems.next().is_some_and(|word| lists_stem("margin", word));
    let bare = |token: &Token| token.cue().is_none() && token.period().is_none();
    let only = margin && stems.next().is_none() && tokens.iter().all(bare);
    if !profit || !only || !says(tokens, "that this it") {
        return None;
    }
    let (_, revenue) = name_at(&["revenue"])?;
    let sides = [
        Token::new("that", TokenRole::Filler),
        Token::new("as a percentage of", TokenRole::Cue(Cue::AsShareOf)),
        Token::new("revenue", TokenRole::Name(revenue)),
    ];
    Some(sides.into_iter().chain(part_words(of)).collect())
}

/// The tokens with the figure of the last question in place of the pronoun at `at`; `None` if the
/// last question asked for more than one figure or period, or for an operation.
fn with_figure(before: &Asked, tokens: &[Token], at: usize) -> Option<Vec<Token>> {
    let plain = |of: &&Operand| of.spans.len() < 2 && of.is_named();
    let of = before.only().filter(plain)?;
    if before.operation != Operation::Figure {
        return None;
    }
    let leads = tokens.iter().take_while(|token| is_lead(token)).count();
    let mut out = tokens.to_vec();
    // "What was it in 2030?" asks for that year only; "is that more than in 2030?" compares two
    // years.
    let dated = tokens.iter().any(|token| token.period().is_some());
    let mut of = if dated && !has(tokens, RELATIONS) {
        of.of_spans(Vec::new())
    } else {
        of.clone()
    };
    // "What growth is that?" is between the two figures that were just given.
    if !dated && has(tokens, CHANGES) {
        of.spans.append(&mut of.before);
    }
    *out.get_mut(at)? = Token::new(of.spelled(), TokenRole::Earlier(Box::new(of)));
    Some(out.split_off(leads))
}

/// Words by which a question is about the last figure: "over net sales?", "as a percent of that?".
static RELATED: Pattern = pattern!(
    r"(?i)^(?:and |then |so )*(?:over|to|by|per|divided|minus|plus|less|times|of|as)\b|\b(?:over|by|of|to|minus|plus) (?:that|this|it|those|them)\b"
);

/// Verbs and "how". A question with one of these words says in full what it asks for.
static VERB: Pattern = pattern!(r"(?i)\b(?:was|were|is|are|did|do|does|has|have|had|will|how)\b");

/// Stores the last period in the figure, and gives it to a bare name ("free cash flow?"). Returns
/// the reason for doubt if the question may still be about the last figure or the last part.
pub(crate) fn settle(before: &Asked, asked: &mut Asked, text: &str) -> Option<String> {
    let looks_up = asked.operation == Operation::Figure;
    if let ([last], [of]) = (before.operands.as_slice(), asked.operands.as_mut_slice()) {
        let periods = (last.spans.as_slice(), of.spans.as_slice());
        let apart = matches!(periods, ([last], [own]) if last != own);
        let figures = looks_up && before.operation == Operation::Figure;
        of.before.clear();
        if figures && apart && of.is_same_figure(last) {
            of.before.clone_from(&last.spans);
        }
    }
    if RELATED.is_match(text) && looks_up {
        return Some("the question is about the figure before it".to_owned());
    }
    let dated = asked.operands.iter().any(|of| !of.spans.is_empty());
    // "How about" is not the "how" of a full question.
    if dated || VERB.is_match(&text.to_lowercase().replace("how about", "")) {
        return None;
    }
    // After "R&D as a share of sales", "and interest expense?" may ask for its share.
    let is_figure = matches!(before.operation, Operation::Figure | Operation::Ranked(_));
    if looks_up && !is_figure {
        return Some("the question before it asks for a calculation".to_owned());
    }
    let of = before.only()?;
    if let [_] = of.spans.as_slice() {
        for new in asked.operands.iter_mut().filter(|new| new.spans.is_empty()) {
            new.spans.clone_from(&of.spans);
        }
    }
    // After "AWS net sales", "operating income?" can be about AWS or about the company.
    let part = &of.words.first().filter(|_| !of.names.is_empty())?.stem;
    let kept = |new: &Operand| new.words.iter().any(|word| word.stem == *part);
    let lost = looks_up && !asked.operands.iter().any(kept);
    lost.then(|| format!("it may be of {part:?}, like the question before, or of the whole"))
}

/// True if a question can be understood without earlier ones. If `dated`, it must name a period.
pub(crate) fn is_complete(tables: &Tables, tokens: &[Token], dated: bool) -> bool {
    let over_all = |cue| matches!(cue, Cue::Largest | Cue::Smallest | Cue::Average);
    let of_time = |token: &Token| token.period().is_some() || token.cue().is_some_and(over_all);
    let mut stems = tokens.iter().flat_map(Token::stems);
    let known = stems.any(|stem| tables.says(stem)) && !says(tokens, PRONOUNS);
    !is_elliptical(tokens) && known && (!dated || tokens.iter().any(of_time))
}

/// Words for all parts of a company together.
const WHOLE: &str = "group company firm business overall consolidated total";

/// The last question with one part changed: its periods, or words of the same kind of label. In a
/// report, "and the group as a whole?" drops the words of the part. `None` if the tokens are not
/// such a follow-up.
pub(crate) fn completed(tables: &Tables, before: &Asked, tokens: &[Token]) -> Option<Asked> {
    let told = tokens.iter().filter(|token| !token.is_in(LEADS));
    let told: Vec<Token> = told.cloned().collect();
    // No cue is allowed, because it would ask for another operation.
    let new = operand(&told, Some(&[])).filter(|_| is_elliptical(tokens))?;
    // "And at the end of 2030?" has only light words besides its period.
    let stems = told.iter().flat_map(Token::stems);
    let stems: Vec<String> = stems.filter(|stem| !is_light(stem)).cloned().collect();
    // New words would change each of several operands.
    let clear = stems.is_empty() || before.operands.len() == 1;
    let asks = says(&told, VERBS) || says(&told, PRONOUNS);
    let whole = stems.is_empty() && !asks && !tables.is_single_table() && says(&told, WHOLE);
    let part = before.only().filter(|of| whole && !of.names.is_empty());
    let part = part.is_some_and(|of| !of.words.is_empty());
    if stems.is_empty() && new.spans.is_empty() && !part || !clear {
        return None;
    }
    let mut out = before.clone();
    for of in &mut out.operands {
        if part {
            of.words.clear();
        }
        if !new.spans.is_empty() {
            replace_spans(of, &new.spans)?;
        }
        if !stems.is_empty() {
            of.rows.clear();
            let is_new = |word: &String| tables.is_alike(&stems, word);
            of.words.retain(|word| !is_new(&word.stem));
            of.names.retain(|one| !one.name.stems.iter().any(is_new));
            of.words.extend(new.words.iter().cloned());
            of.names.extend(new.names.iter().copied());
        }
    }
    Some(out)
}

/// Gives a figure other periods; `None` if it is unclear which of its periods they replace.
fn replace_spans(of: &mut Operand, new: &[Period]) -> Option<()> {
    let part = |span: &Period| span.length() < 12;
    let whole = |span: &Period| span.months.is_none() && span.end.month.is_none();
    // "And in 2022?" after a question for a quarter can mean the same quarter or the whole year.
    let unclear = of.spans.iter().any(part) && new.iter().any(whole);
    // The new periods replace as many, or one is added to a question without a period.
    if of.spans.len().max(1) != new.len() || unclear {
        return None;
    }
    let year = of.spans.first().and_then(|span| span.end.year);
    of.spans = new.to_vec();
    for span in &mut of.spans {
        span.end.year = span.end.year.or(year);
    }
    Some(())
}
