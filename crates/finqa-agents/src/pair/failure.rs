//! The failures of a question and of a run.

use thiserror::Error;

use crate::llm::{ErrorKind, ModelError, Scope};
use crate::prompt::PromptError;
use finqa_core::outcome::Outcome;

use super::solution::Solution;
use finqa_core::error::{Kind, Kinded};

/// An error that ends a question.
#[derive(Clone, Debug, PartialEq)]
pub struct QuestionFailure {
    pub outcome: Outcome,
    /// The error in one line.
    pub message: String,
    /// The scope of the failure. The failure is the question's outcome only if this request alone
    /// is at fault.
    pub(crate) scope: Scope,
    /// The party at fault, if the failure ends the run.
    pub(crate) fault: Fault,
    /// The beginning of a reply that was cut off at its limit.
    pub(crate) cut: Option<String>,
}

impl QuestionFailure {
    pub(crate) fn new(outcome: Outcome, message: impl Into<String>) -> Self {
        Self {
            outcome,
            message: message.into(),
            scope: Scope::Request,
            fault: Fault::Provider,
            cut: None,
        }
    }

    /// True if the failure is the question's outcome, and not a failure of the provider or the run.
    pub(crate) fn is_outcome(&self) -> bool {
        self.scope == Scope::Request
    }
}

impl From<&ModelError> for QuestionFailure {
    fn from(error: &ModelError) -> Self {
        let outcome = match error.kind {
            ErrorKind::ContentFilter => Outcome::ContentFilter,
            _ => Outcome::ProviderError,
        };
        Self {
            scope: error.scope(),
            fault: Fault::from(error),
            ..Self::new(outcome, error.to_string())
        }
    }
}

/// A template that cannot be rendered would fail every question, so it ends the run. The user chose
/// the templates.
impl From<PromptError> for QuestionFailure {
    fn from(error: PromptError) -> Self {
        Self {
            scope: Scope::Run,
            fault: Fault::Template,
            ..Self::new(Outcome::ProviderError, error.to_string())
        }
    }
}

/// The reason why a question has no outcome yet and will be asked again.
#[derive(Debug, Error)]
pub enum Interruption {
    #[error("cancelled")]
    Cancelled,
    /// The provider failed. Contains the result so far.
    #[error("{}", .0.error.as_deref().unwrap_or_default())]
    Provider(Box<Solution>),
    /// No question of this run can succeed.
    #[error("{0}")]
    Fatal(RunFailure),
}

/// An error that every question of a run would have.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct RunFailure {
    /// The error in one line.
    pub message: String,
    /// The party at fault.
    pub fault: Fault,
}

impl Kinded for RunFailure {
    fn kind(&self) -> Kind {
        match self.fault {
            Fault::Provider | Fault::Failing => Kind::Provider,
            Fault::Usage | Fault::Template | Fault::NoTools => Kind::Usage,
            Fault::Data => Kind::Data,
            Fault::Bug => Kind::Bug,
        }
    }
}

impl RunFailure {
    /// A failure of a provider or of another server.
    pub fn from_provider(message: String) -> Self {
        Self {
            message,
            fault: Fault::Provider,
        }
    }
}

impl From<&ModelError> for RunFailure {
    fn from(error: &ModelError) -> Self {
        Self {
            message: error.to_string(),
            fault: Fault::from(error),
        }
    }
}

/// The party at fault when a run ends early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A provider or an environment's server. It may answer later.
    Provider,
    /// A provider that answered no question. Its replies reported failures.
    Failing,
    /// The options: another model or address is needed.
    Usage,
    /// A template of a prompt. A run cannot be resumed with another template.
    Template,
    /// The model, which does not support tool calls.
    NoTools,
    /// A server that sends unusable data.
    Data,
    /// This program, because it has a bug.
    Bug,
}

impl From<&ModelError> for Fault {
    fn from(error: &ModelError) -> Self {
        match error.kind() {
            Kind::Usage => Self::Usage,
            _ => Self::Provider,
        }
    }
}
