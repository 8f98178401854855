//! The base that the evaluator and the FinQA environment share. Nothing here calls a model or knows
//! the type of a gold answer.
//!
//! **In:** a record of the dataset or a document of the user, as a [`question::Document`]:
//! sentences and rows of cell strings. **Out:** the same document read into typed cells and numbers
//! with their ids ([`page`]), the result of a program over its table ([`program`]), and rates with
//! intervals ([`stats`]).
//!
//! Reading order: [`number`] reads and prints financial numbers and needs only [`text`];
//! [`program`] parses, executes and compares programs; [`page`] reads a table with its header, unit
//! and years; [`question`] combines a page with a question and the earlier turns. [`stats`] is
//! independent of these modules and works on lists of right and wrong answers. The other modules are
//! helpers: [`error`], [`files`], [`net`], [`options`], [`outcome`], [`secrets`], [`short_text`] and
//! [`text`].

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod error;
pub mod files;
pub mod net;
pub mod number;
pub mod options;
pub mod outcome;
pub mod page;
pub mod program;
pub mod question;
pub mod secrets;
pub mod short_text;
pub mod stats;

pub mod text;
