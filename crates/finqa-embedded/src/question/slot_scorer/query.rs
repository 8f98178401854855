//! The query of a slot: the words, years and kind of the fact that should fill it.

use std::rc::Rc;

use super::super::slot_words::WordWeights;
use super::super::wording::CommonQuery;

/// The query of a slot of a plan. It is also the key under which rankings of facts are kept.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SlotQuery {
    /// The requested words that the page has, with their weights.
    pub words: Vec<(u32, f64)>,
    /// Words of the page that mean nearly the same as requested ones, with their weights.
    pub(crate) alike: WordWeights,
    /// The weight of the requested words that the page lacks.
    pub(crate) unknown: f64,
    /// Words of the last turn, which a short question leaves out, or of the other operand.
    pub(crate) inherited: WordWeights,
    /// The requested years; empty if any year fits.
    pub(crate) years: Vec<u16>,
    /// True if the years come from an earlier turn.
    pub(crate) years_inherited: bool,
    /// True if the text names no quantity, only years, pronouns or operations, so that the quantity
    /// is that of an earlier turn.
    pub(crate) bare: bool,
    /// Facts that earlier turns used, the latest last.
    pub(crate) anchors: Rc<[usize]>,
    /// What the question requests for all of its slots.
    pub(crate) common: CommonQuery,
    /// True if an outflow is requested as a positive amount: "how much was spent?".
    pub(crate) outflow: bool,
    /// True if the first year or the opening balance is requested.
    pub(crate) opening: bool,
    /// The only fact that fits, if the plan has determined it: an index into `Facts::all`.
    pub(crate) only: Option<usize>,
}

impl SlotQuery {
    /// True if it requests this word of the page.
    pub(super) fn asks(&self, word: u32) -> bool {
        self.words.iter().any(|(known, _)| *known == word)
    }

    /// The same query for one year.
    pub(crate) fn of_year(&self, year: u16) -> Self {
        Self {
            years: vec![year],
            ..self.clone()
        }
    }

    /// The same query for any year.
    pub(crate) fn undated(self) -> Self {
        Self {
            years: Vec::new(),
            ..self
        }
    }

    /// The same query for an operand: a requested percentage is the result, not the operand.
    pub(crate) fn amount(mut self) -> Self {
        self.common.percent = false;
        self
    }

    /// This query, restricted to the fact with this index.
    pub(crate) fn of_fact(&self, index: usize) -> Self {
        Self {
            only: Some(index),
            ..self.clone()
        }
    }
}
