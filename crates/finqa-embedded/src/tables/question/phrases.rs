//! Lists the phrases of questions that ask for an operation or join its operands.
//!
//! To let people ask for a known operation in a new way, add a phrase here. A new operation needs a
//! [`Cue`] and a form in `asked`.

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
    // What joins operands
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
    /// A comparison with the same period of the year before.
    YearAgo,
}

/// A primary statement as a question names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NamedStatement {
    Balances,
    CashFlows,
    Income,
}

impl NamedStatement {
    /// Reads a name that the pattern of `marks` found, so any other name is one of the income
    /// statement.
    pub(crate) fn read(name: &str) -> Self {
        match name {
            _ if name.contains("balance") || name.contains("position") => Self::Balances,
            _ if name.contains("cash") => Self::CashFlows,
            _ => Self::Income,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Balances => "balance sheet",
            Self::CashFlows => "cash flow statement",
            Self::Income => "income statement",
        }
    }
}

#[rustfmt::skip]
const CUES: [(Cue, &str); 34] = [
    (Cue::Average, "average|mean|averaged|on average"),
    (Cue::Change, "change|changes|changed"),
    (Cue::Compound, "compound annual growth rate|compound annual growth|compound growth rate|compound annual rate|compounded annual growth rate|cagr|annualized growth rate"),
    (Cue::Difference, "difference|differ"),
    (Cue::Fall, "down|fall|falls|fell|fallen|falling|drop|dropped|decrease|decreased|decreases|decline|declined|declines|declining"),
    (Cue::Fall, "shrink|shrank|reduction|go down|went down|gone down|narrow|narrows|narrowed|narrowing"),
    (Cue::Growth, "growth|growth rate|rate of growth|rate of change|how fast|how quickly|how rapidly|at what rate"),
    (Cue::Largest, "highest|largest|biggest|greatest|maximum|most|at its highest|at their highest"),
    (Cue::Smallest, "lowest|smallest|least|minimum|fewest|at its lowest|at their lowest"),
    (Cue::Percent, "percent|percentage|percentages|%|in percent|in percentage terms|in %"),
    (Cue::Points, "percentage points|percentage point|percent points|percent point|in percentage points|in percent points|basis points|basis point|bps|how many points"),
    (Cue::Ratio, "ratio|ratio of"),
    (Cue::Rise, "up|increase|increased|increases|increasing|rise|rises|rose|risen|rising|grow|grows|grew|grown|growing"),
    (Cue::Rise, "go up|went up|gone up|widen|widens|widened|widening|expand|expands|expanded"),
    (Cue::Improve, "improve|improved|improves"),
    (Cue::Share, "share"),
    (Cue::Sum, "sum|sum of|combined|together|added together|taken together"),
    (Cue::Total, "total|totals|total of|all|both"),
    (Cue::And, "and|&"),
    (Cue::AsShareOf, "as a percentage of|as a percent of|as percentage of|as a share of|as a % of|as % of"),
    (Cue::DividedBy, "divided by|relative to|per"),
    (Cue::Exceeds, "exceed|exceeds|exceeded"),
    (Cue::Less, "less|lower|fewer|smaller"),
    (Cue::Minus, "minus"),
    (Cue::More, "more|higher|greater|larger|bigger"),
    (Cue::Or, "or"),
    (Cue::Plus, "plus|added to"),
    (Cue::ShareOf, "share of|percentage of|percent of|% of|proportion of|fraction of|portion of|part of"),
    (Cue::Except, "excluding|without|other than|apart from|aside from|except|except for|left out|leaving out|not counting|not including|exclusive of|outside|not"),
    (Cue::Multiple, "how many times|how many times over|what multiple of|multiple of"),
    (Cue::Covers, "cover|covers|covered"),
    (Cue::Than, "than"),
    (Cue::To, "to"),
    (Cue::Versus, "compared to|compared with|versus|vs|against"),
];

/// The longest cue that these words begin with, and its number of words.
pub(crate) fn cue_at(words: &[&str]) -> Option<(Cue, usize)> {
    let said = |phrase: &str| {
        let phrase: Vec<&str> = phrase.split(' ').collect();
        words.starts_with(&phrase).then_some(phrase.len())
    };
    let longest = |(cue, phrases): (Cue, &str)| {
        let longest = phrases.split('|').filter_map(said).max()?;
        Some((cue, longest))
    };
    let cues = CUES.into_iter().filter_map(longest);
    cues.max_by_key(|(_, length)| *length)
}
