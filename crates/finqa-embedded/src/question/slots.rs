//! The slot scorer: how well a fact fits what a slot asks for.
//!
//! A linear model over named features; its weights are in `weights/weights.json`.

mod query;

pub(crate) use query::SlotQuery;

use std::cmp::Ordering;
use std::ops::Range;

use crate::reading::facts::{Fact, FactColumn, FactPlace, Facts};
use crate::reading::vocabulary::WordSet;

/// Where the features of a number in the text begin.
pub(crate) const TEXT: usize = 17;
/// Where the features that both kinds share begin.
pub(crate) const SHARED: usize = 31;
/// Where the features of two facts together begin.
pub(crate) const PAIRS: usize = 54;
/// How many features there are.
pub(crate) const FEATURES: usize = 65;

/// Names of the features, in order.
pub(crate) const FEATURE_NAMES: [&str; FEATURES] = [
    "cell",
    "cell: question words in the row label",
    "cell: question words in the column header",
    "cell: question words in the corner",
    "cell: row label words not asked for",
    "cell: share of the row label asked for",
    "cell: whole row label asked for",
    "cell: column header words not asked for",
    "cell: year asked for",
    "cell: year of an earlier turn",
    "cell: no other year",
    "cell: another year",
    "cell: no year",
    "cell: first column, no year asked for",
    "cell: last row, no year asked for",
    "cell: words like the question's in the row label",
    "cell: words like the question's in the column header",
    "text: question words in the sentence",
    "text: question words near by",
    "text: question words by distance",
    "text: question words right before",
    "text: length of the sentence",
    "text: year asked for",
    "text: year of an earlier turn",
    "text: no other year",
    "text: another year",
    "text: no year",
    "text: one or two bare digits",
    "text: bare number",
    "text: amount of money",
    "text: words like the question's near by",
    "series of the last fact, entity left out",
    "series of the last fact, entity named",
    "series of any earlier fact",
    "column of the last fact, entity left out",
    "column of the last fact, entity named",
    "table or text as the last fact",
    "earlier turn's words",
    "earlier turn's words, entity left out",
    "used before, year asked for",
    "used before, another year asked for",
    "used before, no year, entity left out",
    "used before, no year, entity named",
    "percentage asked for, percentage",
    "percentage not asked for, percentage",
    "count asked for, amount of money",
    "opening balance, not asked for",
    "opening balance asked for",
    "question words side by side in the row label",
    "total row, total asked for",
    "total row, not asked for",
    "closing balance",
    "number named in the question",
    "count asked for, plain number in the text",
    "periods: one row",
    "periods: one column, rows are years",
    "periods: other cells",
    "parts: one column",
    "parts: one row, rows are years",
    "parts: other cells",
    "pair: one sentence",
    "pair: other sentences",
    "pair: table and text",
    "pair: the same fact",
    "pair: already in the expression",
];

/// A slot's query, read once for all facts.
pub(crate) struct SlotScorer<'a> {
    facts: &'a Facts,
    query: &'a SlotQuery,
    /// The weight of all its words.
    total: f64,
    inherited_total: f64,
    /// The last of the facts that earlier turns used.
    anchor: Option<&'a Fact>,
    asks_total: bool,
    /// For each column the weight of its words that are not requested.
    unasked: Vec<f64>,
    /// Of the row or sentence read last: its numbers come one after the other.
    label: LabelFit,
    /// The words near the fact read last.
    near: WordSet,
}

/// How the label that the cells of a row, or the numbers of a sentence, share fits a query.
#[derive(Default)]
struct LabelFit {
    /// Whether it is a row, and its index.
    of: Option<(bool, usize)>,
    words: WordSet,
    /// Of a row [`side_by_side`], of a sentence zero.
    side_by_side: f64,
    /// Only of a row: the weight of its own words that are requested, and the share of its words
    /// that mean nearly the same.
    matched: f64,
    alike: f64,
    /// Only of a sentence: where the requested words are, each by its number.
    places: Vec<(usize, usize)>,
}

