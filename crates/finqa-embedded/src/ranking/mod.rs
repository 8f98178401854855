//! Chooses among candidates by the scores of a neural network.
//!
//! `question::slot_scorer` ranks facts for a slot; this ranks whole programs. The trainer fits the
//! weights in `weights/network.json`.
//!
//! Reading order: `context` is the question as all features see it, and `network_input` is a
//! candidate. `network_features` computes all that the network sees of a candidate, with the help
//! of `traits` (what its program does), `operands` (its facts) and `question_features` (the words
//! of the question). `network` computes the scores.
//!
//! The limits of features, and their values for what a candidate lacks (such as -20 for the score
//! of a missing fact), are set by hand. The weights are fitted to these values, so other ones need
//! new weights.

mod candidate;
mod context;
pub(crate) mod network;
mod network_features;
mod network_input;
mod operands;
mod question_features;
mod traits;

pub(crate) use candidate::Candidate;
pub(crate) use context::ChoiceContext;
pub(crate) use network_features::{NETWORK_FEATURES, names as network_names, network_features};
