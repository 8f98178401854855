//! The words with which questions ask for operations. The reading of a question and the doubts
//! share these lists.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::reading::text::stem;

/// Words for growth at a constant rate.
pub(crate) const COMPOUND: [&str; 5] =
    ["compound", "compounded", "cagr", "annualized", "annualised"];

pub(crate) const LARGEST: [&str; 6] = [
    "highest", "largest", "maximum", "biggest", "greatest", "most",
];

pub(crate) const SMALLEST: [&str; 4] = ["lowest", "smallest", "minimum", "least"];

pub(crate) const AVERAGE: [&str; 3] = ["average", "mean", "averaged"];

/// Statistics that no program computes.
pub(crate) const STATISTICS: [&str; 3] = ["median", "deviation", "correlation"];

/// Words that ask for a whole without one of its parts.
pub(crate) const LEFT_OF_WHOLE: [&str; 9] = [
    "not", "other than", "excluding", "except", "remaining", "remainder", "outside", "rest",
    "without",
];

/// Words for a change or a difference.
pub(crate) const CHANGE: [&str; 32] = [
    "change", "changes", "changed", "difference", "differences", "increase", "increased",
    "increases", "decrease", "decreased", "decreases", "decline", "declined", "growth", "grow",
    "grew", "fluctuation", "fluctuate", "variation", "variance", "vary", "varied", "rise", "rose",
    "fall", "drop", "dropped", "reduction", "reduced", "gain", "improvement", "differ",
];

pub(crate) const SUM: [&str; 10] = [
    "sum", "combined", "together", "altogether", "added", "in total", "aggregate of", "plus",
    "sum total", "adding",
];

/// Words for operations that are in no other list.
const OTHER: [&str; 32] = [
    "annual", "yearly", "per", "point", "percent", "ratio", "share", "portion", "proportion",
    "fraction", "total", "rate", "sum", "aggregate", "fell", "fallen", "risen", "grown", "fastest",
    "slowest", "exceed", "higher", "lower", "larger", "smaller", "greater", "less", "more",
    "fewer", "fewest", "compared", "multiplied",
];

static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let lists: [&[&str]; 9] = [
        &COMPOUND, &LARGEST, &SMALLEST, &AVERAGE, &STATISTICS, &LEFT_OF_WHOLE, &CHANGE, &SUM,
        &OTHER,
    ];
    let words = lists
        .into_iter()
        .flatten()
        .flat_map(|phrase| phrase.split(' '));
    words.map(|word| stem(word).into_owned()).collect()
});

/// True if the stem is that of a word in one of these lists.
pub(crate) fn is_operation(stem: &str) -> bool {
    STEMS.contains(stem)
}
