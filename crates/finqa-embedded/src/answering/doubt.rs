//! Decides whether an answer is only a guess: because the analyst cannot answer this kind of
//! question, because the page lacks a year or a word of it, or because the confidence is low.

use crate::expr::Expr;
use crate::question::by_words::COMPOUND_GROWTH;
use crate::question::mention::is_name;
use crate::question::wording::ANNUALIZED;
use crate::reading::cues::{Cue, is_operation, phrases_of};
use crate::reading::facts::Facts;
use crate::reading::text::stem;

use super::answer::{EmbeddedAnswer, RankedAnswer};
use crate::ranking::ChoiceContext;
use crate::tables::Doubt;
use crate::tables::words::{same_word, stems};
use finqa_core::number::UnitKind;
use finqa_core::page::year_of;
use finqa_core::question::Question;

/// Confidence below which an answer is a guess. Of all stand-alone answers above it, at least four
/// in five are right (docs/embedded-analyst.md, "Confidence").
pub(super) const SURE: f64 = 0.67;

/// Cues and phrases that ask for something, what that is, and whether an answer is of this kind.
type Request = (
    &'static [Cue],
    &'static [&'static str],
    &'static str,
    fn(&RankedAnswer) -> bool,
);

/// What programs usually cannot answer. The first that a question asks for, and that the answer is
/// not after all, is the reason that is given.
#[rustfmt::skip] // A table: rustfmt would give some of its rows six lines.
const BEYOND: [Request; 6] = [
    (&[Cue::Compound], ANNUALIZED, "a compound rate", |best| best.plan_name == COMPOUND_GROWTH),
    (&[], &["median", "deviation", "correlation"], "a statistic", |_| false),
    (&[Cue::Largest, Cue::Smallest], &[], "the largest or smallest of several", |_| false),
    (&[], &["which year", "what year", "which quarter", "which month", "when"], "a date", is_year),
    (&[Cue::Except], &["remaining", "remainder", "rest"], "what is left of a whole", |best| best.program.contains("subtract(")),
    (&[], &["who", "where", "why", "how come"], "a name or a reason", |_| false),
];

fn is_year(best: &RankedAnswer) -> bool {
    let number = best.value.number();
    number.is_some_and(|number| year_of(&number.to_string()).is_some())
}

/// The reason to call an answer a guess, the first one found; `None` if there is none.
pub(crate) fn doubt(
    context: &ChoiceContext<'_>,
    best: &RankedAnswer,
    confidence: f64,
) -> Option<String> {
    let (asked, value) = (context.asked, &best.value);
    let users_page = context.facts.users_page;
    let mut beyond = BEYOND.iter();
    let beyond =
        beyond.find(|(cues, said, _, answers)| asks(context, cues, said) && !answers(best));
    if let Some((_, _, what, _)) = beyond {
        return Some(format!(
            "the question asks for {what}, which is not supported"
        ));
    }
    let which = asked.starts(&["which", "in which", "what company", "what segment"]);
    if which && value.number().is_some() && !is_year(best) {
        return Some("the question asks for a name, not a number".to_owned());
    }
    // The choice is fitted to the dataset, so the kind of the value is only checked on a user's
    // page.
    if users_page && asked.asks_yes_no() && value.yes_no().is_none() {
        return Some("the question asks for yes or no".to_owned());
    }
    let percent = best.unit.kind == UnitKind::Percent || best.in_percent;
    if users_page && asked.percent() && !percent && value.number().is_some() {
        return Some("the question asks for a percentage".to_owned());
    }
    let mut years = asked.years.iter();
    if let Some(year) = years.find(|year| lacks_year(context.facts, **year)) {
        return Some(format!("the page has no {year}"));
    }
    // The weights have not learned how users name rows, so on a user's page one word is enough.
    let most = if users_page { f64::MIN_POSITIVE } else { 0.5 };
    if context.unknown() >= most
        && let Some(word) = lacking_words(context).first()
    {
        return Some(format!("the page does not mention {word:?}"));
    }
    (confidence < SURE).then(|| "confidence is low".to_owned())
}

