//! The slot scorer: how well a fact fits what a slot asks for. It is a linear model over named
//! features. Their constants are set by hand; the trainer fits `weights/weights.json` to them.

pub(crate) mod pair_features;
mod query;

use pair_features::OF_PAIRS;
pub(crate) use query::SlotQuery;

use super::feature_values::{count, flag, part_of};
use crate::reading::facts::{Fact, FactColumn, FactPlace, Facts, Sentence};
use crate::reading::vocabulary::WordSet;

/// A feature's name, and its value for a fact.
type Feature = (&'static str, fn(&FactFit<'_>) -> f64);

/// The features of a cell; they are zero for numbers in sentences.
#[rustfmt::skip] // Tables: rustfmt would give most of their rows four lines.
const OF_CELL: [Feature; 17] = [
    ("cell", |_| 1.0),
    ("cell: question words in the row label", |f| f.share(f.in_label)),
    ("cell: question words in the column header", |f| f.share(f.only_near)),
    ("cell: question words in the corner", |f| f.share(f.in_corner)),
    ("cell: row label words not asked for", |f| (f.row_weight() - f.scorer.label.asked_weight).min(12.0) / 6.0),
    ("cell: share of the row label asked for", |f| f.precision()),
    ("cell: whole row label asked for", |f| flag(f.precision() > 0.99)),
    ("cell: column header words not asked for", |f| f.unasked().min(12.0) / 6.0),
    ("cell: year asked for", |f| flag(f.of_asked_year && !f.scorer.query.years_inherited)),
    ("cell: year of an earlier turn", |f| flag(f.of_asked_year && f.scorer.query.years_inherited)),
    ("cell: no other year", |f| flag(f.of_asked_year && f.fact.years.len() == 1)),
    ("cell: another year", |f| flag(f.of_other_year)),
    ("cell: no year", |f| flag(f.asks_year && f.fact.years.is_empty())),
    ("cell: first column, no year asked for", |f| flag(!f.asks_year && f.is_in(|_, column| column == 1))),
    ("cell: last row, no year asked for", |f| flag(!f.asks_year && f.is_in(|row, _| row + 1 == f.scorer.facts.rows.len()))),
    ("cell: words like the question's in the row label", |f| f.scorer.label.alike),
    ("cell: words like the question's in the column header", |f| f.alike_near),
];

/// The features of a number in a sentence; they are zero for cells.
#[rustfmt::skip]
const OF_TEXT: [Feature; 14] = [
    ("text: question words in the sentence", |f| f.share(f.in_label + f.only_near)),
    ("text: question words near by", |f| f.share(f.in_near)),
    ("text: question words by distance", |f| f.share(f.distances().0)),
    ("text: question words right before", |f| f.share(f.distances().1)),
    ("text: length of the sentence", |f| f.sentence().map_or(0.0, |s| (count(s.words.len()) / 60.0).min(2.0))),
    ("text: year asked for", |f| flag(f.of_asked_year && !f.scorer.query.years_inherited)),
    ("text: year of an earlier turn", |f| flag(f.of_asked_year && f.scorer.query.years_inherited)),
    ("text: no other year", |f| flag(f.of_asked_year && f.fact.years.len() == 1)),
    ("text: another year", |f| flag(f.of_other_year)),
    ("text: no year", |f| flag(f.asks_year && f.fact.years.is_empty())),
    ("text: one or two bare digits", |f| flag(f.fact.is_bare() && f.fact.literal.len() <= 2)),
    ("text: bare number", |f| flag(f.fact.is_bare())),
    ("text: amount of money", |f| flag(f.fact.dollar)),
    ("text: words like the question's near by", |f| f.alike_near),
];

