//! A run on disk: the settings that decide it, its plan, its folder and locks, and the journal from
//! which it is resumed and everything else is made.
//!
//! [`settings`] come from flags, variables and files; [`run`] holds the plan, the journal, the
//! shards and the summary; [`answers`] opens the answers of a run or a file for analysis. Nothing
//! here asks a question or writes what people read.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod answers;
pub mod run;
pub mod settings;
