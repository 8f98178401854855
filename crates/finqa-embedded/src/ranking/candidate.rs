//! A candidate: a program that can answer the question, with what the network sees of it.

use crate::answering::filling::FilledPlan;

pub(crate) struct Candidate {
    pub(crate) filled: FilledPlan,
    /// The hash of its expression.
    pub(crate) hash: u64,
    /// The score by which [`candidates`](crate::answering::candidates::candidates) are cut.
    pub(crate) rough_score: f64,
    /// The slot score of its plan's best filling minus its own.
    pub(crate) behind_plan: f64,
    /// Number of candidates with its value, including itself and those that are cut.
    pub(crate) votes: usize,
}
