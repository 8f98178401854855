//! The ids of recently written texts.

use std::collections::HashMap;
use std::hash::Hash;

/// Keys of a generation.
const GENERATION: usize = 32_768;

/// Numbers by a key, of the latest keys only: a run may have more texts than memory has
/// space for their hashes, and nearly all repeat soon or never.
pub(super) struct RecentIds<K, N> {
    newer: HashMap<K, N>,
    older: HashMap<K, N>,
}

impl<K, N> Default for RecentIds<K, N> {
    fn default() -> Self {
        Self {
            newer: HashMap::new(),
            older: HashMap::new(),
        }
    }
}

impl<K: Hash + Eq, N: Copy> RecentIds<K, N> {
    /// The number of a key, which is then among the latest again.
    pub(super) fn get(&mut self, key: K) -> Option<N> {
        let known = self.newer.get(&key).copied();
        known.or_else(|| {
            let number = *self.older.get(&key)?;
            self.insert(key, number);
            Some(number)
        })
    }

    pub(super) fn insert(&mut self, key: K, number: N) {
        if self.newer.len() >= GENERATION {
            self.older = std::mem::take(&mut self.newer);
        }
        self.newer.insert(key, number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_in_use_is_known_forever_and_others_for_a_generation() {
        let mut recent = RecentIds::default();
        recent.insert(usize::MAX, 7);
        recent.insert(usize::MAX - 1, 8);
        for key in 0..3 * GENERATION {
            recent.insert(key, key);
            assert_eq!(recent.get(usize::MAX), Some(7));
            assert!(recent.newer.len() + recent.older.len() <= 2 * GENERATION);
        }
        assert_eq!(recent.get(usize::MAX - 1), None);
        let last = 3 * GENERATION - 1;
        assert_eq!(recent.get(last), Some(last));
    }
}
