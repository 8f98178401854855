//! How a server that should be an environment fails.

use finqa_agents::agents::{Fault, RunFailure};

/// What went wrong between us and an environment's server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum RemoteError {
    /// The address is not a server's.
    #[error("{url}: {reason}; an environment's address is like http://127.0.0.1:8000")]
    Address {
        /// The address as given.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection: dead host, refused port, unknown name, no encryption.
    #[error("{url}: the environment cannot be reached: {reason}")]
    Unreachable {
        /// The server.
        url: String,
        /// What the transport said.
        reason: String,
    },
    /// The server answered, but not with a WebSocket.
    #[error("{url}: the environment refused the WebSocket with status {status}{hint}")]
    Refused {
        /// The server.
        url: String,
        /// The HTTP status.
        status: u16,
        /// What may be done about it, or nothing.
        hint: &'static str,
    },
    /// All of the server's sessions are taken.
    #[error("{url}: {message}")]
    Full {
        /// The server.
        url: String,
        /// Its words.
        message: String,
    },
    /// The connection ended, or nothing came in time.
    #[error("{url}: the connection to the environment broke: {reason}")]
    Lost {
        /// The server.
        url: String,
        /// How.
        reason: String,
    },
    /// The server answered a request with an error.
    #[error("{url}: the environment answered with {code}: {message}")]
    Answer {
        /// The server.
        url: String,
        /// Its code, e.g. `EXECUTION_ERROR`.
        code: String,
        /// Its words.
        message: String,
    },
    /// What the server sent is not the protocol.
    #[error("{url}: not an answer of an OpenEnv FinQA server: {reason}")]
    Protocol {
        /// The server.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl RemoteError {
    /// What is at fault.
    pub(super) fn fault(&self) -> Fault {
        match self {
            Self::Address { .. } => Fault::Usage,
            Self::Protocol { .. } => Fault::Data,
            _ => Fault::Provider,
        }
    }
}

impl From<RemoteError> for RunFailure {
    fn from(error: RemoteError) -> Self {
        Self {
            message: error.to_string(),
            fault: error.fault(),
        }
    }
}
