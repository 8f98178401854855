//! Corrects misspelled words of a question: "reasearch", "liabilty".

use std::collections::{BTreeMap, HashSet};
use std::sync::LazyLock;

use finqa_core::text::edits;

use super::names::written_names;
use crate::reading::cues::cue_words;
use crate::reading::similarity;
use crate::reading::text::stem;
use crate::reading::words::{is_stop, is_weak, long_form};
use crate::tables::page::{Tables, labels};
use crate::tables::words::{FILLERS, NOISE, POLITE, REPORT_NOISE, SPEND, VERBS};

/// Fewest letters of a word that is corrected, because a shorter one is close to several words.
const LEAST: usize = 6;

/// The words of questions, without those of labels.
static OF_QUESTIONS: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let names = written_names().flat_map(str::split_whitespace);
    let lists = [NOISE, REPORT_NOISE, SPEND, POLITE, VERBS]
        .into_iter()
        .flat_map(str::split_whitespace);
    let words = names.chain(lists).chain(cue_words());
    words.chain(FILLERS.iter().copied()).collect()
});

/// The question with each word that neither a label nor any list has replaced by the word of a list
/// from which a slip leads to it, unless a label has such a word too. A word with a capital is kept,
/// because it can be a name, but not the first word.
pub(super) fn corrected(tables: &Tables, question: &str) -> String {
    let is_part = |c: char| !c.is_alphabetic();
    let parts = question.split_inclusive(is_part).enumerate();
    let corrected = parts.map(|(at, part)| {
        let word = part.trim_end_matches(is_part);
        let first = (at == 0).then(|| word.to_lowercase());
        match meant(tables, first.as_deref().unwrap_or(word)) {
            Some(meant) => part.replacen(word, &meant, 1),
            None => part.to_owned(),
        }
    });
    corrected.collect()
}

/// True if a word can have been typed for another one: with a letter left out, added or exchanged
/// with the next, or with "ce" for "se". With another letter, it is often another word: "contrast"
/// is not "contract".
fn is_slip(typed: &str, meant: &str) -> bool {
    let sounds = |word: &str| word.replace("ce", "se").replace("ci", "si");
    let same_length = typed.len() == meant.len();
    let exchanged = || {
        let (mut a, mut b): (Vec<u8>, Vec<u8>) = (typed.into(), meant.into());
        a.sort_unstable();
        b.sort_unstable();
        a == b
    };
    typed.chars().next() == meant.chars().next()
        && edits(typed, meant) == 1
        && (!same_length || exchanged() || sounds(typed) == sounds(meant))
}

/// The word that is meant by a misspelled one; `None` if the word is known, or if none or several
/// can be meant.
fn meant(tables: &Tables, word: &str) -> Option<String> {
    let plain = word.len() >= LEAST && word.chars().all(|c| c.is_ascii_lowercase());
    if !plain || is_known(tables, word) {
        return None;
    }
    let of_labels = tables
        .tables
        .iter()
        .flat_map(labels)
        .flat_map(|label| label.name.split(|c: char| !c.is_ascii_alphabetic()));
    let all = of_labels.chain(OF_QUESTIONS.iter().copied());
    let mut near: BTreeMap<String, String> = BTreeMap::new();
    for other in all.filter(|other| other.len().abs_diff(word.len()) <= 1) {
        let other = other.to_lowercase();
        if is_slip(word, &other) {
            near.insert(stem(&other).into_owned(), other);
        }
    }
    let (_, only) = near.pop_first()?;
    // A word that only a label has may be near an ordinary one: "contact" and "contract".
    let is_certain = near.is_empty() && OF_QUESTIONS.contains(only.as_str());
    is_certain.then_some(only)
}

fn is_known(tables: &Tables, word: &str) -> bool {
    let stem = stem(word);
    tables.says(&stem)
        || similarity::row(&stem).is_some()
        || is_stop(&stem)
        || is_weak(&stem)
        || long_form(word).is_some()
        || OF_QUESTIONS.contains(word)
}
