//! Numbers the words of one page, so that comparing labels compares integers instead of strings.

use std::cmp::Reverse;
use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::similarity;
use super::words::is_stop;

/// The stems of a page and their ids, which count from 0. Stop words have none.
#[derive(Debug, Default)]
pub(crate) struct Vocabulary {
    ids: HashMap<String, u32, RandomState>,
}

impl Vocabulary {
    /// The id of a stem, assigned if it is new; `None` for a stop word.
    pub(crate) fn intern(&mut self, stem: &str) -> Option<u32> {
        if is_stop(stem) {
            return None;
        }
        let known = self.get(stem);
        known.or_else(|| {
            let next = u32::try_from(self.len()).ok()?;
            self.ids.insert(stem.to_owned(), next);
            Some(next)
        })
    }

    /// The id of a stem; `None` for a stop word and for a stem that the page lacks.
    pub(crate) fn get(&self, stem: &str) -> Option<u32> {
        self.ids.get(stem).copied()
    }

    /// The id of a stem, or of a related stem if the page lacks it: "amortiz" finds "amortization".
    ///
    /// A related stem begins with the same six letters, or with all but the last letter of `stem`.
    /// The longest common beginning wins, then the shortest stem, then the highest id, so that the
    /// order of the map does not matter. A stem of less than six letters has no related stem.
    pub(crate) fn find(&self, stem: &str) -> Option<u32> {
        if let Some(id) = self.get(stem) {
            return Some(id);
        }
        // One letter more than `RELATED`, so that a stem is longer than the beginning it shares.
        if stem.len() < 6 || !stem.is_ascii() {
            return None;
        }
        let related = self.ids.iter().filter_map(|(other, id)| {
            let letters = stem.bytes().zip(other.bytes());
            let shared = letters.take_while(|(a, b)| a == b).count();
            let related = shared > RELATED || shared + 1 >= stem.len();
            related.then_some((shared, Reverse(other.len()), *id))
        });
        related.max().map(|(_, _, id)| id)
    }

    /// For each word the row of its vector, by [`similarity::row`]; `None` if it has none.
    pub(crate) fn vectors(&self) -> Vec<Option<u16>> {
        let mut out = vec![None; self.len()];
        for (stem, id) in &self.ids {
            if let Some(row) = out.get_mut(*id as usize) {
                *row = similarity::row(stem);
            }
        }
        out
    }

    /// Number of ids.
    pub(crate) fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Minimum number of letters with which related words begin alike. Set by hand; fewer would relate
/// more words that only begin alike.
const RELATED: usize = 5;

/// A set of words that is replaced often, without clearing memory: each word remembers the number
/// of the last set that it was in.
#[derive(Default)]
pub(crate) struct WordSet {
    /// For each word the number of the last set that had it; 0 for none.
    last: Vec<u32>,
    /// The number of the current set.
    set: u32,
}

impl WordSet {
    /// An empty set for the words of a vocabulary.
    pub(crate) fn of(vocabulary: &Vocabulary) -> Self {
        Self {
            last: vec![0; vocabulary.len()],
            set: 1,
        }
    }

    /// Replaces all words of the set.
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