/// The doubt that an answer is about another year than the one asked for. It is raised only on a
/// user's page, if all figures of the answer come from sentences that state them for another year.
/// A question for several years is not checked.
pub(super) fn dated_otherwise(context: &ChoiceContext<'_>, expr: &Expr) -> Option<String> {
    let [asked] = context.asked.years.as_slice() else {
        return None;
    };
    let facts = context.facts.of_expr(expr);
    let years: Option<Vec<u16>> = facts
        .map(|(_, fact)| match (fact.cell(), &*fact.years) {
            (None, [year]) if year != asked => Some(*year),
            _ => None,
        })
        .collect();
    let year = *years?.first().filter(|_| context.facts.users_page)?;
    Some(format!("the page has it for {year}, not {asked}"))
}

/// True if a year is nowhere on the page.
fn lacks_year(facts: &Facts, year: u16) -> bool {
    let digits = year.to_string();
    !facts.all.iter().any(|fact| fact.years.contains(&year))
        && !facts.table_years().any(|known| known == year)
        && !facts.sentences.iter().any(|s| s.text.contains(&digits))
}

/// A doubt of the tables for people.
pub(super) fn in_words(doubt: Doubt) -> String {
    let unread = "the labels do not answer the question in full";
    doubt.why().unwrap_or_else(|| unread.to_owned())
}

/// Maximum number of figures in a sentence that can answer without a doubt. A sentence with more is
/// probably a row of a table that was not recognised as one. Set by hand; years count as figures.
const IN_SENTENCE: usize = 3;

/// True if an answer uses sentences, and each of them has all words of the question and at most
/// [`IN_SENTENCE`] numbers.
pub(super) fn is_of_text(answer: &EmbeddedAnswer, question: &Question) -> bool {
    let ids = answer.best.evidence.iter().map(|of| of.id.as_str());
    let mut of_text = ids.filter(|id| id.starts_with('t')).peekable();
    let asked = stems(&question.text);
    let named = |word: &&String| word.chars().any(char::is_alphabetic);
    of_text.peek().is_some()
        && of_text.all(|id| {
            let sentence = question.document.evidence(id).unwrap_or_default();
            let said = stems(sentence);
            let numbers = said.iter().filter(|word| !named(word)).count();
            let says = |word: &String| said.iter().any(|own| same_word(own, word));
            numbers <= IN_SENTENCE && asked.iter().filter(named).all(says)
        })
}

/// True if the question has a phrase of these cues, or one of these phrases, and the page does not.
/// A page with the row "shares remaining available" can answer a question with "remaining".
fn asks(context: &ChoiceContext<'_>, cues: &[Cue], phrases: &[&'static str]) -> bool {
    let of_page = |phrase: &str| context.facts.vocabulary.get(&stem(phrase)).is_some();
    let said: Vec<&str> = phrases_of(cues).collect();
    // "At its highest" says no more than "highest".
    let has_other =
        |phrase: &&str| phrase.contains(' ') && phrase.split(' ').any(|word| said.contains(&word));
    let said = said.iter().filter(|phrase| !has_other(phrase));
    let mut phrases = said.chain(phrases).copied();
    phrases.any(|phrase| context.asked.says(&[phrase]) && !of_page(phrase))
}

/// The words of the question that name something and that the page lacks, as they are spelled.
pub(super) fn lacking_words(context: &ChoiceContext<'_>) -> Vec<String> {
    let asked = context.asked;
    let lacks = |text: &str| context.facts.vocabulary.find(text).is_none();
    let names = asked.tokens.iter().filter(|token| is_name(token));
    let missing = names.filter(|token| !is_operation(&token.text) && lacks(&token.text));
    let spelled = missing.map(|token| asked.spelled(&token.text).to_owned());
    spelled.collect()
}
