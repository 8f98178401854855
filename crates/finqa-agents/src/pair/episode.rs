//! The record of an episode, which the journal stores with the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::llm::ChatMessage;
use finqa_core::outcome::Outcome;

/// The way in which an episode ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EpisodeEnd {
    /// An answer was submitted and graded.
    Submitted,
    /// The step limit was reached without an answer.
    StepLimit,
    /// The model twice neither called a tool nor wrote any text.
    NoAnswer,
    /// The provider's filter stopped the prompt or the reply.
    ContentFilter,
    /// The model refused to answer.
    Refusal,
    /// The conversation no longer fits the model's context.
    ContextFull,
    /// The provider refused the request. The episode has no reward.
    #[default]
    Failed,
}

impl EpisodeEnd {
    /// The name in files and traces.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The outcome of a question whose episode ended in this way.
    pub fn outcome(self) -> Outcome {
        match self {
            Self::Submitted => Outcome::Answered,
            Self::StepLimit | Self::ContextFull => Outcome::BudgetStop,
            Self::NoAnswer => Outcome::ParseFailure,
            Self::ContentFilter => Outcome::ContentFilter,
            Self::Refusal => Outcome::Refusal,
            Self::Failed => Outcome::ProviderError,
        }
    }
}

/// One tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolStep {
    /// The name of the tool, as the model wrote it.
    pub tool: String,
    /// The arguments: an object, or the model's text if that is not an object.
    pub arguments: Value,
    /// The kind of error, if no tool was called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reward of the last step; `null` on every other step.
    pub reward: Option<f64>,
    /// True if the episode is over.
    pub done: bool,
}

/// An episode that was played, with its answer, reward and steps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRecord {
    /// The environment's id of the question.
    pub question_id: String,
    /// The company whose tables contain the answer.
    pub company: String,
    pub question: String,
    pub end: EpisodeEnd,
    /// The submitted answer.
    pub answer: Option<String>,
    /// True if the model wrote the answer as text instead of calling a tool.
    pub answer_from_text: bool,
    /// The reward, 1.0 or 0.0. It is 0.0 without a submission and `null` if the episode failed.
    pub reward: Option<f64>,
    /// The correct answer, which the environment reveals after the episode.
    pub ground_truth: Option<String>,
    /// The tool calls in order.
    pub steps: Vec<ToolStep>,
    /// The number of replies without a tool call.
    pub text_replies: u32,
    /// The number of tool calls that the model wrote as text.
    pub calls_from_text: u32,
    /// The messages that come after those in the recorded model calls.
    pub messages: Vec<ChatMessage>,
}

impl EpisodeRecord {
    /// The number of calls that did not reach a tool.
    pub fn invalid_calls(&self) -> usize {
        let invalid = self.steps.iter().filter(|step| step.error.is_some());
        invalid.count()
    }
}
