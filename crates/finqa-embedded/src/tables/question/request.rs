//! What a question asks for, as a value: an operation and its operands.

use super::operand::Operand;
use super::rank_question::Ranking;
use crate::tables::words::SaidWord;

/// A question as an operation on figures, before any table is searched.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) operation: Operation,
    /// The figures. For an operation on several figures, a single operand means its figures in
    /// several periods.
    pub(crate) operands: Vec<Operand>,
    /// True if the result is a percentage: a share, or a change in percent of the earlier figure.
    pub(crate) relative: bool,
    /// True if the only period is the earlier one of a change: "since 2019".
    pub(crate) since: bool,
    /// The figure that is asked for besides its change: "sales in 2031 and their growth".
    pub(crate) figure: Option<Operand>,
    /// True if a question for a name asks for its figure too: "which month was it, and how much?"
    pub(crate) with_figure: bool,
    /// Words that ask for something that was not read. The answer is then only a guess.
    pub(crate) unused: Vec<String>,
    /// Stems of the parts that a ranking leaves out: "apart from the United States".
    pub(crate) left_out: Vec<String>,
}

impl Asked {
    /// Its operand, if it has exactly one.
    pub(crate) fn only(&self) -> Option<&Operand> {
        match self.operands.as_slice() {
            [of] => Some(of),
            _ => None,
        }
    }

    /// An operation in whose question nothing else was read.
    pub(crate) fn new(operation: Operation, operands: Vec<Operand>) -> Self {
        Self {
            operation,
            operands,
            relative: false,
            since: false,
            figure: None,
            with_figure: false,
            unused: Vec::new(),
            left_out: Vec::new(),
        }
    }
}

/// The calculation with the operands that a question asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Operation {
    /// One figure; `find` computes a margin or a measure.
    Figure,
    /// The first figure minus the second, or the later minus the earlier. If the question asks for
    /// a fall, a fall is positive.
    Difference,
    Ratio,
    /// The yearly rate of growth between two years.
    Compound,
    Sum,
    Average,
    Extreme {
        largest: bool,
        which: Option<Which>,
    },
    /// Yes or no: is the first figure larger than the second, or did one rise (fall, if asked)?
    Compare,
    /// Yes or no: is the figure more than zero?
    Exists,
    /// The part of a whole that is first by a measure: "which segment grew fastest".
    Ranked(Ranking),
    /// The larger or smaller of two figures: "was A or B larger?"
    Larger {
        largest: bool,
    },
}

/// The kind of name that a "which" question wants as its answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Which {
    /// A period with so many months; of any length if `None`.
    Period(Option<u8>),
    /// A noun such as "segment".
    Label(Vec<SaidWord>),
}
