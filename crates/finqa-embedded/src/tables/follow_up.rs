//! Questions that change one part of the one before: "and in 2022?", "what about rent?".

use std::sync::LazyLock;

use finqa_core::page::period::Period;
use finqa_core::regex;
use regex::Regex;

use super::asked::{Asked, Operation};
use super::fit::is_light;
use super::names::name_at;
use super::operand::Operand;
use super::operands::{has, operand};
use super::phrases::Cue;
use super::question::{Token, TokenPart};
use super::words::{PRONOUNS, lists};

/// How a question that leans on the one before begins.
const ELLIPTICAL: &str = "and then so also but same";

/// Words that lead to what it changes.
const LEADS: &str = "and then so also but same about";

pub(super) fn is_elliptical(tokens: &[Token]) -> bool {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    lists(ELLIPTICAL, text(0)) || text(1) == "about"
}

/// The year before that of the question before.
static YEAR_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)\b(?:in |of |for )?(?:the (?:year before|(?:previous|prior|preceding) (?:fiscal )?year)|a year (?:before|earlier|ago))\b"
    )
});

/// The year of the question before.
static SAME_YEAR: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"(?i)\b(?:in |of |for )?(?:that|the same) (?:fiscal )?year\b"));

/// What refers to the question before, and what compares with a year instead of asking for it.
static REFERS: LazyLock<Regex> = LazyLock::new(|| {
    regex!(r"(?i)^(?:and|then|so|what about|how about)\b|\b(?:it|that|they|those)\b")
});
static COMPARES: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)\b(?:than|compared?|comparison|versus|vs|against|from|since|change|gr[eo]w|growth|r[io]se|risen|f[ae]ll|increased?|decreased?|declined?|difference)\b"
    )
});

/// A question with the number of the year before that of the last question, if it asks for it.
pub(super) fn with_year(text: &str, before: Option<&Asked>) -> String {
    let span = before.and_then(|before| match before.operands.as_slice() {
        [of] => of.spans.first().filter(|_| of.spans.len() == 1),
        _ => None,
    });
    let year = span
        .filter(|span| span.end.month.is_none())
        .and_then(|span| Some((span.instant, span.end.year?)));
    let Some((instant, year)) = year else {
        return text.to_owned();
    };
    let at = if instant { "at the end of" } else { "in" };
    let dated = |year: u16| format!("{at} {year}");
    let same = SAME_YEAR.replace_all(text, dated(year));
    match REFERS.is_match(text) && !COMPARES.is_match(text) {
        true => YEAR_BEFORE.replace_all(&same, dated(year - 1)).into_owned(),
        false => same.into_owned(),
    }
}

/// Pronouns for a figure.
const REFERRING: &str = "that this these those";

/// Words before a pronoun that is no conjunction and no article: "is that", "than it".
const BEFORE_PRONOUN: &str = "is was are were did does has had of than to from";

/// Where a question about a report has a pronoun for the figure of the one before: behind a verb, or
/// before anything else. "It" is the company where the question names a figure of its own.
pub(super) fn pronoun(tokens: &[Token]) -> Option<usize> {
    let named = tokens.iter().any(|token| !token.stems().is_empty());
    let leads = tokens.iter().take_while(|token| is_lead(token)).count();
    let refers = |(at, token): (usize, &Token)| {
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let behind_verb = before.is_some_and(|before| lists(BEFORE_PRONOUN, &before.text));
        (lists(REFERRING, &token.text) || token.text == "it" && !named)
            && (behind_verb || at == leads)
    };
    tokens.iter().enumerate().position(refers)
}

/// Why a question may be about the one before: it has a pronoun that was not read as its figure. "That
/// is due" only leads to a part of a name.
pub(super) fn refers_back(tokens: &[Token]) -> Option<String> {
    let verbs = "is was are were has have had will it they the we";
    let follows = |at: usize| {
        tokens
            .get(at + 1)
            .is_some_and(|next| lists(verbs, &next.text))
    };
    let mut words = tokens.iter().enumerate();
    let (_, word) = words.find(|(at, token)| {
        let filler = matches!(token.part, TokenPart::Filler);
        filler && lists(REFERRING, &token.text) && !follows(*at)
    })?;
    Some(format!("{:?} may be of the question before", word.text))
}

