//! The errors of an environment's data.

use std::path::PathBuf;

/// A data directory that cannot be read, built or fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// A file or folder of the layout cannot be read.
    #[error("{path}: {source}")]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// The questions' CSV is damaged or lacks a required column.
    #[error("{path}: {reason}")]
    Questions {
        path: PathBuf,
        /// The reason, with the line if there is one.
        reason: String,
    },
    /// The table metadata is not a JSON object of objects.
    #[error("{path}: not the expected table metadata: {source}")]
    Metadata {
        path: PathBuf,
        /// The parser's error, with line and column.
        #[source]
        source: serde_json::Error,
    },
    /// Nothing can be asked of this directory.
    #[error("{path}: no questions in benchmark_questions/finqa.csv")]
    NoQuestions { path: PathBuf },
    /// Nothing can be built from these records.
    #[error(
        "{from} has no stand-alone question to build from: {without_gold} are without gold, \
         {not_in_cells} need more than cells, and {turns} turns of conversations cannot be asked alone"
    )]
    NothingToBuild {
        from: String,
        without_gold: usize,
        not_in_cells: usize,
        turns: usize,
    },
    /// The note that a build left cannot be used.
    #[error("{path}: not written by `env build`: {reason}")]
    BuildNote {
        /// The note.
        path: PathBuf,
        reason: String,
    },
    /// The folder to build into contains other files.
    #[error(
        "{path} holds other files, such as {found}: name a new folder, an empty one, or one of an earlier `env build`"
    )]
    Foreign { path: PathBuf, found: String },
    /// A built file cannot be written.
    #[error("cannot write {path}: {source}; name another folder")]
    Write {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
}

impl EnvError {
    /// True if the request is at fault (exit code 2) rather than the data (3).
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::Foreign { .. } | Self::Write { .. })
    }
}