/// The features of all facts. "The last fact" is the last one that earlier turns used; "entity left
/// out" means that the question names no quantity.
#[rustfmt::skip]
const OF_ALL: [Feature; 23] = [
    ("series of the last fact, entity left out", |f| flag(f.follows() && f.scorer.query.bare)),
    ("series of the last fact, entity named", |f| flag(f.follows() && !f.scorer.query.bare)),
    ("series of any earlier fact", |f| flag(f.anchors().any(|anchor| series(f.scorer.facts, anchor, f.fact)))),
    ("column of the last fact, entity left out", |f| flag(f.below() && f.scorer.query.bare)),
    ("column of the last fact, entity named", |f| flag(f.below() && !f.scorer.query.bare)),
    ("table or text as the last fact", |f| flag(f.scorer.anchor.is_some_and(|a| a.cell().is_some() == f.fact.cell().is_some()))),
    ("earlier turn's words", |f| f.in_inherited),
    ("earlier turn's words, entity left out", |f| f.in_inherited * flag(f.scorer.query.bare)),
    ("used before, year asked for", |f| flag(f.used && f.of_asked_year)),
    ("used before, another year asked for", |f| flag(f.used && f.of_other_year)),
    ("used before, no year, entity left out", |f| flag(f.used_undated() && f.scorer.query.bare)),
    ("used before, no year, entity named", |f| flag(f.used_undated() && !f.scorer.query.bare)),
    ("percentage asked for, percentage", |f| flag(f.scorer.query.common.percent && f.fact.percent)),
    ("percentage not asked for, percentage", |f| flag(!f.scorer.query.common.percent && f.fact.percent)),
    ("count asked for, amount of money", |f| flag(f.scorer.query.common.count && f.fact.dollar)),
    ("opening balance, not asked for", |f| flag(!f.scorer.query.opening && f.fact.opening)),
    ("opening balance asked for", |f| flag(f.scorer.query.opening && f.fact.opening)),
    ("question words side by side in the row label", |f| f.scorer.label.side_by_side),
    ("total row, total asked for", |f| flag(f.fact.total && f.scorer.asks_total)),
    ("total row, not asked for", |f| flag(f.fact.total && !f.scorer.asks_total)),
    ("closing balance", |f| flag(!f.scorer.query.opening && f.fact.closing)),
    ("number named in the question", |f| {
        let mut named = f.scorer.query.common.named_numbers.iter();
        flag(named.any(|number| **number == *f.fact.literal))
    }),
    ("count asked for, plain number in the text", |f| {
        let plain = f.fact.cell().is_none() && !f.fact.dollar && !f.fact.percent;
        flag(f.scorer.query.common.count && plain)
    }),
];

/// Index of the first feature of numbers in sentences.
const TEXT: usize = OF_CELL.len();
/// Index of the first feature of all facts.
const SHARED: usize = TEXT + OF_TEXT.len();
/// Index of the first feature of pairs.
pub(crate) const PAIRS: usize = SHARED + OF_ALL.len();
pub(crate) const SLOT_FEATURES: usize = PAIRS + OF_PAIRS.len();

/// Names of the features, in order.
pub(crate) fn feature_names() -> impl Iterator<Item = &'static str> {
    let of_facts = OF_CELL.iter().chain(&OF_TEXT).chain(&OF_ALL);
    of_facts.map(|(name, _)| *name).chain(OF_PAIRS)
}

/// Scores facts for one query. Values that depend only on the query, or only on the query and the
/// last label, are computed once.
pub(crate) struct SlotScorer<'a> {
    facts: &'a Facts,
    query: &'a SlotQuery,
    /// The weight of all requested words, times 0.4 for those that the page lacks; 1 without any.
    total: f64,
    /// The weight of the inherited words; at least 1, because it is a divisor.
    inherited_total: f64,
    /// The last of the facts that earlier turns used.
    anchor: Option<&'a Fact>,
    asks_total: bool,
    /// For each column the weight of its header's words that are not requested.
    unasked: Vec<f64>,
    /// The label of the last row or sentence, whose numbers follow each other in the fact store.
    label: SharedLabelFit,
    /// The words near the last fact.
    near: WordSet,
}

