//! The weights of the slot scorer.
//!
//! Trained by `cargo run --release --example offline_train` on the look-ups of
//! the first 100 train records and the dev records at hand; see `docs/offline.md`.

/// Where the features of a number in the text begin.
pub(crate) const TEXT: usize = 15;
/// Where the features that both kinds share begin.
pub(crate) const SHARED: usize = 28;
/// How many features there are.
pub(crate) const FEATURES: usize = 43;

/// Feature name and weight, in the order of `slots::features`.
pub(crate) const WEIGHTS: [(&str, f64); FEATURES] = [
    ("cell", 0.6),
    ("cell: question words in the row label", 5.0),
    ("cell: question words in the column header", 4.0),
    ("cell: question words in the corner", 1.0),
    ("cell: row label words not asked for", -1.0),
    ("cell: share of the row label asked for", 1.5),
    ("cell: whole row label asked for", 0.5),
    ("cell: column header words not asked for", -0.6),
    ("cell: year asked for", 2.5),
    ("cell: year of an earlier turn", 1.5),
    ("cell: no other year", 0.3),
    ("cell: another year", -3.0),
    ("cell: no year", -0.5),
    ("cell: first column, no year asked for", 0.8),
    ("cell: last row, no year asked for", 0.3),
    ("text: question words in the sentence", 3.0),
    ("text: question words near by", 2.0),
    ("text: question words by distance", 2.0),
    ("text: question words right before", 1.0),
    ("text: length of the sentence", -0.2),
    ("text: year asked for", 2.0),
    ("text: year of an earlier turn", 1.0),
    ("text: no other year", 0.3),
    ("text: another year", -2.5),
    ("text: no year", -0.5),
    ("text: one or two bare digits", -1.5),
    ("text: bare number", -0.4),
    ("text: amount of money", 0.2),
    ("series of the last fact, entity left out", 3.0),
    ("series of the last fact, entity named", 0.2),
    ("series of any earlier fact", 0.2),
    ("column of the last fact, entity left out", 0.2),
    ("column of the last fact, entity named", 0.5),
    ("table or text as the last fact", 0.3),
    ("earlier turn's words", 0.5),
    ("earlier turn's words, entity left out", 1.5),
    ("used before, pointed back to", 0.5),
    ("used before", -1.0),
    ("percentage asked for, percentage", 0.8),
    ("percentage not asked for, percentage", -1.2),
    ("count asked for, amount of money", -0.8),
    ("opening balance, not asked for", -1.0),
    ("opening balance asked for", 0.5),
];
