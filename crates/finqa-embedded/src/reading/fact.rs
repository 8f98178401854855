//! A number of a page, and the rows, columns and sentences that name it.

use std::sync::{Arc, OnceLock};

use finqa_core::number::Scale;

/// Where a fact is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactPlace {
    /// Row 0 is the header, column 0 the row labels.
    Cell { row: usize, col: usize },
    /// A number in a sentence.
    Text {
        /// Number of the sentence on the page, from 1.
        filed: usize,
        /// Index of the sentence after our own split.
        sentence: usize,
        /// Numbers listed together share a run.
        run: usize,
        /// Index of its token in the sentence.
        at: usize,
    },
}

/// A number of the page.
#[derive(Clone, Debug)]
pub(crate) struct Fact {
    /// As the official evaluator reads it.
    pub literal: Arc<str>,
    /// The literal's value.
    pub value: f64,
    /// As printed, with its sign; a percentage is not divided.
    pub number: f64,
    pub percent: bool,
    pub(crate) dollar: bool,
    /// The scale word next to it.
    pub scale: Option<Scale>,
    pub place: FactPlace,
    /// Words of the row label and its section, or of the sentence.
    pub label: Arc<[u32]>,
    /// Words of the column's header, or the nearest words in the sentence, where one may
    /// occur twice.
    pub(crate) near: Arc<[u32]>,
    /// Years of its column and row, or near it in the sentence.
    pub(crate) years: Vec<u16>,
    /// Its row is a total.
    pub total: bool,
    /// Its row is a balance at the beginning of the period.
    pub(crate) opening: bool,
    /// Its row is a balance at the end of the period.
    pub(crate) closing: bool,
    /// The first and last row of the cells above it that it is the sum of.
    pub(crate) adds_rows: Option<(usize, usize)>,
    /// The first and last column of the cells of its row that it is the sum of.
    pub(crate) adds_columns: Option<(usize, usize)>,
}

impl Fact {
    /// Whether it is neither money nor a percentage, and has no scale word.
    pub(crate) fn is_bare(&self) -> bool {
        !self.dollar && !self.percent && self.scale.is_none()
    }

    /// Whether a word is one of its names.
    pub(crate) fn is_named(&self, word: u32) -> bool {
        self.label.contains(&word) || self.near.contains(&word)
    }

    /// `r3c2`, `t5`.
    pub(crate) fn id(&self) -> String {
        match self.place {
            FactPlace::Cell { row, col } => format!("r{row}c{col}"),
            FactPlace::Text { filed, .. } => format!("t{filed}"),
        }
    }

    pub(crate) fn cell(&self) -> Option<(usize, usize)> {
        match self.place {
            FactPlace::Cell { row, col } => Some((row, col)),
            FactPlace::Text { .. } => None,
        }
    }

    /// Whether it is a sum, by the numbers of the table, that includes the other.
    pub(crate) fn adds_up(&self, other: &Self) -> bool {
        let (Some((row, col)), Some((r, c))) = (self.cell(), other.cell()) else {
            return false;
        };
        let within = |span: Option<(usize, usize)>, at: usize| {
            span.is_some_and(|(first, last)| (first..=last).contains(&at))
        };
        col == c && within(self.adds_rows, r) || row == r && within(self.adds_columns, c)
    }

    /// Whether both are in the same row, or in the same list of a sentence.
    pub(crate) fn same_series(&self, other: &Self) -> bool {
        match (self.place, other.place) {
            (FactPlace::Cell { row: a, .. }, FactPlace::Cell { row: b, .. }) => a == b,
            (FactPlace::Text { sentence: a, .. }, FactPlace::Text { sentence: b, .. }) => a == b,
            _ => false,
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, Default)]
pub(crate) struct FactRow {
    pub name: String,
    pub label: Vec<u32>,
    /// Words of the label and of the section heading above it.
    pub full: Arc<[u32]>,
    pub(crate) years: Vec<u16>,
    /// Its heading says that it is a rate, such as earnings per share.
    pub(crate) is_rate: bool,
    /// The sum of the weights of the label's words.
    pub weight: f64,
    /// Whether it is paid or lost, by its name, once that was asked.
    pub(crate) outflow: OnceLock<bool>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct FactColumn {
    pub name: String,
    pub label: Arc<[u32]>,
    pub(crate) years: Vec<u16>,
}

/// A sentence, split from the page's text.
#[derive(Clone, Debug)]
pub(crate) struct Sentence {
    /// Its tokens, with a blank between them.
    pub text: String,
    /// The word of each token, where it is worth matching.
    pub words: Vec<Option<u32>>,
}
