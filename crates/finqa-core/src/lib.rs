//! The common base of both products in this workspace: financial numbers, the dataset's
//! program language, tables, questions without gold, statistics, and the downloader.
//! Nothing here calls a model.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod error;
pub mod fetch;
pub mod files;
pub mod net;
pub mod number;
pub mod options;
pub mod outcome;
pub mod page;
pub mod program;
pub mod question;
pub mod secrets;
pub mod stats;

pub mod text;
