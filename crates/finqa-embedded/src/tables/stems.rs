//! Defines sets of stems as constants.

use std::collections::HashSet;
use std::ops::Deref;
use std::sync::OnceLock;

use super::words::stemmed;

/// The stems of a list of words. They are computed when they are first used.
pub(crate) struct Stems {
    words: &'static str,
    stems: OnceLock<HashSet<String>>,
}

impl Stems {
    pub(crate) const fn new(words: &'static str) -> Self {
        let stems = OnceLock::new();
        Self { words, stems }
    }
}

impl Deref for Stems {
    type Target = HashSet<String>;

    fn deref(&self) -> &HashSet<String> {
        self.stems.get_or_init(|| stemmed(self.words))
    }
}
