//! The words of quantities: what adds up over time, what is true of a day, what is paid for one,
//! what is counted; and the words that name none.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::axis::AxisLabel;
use super::lines::LabelledTable;
use crate::reading::text::stem;

/// Words, several to a line.
pub(super) struct WordList(&'static [&'static str]);

impl WordList {
    pub(super) fn iter(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.0.iter().flat_map(|line| line.split(' '))
    }

    /// Whether a label has one of the nouns, in any form.
    pub(super) fn in_label(&self, label: &AxisLabel) -> bool {
        self.iter().any(|word| label.says_noun(word))
    }

    fn has(&self, word: &str) -> bool {
        self.iter().any(|noun| stem(noun) == stem(word))
    }
}

/// Quantities that accumulate over time.
pub(super) const FLOWS: WordList = WordList(&[
    "sale revenue turnover cost expense income profit earning loss",
    "expenditure order dividend pay gross ebit ebitda tax interest",
    "purchase shipment production new added churn provid return result",
    "wage salary payroll spend rent output",
]);

/// Labels that count what is new, or gone.
pub(super) const COUNTED_NEW: WordList =
    WordList(&["new added additions lost churned opened closed sold completed"]);

/// Quantities at a point in time.
pub(super) const STOCKS: WordList = WordList(&[
    "balance receivable payable asset liability backlog inventory debt equity",
    "customer subscriber user member employee headcount staff fte store",
    "site arr mrr outstanding",
]);

/// Quantities that have no sum.
pub(super) const RATES: WordList =
    WordList(&["rate ratio margin per average price share yield score"]);

/// What is paid for one, and others that do not add up.
const OF_ONE: WordList = WordList(&[
    "price per multiple age rank rate ratio margin average",
    "yield score",
]);

/// Counts of things.
pub(super) const THINGS: WordList = WordList(&[
    "unit quantity qty volume count visitor transaction ticket people",
    "value amount",
]);

/// Headings of what "how many" asks for.
pub(super) const COUNTED: WordList = WordList(&["units quantity qty count number volume sold"]);

/// Words that name no quantity of a table: nouns that stand for any quantity or for the company,
/// verbs that say no more than that there was one, adverbs, and pronouns.
const FILLERS: WordList = WordList(&[
    "value amount figure number level money company firm business",
    "quarter month fiscal end dollar euro percent point date",
    "work carry carried report recorded make made earn generate",
    "generated come came represent account spend spent included win",
    "won have get got give gave take took use",
    "used see saw show stand stood reach bring brought",
    "respectively approximately roughly just out up down only together",
    "combined total overall whole entire following previous last still",
    "already exactly ever even here altogether please tell",
    "my your his her you he she me him",
    "everyone everything anything something some another until since off",
    "onto toward should may might must shall am itself",
]);

/// Whether a stem names no quantity of a table.
pub(super) fn is_filler(word: &str) -> bool {
    static STEMS: LazyLock<HashSet<String>> =
        LazyLock::new(|| FILLERS.iter().map(|word| stem(word).into_owned()).collect());
    STEMS.contains(word)
}

/// Whether a quantity has no sum over rows: a rate or a price.
pub(super) fn has_no_sum(label: &AxisLabel) -> bool {
    let says = |words: &[&str]| words.iter().any(|word| label.writes(word));
    let price = says(&["price", "cost", "fee", "rent"]) && says(&["unit", "per", "average"]);
    OF_ONE.iter().any(|word| label.writes(word)) || price
}

/// Whether a quantity is one that adds up over rows, or is not named but by its period.
pub(super) fn counts(label: &AxisLabel) -> bool {
    let lists = [FLOWS, STOCKS, THINGS];
    label.words.is_empty() || lists.iter().any(|list| list.in_label(label))
}

/// Whether a quantity is true of a day and does not accumulate. Of several nouns the last is what
/// the label is about: "staff costs" accumulate.
pub(super) fn is_stock(label: &AxisLabel) -> bool {
    let name = label.name.to_lowercase();
    let head = name.split(" of ").next().unwrap_or_default();
    let mut words = head.split(|c: char| !c.is_alphabetic()).rev();
    let last = words.find(|word| STOCKS.has(word) || FLOWS.has(word));
    last.map_or_else(|| STOCKS.in_label(label), |word| STOCKS.has(word))
}

/// Words that compare a quantity without its name, and the nouns that columns have for it.
const QUANTITIES: [(&[&str], &[&str]); 5] = [
    (
        &["expensive", "cheapest", "dearest"],
        &["price", "cost", "amount", "rate", "fee"],
    ),
    (&["worth", "valuable"], &["value"]),
    (&["lost", "lose"], &["loss"]),
    (&["heaviest"], &["weight"]),
    (&["oldest"], &["age"]),
];

/// Whether a word compares a quantity without its name.
pub(super) fn is_measure(word: &str) -> bool {
    let mut names = QUANTITIES.iter().flat_map(|(names, _)| names.iter());
    names.any(|name| *name == word)
}

impl LabelledTable<'_> {
    /// The quantity that an adjective or a verb compares, if a column has it: the price of what
    /// is "expensive".
    pub(super) fn measured(&self, word: &str) -> String {
        let named = QUANTITIES
            .iter()
            .find(|(names, _)| names.iter().any(|name| stem(name) == word));
        let nouns = named.map_or(&[] as &[&str], |(_, nouns)| nouns);
        let columns = self.columns.iter().skip(1);
        let known = |noun: &&&str| columns.clone().any(|column| column.writes(noun));
        let noun = nouns.iter().find(known).filter(|_| !self.knows(word));
        noun.map_or_else(|| word.to_owned(), |noun| stem(noun).into_owned())
    }
}
