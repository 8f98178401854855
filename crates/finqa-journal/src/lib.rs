//! A run on disk: its settings, its plan, its folder, and the journal from which it is resumed and
//! its other files are made.
//!
//! - **In:** settings from flags, variables and files; the records of a dataset; calls and answers
//!   as the engine delivers them.
//! - **Out:** the plan of what to ask; the journal; the rows, the summary and the state of a run;
//!   the answers of a run or of a file, for analysis.
//!
//! Read [`settings`] first, because settings decide everything else about a run. [`run`] has the
//! plan, the journal, the shards and the summary. [`answers`] opens the answers of a run or a file.
//! Nothing in this package asks a question or writes text for people.

#![warn(unreachable_pub)]
#![cfg_attr(
    test,
    allow(clippy::float_cmp, reason = "tests compare exact, hand-made values")
)]

pub mod answers;
pub mod run;
pub mod settings;
