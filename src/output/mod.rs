//! Consumers of run events and of journals: files, terminal, trackers.
//!
//! They decide nothing: what a run does is the same with and without them.

mod answer;
mod csv;
mod episodes;
mod jsonl;
mod junit;
mod leaderboard;
mod misses;
pub mod mlflow;
pub mod report;
mod staged;
mod summary;
pub mod terminal;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

pub use answer::AnswerView;
pub use csv::{COLUMNS, CsvFile};
pub use episodes::{is_export_of, write_episodes};
pub use jsonl::Transcripts;
pub use junit::write_junit;
pub use leaderboard::write_leaderboard;
pub use misses::write_misses;
pub use staged::{OutputError, copy};
pub use summary::{write_config, write_summary};

/// What is escaped in a segment of a URL's path: all but RFC 3986's unreserved.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
