//! The embedded analyst: answers without a network or a key.
//!
//! A page is read once into a fact store ([`EmbeddedAnalyst::index`]); a question becomes
//! plans (an operation over open slots), a linear scorer ranks facts for every
//! slot, and the best joint choice is written as a program of the dataset's
//! language. It sees no gold and calls no model.

mod answering;
mod direct;
mod expr;
mod question;
mod reading;
mod shape;
mod sketch;
#[doc(hidden)]
pub mod training;
mod weights;

pub use answering::analyst::{EmbeddedAnalyst, EmbeddedAnswer, PageIndex, RankedAnswer};
pub(crate) use answering::from_labels::UNDEFINED;
