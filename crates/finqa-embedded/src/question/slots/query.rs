//! What a plan asks of the fact for a slot.

use std::rc::Rc;

use super::super::slot_words::WordWeights;
use finqa_core::number::Scale;

/// What a slot of a program asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct SlotQuery {
    /// Requested words with their weight in the document.
    pub words: Vec<(u32, f64)>,
    /// Words of the page that mean nearly the same as requested ones, with their weights.
    pub(crate) alike: WordWeights,
    /// Weight of words that the document lacks.
    pub(crate) unknown: f64,
    /// Words of the earlier turn that a short question leaves out.
    pub(crate) inherited: WordWeights,
    pub(crate) years: Vec<u16>,
    /// The years come from an earlier turn.
    pub(crate) years_inherited: bool,
    /// Only a year or a pronoun is named: the entity is the earlier turn's.
    pub(crate) elliptical: bool,
    /// Facts that earlier turns used, the latest last.
    pub(crate) anchors: Rc<[usize]>,
    /// A percentage is requested as such.
    pub percent: bool,
    /// A count (`how many`, `number of`), not money.
    pub count: bool,
    /// The scale word in the question.
    pub scale: Option<Scale>,
    /// An outflow or its magnitude is requested, without a minus sign.
    pub(crate) outflow: bool,
    /// Plain numbers in the question itself.
    pub(crate) named_numbers: Rc<[String]>,
    /// The first year or opening balance is requested.
    pub(crate) opening: bool,
    /// The fact that the plan has determined: an index into the fact store.
    pub(crate) only: Option<usize>,
}

impl SlotQuery {
    /// The same of one year.
    pub(crate) fn of_year(&self, year: u16) -> Self {
        Self {
            years: vec![year],
            ..self.clone()
        }
    }

    /// The same of any year.
    pub(crate) fn undated(self) -> Self {
        Self {
            years: Vec::new(),
            ..self
        }
    }

    /// The same for an amount: a percentage is requested of the calculation, not of the slot.
    pub(crate) fn amount(self) -> Self {
        Self {
            percent: false,
            ..self
        }
    }

    /// The same for a fact that the plan has determined.
    pub(crate) fn of_fact(&self, index: usize) -> Self {
        Self {
            only: Some(index),
            ..self.clone()
        }
    }
}
