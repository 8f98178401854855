//! A run: its plan, the scheduler, the journal that makes it resumable, the
//! events that every output consumes, and the summary. `pipeline` makes one library
//! call of it.

mod agreement;
mod attempt;
mod command;
mod critic_effect;
mod differences;
mod earlier_work;
mod episode_summary;
mod event;
mod failures;
mod find_run;
mod folder;
pub mod journal;
mod lock;
mod models;
mod plan;
mod reply_notes;
mod run_meta;
mod scheduler;
mod services;
mod shard_survey;
mod shards_error;
mod shards_folder;
mod shared_texts;
mod stored_file;
mod summary;
mod trace;
mod worker;
mod writer;

pub use agreement::{Agreement, ArbitrationEffect};
pub(crate) use command::command;
pub use critic_effect::CriticEffect;
pub(crate) use episode_summary::gold_of_truth;
pub use episode_summary::{EpisodeSummary, RewardSummary};
pub use event::{Event, Finish};
pub use find_run::FolderError;
pub use folder::{RunFolder, RunStage, RunState};
pub use journal::{Journal, JournalError};
pub use lock::{LockError, RunLock, host_name};
pub use models::RunModels;
pub use plan::{Plan, PlanError, PlannedQuestion};
pub(crate) use reply_notes::ReplyNotes;
pub use run_meta::{
    EpisodeMeta, Identity, MergedShards, MissingPart, MovedModels, RunKind, RunMeta, RunShard,
};
pub use scheduler::Scheduler;
pub(crate) use shard_survey::ShardSurvey;
pub use shards_error::ShardsError;
pub use shards_folder::{ShardsFolder, SharedPlan};
pub(crate) use shared_texts::{TextHash, share, text_hash};
pub use stored_file::StoredFile;
pub use summary::{BatchUsage, ResourceUsage, Summary, SummaryBuilder, summarise};
