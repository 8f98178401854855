//! Which kind of calculation a question asks for, and how it builds on the turns before it:
//! linear models over the words of the question and the kinds of the turns before it.
//!
//! Words are hashed into buckets, so that the weights hold no word of any question. They are
//! in `weights/shapes.bin` and `weights/sketches.bin`, fitted by
//! `trainer`.

use super::conversation::EarlierTurns;
use super::wording::Wording;
use crate::expr::Expr;
use crate::shape::{SHAPES, shape};
use crate::sketch::{SKETCHES, sketch};
use finqa_core::page::year_in_text;

/// Logarithm of the number of buckets.
const BITS: u32 = 13;
/// How many buckets there are.
pub const BUCKETS: usize = 1 << BITS;

/// The shape of the program that a question asks for.
pub type ShapeModel = WordClassifier<{ SHAPES.len() }>;
/// Its sketch.
pub type SketchModel = WordClassifier<{ SKETCHES.len() }>;

/// A weight of every bucket for every class, as a multiple of `scale`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WordClassifier<const CLASSES: usize> {
    scale: f64,
    /// By bucket, then by class.
    weights: Vec<i8>,
}

impl<const CLASSES: usize> WordClassifier<CLASSES> {
    /// Rounds weights, by bucket, then by class.
    #[must_use]
    pub fn from_weights(weights: &[f64]) -> Self {
        let largest = weights.iter().fold(0.0_f64, |most, w| most.max(w.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        #[allow(
            clippy::cast_possible_truncation,
            reason = "the scale keeps it below 128"
        )]
        let small = |w: &f64| (w / scale).round() as i8;
        Self {
            // Exactly what the file holds.
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

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let weights = self.weights.iter().map(|weight| weight.cast_unsigned());
        as_f32(self.scale)
            .to_le_bytes()
            .into_iter()
            .chain(weights)
            .collect()
    }

    /// The logarithm of each class's odds against the likeliest: 0 for that one, and less for
    /// the others.
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

/// The buckets of a question after turns of these classes, oldest first; one that is asked by
/// itself opens no conversation.
pub(crate) fn buckets(phrase: &str, before: &[&str], alone: bool) -> Vec<usize> {
    let mut out = vec![bucket(&["always"])];
    let ended = std::iter::once("$");
    let words: Vec<&str> = std::iter::once("^")
        .chain(phrase.split_whitespace().map(class))
        .chain(ended)
        .collect();
    let back = |k: usize| {
        let at = before.len().checked_sub(k)?;
        before.get(at).copied()
    };
    let first = if alone { "alone" } else { "-" };
    let (last, before_last) = (back(1).unwrap_or(first), back(2).unwrap_or("-"));
    out.push(bucket(&["last", last]));
    out.push(bucket(&["last two", last, before_last]));
    out.push(bucket(&[
        "last three",
        last,
        before_last,
        back(3).unwrap_or("-"),
    ]));
    let years = words.iter().filter(|word| **word == "@").count();
    let count = ["0", "1", "2", "3"]
        .get(years.min(3))
        .copied()
        .unwrap_or("3");
    let turn = ["1", "2", "3"].get(before.len()).copied().unwrap_or("4");
    out.push(bucket(&["years", count]));
    out.push(bucket(&["years after", count, last]));
    for (i, word) in words.iter().enumerate() {
        out.push(bucket(&["word", word]));
        if !before.is_empty() || alone {
            out.push(bucket(&["after", last, word]));
        }
        if !alone {
            out.push(bucket(&["turn", turn, word]));
        }
        if let Some(next) = words.get(i + 1) {
            out.push(bucket(&["two", word, next]));
            if alone {
                out.push(bucket(&["two alone", word, next]));
            }
            if let Some(third) = words.get(i + 2) {
                out.push(bucket(&["three", word, next, third]));
            }
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}

/// A year or another number is a number.
fn class(word: &str) -> &str {
    if year_in_text(word).is_some() {
        "@"
    } else if word.bytes().any(|b| b.is_ascii_digit()) {
        "#"
    } else {
        word
    }
}

/// FNV-1a, which is the same everywhere.
fn bucket(parts: &[&str]) -> usize {
    let bytes = parts.iter().flat_map(|part| part.bytes().chain([0]));
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    usize::try_from((hash ^ (hash >> 32)) & (BUCKETS as u64 - 1)).unwrap_or(0)
}

/// The buckets of a question, after the shapes of the turns before it.
pub(crate) fn after_shapes(asked: &Wording, state: &EarlierTurns, alone: bool) -> Vec<usize> {
    let turns = state.turns.iter();
    let before = turns.filter_map(|turn| SHAPES.get(shape(&turn.expr)).copied());
    buckets(&asked.phrase, &before.collect::<Vec<_>>(), alone)
}

/// The buckets of a turn's question, after the sketches of the turns before it.
pub(crate) fn after_sketches(asked: &Wording, state: &EarlierTurns) -> Vec<usize> {
    let turns: Vec<&Expr> = state.turns.iter().map(|turn| &turn.expr).collect();
    buckets(&asked.phrase, &sketches_of(&turns), false)
}

/// The sketch of each turn, after those before it.
pub(crate) fn sketches_of(turns: &[&Expr]) -> Vec<&'static str> {
    let of = |(k, turn): (usize, &&Expr)| {
        let earlier = turns.get(..k).unwrap_or_default();
        SKETCHES.get(sketch(turn, earlier)).copied()
    };
    turns.iter().enumerate().filter_map(of).collect()
}
