//! The batch engine. It combines calls into waves, which a provider answers within a day at half
//! the price.
//!
//! A [`BatchQueue`] is below the models: each HTTP request that a model would send waits in it.
//! When every conversation of the run waits, the waiting requests form a wave. The wave is
//! submitted as one batch per model, and each result goes to the call that waits for it. The call
//! reads it like a live reply, so a failed request is repeated in the next wave. The journal stores
//! a record of each batch before the batch is submitted, so that a later process finds it again.
//!
//! Reading order: `record` (what the journal stores), `queue` (the waiting calls), `driver` (from
//! waiting calls to batches and back), `delivery` (the results), `client` (the HTTP requests),
//! `api` (the types of all batch APIs), `openai` and `anthropic` (the two APIs).

mod anthropic;
mod api;
mod client;
mod delivery;
mod driver;
mod openai;
mod queue;
mod record;

pub use queue::{BatchPlace, BatchQueue};
pub use record::{BatchRecord, BatchRecorder, BatchStage, RunBatches};

pub(super) use client::BatchClient;
pub(super) use queue::{BatchReply, BatchSender};
