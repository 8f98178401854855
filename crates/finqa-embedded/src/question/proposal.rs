//! Guesses shape and sketch of the program from the words of the question and the programs of
//! earlier turns, by two linear models.
//!
//! Words are hashed into buckets, so that no word of a question can be read from the weights. The
//! trainer writes the weights to `weights/shapes.bin` and `weights/sketches.bin`.

use super::wording::Wording;
use crate::expr::Expr;
use crate::shape::SHAPES;
use crate::sketch::{SKETCHES, sketch};
use finqa_core::page::year_in_text;

/// Binary logarithm of the number of buckets, set by hand. With more buckets, fewer words share
/// one, and the weights files are larger.
const BITS: u32 = 13;
/// Number of buckets.
pub const BUCKETS: usize = 1 << BITS;

/// The model of the shape that a question asks for.
pub type ShapeModel = WordClassifier<{ SHAPES.len() }>;
/// The model of the sketch that a turn asks for.
pub type SketchModel = WordClassifier<{ SKETCHES.len() }>;
/// The log-odds of each shape against the likeliest one.
pub(crate) type ShapeOdds = [f64; SHAPES.len()];
/// The log-odds of each sketch against the likeliest one.
pub(crate) type SketchOdds = [f64; SKETCHES.len()];

/// A linear classifier over buckets. Each bucket has a weight for each class, stored as a multiple
/// of `scale` in one byte.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordClassifier<const CLASSES: usize> {
    scale: f64,
    /// The weights of the first bucket for all classes, then those of the next.
    weights: Vec<i8>,
}

impl<const CLASSES: usize> WordClassifier<CLASSES> {
    /// Rounds weights, which are ordered by bucket and then by class, so that the largest is 127,
    /// the most that a byte with a sign can hold.
    #[must_use]
    pub fn from_weights(weights: &[f64]) -> Self {
        let largest = weights.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        // A divisor, so not 0 if all weights are.
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the scale keeps it below 128"
        )]
        let small = |w: &f64| (w / scale).round() as i8;
        Self {
            // Rounded as in the file, so that a model equals what is read back.
            scale: f64::from(as_f32(scale)),
            weights: weights.iter().map(small).collect(),
        }
    }

    /// Reads what [`Self::to_bytes`] writes; `None` if it does not fit this program.
    #[must_use]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (scale, weights) = bytes.split_first_chunk::<4>()?;
        (weights.len() == BUCKETS * CLASSES).then(|| Self {
            scale: f64::from(f32::from_le_bytes(*scale)),
            weights: weights.iter().map(|byte| byte.cast_signed()).collect(),
        })
    }

    /// The contents of the file: the scale, then a byte for each weight.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let weights = self.weights.iter().map(|weight| weight.cast_unsigned());
        let scale = as_f32(self.scale).to_le_bytes();
        scale.into_iter().chain(weights).collect()
    }

    /// The log-odds of each class against the likeliest one, for a question with these buckets: 0
    /// for the likeliest class and negative for the others.
    pub(crate) fn propose(&self, buckets: &[usize]) -> [f64; CLASSES] {
        let mut sum = [0_i32; CLASSES];
        for bucket in buckets {
            let from = bucket * CLASSES;
            let of_bucket = self.weights.get(from..from + CLASSES);
            for (total, weight) in sum.iter_mut().zip(of_bucket.unwrap_or_default()) {
                *total += i32::from(*weight);
            }
        }
        let most = sum.iter().copied().max().unwrap_or_default();
        sum.map(|total| f64::from(total - most) * self.scale)
    }
}

#[allow(
    clippy::cast_possible_truncation,
    reason = "the file holds so many digits"
)]
fn as_f32(x: f64) -> f32 {
    x as f32
}

/// Minimum log-odds of a class against the likeliest one. A class that is less than 0.7 % as likely
/// gets no plan. Set by hand; a lower one would make more candidates for each question.
const LEAST: f64 = -5.0;

