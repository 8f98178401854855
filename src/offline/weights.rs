//! The weights of the slot scorer.
//!
//! Trained by `cargo run --release --example offline_train` on the look-ups of
//! the first 100 train records and the dev records at hand; see `docs/offline.md`.

/// Where the features of a number in the text begin.
pub(crate) const TEXT: usize = 15;
/// Where the features that both kinds share begin.
pub(crate) const SHARED: usize = 28;
/// Where the features of two facts together begin.
pub(crate) const PAIRS: usize = 46;
/// How many features there are.
pub(crate) const FEATURES: usize = 57;

/// Feature name and weight, in the order of `slots::features`.
pub(crate) const WEIGHTS: [(&str, f64); FEATURES] = [
    ("cell", 0.88),
    ("cell: question words in the row label", 4.43),
    ("cell: question words in the column header", 4.33),
    ("cell: question words in the corner", 1.08),
    ("cell: row label words not asked for", -0.93),
    ("cell: share of the row label asked for", 1.10),
    ("cell: whole row label asked for", 0.66),
    ("cell: column header words not asked for", -0.55),
    ("cell: year asked for", 2.45),
    ("cell: year of an earlier turn", 0.30),
    ("cell: no other year", -0.71),
    ("cell: another year", -0.95),
    ("cell: no year", -0.96),
    ("cell: first column, no year asked for", 0.47),
    ("cell: last row, no year asked for", 0.70),
    ("text: question words in the sentence", 2.84),
    ("text: question words near by", 1.64),
    ("text: question words by distance", 1.78),
    ("text: question words right before", 0.78),
    ("text: length of the sentence", -1.11),
    ("text: year asked for", 1.67),
    ("text: year of an earlier turn", 0.18),
    ("text: no other year", -0.57),
    ("text: another year", -1.33),
    ("text: no year", -0.86),
    ("text: one or two bare digits", -1.44),
    ("text: bare number", -0.48),
    ("text: amount of money", 0.20),
    ("series of the last fact, entity left out", 2.76),
    ("series of the last fact, entity named", 0.32),
    ("series of any earlier fact", 0.51),
    ("column of the last fact, entity left out", 0.32),
    ("column of the last fact, entity named", 0.86),
    ("table or text as the last fact", 0.08),
    ("earlier turn's words", 0.18),
    ("earlier turn's words, entity left out", 1.97),
    ("used before, pointed back to", 2.10),
    ("used before", 0.63),
    ("percentage asked for, percentage", 0.88),
    ("percentage not asked for, percentage", -1.21),
    ("count asked for, amount of money", -0.89),
    ("opening balance, not asked for", -0.90),
    ("opening balance asked for", 0.67),
    ("question words side by side in the row label", 0.13),
    ("total row, total asked for", 0.83),
    ("total row, not asked for", -0.17),
    ("periods: one row", 1.26),
    ("periods: one column, rows are years", 1.73),
    ("periods: other cells", -0.63),
    ("parts: one column", 1.10),
    ("parts: one row, rows are years", 0.83),
    ("parts: other cells", -0.40),
    ("pair: one sentence", 1.69),
    ("pair: other sentences", 0.05),
    ("pair: table and text", -0.89),
    ("pair: the same fact", -6.04),
    ("pair: already in the expression", -3.41),
];
