//! The errors of delivering a run to a tracking server.

use std::path::PathBuf;

use thiserror::Error;

use crate::output::OutputError;
use crate::run::JournalError;
use finqa_agents::graph::GraphError;
use finqa_core::text::both_ends;

/// Characters of the server's words that an error shows.
const SHOWN: usize = 200;

/// A run, or part of it, that a tracking server did not get.
#[derive(Debug, Error)]
pub enum MlflowError {
    /// The address is not that of a tracking server.
    #[error("{uri}: {reason}")]
    Address { uri: String, reason: &'static str },
    #[error("MLFLOW_TRACKING_TOKEN contains {0}; set it again")]
    Credentials(&'static str),
    /// No answer, or none in time.
    #[error("{uri} cannot be reached ({reason})")]
    Unreachable { uri: String, reason: String },
    /// 401 or 403.
    #[error(
        "{uri} refuses ({status}: {}); set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
        both_ends(.said, SHOWN)
    )]
    Refused {
        uri: String,
        status: u16,
        said: String,
    },
    /// An answer that is an error, or not MLflow's.
    #[error("{uri} answers {status} to {call}: {}", both_ends(.said, SHOWN))]
    Answer {
        uri: String,
        status: u16,
        call: String,
        /// MLflow's name of the error, such as `RESOURCE_DOES_NOT_EXIST`; empty if it has none.
        code: String,
        /// MLflow's message, or what came instead, in full.
        said: String,
    },
    #[error("{path}: {source}")]
    File {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Sink(#[from] OutputError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    #[error(transparent)]
    Agents(#[from] GraphError),
}

impl MlflowError {
    /// True if a retry may succeed without any change.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Answer { status, .. } => *status >= 500 || *status == 429,
            _ => false,
        }
    }

    /// True if the cause is on this machine and not on the server.
    pub(crate) fn is_local(&self) -> bool {
        let is_remote = matches!(
            self,
            Self::Unreachable { .. } | Self::Refused { .. } | Self::Answer { .. }
        );
        !is_remote
    }

    /// True if the server refuses what it was sent, and may take other content.
    pub(super) fn is_refusal(&self) -> bool {
        let refuses = |status: &u16| matches!(status, 400 | 413 | 422);
        matches!(self, Self::Answer { status, .. } if refuses(status))
    }

    /// True if MLflow's error code is `name`.
    pub(super) fn has_code(&self, name: &str) -> bool {
        matches!(self, Self::Answer { code, .. } if code == name)
    }
}
