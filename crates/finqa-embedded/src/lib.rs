//! The embedded analyst: answers without a network or a key.
//!
//! A page is read once into a fact store ([`EmbeddedAnalyst::index`]); a question becomes
//! plans (an operation over open slots), and a linear scorer ranks facts for every slot. A second
//! one picks a few of the programs that this gives, and a neural network ranks these.
//! A question about the user's own page is first read by the labels of its table, and one about
//! a report by the labels of all its tables; [`Passages`] finds the parts of it that a question is
//! about.
//!
//! It sees no gold and calls no chat model.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

mod answering;
mod expr;
mod operations;
mod passages;
mod question;
mod ranking;
mod reading;
mod shape;
mod sketch;
mod tables;
#[doc(hidden)]
pub mod training;
mod weights;

pub use answering::analyst::EmbeddedAnalyst;
pub use answering::answer::{EmbeddedAnswer, PageIndex, RankedAnswer};
pub use passages::{Passage, Passages};
pub use tables::names_amount;