/// Cues between two figures.
const RELATIONS: [Cue; 8] = [
    Cue::AsShareOf,
    Cue::DividedBy,
    Cue::Minus,
    Cue::Multiple,
    Cue::Plus,
    Cue::Ratio,
    Cue::ShareOf,
    Cue::Than,
];

fn is_lead(token: &Token) -> bool {
    lists(LEADS, &token.text) || token.cue() == Some(Cue::And)
}
/// Cues of a change of one figure.
const CHANGES: &[Cue] = &[
    Cue::Change,
    Cue::Difference,
    Cue::Fall,
    Cue::Growth,
    Cue::Improve,
    Cue::Points,
    Cue::Rise,
];

/// Whether a question about a report leans on the one before for a side of a relation: "and as a
/// share of net sales?"; or for the part that "its" is of.
pub(super) fn leans(tokens: &[Token], before: Option<&Asked>) -> bool {
    let of_part =
        before.is_some_and(|before| before.operands.iter().any(|of| !of.words.is_empty()));
    let mut words = tokens.iter().map(|token| token.text.as_str());
    let relates = |token: &Token| token.cue().is_some_and(|cue| RELATIONS.contains(&cue));
    let first = tokens.iter().find(|token| !is_lead(token));
    of_part && words.any(|word| lists("its their", word))
        || is_elliptical(tokens) && tokens.iter().any(relates)
        || first.is_some_and(|token| token.cue() == Some(Cue::AsShareOf))
}

/// A question that begins with a relation, with the figure of the one before as its first side.
pub(super) fn with_first_side(before: &Asked, tokens: &[Token]) -> Option<Vec<Token>> {
    let relation = tokens
        .iter()
        .position(|token| token.cue() == Some(Cue::AsShareOf))?;
    let (leads, rest) = tokens.split_at(relation);
    if leads.iter().any(|token| !token.stems().is_empty()) {
        return None;
    }
    let pronoun = Token {
        text: "that".to_owned(),
        part: TokenPart::Filler,
    };
    with_figure(before, &[&[pronoun], rest].concat(), 0)
}

/// "And its operating income?" as a question for the part that the one before is about, in its
/// period.
pub(super) fn of_same_part(before: &Asked, tokens: &[Token]) -> Option<Vec<Token>> {
    let [of] = before.operands.as_slice() else {
        return None;
    };
    let its = tokens
        .iter()
        .position(|token| lists("its their", &token.text))?;
    let relates = |token: &Token| token.cue().is_some_and(|cue| RELATIONS.contains(&cue));
    let named = tokens
        .iter()
        .any(|token| matches!(token.part, TokenPart::Name(..)));
    if !named || of.words.is_empty() || of.names.is_empty() || tokens.iter().any(relates) {
        return None;
    }
    let (leads, rest) = tokens.split_at(its);
    let leads = leads
        .iter()
        .filter(|token| !lists(LEADS, &token.text) && token.cue() != Some(Cue::And));
    let dated = tokens.iter().any(|token| token.period().is_some());
    let spans = of.spans.iter().filter(|_| !dated);
    let spans = spans.map(|span| Token {
        text: span.to_string(),
        part: TokenPart::Period(*span),
    });
    let rest = rest.iter().skip(1).cloned();
    Some(
        leads
            .cloned()
            .chain(part_words(of))
            .chain(rest)
            .chain(spans)
            .collect(),
    )
}

/// The words of the part that a figure is of.
fn part_words(of: &Operand) -> impl Iterator<Item = Token> {
    of.words.iter().map(|(stem, said)| Token {
        text: said.clone(),
        part: TokenPart::Word(vec![stem.clone()]),
    })
}

/// What asks for the figure before as a share of the revenue of the same part.
static MARGIN: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)^(?:and |so |then )*what (?:margin|share of (?:revenue|sales)) (?:is|was|does|did|would) (?:that|this|it)\b"
    )
});