/// The classes that are likely enough for a plan, the likeliest first. `odds` has the log-odds of
/// each class by [`WordClassifier::propose`].
pub(crate) fn likely(odds: &[f64]) -> impl Iterator<Item = usize> {
    let mut all: Vec<(usize, f64)> = odds.iter().copied().enumerate().collect();
    all.sort_by(|a, b| b.1.total_cmp(&a.1));
    let likely = all.into_iter().filter(|(_, odds)| *odds >= LEAST);
    likely.map(|(class, _)| class)
}

/// The buckets of a question: its words, pairs and triples of words, number of years, and the
/// classes of earlier turns (`before`, oldest first), alone and with the words. For [`ShapeModel`],
/// these classes are shapes; [`sketch_buckets`] has those for [`SketchModel`].
///
/// A question without earlier turns is read as the first turn of a conversation unless
/// `as_stand_alone` is true.
pub(crate) fn buckets(phrase: &str, before: &[&str], as_stand_alone: bool) -> Vec<usize> {
    let words = phrase.split_whitespace().map(class);
    let words: Vec<&str> = ["^"].into_iter().chain(words).chain(["$"]).collect();
    // "-" marks a missing turn.
    let mut back = before.iter().rev().copied();
    let last = back
        .next()
        .unwrap_or(if as_stand_alone { "alone" } else { "-" });
    let (second, third) = (back.next().unwrap_or("-"), back.next().unwrap_or("-"));
    // Three or more years share a bucket, and so do the fourth turn and all later ones.
    let years = words.iter().filter(|word| **word == "@").count();
    let years = ["0", "1", "2"].get(years).copied().unwrap_or("3");
    let turn = ["1", "2", "3"].get(before.len()).copied().unwrap_or("4");
    let mut out = vec![
        bucket(["always"]),
        bucket(["last", last]),
        bucket(["last two", last, second]),
        bucket(["last three", last, second, third]),
        bucket(["years", years]),
        bucket(["years after", years, last]),
    ];
    // For each run of `n` words, the bucket of these texts with the run.
    let mut add = |texts: &[&str], n: usize| {
        let runs = words.windows(n);
        out.extend(runs.map(|run| bucket(texts.iter().chain(run).copied())));
    };
    add(&["word"], 1);
    add(&["two"], 2);
    add(&["three"], 3);
    if as_stand_alone {
        add(&["two alone"], 2);
    } else {
        add(&["turn", turn], 1);
    }
    if as_stand_alone || !before.is_empty() {
        add(&["after", last], 1);
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// Replaces a year by `@` and any other word with a digit by `#`.
fn class(word: &str) -> &str {
    if year_in_text(word).is_some() {
        "@"
    } else if word.bytes().any(|b| b.is_ascii_digit()) {
        "#"
    } else {
        word
    }
}

/// The bucket of a feature, by the hash FNV-1a, which is the same on every platform. The weights
/// files depend on it.
fn bucket<'a>(parts: impl IntoIterator<Item = &'a str>) -> usize {
    let parts = parts.into_iter();
    let bytes = parts.flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    // A number below `BUCKETS` always fits.
    // The upper half is mixed in, because only low bits are kept.
    usize::try_from((hash ^ (hash >> 32)) & (BUCKETS as u64 - 1)).unwrap_or(0)
}

/// The buckets of a question for [`SketchModel`]. The classes of earlier turns are the sketches of
/// their programs, which `before` has, oldest first.
pub(crate) fn sketch_buckets(asked: &Wording, before: &[&Expr]) -> Vec<usize> {
    let of = |(k, turn): (usize, &&Expr)| {
        let earlier = before.get(..k).unwrap_or_default();
        SKETCHES.get(sketch(turn, earlier)).copied()
    };
    let sketches = before.iter().enumerate().filter_map(of);
    buckets(&asked.phrase, &sketches.collect::<Vec<_>>(), false)
}
