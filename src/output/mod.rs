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
pub(crate) mod mlflow;
pub mod report;
mod staged;
mod summary;
pub mod terminal;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC};

pub(crate) use answer::AnswerView;
pub(crate) use csv::CsvFile;
pub(crate) use episodes::write_episodes;
pub(crate) use jsonl::Transcripts;
pub(crate) use junit::write_junit;
pub(crate) use leaderboard::write_leaderboard;
pub(crate) use misses::write_misses;
pub(crate) use staged::{OutputError, check_writable, copy, remove_unfinished};
pub(crate) use summary::{write_config, write_summary};

/// The characters to escape in a segment of a URL's path: all but RFC 3986's unreserved
/// ones.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');
