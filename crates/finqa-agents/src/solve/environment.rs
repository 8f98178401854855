//! The interface between the tool-using agent and its environment: an environment begins an episode
//! on a question, and its session runs tools and grades the answer.

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::pair::{Fault, Interruption, RunFailure, Solution};
use finqa_core::question::Question;

/// A question as an environment asks it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct EpisodeQuestion {
    /// The question's id; empty if the data have none.
    pub id: String,
    pub text: String,
    /// The company whose tables answer it.
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
    /// The text that the tool returned; none on the step that ends the episode.
    pub text: Option<String>,
    /// The kind and the text of the error, if the call reached no tool.
    pub error: Option<(String, String)>,
    /// The reward, on the last step.
    pub reward: Option<f64>,
    /// The episode is over.
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

/// The error that ends an episode.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct EnvironmentError {
    /// One line.
    pub message: String,
    /// Who must act before any episode can succeed; `None` if another episode may.
    pub fatal: Option<Fault>,
}

impl EnvironmentError {
    /// The interruption of a question whose solution so far is `so_far`.
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

/// The question as the environment asks it, and its session.
pub type StartedEpisode = (EpisodeQuestion, Box<dyn EpisodeSession>);

/// Something that asks questions, runs tools and grades answers.
#[async_trait]
pub trait ToolEnvironment: Send + Sync {
    /// Begins the episode of a question.
    ///
    /// # Errors
    /// [`EnvironmentError`] if it cannot.
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

    /// The correct answer of an episode that is over, if the environment reveals it.
    ///
    /// # Errors
    /// [`EnvironmentError`] if the session is lost.
    async fn ground_truth(&mut self) -> Result<Option<String>, EnvironmentError>;
}