/// "What margin does that give?" as the figure before over revenue.
pub(super) fn margin_of(before: &Asked, text: &str) -> Option<Vec<Token>> {
    let [of] = before.operands.as_slice() else {
        return None;
    };
    let (_, concept, said) = name_at(&["revenue"])?;
    let of_revenue = of.names.iter().any(|(one, _)| std::ptr::eq(*one, concept));
    let plain = before.operation == Operation::Figure && of.spans.len() < 2 && of.is_named();
    if !plain || of_revenue || !MARGIN.is_match(text) {
        return None;
    }
    let token = |text: &str, part: TokenPart| Token {
        text: text.to_owned(),
        part,
    };
    let sides = [
        token("that", TokenPart::Earlier(Box::new(of.clone()))),
        token("as a percentage of", TokenPart::Cue(Cue::AsShareOf)),
        token("revenue", TokenPart::Name(concept, said)),
    ];
    Some(sides.into_iter().chain(part_words(of)).collect())
}

/// The company as a whole.
static WHOLE: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)^(?:and |so |then )*(?:(?:what|how) about |for )?(?:the )?(?:(?:whole|entire|total) )?(?:group|company|firm|business|all of it)(?: as a whole| in total| overall)?\W*$|^and (?:overall|in total|consolidated|as a whole)\W*$"
    )
});

/// "And the group as a whole?" asks for the figure before without the part that it is of.
pub(super) fn of_whole(before: &Asked, text: &str) -> Option<Asked> {
    let [of] = before.operands.as_slice() else {
        return None;
    };
    let of_part = !of.words.is_empty() && !of.names.is_empty() && WHOLE.is_match(text);
    of_part.then(|| Asked {
        operands: vec![of.without_words()],
        ..before.clone()
    })
}

/// A question with the figure of the one before in place of its pronoun; `None` if that one asked
/// for more than a figure.
pub(super) fn with_figure(before: &Asked, tokens: &[Token], at: usize) -> Option<Vec<Token>> {
    let [of] = before.operands.as_slice() else {
        return None;
    };
    if before.operation != Operation::Figure || of.spans.len() > 1 || !of.is_named() {
        return None;
    }
    let leads = tokens
        .iter()
        .take_while(|token| lists(LEADS, &token.text))
        .count();
    let mut out = tokens.to_vec();
    // "What was it in 2030?" asks for that year, "is that more than in 2030?" for both.
    let relates = |token: &Token| token.cue().is_some_and(|cue| RELATIONS.contains(&cue));
    let dated = tokens.iter().any(|token| token.period().is_some());
    let mut of = match dated && !tokens.iter().any(relates) {
        true => of.of_spans(Vec::new()),
        false => of.clone(),
    };
    // "What growth is that?" is of the two figures just given.
    if !dated && has(tokens, CHANGES) {
        of.spans.append(&mut of.before);
    }
    let figure = Token {
        text: of.spelled(),
        part: TokenPart::Earlier(Box::new(of)),
    };
    *out.get_mut(at)? = figure;
    Some(out.split_off(leads))
}

/// What relates a question to the figure before it: "over net sales?", "as a percent of that?".
static RELATED: LazyLock<Regex> = LazyLock::new(|| {
    regex!(
        r"(?i)^(?:and |then |so )*(?:over|to|by|per|divided|minus|plus|less|times|of|as)\b|\b(?:over|by|of|to|minus|plus) (?:that|this|it|those|them)\b"
    )
});

/// A question with a verb says in full what it asks for.
static VERB: LazyLock<Regex> =
    LazyLock::new(|| regex!(r"(?i)\b(?:was|were|is|are|did|do|does|has|have|had|will|how)\b"));