/// The fit of a query to the label that all numbers of a row or sentence share.
#[derive(Default)]
struct SharedLabelFit {
    /// Whether it is a row, and the index of the row or sentence; `None` before the first fact.
    of: Option<(bool, usize)>,
    words: WordSet,
    /// [`side_by_side`] for a row; 0 for a sentence.
    side_by_side: f64,
    /// Set for a row: the weight of its label's words that are requested.
    asked_weight: f64,
    /// Set for a row: the weight of its words similar to requested ones, as a share of `total`.
    alike: f64,
    /// Set for a sentence: the places of requested words, each as (index of the word in the query,
    /// index of its token).
    places: Vec<(usize, usize)>,
}

impl<'a> SlotScorer<'a> {
    pub(crate) fn new(facts: &'a Facts, query: &'a SlotQuery) -> Self {
        let total: f64 = query.words.iter().map(|(_, w)| w).sum::<f64>() + 0.4 * query.unknown;
        let unasked = |column: &FactColumn| {
            let words = column.label.iter().filter(|word| !query.asks(**word));
            words.map(|word| facts.weight(*word)).sum()
        };
        Self {
            facts,
            query,
            total: if total > 0.0 { total } else { 1.0 },
            inherited_total: query.inherited.iter().map(|(_, w)| w).sum::<f64>().max(1.0),
            anchor: query.anchors.last().and_then(|i| facts.all.get(*i)),
            asks_total: facts.total.is_some_and(|total| query.asks(total)),
            unasked: facts.columns.iter().map(unasked).collect(),
            label: SharedLabelFit {
                words: WordSet::of(&facts.vocabulary),
                ..SharedLabelFit::default()
            },
            near: WordSet::of(&facts.vocabulary),
        }
    }

    /// The weight of a set's words that are similar to requested ones, as a share of `total`.
    fn sum_alike(&self, set: &WordSet) -> f64 {
        let found = self.query.alike.iter().filter(|(word, _)| set.has(*word));
        (found.map(|(_, weight)| weight).sum::<f64>() / self.total).min(1.0)
    }

    /// Sets `label` to the fit of the query to a row or a sentence; `of` is [`SharedLabelFit::of`].
    fn read_label(&mut self, fact: &Fact, of: (bool, usize)) {
        let (facts, query) = (self.facts, self.query);
        let (of_row, index) = of;
        self.label.words.replace(&fact.label);
        let label = &mut self.label;
        label.of = Some(of);
        label.places.clear();
        if of_row {
            label.asked_weight = facts.rows.get(index).map_or(0.0, |row| {
                let label = row.label.iter().filter(|word| query.asks(**word));
                label.map(|word| facts.weight(*word)).sum()
            });
            label.side_by_side = side_by_side(fact, query);
            self.label.alike = self.sum_alike(&self.label.words);
        } else if let Some(sentence) = facts.sentences.get(index) {
            label.side_by_side = 0.0;
            let words = query.words.iter().enumerate();
            for (asked, (word, _)) in words.filter(|(_, (word, _))| label.words.has(*word)) {
                let places = sentence.words.iter().enumerate();
                let places = places.filter(|(_, other)| **other == Some(*word));
                label.places.extend(places.map(|(at, _)| (asked, at)));
            }
        }
    }

    /// The features of a fact; those of pairs are 0. `index` only tells whether a turn used it.
    pub(crate) fn features(&mut self, fact: &Fact, index: usize) -> [f64; SLOT_FEATURES] {
        let (of, first, own): (_, _, &[Feature]) = match fact.place {
            FactPlace::Cell { row, .. } => ((true, row), 0, &OF_CELL),
            FactPlace::Text { sentence, .. } => ((false, sentence), TEXT, &OF_TEXT),
        };
        if self.label.of != Some(of) {
            self.read_label(fact, of);
        }
        self.near.replace(&fact.near);
        let fit = FactFit::new(self, fact, index);
        let mut out = [0.0; SLOT_FEATURES];
        for (from, features) in [(first, own), (SHARED, &OF_ALL)] {
            for (slot, (_, value)) in out.iter_mut().skip(from).zip(features) {
                *slot = value(&fit);
            }
        }
        out
    }

