//! The weights of the slot scorer.
//!
//! Trained by `cargo run --release --example offline_train` on the look-ups of
//! the first 100 train records and the dev records at hand; see `docs/offline.md`.

/// Where the features of a number in the text begin.
pub(crate) const TEXT: usize = 15;
/// Where the features that both kinds share begin.
pub(crate) const SHARED: usize = 28;
/// Where the features of two facts together begin.
pub(crate) const PAIRS: usize = 51;
/// How many features there are.
pub(crate) const FEATURES: usize = 62;

/// Feature name and weight, in the order of `slots::features`.
pub(crate) const WEIGHTS: [(&str, f64); FEATURES] = [
    ("cell", 0.73),
    ("cell: question words in the row label", 3.27),
    ("cell: question words in the column header", 3.71),
    ("cell: question words in the corner", 0.75),
    ("cell: row label words not asked for", -0.80),
    ("cell: share of the row label asked for", 0.66),
    ("cell: whole row label asked for", 1.15),
    ("cell: column header words not asked for", -0.55),
    ("cell: year asked for", 1.49),
    ("cell: year of an earlier turn", 0.20),
    ("cell: no other year", 0.69),
    ("cell: another year", -0.94),
    ("cell: no year", -0.37),
    ("cell: first column, no year asked for", 0.04),
    ("cell: last row, no year asked for", 1.12),
    ("text: question words in the sentence", 2.93),
    ("text: question words near by", 1.52),
    ("text: question words by distance", 0.72),
    ("text: question words right before", 0.57),
    ("text: length of the sentence", -2.13),
    ("text: year asked for", 1.10),
    ("text: year of an earlier turn", 0.18),
    ("text: no other year", 0.65),
    ("text: another year", -0.98),
    ("text: no year", -0.68),
    ("text: one or two bare digits", -0.32),
    ("text: bare number", -0.40),
    ("text: amount of money", 0.47),
    ("series of the last fact, entity left out", 1.59),
    ("series of the last fact, entity named", 0.49),
    ("series of any earlier fact", 1.21),
    ("column of the last fact, entity left out", -0.33),
    ("column of the last fact, entity named", 1.02),
    ("table or text as the last fact", -0.13),
    ("earlier turn's words", -0.07),
    ("earlier turn's words, entity left out", 2.10),
    ("used before, year asked for", -0.20),
    ("used before, another year asked for", 1.54),
    ("used before, no year, entity left out", 3.53),
    ("used before, no year, entity named", -0.52),
    ("percentage asked for, percentage", 0.73),
    ("percentage not asked for, percentage", -0.99),
    ("count asked for, amount of money", -0.77),
    ("opening balance, not asked for", 0.21),
    ("opening balance asked for", 1.03),
    ("question words side by side in the row label", 0.42),
    ("total row, total asked for", 1.27),
    ("total row, not asked for", 0.20),
    ("closing balance", 1.93),
    ("number named in the question", -0.26),
    ("count asked for, plain number in the text", 1.09),
    ("periods: one row", 0.88),
    ("periods: one column, rows are years", 1.64),
    ("periods: other cells", -1.01),
    ("parts: one column", 0.59),
    ("parts: one row, rows are years", 0.26),
    ("parts: other cells", -1.15),
    ("pair: one sentence", 2.88),
    ("pair: other sentences", 0.50),
    ("pair: table and text", -0.83),
    ("pair: the same fact", -3.76),
    ("pair: already in the expression", -0.66),
];
