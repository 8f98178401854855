//! Words that reports and questions use for one thing.
//!
//! Consulted only for a word that the page does not have: the page's own words
//! always come first.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::text::stem;

/// Groups of words of one meaning, from the vocabulary of financial reports.
const GROUPS: &[&str] = &[
    "revenue sales turnover",
    "earnings income profit",
    "purchase repurchase buyback reacquire acquire acquisition buy bought",
    "borrowing debt loan notes indebtedness",
    "loan lend lent credit receivable",
    "allowance reserve provision accrual",
    "chargeoff writeoff",
    "impairment writedown",
    "holder stockholder owner investor",
    "employee worker staff personnel workforce headcount",
    "client customer",
    "store location outlet shop restaurant",
    "property building facility premises",
    "pension retirement",
    "rent rental lease",
    "obligation commitment liability",
    "expected anticipated estimated projected planned forecast",
    "mature maturity due payable expire expiration",
    "generate provide produce",
    "spending expenditure outlay spent",
    "domestic us u.s home",
    "foreign international overseas abroad non-us",
    "award grant",
    "distribution dividend payout",
    "contribute contribution fund",
    "cost expense charge",
    "price cost",
    "settle settlement resolve",
    "litigation legal lawsuit",
    "fuel gasoline",
    "aircraft airplane plane fleet",
    "wage salary compensation payroll pay",
    "equipment machinery",
    "tax governments",
    "inventory stock goods",
    "amortization depreciation",
    "equity capital",
    "fee commission",
    "gain profit",
    "term life duration period",
    "backlog orders",
    "guests passengers",
    "yield rate",
    "unit share",
];

/// What abbreviations stand for.
const ABBREVIATIONS: &[(&str, &str)] = &[
    ("r&d", "research development"),
    ("sg&a", "selling general administrative"),
    ("d&a", "depreciation amortization"),
    ("pp&e", "property plant equipment"),
    ("eps", "earnings per share"),
    ("capex", "capital expenditures"),
    ("opex", "operating expenses"),
    ("cogs", "cost goods sold"),
    ("oci", "other comprehensive income"),
    ("aoci", "accumulated other comprehensive income"),
    ("otti", "other temporary impairment"),
    ("buyback", "share repurchase"),
    ("headcount", "number employees"),
];

/// Stems that mean what this one means, nearest first.
pub(crate) fn synonyms(stemmed: &str) -> &'static [String] {
    static BY_STEM: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(by_stem);
    BY_STEM.get(stemmed).map_or(&[], Vec::as_slice)
}

fn by_stem() -> HashMap<String, Vec<String>> {
    let mut out: HashMap<String, Vec<String>> = HashMap::new();
    let mut add = |word: &str, other: String| {
        let others = out.entry(word.to_owned()).or_default();
        if word != other && !others.contains(&other) {
            others.push(other);
        }
    };
    for (short, long) in ABBREVIATIONS {
        for word in long.split_whitespace() {
            add(short, stem(word).into_owned());
        }
    }
    for group in GROUPS {
        let stems = group.split_whitespace().map(|word| stem(word).into_owned());
        let stems: Vec<String> = stems.collect();
        for one in &stems {
            for other in &stems {
                add(one, other.clone());
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_one_meaning_lead_to_each_other() {
        assert!(synonyms(&stem("buyback")).contains(&stem("repurchases").into_owned()));
        assert!(synonyms(&stem("turnover")).contains(&stem("sales").into_owned()));
        assert_eq!(synonyms("r&d"), [stem("research"), stem("development")]);
        assert!(synonyms("zeppelin").is_empty());
    }
}
