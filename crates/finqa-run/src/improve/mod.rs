//! Prompts that a model changes: `convfinqa improve`. Whether a change helps is judged by
//! `finqa_score::improve`.

mod proposal;

pub use proposal::{Proposal, Rejection, request, templates};
