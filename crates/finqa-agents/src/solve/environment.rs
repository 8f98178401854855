//! The interface between the tool-using agent and its environment. An environment begins an episode
//! on a question, and its session runs tools and grades the answer.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::pair::{Fault, Interruption, RunFailure, Solution};
use finqa_core::question::Question;

/// A question in the environment's form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EpisodeQuestion {
    /// The question's id; empty if the data have none.
    pub id: String,
    pub text: String,
    /// The company whose tables contain the answer.
    pub company: String,
}

impl EpisodeQuestion {
    /// The user message that asks the question.
    pub fn prompt(&self) -> String {
        format!("{}\n\nCompany: {}", self.text, self.company)
    }
}

/// The environment's reply to a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepReply {
    /// The text that the tool returned; `None` on the step that ends the episode.
    pub text: Option<String>,
    /// The kind and the text of the error, if no tool was called.
    pub error: Option<(String, String)>,
    /// The reward; set on the last step only.
    pub reward: Option<f64>,
    /// True if the episode is over.
    pub done: bool,
    /// The correct answer, if the reply to a submission reveals it.
    pub ground_truth: Option<String>,
}

impl StepReply {
    /// The reply to a call that could not be made.
    pub fn refused(kind: &str, message: String) -> Self {
        Self {
            error: Some((kind.to_owned(), message)),
            ..Self::default()
        }
    }
}

/// An error that ends an episode.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct EnvironmentError {
    /// The error in one line.
    pub message: String,
    /// The party that must act before any episode can succeed; `None` if another episode may
    /// succeed.
    pub fatal: Option<Fault>,
}

impl EnvironmentError {
    /// Turns the error into an interruption: of the whole run if no other episode can succeed,
    /// otherwise of this question, with its solution so far.
    pub(super) fn interrupts(self, so_far: Solution) -> Interruption {
        let Self { message, fatal } = self;
        match fatal {
            Some(fault) => Interruption::Fatal(RunFailure { message, fault }),
            None => Interruption::Provider(Box::new(Solution {
                error: Some(message),
                ..so_far
            })),
        }
    }
}

/// The question in the environment's form, and its session.
pub type StartedEpisode = (EpisodeQuestion, Box<dyn EpisodeSession>);

/// An environment that asks questions, runs tools and grades answers.
#[async_trait]
pub trait ToolEnvironment: Send + Sync {
    /// Begins the episode of a question.
    ///
    /// # Errors
    /// [`EnvironmentError`] if the episode cannot begin.
    async fn begin(&self, question: &Question) -> Result<StartedEpisode, EnvironmentError>;
}

/// One episode in an environment.
#[async_trait]
pub trait EpisodeSession: Send {
    /// Calls a tool.
    ///
    /// # Errors
    /// [`EnvironmentError`] if the session is lost.
    async fn step(
        &mut self,
        tool: &str,
        arguments: Map<String, Value>,
    ) -> Result<StepReply, EnvironmentError>;

    /// The correct answer after the end of the episode, if the environment reveals it.
    ///
    /// # Errors
    /// [`EnvironmentError`] if the session is lost.
    async fn ground_truth(&mut self) -> Result<Option<String>, EnvironmentError>;
}
