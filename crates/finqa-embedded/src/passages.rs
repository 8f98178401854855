//! Scores how well the rows and paragraphs of a long report fit a question. Rare words of the
//! question count more than frequent ones, and a word that only means nearly the same counts in
//! part.
//!
//! The factors below are set by hand. `.ci/filings` prints how many excerpts have the figures of
//! the answer.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::reading::similarity;
use crate::tables::ways_to_say;
use crate::tables::words::stems;

/// Minimum cosine similarity at which another word counts in part.
const ALIKE: f64 = 0.6;

/// Factor for a word that is found only in the headings above a passage.
const ABOVE: f64 = 0.5;

/// Factor for another name of a figure than the one in the question. When the other names were
/// added, the number of excerpts (of 2,000 tokens) with the answer's figures rose from 132 to 136
/// of 140.
const OTHER_NAME: f64 = 0.9;

/// Penalty for long passages: a match counts `1 / (1 + PER_WORD * n)` in a passage of `n` different
/// words.
const PER_WORD: f64 = 0.02;

/// A part of a report that can answer a question: a row or a paragraph.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'t> {
    /// A row's label, or a paragraph.
    pub text: &'t str,
    /// The headings that apply to it: of the table, of its columns and of its section.
    pub above: &'t str,
}

/// All passages of a report, read into stems.
#[derive(Debug)]
pub struct Passages {
    passages: Vec<PassageStems>,
    /// For each stem, the number of passages that have it in their text. The headings above a
    /// passage do not count.
    frequency: HashMap<String, usize>,
}

/// The stems of a passage, and those of the headings above it.
#[derive(Debug)]
struct PassageStems {
    text: HashSet<String>,
    above: Arc<HashSet<String>>,
}

/// A stem of a question, with its word vector (by its row in the table of vectors) and its weight.
struct AskedWord {
    stem: String,
    vector: Option<u16>,
    weight: f64,
}

impl Passages {
    /// Reads the passages of a report.
    pub fn read<'t>(passages: impl IntoIterator<Item = Passage<'t>>) -> Self {
        // Passages with the same headings share one set of stems.
        let mut headings: HashMap<String, Arc<HashSet<String>>> = HashMap::new();
        let words = |passage: Passage<'t>| PassageStems {
            text: stems(passage.text).into_iter().collect(),
            above: Arc::clone(
                headings
                    .entry(passage.above.to_owned())
                    .or_insert_with_key(|above| Arc::new(stems(above).into_iter().collect())),
            ),
        };
        let passages: Vec<PassageStems> = passages.into_iter().map(words).collect();
        let mut frequency = HashMap::new();
        for stem in passages.iter().flat_map(|passage| &passage.text) {
            *frequency.entry(stem.clone()).or_insert(0) += 1;
        }
        Self {
            passages,
            frequency,
        }
    }

    /// The score of each passage for a question, in the order of the passages. It is at least 0 and
    /// has no fixed maximum; 0 means that the passage and the question have nothing in common.
    pub fn fit(&self, question: &str) -> Vec<f64> {
        let read = |way: Vec<String>| way.into_iter().map(|stem| self.asked(stem)).collect();
        let parts: Vec<Vec<Vec<AskedWord>>> = ways_to_say(question)
            .into_iter()
            .map(|ways| ways.into_iter().map(read).collect())
            .collect();
        self.passages
            .iter()
            .map(|passage| parts.iter().map(|ways| passage.fit_best(ways)).sum())
            .collect()
    }

    /// The vector and the weight of a stem of the question. The fewer passages have it, the more it
    /// weighs.
    #[allow(clippy::cast_precision_loss, reason = "numbers of rows")]
    fn asked(&self, stem: String) -> AskedWord {
        let seen = self.frequency.get(&stem).copied().unwrap_or(0);
        AskedWord {
            weight: (1.0 + self.passages.len() as f64 / (1 + seen) as f64).ln(),
            vector: similarity::row(&stem),
            stem,
        }
    }
}

impl PassageStems {
    /// The score of the best of several ways to say a figure. The first is the question's own. The
    /// others are scaled to its total weight, so that a long name does not count more.
    fn fit_best(&self, ways: &[Vec<AskedWord>]) -> f64 {
        let weight = |way: &[AskedWord]| way.iter().map(|word| word.weight).sum::<f64>();
        let own = ways.first().map_or(0.0, |way| weight(way));
        let fit = |(at, way): (usize, &Vec<AskedWord>)| {
            let other = if at == 0 { 1.0 } else { OTHER_NAME };
            // A divisor, so more than 0.
            other * self.fit(way) * own / weight(way).max(f64::EPSILON)
        };
        ways.iter().enumerate().map(fit).fold(0.0, f64::max)
    }

    /// The sum over the words of the question. Each counts in the text or in the headings, where it
    /// scores higher.
    #[allow(clippy::cast_precision_loss, reason = "numbers of words")]
    fn fit(&self, asked: &[AskedWord]) -> f64 {
        let one = |word: &AskedWord| {
            let inside = likeness(word, &self.text) / (1.0 + PER_WORD * self.text.len() as f64);
            word.weight * inside.max(ABOVE * likeness(word, &self.above))
        };
        asked.iter().map(one).sum()
    }
}

/// 1 if the text has the word. Otherwise the square of the cosine similarity of the most similar
/// word, or 0 if that similarity is below [`ALIKE`] or the word has no vector. Squared, a word that
/// is only just similar counts little more than a third.
fn likeness(word: &AskedWord, text: &HashSet<String>) -> f64 {
    if text.contains(&word.stem) {
        return 1.0;
    }
    let Some(vector) = word.vector else {
        return 0.0;
    };
    let alike = text
        .iter()
        .filter_map(|other| similarity::row(other))
        .map(|other| similarity::cosine(vector, other));
    let most = alike.fold(0.0, f64::max);
    if most < ALIKE { 0.0 } else { most * most }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_row_with_the_rare_word_fits_best() {
        let rows = [
            "Research and development", "Revenue", "Cost of revenue", "Total revenue",
        ];
        let passages = Passages::read(rows.map(|text| Passage {
            text,
            above: "Income statement",
        }));
        let best = |question: &str| {
            let fit = passages.fit(question);
            (0..fit.len())
                .max_by(|a, b| fit[*a].total_cmp(&fit[*b]))
                .unwrap()
        };
        assert_eq!(best("development spending in 2031"), 0);
        assert_eq!(best("what did revenue cost?"), 2);
    }

    #[test]
    fn a_figure_is_found_by_its_other_names() {
        let rows = [
            "Payments for acquisition of property, plant and equipment",
            "Long-term debt",
        ];
        let passages = Passages::read(rows.map(|text| Passage { text, above: "" }));
        let fit = passages.fit("how much was capex?");
        assert!(fit[0] > fit[1] && fit[1] == 0.0, "{fit:?}");
    }

    #[test]
    fn a_word_of_the_same_meaning_counts_in_part() {
        let passages =
            Passages::read(["Employees", "Debt"].map(|text| Passage { text, above: "" }));
        let fit = passages.fit("how many workers?");
        assert!(fit[0] > fit[1] && fit[1] == 0.0, "{fit:?}");
    }
}
