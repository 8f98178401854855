//! Consumers of run events and of journals: files, terminal, trackers.
//!
//! They decide nothing: what a run does is the same with and without them.

mod answer;
mod csv;
mod folder;
mod jsonl;
mod junit;
mod leaderboard;
mod misses;
pub mod mlflow;
pub mod report;
mod summary;
pub mod terminal;

pub use answer::AnswerView;
pub use csv::{COLUMNS, write_csv, write_rows};
pub use folder::{RunFolder, SinkError, copy, latest_unfinished};
pub use jsonl::write_transcripts;
pub use junit::write_junit;
pub use leaderboard::write_leaderboard;
pub use misses::write_misses;
pub use summary::{Spent, Summary, summarise, write_config, write_summary};
