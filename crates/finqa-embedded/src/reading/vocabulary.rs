//! The words of one document as small numbers, so that labels are compared fast.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::words::is_stop;

#[derive(Debug)]
pub(crate) struct Vocabulary {
    /// The id of each stem; a stop word has none.
    ids: HashMap<String, Option<u32>, RandomState>,
    count: u32,
}

/// Words of a page, stop words included: most have fewer.
const USUAL: usize = 512;

impl Default for Vocabulary {
    fn default() -> Self {
        Self {
            ids: HashMap::with_capacity_and_hasher(USUAL, RandomState::default()),
            count: 0,
        }
    }
}

impl Vocabulary {
    /// The id of a stem, assigned if it is new; `None` for a stop word.
    pub(crate) fn intern(&mut self, stem: &str) -> Option<u32> {
        if let Some(id) = self.ids.get(stem) {
            return *id;
        }
        let id = (!is_stop(stem)).then_some(self.count);
        self.count += u32::from(id.is_some());
        self.ids.insert(stem.to_owned(), id);
        id
    }

    pub(crate) fn get(&self, stem: &str) -> Option<u32> {
        self.ids.get(stem).copied().flatten()
    }

    /// The id of a stem of the document, else of the word with the longest common beginning
    /// of six letters or more (`amortiz…`).
    pub(crate) fn find(&self, stem: &str) -> Option<u32> {
        if let Some(id) = self.get(stem) {
            return Some(id);
        }
        if stem.len() < 6 || !stem.is_ascii() {
            return None;
        }
        let shared = |other: &str| {
            stem.bytes()
                .zip(other.bytes())
                .take_while(|(a, b)| a == b)
                .count()
        };
        let beginning = stem.get(..RELATED)?;
        self.ids
            .iter()
            .filter(|(other, _)| other.starts_with(beginning))
            .filter_map(|(other, id)| Some((other, (*id)?)))
            .map(|(other, id)| (shared(other), std::cmp::Reverse(other.len()), id))
            .filter(|(n, _, _)| *n > RELATED || *n + 1 >= stem.len())
            .max()
            .map(|(_, _, id)| id)
    }

    /// Something of each word's stem, by the word's id.
    pub(crate) fn stems<T: Clone + Default>(&self, of: impl Fn(&str) -> T) -> Vec<T> {
        let mut out = vec![T::default(); self.len()];
        for (stem, id) in &self.ids {
            let slot = id.and_then(|id| out.get_mut(id as usize));
            if let Some(slot) = slot {
                *slot = of(stem);
            }
        }
        out
    }

    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }
}

/// Minimum common beginning of related words, in letters.
const RELATED: usize = 5;

/// Words of the page as a set that is quick to change and to search.
#[derive(Default)]
pub(crate) struct WordSet {
    /// For each word of the vocabulary the last of the sets that it was in.
    last: Vec<u32>,
    set: u32,
}

impl WordSet {
    /// The empty set.
    pub(crate) fn of(vocabulary: &Vocabulary) -> Self {
        Self {
            last: vec![0; vocabulary.len()],
            set: 1,
        }
    }

    /// Replaces its words.
    pub(crate) fn replace(&mut self, words: &[u32]) {
        self.set += 1;
        for word in words {
            if let Some(last) = self.last.get_mut(*word as usize) {
                *last = self.set;
            }
        }
    }

    pub(crate) fn has(&self, word: u32) -> bool {
        self.last.get(word as usize) == Some(&self.set)
    }
}
