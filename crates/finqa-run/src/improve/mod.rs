//! Asks a model for changes of the prompt templates (`convfinqa improve`). `finqa_score::improve`
//! decides whether a change helps.

mod proposal;

pub use proposal::{Proposal, Rejection, request, templates};
