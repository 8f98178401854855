//! The state machine of one session.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::outcome::reset_metadata;
use super::{EpisodeState, Observation, QuestionOrder, StepError, StepOutcome, TaskError};
use crate::data::{Catalog, EnvQuestion, TaskSplit};
use crate::python;
use crate::reward::{GradedAnswer, RewardMode, grade};
use crate::tools::{FailureKind, SUBMIT_ANSWER, ToolFailure};

/// The rules of an episode.
#[derive(clap::Args, Clone, Copy, Debug, PartialEq, Eq)]
#[command(next_help_heading = "Episodes")]
pub struct EpisodeRules {
    /// Maximum steps per episode; `env play` has a lower default (see "Episodes and reward" in
    /// docs/finqa-environment.md)
    #[arg(long, value_name = "N", env = "FINQA_MAX_STEPS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(1..))]
    pub max_steps: u64,
    /// How to grade answers
    #[arg(long, value_name = "MODE", default_value = "openenv")]
    pub reward: RewardMode,
}

finqa_core::options::declared_defaults!(EpisodeRules);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EpisodePhase {
    /// Before the first reset: tools run, but a submission earns no reward.
    NoQuestion,
    Open,
    Over,
}

/// The caller's part of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum StepStart {
    /// Run this tool, then call [`Environment::finish`].
    RunTool,
    /// Nothing is left to do: this is the step's outcome.
    Answered(StepOutcome),
}

/// One session: its position in the order of questions, and the current episode.
/// It stores indices and counters only, and no question text.
#[derive(Clone, Debug)]
pub struct Environment {
    catalog: Arc<Catalog>,
    rules: EpisodeRules,
    /// The split that `order` draws from; `None` for all questions.
    split: Option<TaskSplit>,
    seed: u64,
    order: QuestionOrder,
    question: Option<usize>,
    episode_id: Option<String>,
    step_count: u64,
    phase: EpisodePhase,
}

impl Environment {
    /// A session before its first reset. `seed` decides the order until a reset
    /// gives another; draw it at random for an unseeded session.
    pub fn new(catalog: Arc<Catalog>, rules: EpisodeRules, seed: u64) -> Self {
        let order = QuestionOrder::new(catalog.questions().len(), seed);
        Self {
            catalog,
            rules,
            split: None,
            seed,
            order,
            question: None,
            episode_id: None,
            step_count: 0,
            phase: EpisodePhase::NoQuestion,
        }
    }

    /// A session that plays the question at this index.
    pub fn on_question(catalog: Arc<Catalog>, rules: EpisodeRules, index: usize) -> Self {
        Self {
            question: Some(index),
            phase: EpisodePhase::Open,
            ..Self::new(catalog, rules, 0)
        }
    }

    /// Starts an episode; gives its metadata. The question is the one at `index` of `split`, or
    /// else the next one of the split, or of all. A seed restarts the order in which
    /// questions follow each other, and so does another split: the same seed always
    /// asks the same question first. The caller generates an `episode_id` if the
    /// client gave none.
    ///
    /// # Errors
    /// A task that does not exist.
    pub fn reset(
        &mut self,
        split: Option<TaskSplit>,
        index: Option<i64>,
        seed: Option<u64>,
        episode_id: String,
    ) -> Result<Map<String, Value>, TaskError> {
        let question = match (split, index) {
            (None, _) => self.next_of(None, seed),
            (Some(split), None) => {
                let next = self.next_of(Some(split), seed);
                Some(next.ok_or(TaskError::EmptySplit(split.name()))?)
            }
            (Some(split), Some(index)) => {
                let tasks = self.catalog.splits().tasks(split);
                let index = usize::try_from(index).map_err(|_| TaskError::Index)?;
                Some(*tasks.get(index).ok_or(TaskError::Index)?)
            }
        };
        self.question = question;
        self.episode_id = Some(episode_id);
        self.step_count = 0;
        self.phase = EpisodePhase::Open;
        Ok(reset_metadata(self.current()))
    }

    fn next_of(&mut self, split: Option<TaskSplit>, seed: Option<u64>) -> Option<usize> {
        let catalog = Arc::clone(&self.catalog);
        let tasks = split.map(|split| catalog.splits().tasks(split));
        if seed.is_some() || split != self.split {
            let count = tasks.map_or(catalog.questions().len(), <[usize]>::len);
            self.seed = seed.unwrap_or(self.seed);
            self.split = split;
            self.order = QuestionOrder::new(count, self.seed);
        }
        let index = self.order.next_index()?;
        match tasks {
            Some(tasks) => tasks.get(index).copied(),
            None => Some(index),
        }
    }

