//! The errors of an environment's server, and the way in which each ends a run.

use finqa_agents::pair::Fault;
use finqa_core::error::{Kind, Kinded};

#[derive(Debug, thiserror::Error)]
pub enum RemoteError {
    #[error("{url}: {reason}; an environment's address is like http://127.0.0.1:8000")]
    Address { url: String, reason: String },
    /// No connection could be made, for example because of an unknown name, a refused port or a TLS
    /// error.
    #[error("{url}: the environment cannot be reached: {reason}")]
    Unreachable { url: String, reason: String },
    #[error("{url}: the environment refused the WebSocket with status {status}{hint}")]
    Refused {
        url: String,
        status: u16,
        /// A hint for the user; empty if there is none.
        hint: &'static str,
    },
    /// All sessions of the server are in use.
    #[error("{url}: {message} (-j is the number of sessions that are opened)")]
    Full { url: String, message: String },
    /// The connection broke, or no answer came in time.
    #[error("{url}: the connection to the environment broke: {reason}")]
    Lost { url: String, reason: String },
    #[error("{url}: the environment answered with {code}: {message}")]
    Answer {
        url: String,
        code: String,
        message: String,
    },
    #[error("{url}: not an answer of an OpenEnv FinQA server: {reason}")]
    Protocol { url: String, reason: String },
}

impl Kinded for RemoteError {
    fn kind(&self) -> Kind {
        match self {
            Self::Address { .. } => Kind::Usage,
            Self::Protocol { .. } => Kind::Data,
            _ => Kind::Provider,
        }
    }
}

impl RemoteError {
    /// True if another try may succeed. A status of 500 or more counts too, because a proxy may not
    /// know yet that a server behind it is down.
    pub(super) fn may_pass(&self) -> bool {
        matches!(
            self,
            Self::Lost { .. } | Self::Refused { status: 500.., .. }
        )
    }

    /// The party at fault if this error ends a run.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Address { .. } => Fault::Usage,
            Self::Protocol { .. } => Fault::Data,
            _ => Fault::Provider,
        }
    }
}
