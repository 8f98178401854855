//! Calls that never reach a tool.

use strum::IntoStaticStr;

/// The protocol's `error_type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FailureKind {
    ToolNotFound,
    InvalidArgs,
    #[strum(serialize = "execution_error")]
    Execution,
    /// The call took longer than a step may.
    Timeout,
}

impl FailureKind {
    /// The name in the protocol.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A call that failed before it reached a tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    /// Its `error_type`.
    pub kind: FailureKind,
    /// The message of OpenEnv's `finqa_env`.
    pub message: String,
}

impl ToolFailure {
    pub(crate) fn unknown(tool: &str) -> Self {
        Self::from_text(format!("Unknown tool: '{tool}'"))
    }

    /// A failure whose kind follows from its message, as in OpenEnv's `finqa_env`: a
    /// wrong type is an `execution_error` there, because its message says `valid`.
    pub(crate) fn from_text(message: String) -> Self {
        let text = message.to_lowercase();
        let kind = if text.contains("not found") || text.contains("unknown tool") {
            FailureKind::ToolNotFound
        } else if text.contains("invalid") || text.contains("argument") {
            FailureKind::InvalidArgs
        } else {
            FailureKind::Execution
        };
        Self { kind, message }
    }
}