    /// Counts a step and decides what it is: a tool to run, a submission that is
    /// graded, or a step after the end.
    ///
    /// # Errors
    /// A submission that is neither a text nor a number: it counts as a step, but is not graded.
    /// At the step limit it ends the episode and is an outcome instead.
    pub fn begin(
        &mut self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<StepStart, StepError> {
        if self.phase == EpisodePhase::Over {
            let error = "The episode is over: call reset to start another.";
            return Ok(StepStart::Answered(Self::end(json!({ "error": error }))));
        }
        self.step_count = self.step_count.saturating_add(1);
        if tool == SUBMIT_ANSWER {
            return self
                .submit(arguments.get("answer"))
                .map(StepStart::Answered);
        }
        Ok(StepStart::RunTool)
    }

    /// Takes the tool's result for the step that was begun. The last step ends the
    /// episode, and its result is shown nevertheless.
    pub fn finish(&mut self, tool: &str, result: Result<String, ToolFailure>) -> StepOutcome {
        let observation = match result {
            Ok(text) => Observation::Result {
                tool: tool.to_owned(),
                text,
            },
            Err(failure) => Observation::Failure {
                tool: tool.to_owned(),
                failure,
            },
        };
        let mut outcome = StepOutcome {
            observation,
            reward: None,
            done: false,
            metadata: Map::new(),
        };
        if self.is_last_step() {
            self.phase = EpisodePhase::Over;
            let limit = self.rules.max_steps;
            let error = format!("Max steps ({limit}) reached without submitting answer.");
            outcome.reward = Some(0.0);
            outcome.done = true;
            outcome.metadata.insert("error".to_owned(), json!(error));
        }
        outcome
    }

    /// The session's state; it includes the expected answer only once the episode is over.
    pub fn state(&self) -> EpisodeState {
        let question = self.current();
        let over = self.phase == EpisodePhase::Over;
        EpisodeState {
            episode_id: self.episode_id.clone(),
            step_count: self.step_count,
            current_question: question.question.clone(),
            current_company: question.company.clone(),
            ground_truth: if over {
                question.answer.clone()
            } else {
                String::new()
            },
            question_id: question.id.clone(),
        }
    }

    /// True if no further step follows the current one.
    fn is_last_step(&self) -> bool {
        self.step_count >= self.rules.max_steps
    }

    /// True if a question waits for its answer.
    pub(crate) fn is_open(&self) -> bool {
        self.phase == EpisodePhase::Open
    }

    /// The current question; an empty one before the first reset.
    pub fn current(&self) -> &EnvQuestion {
        static NONE: LazyLock<EnvQuestion> = LazyLock::new(EnvQuestion::default);
        self.question
            .and_then(|i| self.catalog.questions().get(i))
            .unwrap_or(&NONE)
    }

    /// Grades the episode's only submission. An answer on which OpenEnv's grader
    /// raises earns 0.0 and ends the episode too, because leaving it open would
    /// allow a second answer.
    fn submit(&mut self, answer: Option<&Value>) -> Result<StepOutcome, StepError> {
        let answer = match answer {
            // OpenEnv's `finqa_env` grades a null too: as neither a number nor a text.
            None | Some(Value::Null) => String::new(),
            // Clients send the number that a model computed.
            Some(answer @ (Value::String(_) | Value::Number(_))) => python::display(answer),
            Some(other) => {
                let type_name = python::type_name(other);
                let error = StepError::AnswerType { type_name };
                if !self.is_last_step() {
                    return Err(error);
                }
                let failure = ToolFailure {
                    kind: FailureKind::InvalidArgs,
                    message: error.to_string(),
                };
                return Ok(self.finish(SUBMIT_ANSWER, Err(failure)));
            }
        };
        if self.phase == EpisodePhase::NoQuestion {
            self.phase = EpisodePhase::Over;
            let error = "No question has been asked: call reset first.";
            return Ok(Self::end(json!({ "error": error })));
        }
        self.phase = EpisodePhase::Over;
        let truth = self.current().answer.as_str();
        let mut metadata = json!({ "ground_truth": truth, "submitted_answer": answer });
        let graded = grade(&answer, truth, self.rules.reward);
        let reward = graded.as_ref().map_or(0.0, GradedAnswer::reward);
        let (key, value) = match graded {
            Ok(graded) => ("grading", json!(graded)),
            Err(error) => ("error", json!(error.to_string())),
        };
        if let Some(map) = metadata.as_object_mut() {
            map.insert(key.to_owned(), value);
        }
        Ok(StepOutcome {
            reward: Some(reward),
            ..Self::end(metadata)
        })
    }

    fn end(metadata: Value) -> StepOutcome {
        StepOutcome {
            observation: Observation::Empty,
            reward: Some(0.0),
            done: true,
            metadata: match metadata {
                Value::Object(map) => map,
                _ => Map::new(),
            },
        }
    }
}
