//! A run: its plan, the scheduler, the journal that makes it resumable, the
//! events that every output consumes, and the summary. `pipeline` makes one library
//! call of it.

mod agreement;
mod command;
mod effect;
mod ending;
mod episodes;
mod event;
mod failures;
mod folder;
mod identity;
pub mod journal;
mod lock;
mod merge;
mod naming;
mod pass;
mod pilot;
mod plan;
mod reload;
mod replay;
mod scheduler;
mod services;
mod shards;
mod summary;
mod texts;
mod trace;
mod worker;
mod writer;

pub use crate::dataset::{HistoryMode, Mode};
pub use crate::score::{Row, Stamp};
pub use agreement::{Agreement, ArbitrationEffect};
pub(crate) use command::{command, resume_command};
pub use effect::{CriticEffect, SampleEffect};
pub(crate) use episodes::gold_of_truth;
pub use episodes::{EpisodeSummary, RewardSummary};
pub use event::{Event, Finish};
pub use folder::{FolderError, RunFolder, RunStage, RunState};
pub use identity::{EpisodeMeta, Identity, RunKind, RunMeta, RunShard};
pub use journal::{Journal, JournalError};
pub use lock::{Holder, LockError, RunLock};
pub(crate) use merge::ShardSurvey;
pub use merge::{MergeError, MergedShards, MissingPart};
pub use plan::{Plan, PlanError, PlannedQuestion, QuestionSource, StartedQuestion};
pub use scheduler::{RunModels, Scheduler, Workload};
pub use shards::{ShardsError, ShardsFolder, SharedPlan};
pub(crate) use summary::left_out_line;
pub use summary::{BatchUsage, ResourceUsage, Summary, SummaryBuilder, summarise};
pub(crate) use texts::{TextHash, share_quoted, text_hash};
