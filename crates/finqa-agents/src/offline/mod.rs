//! The embedded pair's analyst: answers without a network or a key.
//!
//! A page is read once into a fact store ([`Solver::index`]); a question becomes
//! plans (an operation over open slots), a linear scorer ranks facts for every
//! slot, and the best joint choice is written as a program of the dataset's
//! language. It sees no gold and calls no model.

mod arithmetic;
mod asked;
mod cell;
mod choice;
mod confidence;
mod describe;
mod expr;
mod facts;
mod fill;
mod follow;
mod mention;
mod plan;
mod prose;
mod refer;
mod scale;
mod slots;
mod solve;
mod state;
mod synonyms;
mod templates;
mod text;
mod training;
mod variants;
mod vocabulary;
mod weights;

pub use solve::{Alternative, EvidenceRef, Guess, Indexed, Solver};
pub use training::{
    Candidate, Example, candidates, choice_names, example, feature_weights, signal_names,
};