impl<'a> SlotScorer<'a> {
    pub(crate) fn new(facts: &'a Facts, query: &'a SlotQuery) -> Self {
        let total: f64 = query.words.iter().map(|(_, w)| w).sum::<f64>() + 0.4 * query.unknown;
        let asked = |total: u32| query.words.iter().any(|(word, _)| *word == total);
        let unasked = |column: &FactColumn| {
            let words = column.label.iter().filter(|word| !asked(**word));
            words.map(|word| facts.weight(*word)).sum()
        };
        Self {
            facts,
            query,
            total: if total > 0.0 { total } else { 1.0 },
            inherited_total: query.inherited.iter().map(|(_, w)| w).sum::<f64>().max(1.0),
            anchor: query.anchors.last().and_then(|i| facts.all.get(*i)),
            asks_total: facts.total.is_some_and(asked),
            unasked: facts.columns.iter().map(unasked).collect(),
            label: LabelFit {
                words: WordSet::of(&facts.vocabulary),
                ..LabelFit::default()
            },
            near: WordSet::of(&facts.vocabulary),
        }
    }

    fn sum_alike(&self, set: &WordSet) -> f64 {
        let found = self.query.alike.iter().filter(|(word, _)| set.has(*word));
        (found.map(|(_, weight)| weight).sum::<f64>() / self.total).min(1.0)
    }

