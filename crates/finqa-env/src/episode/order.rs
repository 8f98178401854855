//! The order in which a session asks its questions.

/// Yields every index of `0..count` once in random order, then all of them in a new order, without
/// end. Each index is computed from its position by a keyed permutation instead of read from a
/// shuffled list, so that each of ten thousand sessions needs only a few words of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionOrder {
    /// `None` keeps the order of the file.
    seed: Option<u64>,
    /// Number of times that all questions have been asked; part of the permutation's key.
    round: u64,
    /// Number of questions asked in this round.
    position: u64,
    count: u64,
}

/// Rounds of the Feistel network. Four suffice in theory; the others are for very short lists,
/// whose halves are only one or two bits wide. A test checks that every one of twelve questions is
/// equally likely to come first and last.
const FEISTEL_ROUNDS: u64 = 10;

impl QuestionOrder {
    /// A random order of `count` questions, which the seed decides.
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
        let index = self.permute(self.position);
        self.position += 1;
        usize::try_from(index).ok()
    }

    /// The index at a position of this round. A Feistel network permutes all numbers of an even
    /// number of bits, which are up to four times as many as the questions. It is applied until
    /// its result is an index, at most four times on average. Each application is one-to-one, so
    /// different positions have different indices.
    fn permute(&self, position: u64) -> u64 {
        let Some(seed) = self.seed else {
            return position;
        };
        let bits = 64 - self.count.saturating_sub(1).leading_zeros();
        let half = bits.div_ceil(2).max(1);
        let mask = (1_u64 << half) - 1;
        let key = mix(seed ^ mix(self.round));
        let mut x = position;
        loop {
            let (mut left, mut right) = (x >> half, x & mask);
            for step in 0..FEISTEL_ROUNDS {
                let f = mix(key ^ mix(right ^ (step << 48))) & mask;
                (left, right) = (right, left ^ f);
            }
            x = (left << half) | right;
            if x < self.count {
                return x;
            }
        }
    }
}

/// The finaliser of `SplitMix64`: every input bit affects every output bit.
fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
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

    /// Every question is equally likely to come first, and to come last: over 12,000 seeds,
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
