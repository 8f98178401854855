//! Why no further episode can be played, or a single one came to no end.

use std::path::PathBuf;

use finqa_agents::models::ModelError;

/// What went wrong between the agent, the environment and the episodes' file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// The address is none of a server.
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
    /// The model's server cannot be reached or refuses all that is asked.
    #[error(transparent)]
    Model(Box<ModelError>),
    /// The model is known, or has just said, to take no tools.
    #[error(
        "{model} takes no tool calls{said}; env play needs a model that does, or `--model offline`"
    )]
    NoTools {
        /// The model.
        model: String,
        /// What its server said, after a colon, or nothing.
        said: String,
    },
    /// A worker of this process panicked.
    #[error("this is a bug in convfinqa: {0}; every episode that ended is kept")]
    Bug(String),
    /// The model's server failed episode after episode.
    #[error("{failed} episodes in a row failed because the provider did, the last one: {last}")]
    Outage {
        /// How many.
        failed: u32,
        /// Why the last one failed.
        last: String,
    },
    /// The player was told to give up at once.
    #[error("given up")]
    Cancelled,
    /// The episodes' file cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Another process is writing to the file.
    #[error("{path}: another process is writing episodes to it; name another file with --out")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// A line of the file is no episode.
    #[error("{path}: line {line}: no episode: {reason}; name another file with --out")]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        reason: String,
    },
    /// The file was written by a newer program.
    #[error(
        "{path}: its episodes have format {found}, newer than this program's {known}; use the convfinqa that wrote it"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u32,
        /// Ours.
        known: u32,
    },
    /// The file holds episodes of another player.
    #[error(
        "{path}: the {what} of its episodes was {then}, now it is {now}; repeat the options they were played with, or name another file with --out"
    )]
    Different {
        /// The file.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// As in the file.
        then: String,
        /// As asked for now.
        now: String,
    },
}

impl PlayError {
    /// Whether the environment's server, not its data or the usage, is at fault.
    #[must_use]
    pub fn is_unreachable(&self) -> bool {
        matches!(
            self,
            Self::Unreachable { .. }
                | Self::Refused { .. }
                | Self::Full { .. }
                | Self::Lost { .. }
                | Self::Answer { .. }
        )
    }

    /// Whether what was sent, not who sent it, is at fault.
    #[must_use]
    pub fn is_data(&self) -> bool {
        matches!(self, Self::Protocol { .. })
    }
}

impl From<ModelError> for PlayError {
    fn from(error: ModelError) -> Self {
        Self::Model(Box::new(error))
    }
}
