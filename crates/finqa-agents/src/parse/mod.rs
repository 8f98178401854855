//! Parses model text into typed answers and verdicts.
//!
//! A reply is read strictly first. Where that fails, a fixed list of departures from the
//! format is accepted. What cannot be read is a [`ParseFailure`] whose one line is quoted
//! when the model is asked again; nothing is guessed from prose.
//!
//! Digits are never changed: `206,588` stays `206,588`. Input is bounded (the last
//! [`MAX_REPLY_BYTES`] are read, nesting is limited), and every step is linear in it, so no
//! reply can stall or overflow a worker.
//!
//! Programs are executed in `program`, answers judged in `agents`.

mod analysis;
mod candidates;
mod error;
mod labelled;
mod lenient;
mod object;
mod program;
mod schema;
mod types;
mod unit;
mod verdict;

pub use analysis::analysis;
pub use error::ParseFailure;
pub(crate) use object::after_object;
pub use schema::analysis_schema;
pub(crate) use schema::verdict_schema;
pub use types::{Analysis, CriticFinding, CriticVerdict};
pub use unit::unit;
pub(crate) use verdict::unread_revision;
pub use verdict::verdict;

/// Only the end of a longer reply is read: 1 MiB.
pub const MAX_REPLY_BYTES: usize = 1 << 20;
