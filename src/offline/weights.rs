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
    ("cell: question words in the row label", 3.30),
    ("cell: question words in the column header", 3.71),
    ("cell: question words in the corner", 0.74),
    ("cell: row label words not asked for", -0.80),
    ("cell: share of the row label asked for", 0.61),
    ("cell: whole row label asked for", 1.17),
    ("cell: column header words not asked for", -0.53),
    ("cell: year asked for", 1.49),
    ("cell: year of an earlier turn", 0.19),
    ("cell: no other year", 0.69),
    ("cell: another year", -0.94),
    ("cell: no year", -0.37),
    ("cell: first column, no year asked for", 0.02),
    ("cell: last row, no year asked for", 1.12),
    ("text: question words in the sentence", 2.92),
    ("text: question words near by", 1.56),
    ("text: question words by distance", 0.74),
    ("text: question words right before", 0.55),
    ("text: length of the sentence", -2.09),
    ("text: year asked for", 1.09),
    ("text: year of an earlier turn", 0.16),
    ("text: no other year", 0.64),
    ("text: another year", -0.99),
    ("text: no year", -0.63),
    ("text: one or two bare digits", -0.33),
    ("text: bare number", -0.47),
    ("text: amount of money", 0.41),
    ("series of the last fact, entity left out", 1.60),
    ("series of the last fact, entity named", 0.49),
    ("series of any earlier fact", 1.21),
    ("column of the last fact, entity left out", -0.33),
    ("column of the last fact, entity named", 1.02),
    ("table or text as the last fact", -0.13),
    ("earlier turn's words", -0.09),
    ("earlier turn's words, entity left out", 2.11),
    ("used before, year asked for", -0.20),
    ("used before, another year asked for", 1.54),
    ("used before, no year, entity left out", 3.53),
    ("used before, no year, entity named", -0.52),
    ("percentage asked for, percentage", 0.70),
    ("percentage not asked for, percentage", -1.02),
    ("count asked for, amount of money", -0.76),
    ("opening balance, not asked for", 0.20),
    ("opening balance asked for", 1.03),
    ("question words side by side in the row label", 0.44),
    ("total row, total asked for", 1.28),
    ("total row, not asked for", 0.20),
    ("closing balance", 1.89),
    ("number named in the question", -0.23),
    ("count asked for, plain number in the text", 1.37),
    ("periods: one row", 0.90),
    ("periods: one column, rows are years", 1.67),
    ("periods: other cells", -1.00),
    ("parts: one column", 0.60),
    ("parts: one row, rows are years", 0.27),
    ("parts: other cells", -1.13),
    ("pair: one sentence", 2.83),
    ("pair: other sentences", 0.45),
    ("pair: table and text", -0.83),
    ("pair: the same fact", -3.76),
    ("pair: already in the expression", -0.65),
];

/// Signal and weight of the confidence, in the order of `confidence::signals`.
pub(crate) const CONFIDENCE: [(&str, f64); 14] = [
    ("always", -0.94),
    ("margin over the next best choice", 0.71),
    ("score of the choice", 1.14),
    ("nothing to be found on the page", 1.43),
    ("slots", -0.30),
    ("earlier turns", -0.29),
    ("all from the table", 0.62),
    ("a year asked for is missing", -0.72),
    ("implausible magnitude", -1.24),
    ("look-up", -0.03),
    ("ratio", -0.32),
    ("difference", 0.24),
    ("relative change", 0.80),
    ("constant", -0.12),
];
