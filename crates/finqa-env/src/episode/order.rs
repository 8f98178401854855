//! The order in which a session asks its questions.

/// Yields every index of `0..count` once, then all of them again, without end. With a seed, each of
/// these rounds has another order: it begins at some index and takes every nth index from there, so
/// that each of ten thousand sessions needs only a few words of memory. Without a seed, all rounds
/// have the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionOrder {
    /// The seed of the orders; `None` keeps the order of the file.
    seed: Option<u64>,
    /// The number of times that all questions have been asked.
    round: u64,
    /// The number of questions asked in this round.
    position: u64,
    count: u64,
}

impl QuestionOrder {
    /// A random order of `count` questions. The same seed gives the same order.
    pub fn new(count: usize, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..Self::in_file_order(count)
        }
    }

    /// Asks `count` questions in the order of the file, over and over.
    pub fn in_file_order(count: usize) -> Self {
        Self {
            seed: None,
            round: 0,
            position: 0,
            count: count as u64,
        }
    }

    /// The index of the next question; `None` only if there are no questions.
    pub fn next_index(&mut self) -> Option<usize> {
        if self.count == 0 {
            return None;
        }
        if self.position == self.count {
            self.position = 0;
            self.round = self.round.wrapping_add(1);
        }
        let index = self.index_at(self.position);
        self.position += 1;
        usize::try_from(index).ok()
    }

    /// The index that is the `position`th of this round, counted from 0.
    fn index_at(&self, position: u64) -> u64 {
        let Some(seed) = self.seed else {
            return position;
        };
        let mut hash = blake3::Hasher::new();
        hash.update(&seed.to_le_bytes());
        hash.update(&self.round.to_le_bytes());
        let mut bits = hash.finalize_xof();
        let mut below_count = || {
            let mut bytes = [0; 8];
            bits.fill(&mut bytes);
            // The remainder makes small indices likelier, but by at most 2^-64.
            u64::from_le_bytes(bytes) % self.count
        };
        let first = below_count();
        // A stride without a common divisor with the count visits every index. There always is one,
        // so the loop ends.
        let mut stride = below_count();
        while gcd(stride, self.count) != 1 {
            stride = below_count();
        }
        let steps = u128::from(stride) * u128::from(position) + u128::from(first);
        // The remainder is below `count`, so the conversion cannot fail.
        u64::try_from(steps % u128::from(self.count)).unwrap_or_default()
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 { b } else { gcd(b % a, a) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_round_deals_each_index_once() {
        for count in [1, 2, 3, 5, 12, 100, 290, 1000] {
            let mut order = QuestionOrder::new(count, 7);
            for _ in 0..3 {
                let mut order: Vec<usize> =
                    (0..count).map(|_| order.next_index().unwrap()).collect();
                order.sort_unstable();
                assert_eq!(order, (0..count).collect::<Vec<_>>());
            }
        }
        assert_eq!(QuestionOrder::new(0, 7).next_index(), None);
        let mut filed = QuestionOrder::in_file_order(3);
        let dealt: Vec<usize> = (0..5).map(|_| filed.next_index().unwrap()).collect();
        assert_eq!(dealt, [0, 1, 2, 0, 1]);
    }

    /// Every question is equally likely to come first and to come last: over 12,000 seeds,
    /// chi-squared with 11 degrees of freedom stays below its 99.99 % point.
    #[test]
    fn first_and_last_are_uniform_over_seeds() {
        for place in [0, 11] {
            let mut seen = [0_u32; 12];
            for seed in 0..12_000 {
                let mut order = QuestionOrder::new(12, seed);
                let dealt: Vec<usize> = (0..12).map(|_| order.next_index().unwrap()).collect();
                seen[dealt[place]] += 1;
            }
            let chi: f64 = seen
                .iter()
                .map(|n| (f64::from(*n) - 1000.0).powi(2) / 1000.0)
                .sum();
            assert!(chi < 37.4, "place {place}: chi-squared {chi}, {seen:?}");
        }
    }
}
