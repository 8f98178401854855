//! A candidate: a program that can answer the question, with what the models see of it.

use crate::answering::filling::FilledPlan;

pub(crate) struct Candidate {
    pub(crate) filled: FilledPlan,
    /// The hash of its expression.
    pub(crate) hash: u64,
    /// The non-zero features of the linear model: index and value.
    pub(crate) features: Vec<(usize, f64)>,
    pub(crate) linear: LinearRank,
}

/// The position of a candidate among all candidates by the score of the linear model.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinearRank {
    /// The candidate's score.
    pub score: f64,
    /// The best score minus the candidate's score.
    pub(crate) behind: f64,
    /// The candidate's position by score, from 0.
    pub(crate) rank: usize,
    /// Number of candidates with the candidate's value, including itself.
    pub votes: usize,
    /// The candidate's position among the candidates of its shape, from 0.
    pub rank_in_shape: usize,
    /// The best score of its shape minus the candidate's score.
    pub behind_shape: f64,
}
