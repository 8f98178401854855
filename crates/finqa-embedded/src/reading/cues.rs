//! Lists the phrases of questions that ask for an operation or join its operands. The readers of
//! questions about people's tables and reports and of those of the dataset share this list.
//!
//! To let people ask for a known operation in a new way, add a phrase here and train again. A new
//! operation needs a [`Cue`], a form in `tables::question::asked` and a plan in `question`.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::text::stem;

/// The meaning of a phrase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cue {
    // Operations
    Average,
    Change,
    /// The yearly rate of growth over several years.
    Compound,
    Difference,
    Fall,
    /// A change in percent of the earlier figure.
    Growth,
    /// A rise; for a cost or a loss, a fall.
    Improve,
    Largest,
    Percent,
    Points,
    Ratio,
    Rise,
    /// A share, which the page may print.
    Share,
    Smallest,
    Sum,
    Total,
    // What joins operands or is about one of them
    And,
    AsShareOf,
    DividedBy,
    Exceeds,
    Less,
    Minus,
    More,
    /// Between figures of which the larger or smaller is asked for: "was A or B larger?"
    Or,
    Plus,
    /// Between a part and its whole: "the share of A in B".
    ShareOf,
    Than,
    /// Between the two sides of a ratio, or without a meaning: "due to suppliers".
    To,
    Versus,
    /// Before the part that a figure leaves out: "sales outside the US".
    Except,
    /// A ratio: "how many times A is B?"
    Multiple,
    /// A ratio: "how often does A cover B?"
    Covers,
    /// The same ratio with its sides exchanged: "how many times is B covered by A?"
    CoveredBy,
    /// A comparison with the same period of the year before. It has no phrase here, because
    /// `tables::question::marks` reads it.
    YearAgo,
}

/// The phrases of each cue, separated by `|`. No phrase has two cues.
#[rustfmt::skip] // A table: rustfmt would break its rows.
const CUES: [(Cue, &str); 33] = [
    (Cue::Average, "average|mean|averaged|on average"),
    (Cue::Change, "change|changes|changed|fluctuation|fluctuate|fluctuated|variation|vary|varies|varied"),
    (Cue::Compound, "compound annual growth rate|compound annual growth|compound growth rate|compound annual rate|compounded annual growth rate|cagr|annualized growth rate|compound|compounded"),
    (Cue::Difference, "difference|differences|differ"),
    (Cue::Fall, "down|fall|falls|fell|fallen|falling|drop|dropped|decrease|decreased|decreases|decline|declined|declines|declining|shrink|shrank|reduction|reduced|go down|went down|gone down|narrow|narrows|narrowed|narrowing"),
    (Cue::Growth, "growth|growth rate|rate of growth|rate of change|how fast|how quickly|how rapidly|at what rate"),
    (Cue::Largest, "highest|largest|biggest|greatest|maximum|most|at its highest|at their highest"),
    (Cue::Smallest, "lowest|smallest|least|minimum|fewest|at its lowest|at their lowest"),
    (Cue::Percent, "percent|percentage|percentages|%|in percent|in percentage terms|in %"),
    (Cue::Points, "percentage points|percentage point|percent points|percent point|in percentage points|in percent points|basis points|basis point|bps|how many points"),
    (Cue::Ratio, "ratio|ratio of"),
    (Cue::Rise, "up|increase|increased|increases|increasing|rise|rises|rose|risen|rising|grow|grows|grew|grown|growing|go up|went up|gone up|widen|widens|widened|widening|expand|expands|expanded"),
    (Cue::Improve, "improve|improved|improves|improvement"),
    (Cue::Share, "share"),
    (Cue::Sum, "sum|sum of|sum total|combined|together|added together|taken together"),
    (Cue::Total, "total|totals|total of|all|both"),
    (Cue::And, "and|&"),
    (Cue::AsShareOf, "as a percentage of|as a percent of|as percentage of|as a share of|as a % of|as % of"),
    (Cue::DividedBy, "divided by|relative to|per"),
    (Cue::Exceeds, "exceed|exceeds|exceeded"),
    (Cue::Less, "less|lower|fewer|smaller"),
    (Cue::Minus, "minus"),
    (Cue::More, "more|higher|greater|larger|bigger"),
    (Cue::Or, "or"),
    (Cue::Plus, "plus|adding|added to"),
    (Cue::ShareOf, "share of|percentage of|percent of|% of|proportion of|fraction of|portion of|part of"),
    (Cue::Except, "excluding|without|other than|apart from|aside from|except|except for|left out|leaving out|not counting|not including|exclusive of|outside|not"),
    (Cue::Multiple, "how many times|how many times over|what multiple of|multiple of"),
    (Cue::Covers, "cover|covers|covered"),
    (Cue::CoveredBy, "covered by|covered how many times by|how many times covered by"),
    (Cue::Than, "than"),
    (Cue::To, "to"),
    (Cue::Versus, "compared to|compared with|versus|vs|against"),
];