    /// The sum of a fact's features, each times its weight. The features of pairs do not count.
    pub(crate) fn score(&mut self, fact: &Fact, index: usize) -> f64 {
        let features = self.features(fact, index);
        let own = match fact.cell() {
            Some(_) => 0..TEXT,
            None => TEXT..SHARED,
        };
        // All other features are zero.
        let places = own.chain(SHARED..PAIRS);
        let weights = &self.facts.slot_weights;
        let products = places.filter_map(|at| Some(features.get(at)? * weights.get(at)?));
        products.sum()
    }
}

/// The fit of a fact to a query, from which the features are computed.
struct FactFit<'a> {
    /// The scorer of its query.
    scorer: &'a SlotScorer<'a>,
    fact: &'a Fact,
    /// The weight of the requested words in its label.
    in_label: f64,
    /// The weight of those near it that its label lacks.
    only_near: f64,
    /// The weight of those near it, also if its label has them.
    in_near: f64,
    /// The weight of those that are only in the table's upper left cell.
    in_corner: f64,
    /// The share of the inherited words that name it, by weight.
    in_inherited: f64,
    /// The weight of the words near it that are similar to requested ones, as a share of `total`.
    alike_near: f64,
    /// True if the query has years.
    asks_year: bool,
    /// True if the fact has one of the query's years.
    of_asked_year: bool,
    /// True if the query has years and the fact has only other years.
    of_other_year: bool,
    /// True if an earlier turn used the fact.
    used: bool,
}

impl<'a> FactFit<'a> {
    /// Compares a fact with the query. The scorer must have read its label and the words near it.
    fn new(scorer: &'a SlotScorer<'a>, fact: &'a Fact, index: usize) -> Self {
        let (query, label, near) = (scorer.query, &scorer.label.words, &scorer.near);
        let (mut in_label, mut only_near, mut in_near, mut in_corner) = (0.0, 0.0, 0.0, 0.0);
        for (word, weight) in &query.words {
            if near.has(*word) {
                in_near += weight;
            }
            if label.has(*word) {
                in_label += weight;
            } else if near.has(*word) {
                only_near += weight;
            } else if scorer.facts.corner.contains(word) {
                in_corner += weight;
            }
        }
        let inherited = query.inherited.iter();
        let inherited = inherited.filter(|(word, _)| label.has(*word) || near.has(*word));
        let in_inherited = inherited.map(|(_, weight)| weight).sum::<f64>();
        let asks_year = !query.years.is_empty();
        let of_asked_year = fact.is_of(&query.years);
        Self {
            scorer,
            fact,
            in_label,
            only_near,
            in_near,
            in_corner,
            in_inherited: in_inherited / scorer.inherited_total,
            alike_near: scorer.sum_alike(near),
            asks_year,
            of_asked_year,
            of_other_year: asks_year && !of_asked_year && !fact.years.is_empty(),
            used: query.anchors.contains(&index),
        }
    }

    fn share(&self, weight: f64) -> f64 {
        weight / self.scorer.total
    }

    fn is_in(&self, holds: impl Fn(usize, usize) -> bool) -> bool {
        let cell = self.fact.cell();
        cell.is_some_and(|(row, column)| holds(row, column))
    }

    fn row_weight(&self) -> f64 {
        let row = self.scorer.facts.row_of(self.fact);
        row.map_or(0.0, |row| row.weight)
    }

    /// The share of its row label's words that is requested, by weight.
    fn precision(&self) -> f64 {
        part_of(self.scorer.label.asked_weight, self.row_weight())
    }

    /// The weight of its column header's words that are not requested.
    fn unasked(&self) -> f64 {
        let cell = self.fact.cell();
        let column = cell.and_then(|(_, column)| self.scorer.unasked.get(column));
        column.copied().unwrap_or_default()
    }

