//! Looks the words of a question up in the vocabulary of the page: the same words, synonyms for
//! those that the page lacks, and words that mean nearly the same.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;

use super::mention::is_name;
use crate::reading::facts::Facts;
use crate::reading::similarity;
use crate::reading::text::{TextToken, TokenKind};
use crate::reading::words::{is_stop, is_weak, synonyms};

/// Words of the page, each with its weight. Shared, so that cloning a query is cheap.
pub(crate) type WordWeights = Rc<[(u32, f64)]>;

/// Factor for the weight of a synonym, compared with the question's own word.
const SYNONYM: f64 = 0.6;

/// The page's words for these tokens with their weights, and the weight of the tokens for which it
/// has none. Stop words are left out, and words for operations count 0.35 of a word.
pub(crate) fn weighted<'t>(
    facts: &Facts,
    tokens: impl IntoIterator<Item = &'t TextToken<'static>>,
) -> (Vec<(u32, f64)>, f64) {
    let mut words: Vec<(u32, f64)> = Vec::new();
    let mut unknown = 0.0;
    for token in tokens {
        if !matches!(token.kind, TokenKind::Word | TokenKind::Number) || is_stop(&token.text) {
            continue;
        }
        let weak = if is_weak(&token.text) { 0.35 } else { 1.0 };
        let own = facts.vocabulary.find(&token.text);
        let (factor, others): (f64, &[String]) = match own {
            Some(_) => (weak, &[]),
            None => (SYNONYM * weak, synonyms(&token.text)),
        };
        let others = others.iter().filter_map(|it| facts.vocabulary.get(it));
        let mut known = own.into_iter().chain(others).peekable();
        if known.peek().is_none() {
            unknown += weak;
        }
        for word in known {
            if !words.iter().any(|(w, _)| *w == word) {
                words.push((word, factor * facts.weight(word)));
            }
        }
    }
    (words, unknown)
}

/// Cosine similarity above which two words count as nearly the same.
const ALIKE: f64 = 0.45;

/// The page's words that mean nearly the same as a word of the question, with their similarity. The
/// key is the row of the question word's vector. They are kept, because the parts of a question
/// repeat its words.
#[derive(Debug, Default)]
pub(crate) struct AlikeWords(RefCell<HashMap<u16, WordWeights, RandomState>>);

impl AlikeWords {
    /// The words of the page that mean nearly the same as the word of a vector.
    fn of(&self, facts: &Facts, row: u16) -> WordWeights {
        let found = || {
            let others = (0_u32..).zip(&facts.vectors);
            let alike = others.filter_map(|(other, vector)| {
                let how = similarity::cosine(row, (*vector)?);
                (how > ALIKE).then_some((other, how))
            });
            alike.collect()
        };
        Rc::clone(self.0.borrow_mut().entry(row).or_insert_with(found))
    }

    /// The words of the page that mean nearly the same as one of these tokens, without those in
    /// `words`. Each has the weight of the token, times a factor that grows from 0 at the
    /// similarity [`ALIKE`] to 1 for the same meaning.
    pub(crate) fn to(
        &self,
        facts: &Facts,
        tokens: &[TextToken<'_>],
        words: &[(u32, f64)],
    ) -> WordWeights {
        let mut out: Vec<(u32, f64)> = Vec::new();
        for token in tokens {
            let Some(row) = similarity::row(&token.text).filter(|_| is_name(token)) else {
                continue;
            };
            let id = facts.vocabulary.get(&token.text);
            let weight = id.map_or(UNKNOWN, |id| facts.weight(id));
            for (other, how) in self.of(facts, row).iter() {
                if words.iter().any(|(word, _)| word == other) {
                    continue;
                }
                let weight = weight * (how - ALIKE) / (1.0 - ALIKE);
                match out.iter_mut().find(|(word, _)| word == other) {
                    Some((_, known)) => *known = known.max(weight),
                    None => out.push((*other, weight)),
                }
            }
        }
        out.into()
    }
}

/// The weight of a token that the page lacks, when it is compared by its meaning. Other tokens
/// weigh by their frequency on the page, which such a token does not have.
const UNKNOWN: f64 = 2.0;
