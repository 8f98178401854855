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
    ("cell", 0.68),
    ("cell: question words in the row label", 3.09),
    ("cell: question words in the column header", 3.64),
    ("cell: question words in the corner", 0.99),
    ("cell: row label words not asked for", -0.83),
    ("cell: share of the row label asked for", 0.66),
    ("cell: whole row label asked for", 1.20),
    ("cell: column header words not asked for", -0.52),
    ("cell: year asked for", 1.46),
    ("cell: year of an earlier turn", 0.20),
    ("cell: no other year", 0.71),
    ("cell: another year", -0.95),
    ("cell: no year", -0.34),
    ("cell: first column, no year asked for", 0.16),
    ("cell: last row, no year asked for", 1.00),
    ("text: question words in the sentence", 2.88),
    ("text: question words near by", 1.57),
    ("text: question words by distance", 0.72),
    ("text: question words right before", 0.49),
    ("text: length of the sentence", -2.05),
    ("text: year asked for", 1.09),
    ("text: year of an earlier turn", 0.16),
    ("text: no other year", 0.65),
    ("text: another year", -1.00),
    ("text: no year", -0.61),
    ("text: one or two bare digits", -0.32),
    ("text: bare number", -0.48),
    ("text: amount of money", 0.41),
    ("series of the last fact, entity left out", 1.55),
    ("series of the last fact, entity named", 0.42),
    ("series of any earlier fact", 1.31),
    ("column of the last fact, entity left out", -0.33),
    ("column of the last fact, entity named", 1.05),
    ("table or text as the last fact", -0.15),
    ("earlier turn's words", -0.07),
    ("earlier turn's words, entity left out", 1.93),
    ("used before, year asked for", -0.19),
    ("used before, another year asked for", 1.57),
    ("used before, no year, entity left out", 3.55),
    ("used before, no year, entity named", -0.31),
    ("percentage asked for, percentage", 0.71),
    ("percentage not asked for, percentage", -1.03),
    ("count asked for, amount of money", -0.76),
    ("opening balance, not asked for", 0.35),
    ("opening balance asked for", 1.02),
    ("question words side by side in the row label", 0.58),
    ("total row, total asked for", 1.02),
    ("total row, not asked for", 0.22),
    ("closing balance", 1.90),
    ("number named in the question", -0.24),
    ("count asked for, plain number in the text", 1.37),
    ("periods: one row", 0.88),
    ("periods: one column, rows are years", 1.66),
    ("periods: other cells", -0.98),
    ("parts: one column", 0.77),
    ("parts: one row, rows are years", 0.31),
    ("parts: other cells", -1.14),
    ("pair: one sentence", 2.81),
    ("pair: other sentences", 0.43),
    ("pair: table and text", -0.82),
    ("pair: the same fact", -3.92),
    ("pair: already in the expression", -0.71),
];

/// Signal and weight of the confidence, in the order of `confidence::signals`.
pub(crate) const CONFIDENCE: [(&str, f64); 14] = [
    ("always", -0.67),
    ("margin over the next best choice", 0.43),
    ("score of the choice", 1.58),
    ("nothing to be found on the page", 1.12),
    ("slots", -0.31),
    ("earlier turns", -0.27),
    ("all from the table", 0.67),
    ("a year asked for is missing", -0.33),
    ("implausible magnitude", -1.14),
    ("look-up", -0.24),
    ("ratio", -0.21),
    ("difference", 0.45),
    ("relative change", 0.73),
    ("constant", 0.01),
];