/// Gives a bare name ("free cash flow?") the period of the question before. Returns why it may
/// still ask for something else: for a relation to the figure before, or for the same part.
pub(super) fn settle(before: &Asked, asked: &mut Asked, text: &str) -> Option<String> {
    if let ([last], [of]) = (before.operands.as_slice(), asked.operands.as_mut_slice()) {
        let periods = (last.spans.as_slice(), of.spans.as_slice());
        let apart = matches!(periods, ([last], [own]) if last != own);
        let figures = [&before.operation, &asked.operation] == [&Operation::Figure; 2];
        of.before = match figures && apart && of.is_same_figure(last) {
            true => last.spans.clone(),
            false => Vec::new(),
        };
    }
    let looks_up = asked.operation == Operation::Figure;
    if RELATED.is_match(text) && looks_up {
        return Some("the question is about the figure before it".to_owned());
    }
    let bare = text.to_lowercase().replace("what about", "");
    let dated = asked.operands.iter().any(|of| !of.spans.is_empty());
    if dated || VERB.is_match(&bare.replace("how about", "")) {
        return None;
    }
    let [of] = before.operands.as_slice() else {
        return None;
    };
    if let [_] = of.spans.as_slice() {
        for new in asked.operands.iter_mut().filter(|new| new.spans.is_empty()) {
            new.spans.clone_from(&of.spans);
        }
    }
    // "AWS net sales" and then "operating income?": of the part, or of the whole?
    let (part, _) = of.words.first().filter(|_| !of.names.is_empty())?;
    let kept = |new: &Operand| new.words.iter().any(|(word, _)| word == part);
    let lost = looks_up && !asked.operands.iter().any(kept);
    lost.then(|| format!("it may be of {part:?}, like the question before, or of the whole"))
}

/// Whether a question can be understood without the ones before it; `says` is whether a label
/// has a word.
pub(super) fn is_complete(tokens: &[Token], dated: bool, says: impl Fn(&String) -> bool) -> bool {
    let refers = tokens.iter().any(|token| lists(PRONOUNS, &token.text));
    let over_all = |cue| matches!(cue, Cue::Largest | Cue::Smallest | Cue::Average);
    let of_time = |token: &Token| token.period().is_some() || token.cue().is_some_and(over_all);
    let known = tokens.iter().flat_map(Token::stems).any(says);
    !is_elliptical(tokens) && !refers && known && (!dated || tokens.iter().any(of_time))
}

/// The question in full, if it changes one part of the one before: its periods, or the words
/// that are `alike` one of it.
pub(super) fn completed(
    before: &Asked,
    tokens: &[Token],
    alike: impl Fn(&[String], &String) -> bool,
) -> Option<Asked> {
    let told: Vec<Token> = tokens
        .iter()
        .filter(|token| !lists(LEADS, &token.text))
        .cloned()
        .collect();
    let new = operand(&told, Some(&[])).filter(|_| is_elliptical(tokens))?;
    let mut out = before.clone();
    // "And at the end of 2030?"
    let stems = told
        .iter()
        .flat_map(Token::stems)
        .filter(|stem| !is_light(stem));
    let stems: Vec<String> = stems.cloned().collect();
    if stems.is_empty() && new.spans.is_empty() {
        return None;
    }
    for of in &mut out.operands {
        let count = of.spans.len();
        if !new.spans.is_empty() {
            let part = |span: &Period| span.length() < 12;
            let whole = |span: &Period| span.months.is_none() && span.end.month.is_none();
            // "And in 2022?" after a quarter may mean the quarter or the year.
            let unclear = of.spans.iter().any(part) && new.spans.iter().any(whole);
            if count.max(1) != new.spans.len() || unclear {
                return None;
            }
            let year = of.spans.first().and_then(|span| span.end.year);
            of.spans.clone_from(&new.spans);
            for span in &mut of.spans {
                span.end.year = span.end.year.or(year);
            }
        }
        if !stems.is_empty() {
            of.rows.clear();
            of.words.retain(|(word, _)| !alike(&stems, word));
            of.names.retain(|(concept, said)| {
                let mut own = concept.names.get(*said).into_iter().flatten();
                !own.any(|word| alike(&stems, word))
            });
            of.words.extend(new.words.iter().cloned());
            of.names.extend(new.names.iter().copied());
        }
    }
    (stems.is_empty() || out.operands.len() == 1).then_some(out)
}
