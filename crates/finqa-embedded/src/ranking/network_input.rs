//! A candidate as the functions of its features see it.

use super::candidate::Candidate;
use super::context::{CandidateSketch, ChoiceContext, same_size};
use super::operands::Operands;
use crate::expr::PageLeaf;
use crate::question::feature_values::count;
use crate::question::plan::ProgramPlan;
use crate::reading::facts::Fact;
use crate::shape::{SHAPES, holds, shape};

/// The name of a feature, and the function that computes it.
pub(super) type Feature = (&'static str, fn(&NetworkInput<'_>) -> f64);

/// A candidate, and the values from which its features are computed.
pub(super) struct NetworkInput<'a> {
    pub(super) context: &'a ChoiceContext<'a>,
    pub(super) plan: &'a ProgramPlan,
    pub(super) candidate: &'a Candidate,
    pub(super) operands: &'a Operands,
    /// Its position by rough score, from 0.
    pub(super) rank: usize,
    /// The best rough score of all candidates.
    pub(super) best: f64,
    pub(super) shape: usize,
    /// The leaves of the program without constants.
    pub(super) leaves: Vec<&'a PageLeaf>,
    /// The facts of these leaves, with their indices.
    pub(super) used: Vec<(usize, &'a Fact)>,
    pub(super) value: Option<f64>,
    /// `None` for a stand-alone question.
    pub(super) sketch: Option<CandidateSketch>,
    /// Number of its leaves whose literals earlier turns have too, with either sign.
    pub(super) known: usize,
    /// True if a literal has a minus sign.
    pub(super) minus: bool,
    /// True if a fact is negative on the page but its literal has no minus sign.
    pub(super) dropped: bool,
}

impl<'a> NetworkInput<'a> {
    pub(super) fn new(
        context: &'a ChoiceContext<'a>,
        plan: &'a ProgramPlan,
        candidate: &'a Candidate,
        operands: &'a Operands,
        (rank, best): (usize, f64),
    ) -> Self {
        let expr = &candidate.filled.expr;
        let facts = context.facts;
        let mut leaves = expr.leaves();
        leaves.retain(|leaf| !leaf.is_constant());
        let is_negative = |literal: &str| literal.starts_with('-');
        let drops = |leaf: &&PageLeaf| {
            let fact = leaf.source.and_then(|index| facts.all.get(index));
            !is_negative(&leaf.literal) && fact.is_some_and(|fact| is_negative(&fact.literal))
        };
        let known = |leaf: &&&PageLeaf| context.is_earlier(&leaf.literal);
        Self {
            context,
            plan,
            candidate,
            operands,
            rank,
            best,
            shape: shape(expr),
            value: expr.number(),
            sketch: context.sketch(expr),
            known: leaves.iter().filter(known).count(),
            minus: leaves.iter().any(|leaf| is_negative(&leaf.literal)),
            dropped: leaves.iter().any(drops),
            used: facts.of_expr(expr).collect(),
            leaves,
        }
    }

    pub(super) fn fact(&self, k: usize) -> Option<&'a Fact> {
        self.used.get(k).map(|(_, fact)| *fact)
    }

    pub(super) fn cell(&self, k: usize) -> Option<(usize, usize)> {
        self.fact(k)?.cell()
    }

    pub(super) fn cells(&self) -> impl Iterator<Item = (usize, usize)> {
        self.used.iter().filter_map(|(_, fact)| fact.cell())
    }

    pub(super) fn count_of(&self, holds: impl Fn(&Fact) -> bool) -> f64 {
        count(self.used.iter().filter(|(_, fact)| holds(fact)).count())
    }

    /// The distance from the first fact to the second, in rows or columns; -20 unless both are
    /// cells.
    pub(super) fn apart(&self, pick: impl Fn((usize, usize)) -> usize) -> f64 {
        let cells = self.cell(0).zip(self.cell(1));
        cells.map_or(-20.0, |(a, b)| count(pick(b)) - count(pick(a)))
    }

    /// The slot score of the fact that fits the question as a whole best.
    pub(super) fn top(&self) -> f64 {
        let best = self.context.best_facts.first();
        best.map_or(0.0, |(_, score)| *score)
    }

    /// The position of its `k`-th fact among those that fit the question as a whole best; their
    /// number if it is not among them, -1 if there is no such fact.
    pub(super) fn rank(&self, k: usize) -> f64 {
        let best = &self.context.best_facts;
        self.used.get(k).map_or(-1.0, |(index, _)| {
            let at = best.iter().position(|(i, _)| i == index);
            count(at.unwrap_or(best.len()))
        })
    }

    /// The slot score of its `k`-th fact minus the best one; -10 if the fact is not among the best,
    /// -20 if there is no such fact.
    pub(super) fn score(&self, k: usize) -> f64 {
        self.used.get(k).map_or(-20.0, |(index, _)| {
            let mut best = self.context.best_facts.iter();
            let found = best.find(|(i, _)| i == index);
            found.map_or(-10.0, |(_, score)| score - self.top())
        })
    }

    /// True if a cell of the table has the value, with either sign and up to rounding errors.
    pub(super) fn is_printed(&self, value: f64) -> bool {
        let mut facts = self.context.facts.all.iter();
        facts.any(|fact| fact.cell().is_some() && same_size(fact.number, value))
    }

    /// For a question for the largest (or smallest): 1 if the candidate's only fact is the largest
    /// (smallest) of its row or column, -1 if it is the smallest (largest) of both, 0 in between. 0
    /// for other questions, and for several facts.
    pub(super) fn extreme(&self) -> f64 {
        match (self.context.extreme, self.used.as_slice()) {
            (Some(largest), [(index, _)]) => {
                let sign = if largest { 1.0 } else { -1.0 };
                let ends = self.operands.extremes(*index);
                ends.iter().map(|end| end * sign).fold(-1.0, f64::max)
            }
            _ => 0.0,
        }
    }

    /// True if its shape has one of these names.
    pub(super) fn is_shape(&self, names: &[&str]) -> bool {
        let name = SHAPES.get(self.shape);
        name.is_some_and(|name| names.contains(name))
    }

    /// True for a look-up; the first two shapes are.
    pub(super) fn looks_up(&self) -> bool {
        self.shape < 2
    }

    /// True if all its numbers are of earlier turns.
    pub(super) fn all_known(&self) -> bool {
        self.known == self.leaves.len() && self.known > 0
    }

    /// True if an earlier answer has its value, with either sign.
    pub(super) fn is_repeated(&self) -> bool {
        let Some(value) = self.value else {
            return false;
        };
        let mut answers = self.context.earlier.iter().map(|turn| turn.expr.number());
        answers.any(|answer| answer.is_some_and(|answer| same_size(answer, value)))
    }

    /// True if its program contains that of an earlier turn; 0 is the last one.
    pub(super) fn contains_turn(&self, back: usize) -> bool {
        let turn = self.context.earlier.iter().nth_back(back);
        turn.is_some_and(|turn| holds(&self.candidate.filled.expr, &turn.expr))
    }

    /// True if a literal has a minus sign or lost that of its fact, and a fact is of an outflow.
    pub(super) fn is_outflow(&self) -> bool {
        let facts = self.used.iter();
        let mut rows = facts.filter_map(|(_, fact)| self.context.facts.row_of(fact));
        (self.minus || self.dropped) && rows.any(|row| row.outflow)
    }
}
