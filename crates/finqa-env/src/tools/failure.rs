//! Failures of a call. An error that a tool reports in its text is not a failure.

use strum::IntoStaticStr;

/// The kind of a failure: `error_type` in the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum FailureKind {
    ToolNotFound,
    InvalidArgs,
    #[strum(serialize = "execution_error")]
    Execution,
    /// The call took longer than a step is allowed to take.
    Timeout,
}

impl FailureKind {
    /// The name in the protocol.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// A call without an answer of a tool: the tool is unknown, the arguments are wrong, or time ran
/// out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolFailure {
    pub kind: FailureKind,
    /// The message, in the words of OpenEnv's `finqa_env`.
    pub message: String,
}

impl ToolFailure {
    pub(crate) fn unknown(tool: &str) -> Self {
        Self::from_text(format!("Unknown tool: '{tool}'"))
    }

    /// A failure whose kind is guessed from its message, as in OpenEnv's `finqa_env`. An argument
    /// of a wrong type is therefore an `execution_error`, because its message contains
    /// `valid string` but neither `invalid` nor `argument`.
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
