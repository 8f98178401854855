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
    ("cell", 0.72),
    ("cell: question words in the row label", 3.13),
    ("cell: question words in the column header", 3.67),
    ("cell: question words in the corner", 1.01),
    ("cell: row label words not asked for", -0.88),
    ("cell: share of the row label asked for", 0.68),
    ("cell: whole row label asked for", 1.14),
    ("cell: column header words not asked for", -0.62),
    ("cell: year asked for", 1.46),
    ("cell: year of an earlier turn", 0.15),
    ("cell: no other year", 0.69),
    ("cell: another year", -0.94),
    ("cell: no year", -0.33),
    ("cell: first column, no year asked for", 0.13),
    ("cell: last row, no year asked for", 1.02),
    ("text: question words in the sentence", 2.90),
    ("text: question words near by", 1.62),
    ("text: question words by distance", 0.80),
    ("text: question words right before", 0.46),
    ("text: length of the sentence", -2.07),
    ("text: year asked for", 1.02),
    ("text: year of an earlier turn", 0.19),
    ("text: no other year", 0.61),
    ("text: another year", -0.98),
    ("text: no year", -0.58),
    ("text: one or two bare digits", -0.33),
    ("text: bare number", -0.49),
    ("text: amount of money", 0.42),
    ("series of the last fact, entity left out", 1.61),
    ("series of the last fact, entity named", 0.45),
    ("series of any earlier fact", 1.28),
    ("column of the last fact, entity left out", -0.33),
    ("column of the last fact, entity named", 1.05),
    ("table or text as the last fact", -0.16),
    ("earlier turn's words", -0.14),
    ("earlier turn's words, entity left out", 1.94),
    ("used before, year asked for", -0.15),
    ("used before, another year asked for", 1.54),
    ("used before, no year, entity left out", 3.57),
    ("used before, no year, entity named", -0.28),
    ("percentage asked for, percentage", 0.69),
    ("percentage not asked for, percentage", -1.06),
    ("count asked for, amount of money", -0.77),
    ("opening balance, not asked for", 0.33),
    ("opening balance asked for", 1.04),
    ("question words side by side in the row label", 0.62),
    ("total row, total asked for", 1.03),
    ("total row, not asked for", 0.19),
    ("closing balance", 1.87),
    ("number named in the question", -0.25),
    ("count asked for, plain number in the text", 1.36),
    ("periods: one row", 0.86),
    ("periods: one column, rows are years", 1.57),
    ("periods: other cells", -0.99),
    ("parts: one column", 0.70),
    ("parts: one row, rows are years", 0.56),
    ("parts: other cells", -1.12),
    ("pair: one sentence", 2.81),
    ("pair: other sentences", 0.38),
    ("pair: table and text", -0.83),
    ("pair: the same fact", -3.95),
    ("pair: already in the expression", -0.70),
];

/// Signal and weight of the confidence, in the order of `confidence::signals`.
pub(crate) const CONFIDENCE: [(&str, f64); 14] = [
    ("always", -0.62),
    ("margin over the next best choice", 0.34),
    ("score of the choice", 1.60),
    ("nothing to be found on the page", 1.12),
    ("slots", -0.28),
    ("earlier turns", -0.28),
    ("all from the table", 0.68),
    ("a year asked for is missing", -0.34),
    ("implausible magnitude", -1.18),
    ("look-up", -0.09),
    ("ratio", -0.30),
    ("difference", 0.47),
    ("relative change", 0.75),
    ("constant", 0.11),
];
