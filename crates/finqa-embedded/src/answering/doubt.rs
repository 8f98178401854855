//! Decides whether an answer is only a guess: because the analyst cannot answer this kind of
//! question, because the page lacks a year or a word of it, or because the confidence is low.

use crate::question::alone::COMPOUND_GROWTH;
use crate::question::operation_words::{
    COMPOUND, LARGEST, LEFT_OF_WHOLE, SMALLEST, STATISTICS, is_operation,
};
use crate::question::wording::Wording;
use crate::reading::text::{TokenKind, stem};
use crate::reading::words::{is_stop, is_weak};

use super::answer::RankedAnswer;
use crate::ranking::ChoiceContext;
use finqa_core::number::UnitKind;
use finqa_core::page::year_of;

/// Confidence below which an answer is a guess. Of all stand-alone answers above it, at least four
/// in five are right (docs/embedded-analyst.md, "Confidence").
pub(super) const SURE: f64 = 0.67;

/// Phrases that ask for something that programs usually cannot answer, and what that is. The first
/// that a question has is the reason that is given.
const BEYOND: [(&[&str], &str); 7] = [
    (&COMPOUND, "a compound rate"),
    (&STATISTICS, "a statistic"),
    (&LARGEST, LARGEST_OF_SEVERAL),
    (&SMALLEST, LARGEST_OF_SEVERAL),
    (
        &[
            "which year", "what year", "which quarter", "which month", "when",
        ],
        "a date",
    ),
    (&LEFT_OF_WHOLE, "what is left of a whole"),
    (&["who", "where", "why", "how come"], "a name or a reason"),
];

const LARGEST_OF_SEVERAL: &str = "the largest or smallest of several";

/// The reason to call an answer a guess, the first one found; `None` if there is none.
pub(crate) fn doubt(
    context: &ChoiceContext<'_>,
    best: &RankedAnswer,
    confidence: f64,
) -> Option<String> {
    let asked = context.asked;
    let (plan_name, value) = (best.plan_name, &best.value);
    let year = value
        .number()
        .is_some_and(|x| year_of(&x.to_string()).is_some());
    let answered = |what: &str| match what {
        "a compound rate" => plan_name == COMPOUND_GROWTH,
        "a date" => year,
        "what is left of a whole" => best.program.contains("subtract("),
        _ => false,
    };
    let which = asked.starts(&["which", "in which", "what company", "what segment"]);
    let mut beyond = BEYOND.iter();
    if let Some((_, what)) = beyond.find(|(said, what)| asks(context, said) && !answered(what)) {
        return Some(format!(
            "the question asks for {what}, which is not supported"
        ));
    }
    if which && value.number().is_some() && !year {
        return Some("the question asks for a name, not a number".to_owned());
    }
    // The choice is fitted to the dataset, so the kind of the value is only checked on a user's
    // page.
    if context.facts.own && asked.asks_yes_no() && value.yes_no().is_none() {
        return Some("the question asks for yes or no".to_owned());
    }
    let percent = best.unit.kind == UnitKind::Percent || best.in_percent;
    if context.facts.own && asked.percent() && !percent && value.number().is_some() {
        return Some("the question asks for a percentage".to_owned());
    }
    if let Some(year) = context.missing_year() {
        return Some(format!("the page has no {year}"));
    }
    if let Some(word) = lacking(context, asked) {
        return Some(format!("the page does not mention {word:?}"));
    }
    (confidence < SURE).then(|| "confidence is low".to_owned())
}

/// True if the question has one of these phrases and the page does not. A page with the row "shares
/// remaining available" can answer a question with "remaining".
fn asks(context: &ChoiceContext<'_>, phrases: &[&str]) -> bool {
    let of_page = |phrase: &str| context.facts.vocabulary.get(&stem(phrase)).is_some();
    let mut said = phrases
        .iter()
        .filter(|phrase| context.asked.says(&[phrase]));
    said.any(|phrase| !of_page(phrase))
}

/// The first word of the question that the page lacks, if the page lacks at least half of the
/// question's words. On a page of the user's, one missing word is enough, because the weights have
/// not learned how users name rows. Otherwise `None`.
fn lacking(context: &ChoiceContext<'_>, asked: &Wording) -> Option<String> {
    let most = if context.facts.own {
        f64::MIN_POSITIVE
    } else {
        0.5
    };
    if context.unknown() < most {
        return None;
    }
    lacking_words(context, asked).into_iter().next()
}

/// The words of the question that name something and that the page lacks, as they are spelled.
pub(super) fn lacking_words(context: &ChoiceContext<'_>, asked: &Wording) -> Vec<String> {
    let lacks = |text: &str| context.facts.vocabulary.find(text).is_none();
    let missing = asked.tokens.iter().filter(|token| {
        let content = token.kind == TokenKind::Word && !is_stop(&token.text);
        content && !is_weak(&token.text) && !is_operation(&token.text) && lacks(&token.text)
    });
    let spelled = missing.map(|token| asked.spelled(&token.text).to_owned());
    spelled.collect()
}
