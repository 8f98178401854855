//! The outcomes of a reset and a step, and a session's state.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::data::EnvQuestion;
use crate::tools::{ToolFailure, specs};

/// The metadata of a fresh episode, which clients read from core 0.4.0 on.
pub(super) fn reset_metadata(question: &EnvQuestion) -> Map<String, Value> {
    let tools: Vec<&str> = specs().iter().map(|s| s.name).collect();
    let pairs = [
        ("question", json!(question.question)),
        ("company", json!(question.company)),
        ("tool_result", json!("")),
        ("history", json!([])),
        ("step_count", json!(0)),
        ("available_tools", json!(tools)),
    ];
    pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()
}

/// The observation of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A tool's answer, which may be the tool's own `Error: ...`.
    Result { tool: String, text: String },
    /// The call never reached a tool.
    Failure { tool: String, failure: ToolFailure },
    /// Nothing, after a submission and on steps after the end.
    Empty,
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOutcome {
    pub observation: Observation,
    /// `None` on ordinary steps, 1.0 or 0.0 on the step that ends the episode, and
    /// 0.0 after it.
    pub reward: Option<f64>,
    /// The episode is over.
    pub done: bool,
    /// The observation's metadata: `ground_truth`, `submitted_answer` and `grading` after a
    /// submission, `error` after a failure; often empty.
    pub metadata: Map<String, Value>,
}

/// A step that could not be graded and does not end the episode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// `submit_answer` with something other than a text or a number.
    #[error("expected string or bytes-like object, got '{type_name}'")]
    AnswerType {
        /// Python's name of the type that was given.
        type_name: &'static str,
    },
}

/// A task that does not exist; the current episode is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No split has this name.
    #[error("unknown split '{0}': the splits are train, validation, test")]
    UnknownSplit(String),
    /// The split has no questions, because there are fewer than three.
    #[error("split '{0}' has no tasks")]
    EmptySplit(&'static str),
    /// A negative index, or one beyond the last task; OpenEnv's words.
    #[error("Invalid task index")]
    Index,
}

/// The `state` of a session, with the protocol's field names and order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EpisodeState {
    /// The episode; `None` before the first reset.
    pub episode_id: Option<String>,
    /// Steps taken in it.
    pub step_count: u64,
    /// The question; empty before the first reset.
    pub current_question: String,
    /// The company; empty before the first reset.
    pub current_company: String,
    /// The expected answer: empty until the episode is over.
    pub ground_truth: String,
    /// The question's id; empty before the first reset.
    pub question_id: String,
}