    fn sentence(&self) -> Option<&'a Sentence> {
        match self.fact.place {
            FactPlace::Text { sentence, .. } => self.scorer.facts.sentences.get(sentence),
            FactPlace::Cell { .. } => None,
        }
    }

    /// For a number in a sentence, the weight of the requested words, less for those far away, and
    /// the weight of those within four tokens. Tokens after the number count twice as far.
    fn distances(&self) -> (f64, f64) {
        let FactPlace::Text { at, .. } = self.fact.place else {
            return (0.0, 0.0);
        };
        let (mut close, mut right_before) = (0.0, 0.0);
        for places in self.scorer.label.places.chunk_by(|(a, _), (b, _)| a == b) {
            let word = places.first();
            let word = word.and_then(|(asked, _)| self.scorer.query.words.get(*asked));
            let distances = places.iter();
            let distances = distances.map(|(_, i)| if *i < at { at - i } else { 2 * (i - at) });
            if let Some(((_, weight), distance)) = word.zip(distances.min()) {
                let d = count(distance);
                close += weight / (1.0 + d / 10.0 + d * d / 200.0);
                right_before += weight * flag(distance <= 4);
            }
        }
        (close, right_before)
    }

    fn anchors(&self) -> impl Iterator<Item = &'a Fact> {
        let anchors = self.scorer.query.anchors.iter();
        anchors.filter_map(|index| self.scorer.facts.all.get(*index))
    }

    /// True if the fact is in the [`series`] of the last fact that earlier turns used.
    fn follows(&self) -> bool {
        let anchor = self.scorer.anchor;
        anchor.is_some_and(|anchor| series(self.scorer.facts, anchor, self.fact))
    }

    /// True if the fact is in the column of the last fact that earlier turns used.
    fn below(&self) -> bool {
        let cells = self
            .scorer
            .anchor
            .and_then(Fact::cell)
            .zip(self.fact.cell());
        cells.is_some_and(|(a, b)| a.1 == b.1)
    }

    fn used_undated(&self) -> bool {
        self.used && (!self.asks_year || self.scorer.query.years_inherited)
    }
}

/// The share of the query's pairs of neighbouring words that are neighbours in the label too.
fn side_by_side(fact: &Fact, query: &SlotQuery) -> f64 {
    if query.words.len() < 2 {
        return 0.0;
    }
    let neighbours = |a: u32, b: u32| fact.label.windows(2).any(|w| w == [a, b]);
    let found = query
        .words
        .windows(2)
        .filter(|w| matches!(w, [(a, _), (b, _)] if neighbours(*a, *b)))
        .count();
    count(found) / count(query.words.len() - 1)
}

/// True if two facts are of one quantity at several times: in one row, in one column of a table
/// whose rows are years, or in one sentence.
fn series(facts: &Facts, a: &Fact, b: &Fact) -> bool {
    let dated = |f: &Fact| {
        facts.row_of(f).is_some_and(|r| !r.years.is_empty())
            && facts.column_of(f).is_none_or(|c| c.years.is_empty())
    };
    match (a.cell(), b.cell()) {
        (Some((_, x)), Some((_, y))) if dated(a) && dated(b) => x == y,
        _ => a.same_series(b),
    }
}

/// The index and the score of each of the `keep` best facts for a query, best first.
pub(crate) fn best_facts(facts: &Facts, query: &SlotQuery, keep: usize) -> Vec<(usize, f64)> {
    let mut scorer = SlotScorer::new(facts, query);
    if let Some(i) = query.only {
        let fact = facts.all.get(i);
        return fact.map(|f| (i, scorer.score(f, i))).into_iter().collect();
    }
    let all = facts.all.iter().enumerate();
    let scored = all.map(|(i, fact)| (scorer.score(fact, i), i));
    let best = best_first(scored.collect(), keep).into_iter();
    best.map(|(score, i)| (i, score)).collect()
}

/// The `keep` items with the highest scores, best first; on a tie, the lower item comes first. The
/// best are selected before they are sorted, because there can be many more.
pub(crate) fn best_first<T: Ord>(mut scored: Vec<(f64, T)>, keep: usize) -> Vec<(f64, T)> {
    let order =
        |(a, of_a): &(f64, T), (b, of_b): &(f64, T)| b.total_cmp(a).then_with(|| of_a.cmp(of_b));
    if (1..scored.len()).contains(&keep) {
        scored.select_nth_unstable_by(keep, order);
    }
    scored.truncate(keep);
    scored.sort_unstable_by(order);
    scored
}

#[cfg(test)]
mod tests;
