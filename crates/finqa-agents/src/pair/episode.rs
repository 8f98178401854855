//! The record of an episode, as the journal stores it with the answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use crate::llm::ChatMessage;
use finqa_core::outcome::Outcome;

/// The way an episode ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, IntoStaticStr, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum EpisodeEnd {
    /// An answer was submitted and graded.
    Submitted,
    /// The step limit, without an answer.
    StepLimit,
    /// The model neither called a tool nor said anything, twice.
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
    /// The name in files.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The outcome of the question.
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
    /// The error of a call that reached no tool.
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
    /// The question.
    pub question: String,
    /// The way it ended.
    pub end: EpisodeEnd,
    /// The submission.
    pub answer: Option<String>,
    /// The answer is a text that the model wrote instead of calling a tool.
    pub answer_from_text: bool,
    /// 1.0 or 0.0; 0.0 without a submission, `null` if the episode failed.
    pub reward: Option<f64>,
    /// The truth, which the environment reveals after the episode.
    pub ground_truth: Option<String>,
    /// The tool calls in order.
    pub steps: Vec<ToolStep>,
    /// Replies without a tool call.
    pub text_replies: u32,
    /// Tool calls that the model wrote as text.
    pub calls_from_text: u32,
    /// The messages after those that the recorded model calls hold.
    pub messages: Vec<ChatMessage>,
}

impl EpisodeRecord {
    /// Calls that reached no tool.
    pub fn invalid_calls(&self) -> usize {
        let invalid = self.steps.iter().filter(|step| step.error.is_some());
        invalid.count()
    }
}
