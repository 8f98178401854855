//! One environment: its current question, the steps taken, and whether the episode is over.

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

/// Whether an environment has an episode in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EpisodePhase {
    /// The phase before the first reset. Tools run, but a submission earns 0.0. In OpenEnv's
    /// `finqa_env`, an empty answer equals the empty truth of this phase and earns 1.0.
    NoQuestion,
    Open,
    Over,
}

/// What the caller of [`Environment::begin`] must do next.
#[derive(Clone, Debug, PartialEq)]
pub enum StepStart {
    /// Run this tool, then call [`Environment::finish`].
    RunTool,
    /// Nothing. The step has ended with this outcome.
    Answered(StepOutcome),
}

/// One environment, with the order in which it asks questions and its current episode. Questions
/// are indices into the shared catalog, so an environment takes little memory.
#[derive(Clone, Debug)]
pub struct Environment {
    catalog: Arc<Catalog>,
    rules: EpisodeRules,
    /// The split that `order` draws from; `None` for all questions.
    split: Option<TaskSplit>,
    seed: u64,
    order: QuestionOrder,
    /// Index of the current question in the catalog; `None` before the first reset.
    question: Option<usize>,
    episode_id: Option<String>,
    step_count: u64,
    phase: EpisodePhase,
}

impl Environment {
    /// Creates an environment before its first reset. `seed` decides the order of questions until a
    /// reset sets another seed. If the order should not be reproducible, pass a random seed.
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

    /// Creates an environment on the question at `index`, as if a reset had asked it. A later reset
    /// without a seed uses the seed 0.
    pub fn on_question(catalog: Arc<Catalog>, rules: EpisodeRules, index: usize) -> Self {
        Self {
            question: Some(index),
            phase: EpisodePhase::Open,
            ..Self::new(catalog, rules, 0)
        }
    }

    /// Starts an episode and returns its metadata.
    ///
    /// With `split` and `index`, the question is that task, and a seed has no effect. With only
    /// `split`, it is the next question of the split. Without `split`, it is the next of all
    /// questions. A seed restarts the order of questions, and so does a change of the split, so the
    /// same seed always asks the same question first. The caller generates an `episode_id` if the
    /// client sent none.
    ///
    /// # Errors
    /// If the split has no task of this index, or no tasks at all. The current episode continues.
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

    /// The index of the next question of a split, or of all questions without a split. A seed or
    /// another split begins a new order. `None` if there are no questions.
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

    /// Begins a step. A submission is graded here. For any other tool, the caller runs the tool and
    /// then calls [`Self::finish`]. A step after the end of the episode returns an outcome whose
    /// metadata has an error, and is not counted.
    ///
    /// # Errors
    /// If a submission is neither a text nor a number. It counts as a step but is not graded, and
    /// the episode continues. At the step limit, such a submission ends the episode and returns an
    /// outcome, because otherwise repeating it would keep the episode open.
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

    /// Ends the step that [`Self::begin`] began, with the tool's result. At the step limit, this
    /// ends the episode and still shows the tool's result, which OpenEnv's `finqa_env` drops.
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

    /// The environment's state. It includes the expected answer only after the end of the episode.
    /// OpenEnv's `finqa_env` shows it to agents from the start.
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

    /// True if the current step is at the step limit.
    fn is_last_step(&self) -> bool {
        self.step_count >= self.rules.max_steps
    }

    /// True if a question was asked and its episode has not ended.
    pub(crate) fn is_open(&self) -> bool {
        self.phase == EpisodePhase::Open
    }

    /// The current question, or an empty one before the first reset.
    pub fn current(&self) -> &EnvQuestion {
        static NONE: LazyLock<EnvQuestion> = LazyLock::new(EnvQuestion::default);
        self.question
            .and_then(|i| self.catalog.questions().get(i))
            .unwrap_or(&NONE)
    }

    /// Grades a submission and ends the episode. An answer on which OpenEnv's grader raises an
    /// exception earns 0.0 and also ends the episode, because an open episode would allow a second
    /// answer.
    fn submit(&mut self, answer: Option<&Value>) -> Result<StepOutcome, StepError> {
        let answer = match answer {
            // OpenEnv's `finqa_env` also grades a missing answer and a null.
            None | Some(Value::Null) => String::new(),
            // `finqa_env` refuses a number, but clients send the number that a model computed.
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

    /// The outcome of a step that runs no tool. It has no observation and the reward 0.0.
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
