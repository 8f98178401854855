//! Weighs the words of labels by how rare they are on the page.

use std::collections::HashMap;

use super::table::ReportTable;
use crate::tables::words::Stems;

/// Words that do not name a figure by themselves, so a label can lack them: "segment", "spent".
static SOFT: Stems = Stems::new(
    "since total group overall consolidated net expense cost charge line item segment region \
        category product market geographic business division spend amount went book hold worth \
        dollar used cash-flow statement sheet income-statement period year quarter month week \
        date time brought billed company's out up per-share reported accounting principle",
);

/// The weights of words: the rarer a word is among the labels of a report, the larger.
#[derive(Debug)]
pub(crate) struct Weights {
    of: HashMap<String, f64>,
    /// The weight of a word that no label has.
    unknown: f64,
    /// The words of the company's name, which name no figure.
    company: Vec<String>,
}

impl Weights {
    /// Weighs the words by how often they are in labels and titles, relative to the number of rows.
    #[allow(clippy::cast_precision_loss, reason = "numbers of rows")]
    pub(crate) fn read(tables: &[ReportTable], company: Vec<String>) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut rows = 0;
        for table in tables {
            rows += table.rows.len();
            for word in table.words() {
                *counts.entry(word.to_owned()).or_default() += 1;
            }
        }
        let weight = |count: usize| (1.0 + rows as f64 / (1 + count) as f64).ln();
        let counts = counts.into_iter();
        Self {
            of: counts.map(|(word, count)| (word, weight(count))).collect(),
            unknown: weight(0),
            company,
        }
    }

    /// True if a label can lack the word: a soft word, or one of the company's name.
    pub(crate) fn is_soft(&self, word: &str) -> bool {
        SOFT.contains(word) || self.is_of_company(word)
    }

    pub(crate) fn is_of_company(&self, word: &str) -> bool {
        self.company.iter().any(|own| own == word)
    }

    /// True if a label or a title has the word.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.of.contains_key(word)
    }

    /// The share, by weight, of the words of a reading for which `said` is true, in the best of the
    /// readings; and whether it is true for all words of one reading.
    pub(crate) fn share(
        &self,
        readings: &[Vec<String>],
        said: &dyn Fn(&String) -> bool,
    ) -> (f64, bool) {
        let share = |reading: &Vec<String>| -> f64 {
            let all: f64 = reading.iter().map(|word| self.of(word)).sum();
            let words = reading.iter().filter(|word| said(word));
            // At least 1, so that a reading without words has the share 0.
            words.map(|word| self.of(word)).sum::<f64>() / all.max(1.0)
        };
        let best = readings.iter().map(share).fold(0.0, f64::max);
        let full = readings.iter().any(|reading| reading.iter().all(said));
        (best, full)
    }

    pub(crate) fn of(&self, word: &str) -> f64 {
        self.of.get(word).copied().unwrap_or(self.unknown)
    }
}