/// Cues for the change of a figure.
#[rustfmt::skip]
pub(crate) const CHANGES: &[Cue] = &[
    Cue::Change, Cue::Difference, Cue::Fall, Cue::Growth, Cue::Improve, Cue::Points, Cue::Rise,
];

/// Phrases by their first word, each as its words.
type ByFirstWord = HashMap<&'static str, Vec<(Cue, Vec<&'static str>)>>;

static BY_FIRST_WORD: LazyLock<ByFirstWord> = LazyLock::new(|| {
    let mut out = ByFirstWord::new();
    for (cue, phrase) in phrases() {
        let words: Vec<&str> = phrase.split(' ').collect();
        if let Some(first) = words.first() {
            out.entry(first).or_default().push((cue, words));
        }
    }
    out
});

fn phrases() -> impl Iterator<Item = (Cue, &'static str)> {
    let rows = CUES.into_iter();
    rows.flat_map(|(cue, all)| all.split('|').map(move |one| (cue, one)))
}

/// The longest cue that these words begin with, and its number of words.
pub(crate) fn cue_at(words: &[&str]) -> Option<(Cue, usize)> {
    let said = BY_FIRST_WORD.get(words.first()?)?.iter();
    let said = said.filter(|(_, phrase)| words.starts_with(phrase));
    let lengths = said.map(|(cue, phrase)| (*cue, phrase.len()));
    lengths.max_by_key(|(_, length)| *length)
}

/// The words of all phrases.
pub(crate) fn cue_words() -> impl Iterator<Item = &'static str> {
    phrases().flat_map(|(_, phrase)| phrase.split(' '))
}

/// All phrases of these cues.
pub(crate) fn phrases_of(cues: &[Cue]) -> impl Iterator<Item = &'static str> {
    let of = phrases().filter(|(cue, _)| cues.contains(cue));
    of.map(|(_, phrase)| phrase)
}

/// Words of questions that ask for an operation and are in no phrase, some of them because they
/// also name rows.
const OTHER: &str = "yearly aggregate fastest slowest altogether gain variance median deviation \
    correlation remaining remainder rest annualised";

static STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let said = phrases().flat_map(|(_, phrase)| phrase.split(' '));
    let words = said.chain(OTHER.split(' '));
    words.map(|word| stem(word).into_owned()).collect()
});

/// True if the stem is that of a word in a phrase for an operation, which the page need not have.
pub(crate) fn is_operation(stem: &str) -> bool {
    STEMS.contains(stem)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_phrase_counts() {
        let cue = |text: &str| cue_at(&text.split(' ').collect::<Vec<_>>());
        assert_eq!(cue("share of sales"), Some((Cue::ShareOf, 2)));
        assert_eq!(cue("share price"), Some((Cue::Share, 1)));
        assert_eq!(cue("shareholders"), None);
    }

    #[test]
    fn no_phrase_has_two_cues() {
        let mut seen = HashSet::new();
        for (_, phrase) in phrases() {
            assert!(seen.insert(phrase), "{phrase}");
        }
    }
}