    /// Reads the label of a fact.
    fn read_label(&mut self, fact: &Fact, of: (bool, usize)) {
        let (facts, query) = (self.facts, self.query);
        let (of_row, index) = of;
        self.label.words.replace(&fact.label);
        let alike = of_row.then(|| self.sum_alike(&self.label.words));
        let label = &mut self.label;
        label.of = Some(of);
        label.places.clear();
        if of_row {
            label.matched = facts.rows.get(index).map_or(0.0, |row| {
                let asked = |word: &&u32| query.words.iter().any(|(known, _)| known == *word);
                let label = row.label.iter().filter(asked);
                label.map(|word| facts.weight(*word)).sum()
            });
            label.alike = alike.unwrap_or_default();
            label.side_by_side = side_by_side(fact, query);
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

    pub(crate) fn features(&mut self, fact: &Fact, index: usize) -> [f64; FEATURES] {
        let of = match fact.place {
            FactPlace::Cell { row, .. } => (true, row),
            FactPlace::Text { sentence, .. } => (false, sentence),
        };
        if self.label.of != Some(of) {
            self.read_label(fact, of);
        }
        self.near.replace(&fact.near);
        self.features_read(fact, index)
    }

    /// The features of a fact whose label and near words are read.
    fn features_read(&self, fact: &Fact, index: usize) -> [f64; FEATURES] {
        let (facts, query, total) = (self.facts, self.query, self.total);
        let (label, near) = (&self.label, &self.near);
        // Weights of the requested words that are in its label, only near it, near it in all, and
        // for a cell only in the corner.
        let (mut in_label, mut only_near, mut in_near, mut in_corner) = (0.0, 0.0, 0.0, 0.0);
        for (word, weight) in &query.words {
            match (label.words.has(*word), near.has(*word)) {
                (true, near) => {
                    in_label += weight;
                    in_near += if near { *weight } else { 0.0 };
                }
                (false, true) => {
                    only_near += weight;
                    in_near += weight;
                }
                (false, false) if facts.corner.contains(word) => in_corner += weight,
                (false, false) => {}
            }
        }
        let in_inherited: f64 = query
            .inherited
            .iter()
            .filter(|(word, _)| label.words.has(*word) || near.has(*word))
            .map(|(_, weight)| weight)
            .sum::<f64>()
            / self.inherited_total;
        let flag = |condition: bool| f64::from(u8::from(condition));
        let matched = fact.years.iter().any(|y| query.years.contains(y));
        let asked = !query.years.is_empty();
        let year_match = flag(asked && matched);
        let exact_year = flag(asked && matched && fact.years.len() == 1);
        let conflict = flag(asked && !matched && !fact.years.is_empty());
        let undated = flag(asked && fact.years.is_empty());
        let own_year = flag(!query.years_inherited);
        let anchor = self.anchor;
        let same_series = flag(anchor.is_some_and(|a| series(facts, a, fact)));
        let any_series = flag(
            query
                .anchors
                .iter()
                .filter_map(|i| facts.all.get(*i))
                .any(|a| series(facts, a, fact)),
        );
        let same_column = flag(
            anchor
                .and_then(Fact::cell)
                .zip(fact.cell())
                .is_some_and(|(a, b)| a.1 == b.1),
        );
        let same_kind = flag(anchor.is_some_and(|a| a.cell().is_some() == fact.cell().is_some()));
        let used = flag(query.anchors.contains(&index));
        let elliptical = flag(query.elliptical);
        let mut f = [0.0; FEATURES];
        let values: &[f64] = match fact.place {
            FactPlace::Cell { row, col } => {
                let of_row = facts.rows.get(row);
                let label_total = of_row.map_or(0.0, |r| r.weight);
                let label_matched = label.matched;
                let column_unmatched = self.unasked.get(col).copied().unwrap_or_default();
                let precision = if label_total > 0.0 {
                    label_matched / label_total
                } else {
                    0.0
                };
                &[
                    1.0,
                    in_label / total,
                    only_near / total,
                    in_corner / total,
                    (label_total - label_matched).min(12.0) / 6.0,
                    precision,
                    flag(precision > 0.99),
                    column_unmatched.min(12.0) / 6.0,
                    year_match * own_year,
                    year_match * (1.0 - own_year),
                    exact_year,
                    conflict,
                    undated,
                    flag(!asked && col == 1),
                    flag(!asked) * flag(row + 1 == facts.rows.len()),
                    label.alike,
                    self.sum_alike(near),
                ]
            }
            FactPlace::Text { sentence, at, .. } => {
                let Some(sentence) = facts.sentences.get(sentence) else {
                    return f;
                };
                let mut close = 0.0;
                let mut right_before = 0.0;
                for places in label.places.chunk_by(|(a, _), (b, _)| a == b) {
                    let word = places
                        .first()
                        .and_then(|(asked, _)| query.words.get(*asked));
                    let distance = places
                        .iter()
                        .map(|(_, i)| if *i < at { at - i } else { 2 * (i - at) })
                        .min();
                    if let Some(((_, weight), distance)) = word.zip(distance) {
                        #[allow(clippy::cast_precision_loss, reason = "distances are small")]
                        let d = distance as f64;
                        close += weight / (1.0 + d / 10.0 + d * d / 200.0);
                        right_before += weight * flag(distance <= 4);
                    }
                }
                #[allow(clippy::cast_precision_loss, reason = "sentence lengths are small")]
                let length = (sentence.words.len() as f64 / 60.0).min(2.0);
                let bare = !fact.dollar && !fact.percent && fact.scale.is_none();
                &[
                    (in_label + only_near) / total,
                    in_near / total,
                    close / total,
                    right_before / total,
                    length,
                    year_match * own_year,
                    year_match * (1.0 - own_year),
                    exact_year,
                    conflict,
                    undated,
                    flag(bare && fact.literal.len() <= 2),
                    flag(bare),
                    flag(fact.dollar),
                    self.sum_alike(near),
                ]
            }
        };
        let offset = match fact.place {
            FactPlace::Cell { .. } => 0,
            FactPlace::Text { .. } => TEXT,
        };
        for (slot, value) in f.iter_mut().skip(offset).zip(values) {
            *slot = *value;
        }
        let shared = [
            same_series * elliptical,
            same_series * (1.0 - elliptical),
            any_series,
            same_column * elliptical,
            same_column * (1.0 - elliptical),
            same_kind,
            in_inherited,
            in_inherited * elliptical,
            used * flag(asked && matched),
            used * conflict,
            used * flag(!asked || query.years_inherited) * elliptical,
            used * flag(!asked || query.years_inherited) * (1.0 - elliptical),
            flag(query.percent && fact.percent),
            flag(!query.percent && fact.percent),
            flag(query.count && fact.dollar),
            flag(!query.opening && fact.opening),
            flag(query.opening && fact.opening),
            label.side_by_side,
            flag(fact.total && self.asks_total),
            flag(fact.total && !self.asks_total),
            flag(!query.opening && fact.closing),
            flag(query.named_numbers.iter().any(|n| **n == *fact.literal)),
            flag(query.count && fact.cell().is_none() && !fact.dollar && !fact.percent),
        ];
        for (slot, value) in f.iter_mut().skip(SHARED).zip(shared) {
            *slot = value;
        }
        f
    }

    pub(crate) fn score(&mut self, fact: &Fact, index: usize) -> f64 {
        let features = self.features(fact, index);
        let own = match fact.place {
            FactPlace::Cell { .. } => 0..TEXT,
            FactPlace::Text { .. } => TEXT..SHARED,
        };
        // The features of the other kind of place and those of pairs are zero.
        let weigh = |range: Range<usize>| {
            let weights = self.facts.weights.get(range.clone()).unwrap_or_default();
            features.get(range).unwrap_or_default().iter().zip(weights)
        };
        weigh(own)
            .chain(weigh(SHARED..PAIRS))
            .map(|(f, w)| f * w)
            .sum()
    }
}

/// The share of neighbouring words of the query that are neighbours in the row label.
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
    #[allow(clippy::cast_precision_loss, reason = "a question has a few words")]
    let share = found as f64 / (query.words.len() - 1) as f64;
    share
}

/// Whether two facts are of one quantity at several times: a row, a column of a table
/// whose rows are years, or a sentence.
fn series(facts: &Facts, a: &Fact, b: &Fact) -> bool {
    let dated = |f: &Fact| {
        f.cell().is_some_and(|(row, col)| {
            facts.rows.get(row).is_some_and(|r| !r.years.is_empty())
                && facts.columns.get(col).is_none_or(|c| c.years.is_empty())
        })
    };
    match (a.cell(), b.cell()) {
        (Some((_, x)), Some((_, y))) if dated(a) && dated(b) => x == y,
        _ => a.same_series(b),
    }
}

/// Rankings for one question's slots: its plans ask for the same again and again.
#[derive(Debug, Default)]
pub(crate) struct Rankings {
    made: Vec<(SlotQuery, Vec<(usize, f64)>)>,
}

impl Rankings {
    /// The `keep` best facts for a query, best first; `keep` must not change.
    pub(crate) fn of(&mut self, facts: &Facts, query: &SlotQuery, keep: usize) -> &[(usize, f64)] {
        let at = match self.made.iter().position(|(known, _)| known == query) {
            Some(at) => at,
            None => {
                self.made.push((query.clone(), rank(facts, query, keep)));
                self.made.len() - 1
            }
        };
        self.made
            .get(at)
            .map_or(&[], |(_, ranked)| ranked.as_slice())
    }
}

/// The best facts for a query, best first.
pub(crate) fn rank(facts: &Facts, query: &SlotQuery, keep: usize) -> Vec<(usize, f64)> {
    let mut scorer = SlotScorer::new(facts, query);
    if let Some(i) = query.only {
        let fact = facts.all.get(i);
        return fact.map(|f| (i, scorer.score(f, i))).into_iter().collect();
    }
    let mut scored: Vec<(usize, f64)> = facts
        .all
        .iter()
        .enumerate()
        .map(|(i, f)| (i, scorer.score(f, i)))
        .collect();
    keep_first(&mut scored, keep, |a, b| {
        b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
    });
    scored
}

/// Keeps the first so many of a list, in their order.
pub(crate) fn keep_first<T>(list: &mut Vec<T>, keep: usize, order: impl Fn(&T, &T) -> Ordering) {
    if keep < list.len() {
        list.select_nth_unstable_by(keep, &order);
        list.truncate(keep);
    }
    list.sort_unstable_by(order);
}

#[cfg(test)]
mod tests;
