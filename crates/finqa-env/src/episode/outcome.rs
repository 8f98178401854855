//! The outcome of a reset or a step, and the state of a session.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::data::EnvQuestion;
use crate::tools::{ToolFailure, specs};

/// The metadata of a new episode, with the fields that OpenEnv's clients read since core 0.4.0.
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

/// The observation of an agent after a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// The text that a tool returned; it may be an error that the tool reports (`Error: ...`).
    Result { tool: String, text: String },
    /// The call failed, and no tool returned a text.
    Failure { tool: String, failure: ToolFailure },
    /// No observation: after a reset, after a graded submission, and on steps after the end.
    Empty,
}

/// The reply to a client after a reset or a step.
#[derive(Clone, Debug, PartialEq)]
pub struct StepOutcome {
    pub observation: Observation,
    /// `None` on ordinary steps, 1.0 or 0.0 on the step that ends the episode, and 0.0 on later
    /// steps.
    pub reward: Option<f64>,
    pub done: bool,
    /// After a reset, the metadata of the new episode. After a graded submission, `ground_truth`,
    /// `submitted_answer`, and `grading` or the `error` of grading. At the step limit, on a
    /// submission before the first reset, and on steps after the end, `error`. Otherwise empty.
    pub metadata: Map<String, Value>,
}

/// A step that could not be graded and does not end the episode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// The answer of a `submit_answer` is neither a text nor a number. The message is that of
    /// OpenEnv's `finqa_env`.
    #[error("expected string or bytes-like object, got '{type_name}'")]
    AnswerType {
        /// Python's name for the type of the answer.
        type_name: &'static str,
    },
}

/// The reason why a task does not exist. The current episode is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TaskError {
    /// No split has this name.
    #[error("unknown split '{0}': the splits are train, validation, test")]
    UnknownSplit(String),
    /// The split has no questions. This happens if the data have fewer than three.
    #[error("split '{0}' has no tasks")]
    EmptySplit(&'static str),
    /// The index is negative or beyond the last task. The message is OpenEnv's.
    #[error("Invalid task index")]
    Index,
}

/// The `state` of a session, with the protocol's field names and order. Before the first reset, its
/// texts are empty and `episode_id` is `None`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EpisodeState {
    pub episode_id: Option<String>,
    /// Steps taken in the current episode.
    pub step_count: u64,
    pub current_question: String,
    pub current_company: String,
    /// The expected answer; empty until the episode is over.
    pub ground_truth: String,
    pub question_id: String,
}
