//! What makes an answer no more than a guess: a kind of question that no program of the
//! analyst answers, a year or a thing that the page lacks, or a low confidence.

use crate::offline::question::templates::{COMPLEMENT, COMPOUND, PROFIT, YEAR_OF};
use crate::offline::question::wording::Wording;
use crate::offline::reading::text::TokenKind;
use crate::offline::reading::words::{is_stop, is_weak};

use super::choice::ChoiceContext;
use finqa_core::number::Value;

/// From this confidence on stand-alone questions are answered right at least four times in
/// five (docs/offline.md, "Confidence").
const SURE: f64 = 0.67;

/// Phrases of questions that ask for what no program gives, and what that is.
const BEYOND: [(&[&str], &str); 6] = [
    (
        &["compound", "compounded", "cagr", "annualized", "annualised"],
        "a compound rate",
    ),
    (&["median", "deviation", "correlation"], "a statistic"),
    (
        &[
            "highest", "lowest", "largest", "smallest", "maximum", "minimum", "biggest",
        ],
        "the largest or smallest of several",
    ),
    (
        &[
            "which year",
            "what year",
            "which quarter",
            "which month",
            "when",
        ],
        "a date",
    ),
    (
        &["not", "other than", "excluding", "except"],
        "what is left of a whole",
    ),
    (&["who", "where", "why", "how come"], "a name or a reason"),
];

/// Why an answer is a guess; `None` if it is more.
pub(crate) fn doubt(
    scene: &ChoiceContext<'_>,
    template: &str,
    value: &Value,
    confidence: f64,
) -> Option<String> {
    let asked = scene.asked;
    let year = value
        .number()
        .is_some_and(|x| x.fract().abs() <= 0.0 && (1900.0..2100.0).contains(&x));
    let answered = |what: &str| match what {
        "a compound rate" => template == COMPOUND,
        "the largest or smallest of several" => {
            [YEAR_OF, "series range", "series extreme"].contains(&template)
        }
        "a date" => year,
        "what is left of a whole" => template == COMPLEMENT,
        _ => false,
    };
    let beyond = BEYOND
        .iter()
        .find(|(phrases, what)| asked.says(phrases) && !answered(what));
    let which = asked.starts(&["which", "in which", "what company", "what segment"]);
    if let Some((_, what)) = beyond {
        return Some(format!("it asks for {what}, which is not supported"));
    }
    if which && value.number().is_some() && !year {
        return Some("it asks for a name, not a number".to_owned());
    }
    if let Some(year) = scene.missing_year() {
        return Some(format!("the page has no {year}"));
    }
    let worded = template == PROFIT;
    if let Some(word) = lacking(scene, asked).filter(|_| !worded) {
        return Some(format!("the page does not mention {word:?}"));
    }
    (confidence < SURE).then(|| "its confidence is low".to_owned())
}

/// A word of the question that the page lacks, if it lacks at least half of them.
fn lacking(scene: &ChoiceContext<'_>, asked: &Wording) -> Option<String> {
    if scene.unknown() < 0.5 {
        return None;
    }
    let lacks = |text: &str| scene.facts.vocabulary.find(text).is_none();
    let missing = asked.tokens.iter().find(|token| {
        let content = token.kind == TokenKind::Word && !is_stop(&token.text);
        content && !is_weak(&token.text) && lacks(&token.text)
    })?;
    // As the question spells it, not its stem.
    let words = asked.phrase.split_whitespace();
    let spelled = words
        .into_iter()
        .find(|word| word.starts_with(&*missing.text));
    Some(spelled.unwrap_or(&missing.text).to_owned())
}
