//! The types of a page that was read: its numbers (facts), rows, columns and sentences.
//!
//! A word is a `u32`, the id that the page's `Vocabulary` gave to its stem.

use std::sync::Arc;

use finqa_core::number::Scale;

/// The place of a fact on its page.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FactPlace {
    /// A cell of the table. Row 0 is the header, and column 0 has the row labels.
    Cell { row: usize, col: usize },
    /// A number in a sentence.
    Text {
        /// Number of the document's sentence, from 1, as in the evidence id `t5`.
        document_sentence: usize,
        /// Index into `Facts::sentences`, which splits the document's sentences further.
        sentence: usize,
        /// Index of its token in the sentence.
        at: usize,
    },
}

impl Default for FactPlace {
    fn default() -> Self {
        Self::Cell { row: 0, col: 0 }
    }
}

/// A number of the page, with the words and years that name it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fact {
    /// The number as a literal of a program: `-2913`, `4.02%`.
    pub literal: Arc<str>,
    /// The literal's value: 0.0402 for `4.02%`.
    pub value: f64,
    /// The printed number with its sign: 4.02 for `4.02%`.
    pub number: f64,
    pub percent: bool,
    pub(crate) dollar: bool,
    /// The scale word next to the number, as in "5 million". On a user's page, a cell has the scale
    /// of its row, column or table here.
    pub scale: Option<Scale>,
    pub place: FactPlace,
    /// Words of the row label and its section, or of the sentence.
    pub label: Arc<[u32]>,
    /// For a cell, the words of the column's header and of the cell. For a number in a sentence,
    /// the words around it; a word that is there twice is listed twice.
    pub(crate) near: Arc<[u32]>,
    /// The years of its row and column, or the years that the sentence gives for it.
    pub(crate) years: Arc<[u16]>,
    /// True if the label of its row has the word "total".
    pub total: bool,
    /// True if its row is a balance at the beginning of a period.
    pub(crate) opening: bool,
    /// True if its row is a balance at the end of a period.
    pub(crate) closing: bool,
    /// The first and the last row of the addends, if the fact is the sum of cells above it.
    pub(crate) adds_rows: Option<(u32, u32)>,
    /// The first and the last column of the addends, if the fact is the sum of cells next to it.
    pub(crate) adds_columns: Option<(u32, u32)>,
}

impl Fact {
    /// True if it is neither money nor a percentage and has no scale word.
    pub(crate) fn is_bare(&self) -> bool {
        !self.dollar && !self.percent && self.scale.is_none()
    }

    /// True if a word is in its label or near it.
    pub(crate) fn is_named(&self, word: u32) -> bool {
        self.label.contains(&word) || self.near.contains(&word)
    }

    /// True if it is of one of these years.
    pub(crate) fn is_of(&self, years: &[u16]) -> bool {
        self.years.iter().any(|year| years.contains(year))
    }

    pub(crate) fn latest_year(&self) -> Option<u16> {
        self.years.iter().max().copied()
    }

    /// Its id as evidence: `r3c2` for a cell, `t5` for a number in the fifth sentence.
    pub(crate) fn id(&self) -> String {
        match self.place {
            FactPlace::Cell { row, col } => format!("r{row}c{col}"),
            FactPlace::Text {
                document_sentence, ..
            } => format!("t{document_sentence}"),
        }
    }

    /// Its row and column; `None` for a number in a sentence.
    pub(crate) fn cell(&self) -> Option<(usize, usize)> {
        match self.place {
            FactPlace::Cell { row, col } => Some((row, col)),
            FactPlace::Text { .. } => None,
        }
    }

    /// True if both are cells and the other is one of those that add up to this one.
    pub(crate) fn adds_up(&self, other: &Self) -> bool {
        let (Some((row, col)), Some((r, c))) = (self.cell(), other.cell()) else {
            return false;
        };
        let within = |span: Option<(u32, u32)>, at: usize| {
            span.is_some_and(|(first, last)| (first as usize..=last as usize).contains(&at))
        };
        col == c && within(self.adds_rows, r) || row == r && within(self.adds_columns, c)
    }

    /// True if both are in the same row or in the same sentence.
    pub(crate) fn same_series(&self, other: &Self) -> bool {
        match (self.place, other.place) {
            (FactPlace::Cell { row: a, .. }, FactPlace::Cell { row: b, .. }) => a == b,
            (FactPlace::Text { sentence: a, .. }, FactPlace::Text { sentence: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// A row of the table, without its cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactRow {
    pub name: String,
    pub label: Vec<u32>,
    /// Words of the label and of the heading of its section, shared with the facts of the row.
    pub full: Arc<[u32]>,
    pub(crate) years: Vec<u16>,
    /// True if the row has rates, such as earnings per share, to which the table's scale does not
    /// apply.
    pub(crate) is_rate: bool,
    /// The summed weight of the label's words.
    pub weight: f64,
    /// True if the row's name says that its amounts are paid or lost.
    pub(crate) outflow: bool,
}

/// A column of the table, without its cells.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactColumn {
    pub name: String,
    pub label: Arc<[u32]>,
    pub(crate) years: Arc<[u16]>,
}

/// A sentence of the page's text, or a part of one that ends at a semicolon.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    /// Its tokens (words are stems), separated by single blanks.
    pub text: String,
    /// The word of each token; `None` for stop words, years and punctuation.
    pub words: Vec<Option<u32>>,
}
