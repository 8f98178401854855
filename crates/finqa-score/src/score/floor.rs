//! The floor of numeric match (NM): the rate of the best constant answer.

use serde::Serialize;

use super::rules::numeric_value;

/// The best constant answer to a set of questions, scored by NM.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LabelFloor {
    pub answer: f64,
    /// The number of questions that it gets right.
    pub hits: usize,
    /// The number of questions.
    pub n: usize,
    /// `hits / n`, from 0 to 1.
    pub rate: f64,
}

/// The constant that is within 0.5 of the most golds; `None` if there are no golds.
pub fn floor(ground_truths: impl IntoIterator<Item = impl AsRef<str>>) -> Option<LabelFloor> {
    let golds = ground_truths.into_iter();
    floor_of(golds.map(|gold| (numeric_value(gold.as_ref()), 1)))
}

/// Like [`floor`], but for the numbers that NM reads from the golds, each with its count. `None`
/// without golds.
pub(super) fn floor_of(golds: impl Iterator<Item = (f64, usize)>) -> Option<LabelFloor> {
    let mut values: Vec<(f64, usize)> = golds.filter(|(_, times)| *times > 0).collect();
    values.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    let n = values.iter().map(|(_, times)| times).sum();
    let (mut first, mut hits) = (0, 0);
    let mut best: Option<(usize, f64)> = None;
    for (high, times) in &values {
        hits += times;
        // A constant is right for golds up to 0.5 away on either side, so for all golds in a window
        // of width 1.
        let too_low = |(low, _): &&(f64, usize)| high - low > 1.0;
        while let Some((_, times)) = values.get(first).filter(too_low) {
            hits -= times;
            first += 1;
        }
        if best.is_none_or(|(most, _)| hits > most) {
            let low = values.get(first).map_or(*high, |(low, _)| *low);
            best = Some((hits, low.midpoint(*high)));
        }
    }
    best.map(|(hits, answer)| LabelFloor {
        answer,
        hits,
        n,
        rate: hits as f64 / n as f64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_one_wide_and_inclusive() {
        let best = floor(["0", "1", "1.01", "5", "-3"]).unwrap();
        assert_eq!((best.hits, best.n), (2, 5));
        let best = floor(["0", "1", "0.5", "5"]).unwrap();
        assert_eq!((best.hits, best.answer), (3, 0.5));
        assert!(floor([""; 0]).is_none());
    }
}
