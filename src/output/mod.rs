//! Consumers of run events and of journals: files, terminal, trackers.
//!
//! They decide nothing: what a run does is the same with and without them.

mod answer;
mod csv;
mod episode_export;
mod evidence;
mod jsonl;
mod leaderboard;
mod misses;
pub(crate) mod mlflow;
mod names;
pub(crate) mod numbers;
pub mod report;
mod staged;
mod summary;
pub mod terminal;

pub(crate) use answer::AnswerView;
pub(crate) use csv::CsvFile;
pub(crate) use episode_export::write_episodes;
pub(crate) use jsonl::Transcripts;
pub(crate) use leaderboard::write_leaderboard;
pub(crate) use misses::write_misses;
pub(crate) use staged::{OutputError, check_writable, write_json_pretty, write_text};
pub(crate) use summary::{write_config, write_summary};
