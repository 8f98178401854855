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
        /// Number of questions in the plan.
        total: usize,
        /// Number of questions that earlier processes answered. Their rows follow as `Answered`
        /// events with `resumed`.
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
        /// The number of the failed request within its call, from 1.
        attempt: u32,
        delay: Duration,
        reason: String,
    },
    /// A line about a batch.
    Batch(String),
    /// The rate limits of the models, or the number of requests in flight, have changed.
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
    /// The provider failed some questions in the second attempt too. These questions have no
    /// outcome and are asked again on resume.
    Partial {
        /// Number of questions without an outcome.
        left: usize,
        /// The last failure, in one line.
        reason: String,
    },
    /// The next request would exceed a limit; can be resumed with a higher one.
    BudgetReached {
        limit: BudgetLimit,
        /// The amount spent, as a text to show to the user.
        spent: Option<String>,
        /// Number of questions without an outcome.
        left: usize,
    },
    /// Stopped by the user; can be resumed.
    Interrupted,
    /// The provider refuses or fails every request. The run can be resumed once the provider
    /// answers.
    Fatal(RunFailure),
    /// An error in this program, such as a panic; can be resumed.
    Bug(String),
}

impl Finish {
    /// The name in log lines.
    pub fn name(&self) -> &'static str {
        self.into()
    }

    /// The end of a run because a task panicked or was cancelled.
    pub fn of_task(error: JoinError) -> Self {
        match error.try_into_panic() {
            Ok(panic) => Self::of_panic(&*panic),
            Err(error) => Self::Bug(error.to_string()),
        }
    }

    /// The end of a run because of a panic. `panic` is its payload.
    pub fn of_panic(panic: &(dyn Any + Send)) -> Self {
        // A formatted message is a `String`, and a literal is a `&str`.
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let text = text.unwrap_or("without a message");
        Self::Bug(format!("panicked: {text}"))
    }
}
