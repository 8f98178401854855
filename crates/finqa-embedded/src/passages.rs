//! Which rows of tables and which paragraphs of a long report a question is about: the words of
//! the question against theirs, rare ones counting more, and words that mean nearly the same
//! counting in part.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::reading::similarity;
use crate::tables::ways_to_say;
use crate::tables::words::stems;

/// How alike two words must be to count as the same in part.
const ALIKE: f64 = 0.6;

/// What a word counts that is not in the passage but above it.
const ABOVE: f64 = 0.5;

/// What another name of a figure counts less than that of the question.
const OTHER_NAME: f64 = 0.9;

/// How much a long passage loses with each of its words.
const PER_WORD: f64 = 0.02;

/// Something that may answer a question.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'t> {
    /// A row's label, or a paragraph.
    pub text: &'t str,
    /// The headings above it: of the table, of its columns and of its rows.
    pub above: &'t str,
}

/// The passages of a report.
#[derive(Debug)]
pub struct Passages {
    passages: Vec<Words>,
    /// In how many passages a stem is.
    frequency: HashMap<String, usize>,
}

#[derive(Debug)]
struct Words {
    text: HashSet<String>,
    above: Arc<HashSet<String>>,
}

/// A stem of a question, with the row of its vector and its weight.
struct AskedWord {
    stem: String,
    vector: Option<u16>,
    weight: f64,
}

impl Passages {
    /// Reads the passages.
    pub fn read<'t>(passages: impl IntoIterator<Item = Passage<'t>>) -> Self {
        // The rows of a table have most headings in common.
        let mut headings: HashMap<String, Arc<HashSet<String>>> = HashMap::new();
        let words = |passage: Passage<'t>| Words {
            text: stems(passage.text).into_iter().collect(),
            above: Arc::clone(
                headings
                    .entry(passage.above.to_owned())
                    .or_insert_with_key(|above| Arc::new(stems(above).into_iter().collect())),
            ),
        };
        let passages: Vec<Words> = passages.into_iter().map(words).collect();
        let mut frequency = HashMap::new();
        for stem in passages.iter().flat_map(|passage| &passage.text) {
            *frequency.entry(stem.clone()).or_insert(0) += 1;
        }
        Self {
            passages,
            frequency,
        }
    }

    /// How well each passage fits a question, in their order; 0 for one that shares nothing.
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

impl Words {
    /// How well the best of several ways to say a figure fits; each counts as much as the first.
    fn fit_best(&self, ways: &[Vec<AskedWord>]) -> f64 {
        let weight = |way: &[AskedWord]| way.iter().map(|word| word.weight).sum::<f64>();
        let own = ways.first().map_or(0.0, |way| weight(way));
        let fit = |(at, way): (usize, &Vec<AskedWord>)| {
            let other = if at == 0 { 1.0 } else { OTHER_NAME };
            other * self.fit(way) * own / weight(way).max(f64::EPSILON)
        };
        ways.iter().enumerate().map(fit).fold(0.0, f64::max)
    }

    #[allow(clippy::cast_precision_loss, reason = "numbers of words")]
    fn fit(&self, asked: &[AskedWord]) -> f64 {
        let one = |word: &AskedWord| {
            let inside = likeness(word, &self.text) / (1.0 + PER_WORD * self.text.len() as f64);
            word.weight * inside.max(ABOVE * likeness(word, &self.above))
        };
        asked.iter().map(one).sum()
    }
}

/// 1 if a text has a word, less if it only has one like it.
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
