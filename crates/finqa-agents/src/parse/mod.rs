//! Parses model text into typed answers and verdicts.
//!
//! A reply is first read strictly. If that fails, a fixed list of deviations from the format is
//! accepted. If the reply still cannot be read, the result is a [`ParseFailure`]. It is one line,
//! which is quoted when the model is asked again. Nothing is guessed from prose.
//!
//! Digits are never changed: `206,588` stays `206,588`. Input is bounded (only the last
//! [`MAX_REPLY_BYTES`] are read, and nesting is limited) and every step takes linear time, so no
//! reply can stall a worker or overflow its stack.
//!
//! Read `analysis` and `verdict` first. `candidates` and `object` find the JSON object in a reply,
//! `lenient` reads it if it is not quite JSON, `labelled` reads replies without JSON, and `program`
//! converts programs to the dataset's language. `finqa_core::program` executes them, and `pair`
//! checks the answers.

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

/// Maximum bytes of a reply that are read: 1 MiB, set by hand. Only the end of a longer reply is
/// read, because models draft before they answer.
pub const MAX_REPLY_BYTES: usize = 1 << 20;
