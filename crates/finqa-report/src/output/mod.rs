//! Outputs made from run events and journals: files, terminal text, and deliveries to MLflow. They
//! do not affect a run.

mod answer;
mod csv;
mod episode_export;
mod evidence;
mod formula;
mod inspect;
mod jsonl;
mod leaderboard;
mod misses;
pub mod mlflow;
mod names;
pub mod numbers;
pub mod report;
mod staged;
mod summary;
pub mod terminal;
mod verdict;

pub use answer::AnswerView;
pub use csv::CsvFile;
pub use episode_export::write_episodes;
pub use inspect::write_inspect;
pub use jsonl::Transcripts;
pub use leaderboard::write_leaderboard;
pub use misses::write_misses;
pub use staged::{OutputError, check_writable, write_json_pretty, write_text};
pub use summary::{write_config, write_summary};
