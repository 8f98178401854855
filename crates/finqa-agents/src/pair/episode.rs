//! The record of an episode, as the journal stores it with the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::llm::ChatMessage;
use finqa_core::outcome::Outcome;

/// How an episode ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EpisodeEnd {
    /// An answer was submitted and graded.
    Submitted,
    /// The step limit was reached without an answer.
    StepLimit,
    /// The model neither called a tool nor wrote any text, twice.
    NoAnswer,
    /// The provider's filter stopped the prompt or the reply.
    ContentFilter,
    /// The model declined.
    Refusal,
    /// The conversation no longer fits the model's context.
    ContextFull,
    /// The provider refused the request: the episode has no reward.
    #[default]
    Failed,
}

impl EpisodeEnd {
    /// The name in files and traces.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The outcome of the question after this end.
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
    /// The tool, as the model named it.
    pub tool: String,
    /// The arguments: an object, or the model's text if that is not an object.
    pub arguments: Value,
    /// The kind of error, if the call reached no tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The reward; `null` on every step but the last.
    pub reward: Option<f64>,
    /// The episode is over.
    pub done: bool,
}

/// An episode that was played.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeRecord {
    /// The question's id, as the environment names it.
    pub question_id: String,
    /// The company whose tables answer it.
    pub company: String,
    pub question: String,
    pub end: EpisodeEnd,
    /// The submitted answer.
    pub answer: Option<String>,
    /// True if the answer is a text that the model wrote instead of calling a tool.
    pub answer_from_text: bool,
    /// 1.0 or 0.0; 0.0 without a submission, `null` if the episode failed.
    pub reward: Option<f64>,
    /// The correct answer, which the environment reveals after the episode.
    pub ground_truth: Option<String>,
    /// The tool calls in order.
    pub steps: Vec<ToolStep>,
    /// Replies without a tool call.
    pub text_replies: u32,
    /// Tool calls that the model wrote as text.
    pub calls_from_text: u32,
    /// The messages after those that the recorded model calls contain.
    pub messages: Vec<ChatMessage>,
}

impl EpisodeRecord {
    /// Number of calls that reached no tool.
    pub fn invalid_calls(&self) -> usize {
        let invalid = self.steps.iter().filter(|step| step.error.is_some());
        invalid.count()
    }
}
