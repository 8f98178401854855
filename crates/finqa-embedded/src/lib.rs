//! The embedded analyst: answers questions about a financial page with rules and trained weights,
//! without a network, a key or a chat model. It never sees the gold answer of a question.
//!
//! A [`Document`](finqa_core::question::Document) comes in once and is read into a [`PageIndex`].
//! Then each [`Question`](finqa_core::question::Question) about it, with its earlier turns, gives
//! an [`EmbeddedAnswer`]: a program in the dataset's language with its value, unit, evidence and
//! steps, a probability that it is right, and a doubt if it is only a guess.
//!
//! A question about a page of the dataset is answered in four steps:
//!
//! ```text
//! question     by what percentage did sales grow from 2018 to 2019?
//! facts        120 (row "sales", 2019), 100 (row "sales", 2018), …
//! plan         (slot 0 - slot 1) / slot 1; slot 0: sales, 2019; slot 1: sales, 2018
//! candidates   subtract(120, 100), divide(#0, 100)
//!              subtract(120, 100), divide(#0, 120), …
//! answer       the candidate that the choice ranks first: 0.2, that is 20 %
//! ```
//!
//! A question about the user's own table, or about a report, is first read by the labels of the
//! tables. Where these do not answer it, the steps above do for a single table, mostly with a
//! doubt, and a sentence that states the figure does for a report. [`Passages`] finds the parts of
//! a report that fit a question, for a chat model's excerpt.
//!
//! Reading order: `expr`, `operations`, `shape` and `sketch` describe programs. `reading` reads a
//! page into facts. `question` reads a question and makes plans. `answering` fills the plans,
//! computes the confidence and describes the answer; start with `answering::analyst`. `ranking`
//! chooses among the candidates. `tables` answers from labels and does not depend on the plans.
//! `explanation` is how a question was read and answered, for people.
//! `weights` reads the trained weights, and `training` serves the trainer, which fits them.
//!
//! The weights are fitted to the features that this code computes. So a change of a constant, a
//! word list or a rule on the way to a feature can make answers worse until the trainer has run
//! again; `docs/embedded-analyst.md` has the command and the measured accuracy.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

mod answering;
mod explanation;
mod expr;
mod operations;
mod passages;
mod question;
mod ranking;
mod reading;
mod shape;
mod sketch;
mod tables;
pub mod training;
mod weights;

pub use answering::analyst::EmbeddedAnalyst;
pub use answering::answer::{EmbeddedAnswer, PageIndex, RankedAnswer};
pub use explanation::{AnswerSource, AskedFigure, ExplainedFigure, ExplainedProgram, Explanation};
pub use passages::{Passage, Passages};
pub use tables::{names_amount, names_row};

/// The items without repetitions, in order of first occurrence. Compares all pairs, which is fast
/// for the short lists of words and figures here.
fn distinct<T: PartialEq>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut out = Vec::new();
    for item in items {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}
