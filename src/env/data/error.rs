//! What can be wrong with an environment's data.

use std::path::PathBuf;

/// A data directory that cannot be read, built or fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// A file or folder of the layout cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The questions' CSV is damaged or has no column that is needed.
    #[error("{path}: {reason}")]
    Questions {
        /// The CSV file.
        path: PathBuf,
        /// What is wrong, with the line where there is one.
        reason: String,
    },
    /// The table metadata is not a JSON object of objects.
    #[error("{path}: not the expected table metadata: {source}")]
    Metadata {
        /// The JSON file.
        path: PathBuf,
        /// What the reader said, with line and column.
        #[source]
        source: serde_json::Error,
    },
    /// Nothing can be asked of this directory.
    #[error("{path}: no questions in benchmark_questions/finqa.csv")]
    NoQuestions {
        /// The data directory.
        path: PathBuf,
    },
    /// The dataset that was to be built from cannot be read.
    #[error(transparent)]
    Dataset(#[from] crate::dataset::DatasetError),
}
