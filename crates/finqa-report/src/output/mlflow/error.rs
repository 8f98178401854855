//! The errors of a delivery to a tracking server.

use std::path::PathBuf;

use finqa_core::pattern;
use finqa_core::text::Pattern;

use thiserror::Error;

use crate::output::OutputError;
use finqa_agents::graph::GraphError;
use finqa_core::error::{Kind, Kinded};
use finqa_core::text::both_ends;
use finqa_journal::run::JournalError;

/// Maximum number of characters of a server's message that an error shows. Set by hand.
const SHOWN: usize = 200;

/// The errors of delivering a run, or a part of it, to a tracking server.
#[derive(Debug, Error)]
pub enum MlflowError {
    /// The address is not that of a tracking server.
    #[error("{uri}: {reason}")]
    Address { uri: String, reason: &'static str },
    #[error(
        "MLFLOW_TRACKING_TOKEN contains a quotation mark, a blank or an invisible character: set it again"
    )]
    Credentials,
    /// There is no connection, or no answer in time.
    #[error("{uri} cannot be reached ({reason})")]
    Unreachable { uri: String, reason: String },
    /// Status 401 or 403.
    #[error(
        "{uri} refuses ({status}: {}); set MLFLOW_TRACKING_TOKEN, or MLFLOW_TRACKING_USERNAME and MLFLOW_TRACKING_PASSWORD",
        both_ends(.said, SHOWN)
    )]
    Refused {
        uri: String,
        status: u16,
        said: String,
    },
    /// An error status, or a reply that did not come from MLflow.
    #[error("{uri} answers {status} to {call}: {}", both_ends(.said, SHOWN))]
    Answer {
        uri: String,
        status: u16,
        call: String,
        /// MLflow's name for the error, such as `RESOURCE_DOES_NOT_EXIST`; empty if it gave none.
        code: String,
        /// MLflow's message in full, or the text of a reply that is not from MLflow.
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

impl Kinded for MlflowError {
    fn kind(&self) -> Kind {
        match self {
            Self::Unreachable { .. } | Self::Refused { .. } | Self::Answer { .. } => Kind::Provider,
            _ => Kind::Usage,
        }
    }
}

impl MlflowError {
    /// Adds to the error which values it is about: a kind such as `tags`, or a kind and a key.
    pub(super) fn about(mut self, values: &str) -> Self {
        if let Self::Answer { call, .. } = &mut self {
            call.push_str(&format!(" ({values})"));
        }
        self
    }

    /// True if the same request may succeed later.
    pub(super) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            // The server failed, or limits the rate of requests.
            Self::Answer { status, .. } => *status >= 500 || *status == 429,
            _ => false,
        }
    }

    /// True if the server refused the content of the request. It may accept other content.
    pub(super) fn is_refusal(&self) -> bool {
        let refuses = |status: &u16| matches!(status, 400 | 413 | 422);
        matches!(self, Self::Answer { status, .. } if refuses(status))
            || self.named_limit().is_some()
    }

    /// The length limit in the message of a refusal, such as "had length 3864, which exceeded
    /// length limit of 500", "exceeds the maximum length of 6000 characters", or a database's
    /// "value too long for type character varying(500)". `None` if the message names no limit.
    ///
    /// Uses the last length in the message, because the refused value is quoted first and may
    /// contain numbers too. The SQL statement that a database appends is left out. A length has at
    /// least three digits, and at most 40 characters before it, which are set by hand.
    pub(super) fn named_limit(&self) -> Option<usize> {
        static LIMIT: Pattern =
            pattern!(r"(?i)(?:length|long|exceed|varchar|varying)\D{0,40}?(\d{3,})");
        // Other statuses come from gateways, whose messages have numbers that are not lengths, such
        // as "timeout of 120 seconds".
        let Self::Answer {
            said,
            status: 400 | 413 | 422 | 500,
            ..
        } = self
        else {
            return None;
        };
        let limits = LIMIT.captures_iter(said.split("[SQL:").next()?);
        limits.last()?.get(1)?.as_str().parse().ok()
    }

    /// True if MLflow's error code is `name`.
    pub(super) fn has_code(&self, name: &str) -> bool {
        matches!(self, Self::Answer { code, .. } if code == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of MLflow 1.0 to 3.17, of its databases, and of other servers with its API.
    #[test]
    fn the_limit_is_in_the_words_of_the_refusal() {
        let value = format!("a limit of 12 characters {}", "x".repeat(800));
        let begins: String = value.chars().take(250).collect();
        for (said, limit) in [
            (
                &*format!(
                    "Param value '{value}' had length 825, which exceeded length limit of 500"
                ),
                Some(500),
            ),
            (
                &*format!(
                    "Param value '{begins}' had length 825, which exceeded length limit of 250"
                ),
                Some(250),
            ),
            (
                "'params[3].value' exceeds the maximum length of 6000 characters",
                Some(6000),
            ),
            (
                "Tag value 'x' had length 9000, which exceeded length limit of 5000",
                Some(5000),
            ),
            (
                "(psycopg2.errors.StringDataRightTruncation) value too long for type character varying(500)\n\n[SQL: INSERT INTO params]\n[parameters: {'value': 'length of 300'}]",
                Some(500),
            ),
            (
                "Member must have length less than or equal to 2000",
                Some(2000),
            ),
            (
                "A batch logging request can contain at most 100 params. Got 120 params.",
                None,
            ),
            (
                "Batched logging API requests must be at most 1000000 bytes, got a request of size 2000000.",
                None,
            ),
            (&*format!("the value {value} is bad"), None),
            ("Data too long for column 'value' at row 1", None),
        ] {
            let (uri, call, code) = Default::default();
            let said = said.to_owned();
            let error = MlflowError::Answer {
                uri,
                status: 400,
                call,
                code,
                said,
            };
            assert_eq!(error.named_limit(), limit, "{error}");
        }
    }
}
