//! The events of a run: one enum, which every output consumes. A new output is one more consumer
//! and does not change the scheduler.

use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinError;

use finqa_agents::llm::{BudgetLimit, LimitStatus};
use finqa_agents::pair::{Round, RunFailure};
use finqa_score::dataset::QuestionKey;

use super::run_meta::RunMeta;
use finqa_score::score::Row;

/// Something that happened in a run. Events arrive in the order in which they happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// The run begins, or continues.
    Started {
        meta: Arc<RunMeta>,
        /// Questions in the plan.
        total: usize,
        /// Of these, questions that earlier processes answered. Their rows follow as `Answered`
        /// with `resumed`.
        answered: usize,
    },
    /// A round has its verdict.
    Round { key: QuestionKey, round: Box<Round> },
    /// A question has its outcome, and the journal has committed it.
    Answered {
        row: Arc<Row>,
        /// True for rows that were in the journal before this process started.
        resumed: bool,
    },
    /// A question is left for later, because the provider failed.
    Postponed { key: QuestionKey, reason: String },
    /// A request is tried again.
    Retry {
        /// The number, from 1, of the failed request among those of its call.
        attempt: u32,
        delay: Duration,
        reason: String,
    },
    /// What happened to a batch, in one line.
    Batch(String),
    /// The rate limits of the models changed, or how much of them is used.
    Limits(LimitStatus),
    /// The run has ended; no event follows.
    Finished {
        finish: Finish,
        /// Wall time of this process.
        elapsed: Duration,
    },
}

/// The way a run ended.
#[derive(Clone, Debug, PartialEq, Eq, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Finish {
    /// Every question has an outcome.
    Complete,
    /// The provider failed some questions in the second pass too. They have no outcome, and are
    /// asked again on resume.
    Partial {
        /// Questions without an outcome.
        left: usize,
        /// The last failure, in one line.
        reason: String,
    },
    /// The next request would exceed a limit; can be resumed with a higher one.
    BudgetReached {
        limit: BudgetLimit,
        /// The amount spent, for people.
        spent: Option<String>,
        /// Questions without an outcome.
        left: usize,
    },
    /// Stopped by the user; can be resumed.
    Interrupted,
    /// The provider refuses or fails whatever is asked; can be resumed once it
    /// answers.
    Fatal(RunFailure),
    /// This program failed; can be resumed.
    Bug(String),
}

impl Finish {
    /// The name in log lines.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The end of a run of which a task panicked or was cancelled.
    pub fn of_task(error: JoinError) -> Self {
        match error.try_into_panic() {
            Ok(panic) => Self::of_panic(&*panic),
            Err(error) => Self::Bug(error.to_string()),
        }
    }

    /// The end of a run by a panic with this payload.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("without a message");
        Self::Bug(format!("panicked: {text}"))
    }
}
