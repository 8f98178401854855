//! The embedded analyst: answers without a network or a key.
//!
//! A page is read once into a fact store ([`EmbeddedAnalyst::index`]); a question becomes
//! plans (an operation over open slots), and a linear scorer ranks facts for every slot. A second
//! one picks a few of the programs that this gives, and trees and a neural network rank these.
//! A question about the user's own page is first read by the labels of its table; of a
//! long report, [`Passages`] finds the parts that it is about.
//!
//! It sees no gold and calls no chat model.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

mod answering;
mod expr;
mod labels;
mod operations;
mod passages;
mod question;
mod ranking;
mod reading;
mod report;
mod shape;
mod sketch;
#[doc(hidden)]
pub mod training;
mod weights;

pub use answering::analyst::EmbeddedAnalyst;
pub use answering::answer::{EmbeddedAnswer, PageIndex, RankedAnswer};
pub use passages::{Passage, Passages};
