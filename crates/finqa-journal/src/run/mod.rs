//! A run: its plan, its folder, the journal from which it can be resumed, the events that every
//! output consumes, and the summary.
//!
//! Read `plan` (the questions to ask), `run_meta` (the description of a run), `journal`, `folder`
//! and `event` first. `summary` is made from the journal, with the counts of `agreement`,
//! `critic_effect` with `critic_worth`, `episode_summary` and `reply_notes`. The `shard…` files
//! split a run among processes and merge it again.

mod agreement;
mod brief_results;
mod command;
mod critic_effect;
mod critic_worth;
mod differences;
mod episode_summary;
mod event;
mod find_run;
mod folder;
pub mod journal;
mod lock;
mod plan;
mod reply_notes;
mod run_meta;
mod shard_survey;
mod shards_error;
mod shards_folder;
mod shared_texts;
mod stored_file;
mod summary;

pub use agreement::{Agreement, ArbitrationEffect};
pub use brief_results::BriefResults;
pub use command::command;
pub use critic_effect::CriticEffect;
pub use critic_worth::{CriticKind, CriticWorth};
pub use episode_summary::{EpisodeSummary, RewardSummary, gold_of_truth};
pub use event::{Event, Finish};
pub use find_run::FolderError;
pub use folder::{RunFolder, RunStage, RunState};
pub use journal::{EarlierSpending, Journal, JournalEntry, JournalError};
pub use lock::{LockError, RunLock, host_name};
pub use plan::{Plan, PlanError, PlannedQuestion};
pub use reply_notes::{ReplyNotes, agent};
pub use run_meta::{
    EpisodeMeta, Identity, MergedShards, MissingPart, MovedModels, RunKind, RunMeta, RunShard,
    short_id,
};
pub use shard_survey::ShardSurvey;
pub use shards_error::ShardsError;
pub use shards_folder::{ShardsFolder, SharedPlan};
pub use shared_texts::{TextHash, share, text_hash};
pub use stored_file::StoredFile;
pub use summary::{BatchUsage, ResourceUsage, Summary, SummaryBuilder, summarise};
