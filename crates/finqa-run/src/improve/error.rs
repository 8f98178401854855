//! The errors of a search for better prompts.

use std::path::PathBuf;

use thiserror::Error;

use finqa_agents::llm::ModelError;
use finqa_core::error::{Kind, Kinded};
use finqa_core::text::counted;
use finqa_journal::answers::AnswersError;
use finqa_journal::run::{Finish, FolderError, JournalError, LockError};
use finqa_report::output::OutputError;
use finqa_score::improve::Power;

use crate::pipeline::PipelineError;

/// The reasons for which a search ends early. The same command continues a search that ended at a
/// limit, by a signal or because of a server.
#[derive(Debug, Error)]
pub enum SearchError {
    #[error("{0}")]
    NoRecords(String),
    #[error("improve needs gold answers, and no question of the data has one")]
    NoGold,
    #[error("not enough data: there are no propose, no gate or no sealed pages")]
    TooFewPages,
    /// The gate cannot detect the requested gain. `cost` says what enough questions would cost.
    #[error(
        "not enough data: the gate has {}, and takes {} to detect a gain of {} points with \
         80 % power at a discordance of {:.1} % ({})",
        counted(power.gate_questions, "question"),
        power.needed,
        100.0 * power.detect,
        100.0 * power.discordance,
        if power.measured { "in the earlier runs" } else { "assumed" }
    )]
    TooFewQuestions { power: Power, cost: String },
    #[error("the limit of the cost is reached")]
    LimitReached,
    /// A run of the search has ended, but some of its questions have no outcome.
    #[error(
        "{name} is not complete; the same command{} continues it",
        if matches!(finish, Finish::BudgetReached { .. }) { " with a higher limit" } else { "" }
    )]
    Unfinished { name: String, finish: Finish },
    #[error("cannot create {folder}: {source}")]
    Folder {
        folder: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{0}")]
    Run(#[from] PipelineError),
    #[error("{0}")]
    Model(#[source] Box<ModelError>),
    #[error("{0}")]
    Answers(#[from] AnswersError),
    #[error("{0}")]
    Journal(#[from] JournalError),
    #[error("{0}")]
    RunFolder(#[from] FolderError),
    #[error("{0}")]
    Lock(#[from] LockError),
    #[error("{0}")]
    Output(#[from] OutputError),
}

impl From<ModelError> for SearchError {
    fn from(error: ModelError) -> Self {
        Self::Model(Box::new(error))
    }
}

impl Kinded for SearchError {
    fn kind(&self) -> Kind {
        match self {
            Self::NoGold => Kind::Data,
            Self::Run(error) => error.kind(),
            Self::Model(error) => error.kind(),
            Self::Answers(error) => error.kind(),
            Self::Journal(error) => error.kind(),
            Self::RunFolder(error) => error.kind(),
            Self::Lock(error) => error.kind(),
            Self::Output(error) => error.kind(),
            // `cli::improve` gives a reached limit and an unfinished run their own exit codes.
            _ => Kind::Usage,
        }
    }
}
