//! The batch engine: calls are collected into waves, which a provider answers within a day
//! at half price.
//!
//! A [`BatchQueue`] is below the models: each HTTP request that a model would send waits in
//! it. Once every conversation of the run waits, the waiting requests are a wave. It is
//! submitted, one batch for each model, and each result goes to the call that waits for it, which
//! reads it like a live reply, so that a failed one is asked again in the next wave. The journal
//! has a record of each batch before it is submitted, so that a later process finds it again.
//!
//! Reading order: `record` (what the journal holds), `queue` (who waits), `driver` (from waiting
//! calls to batches and back), `delivery` (the results), `client` (the HTTP requests), `api` (what
//! differs between providers), `openai` and `anthropic` (its implementations).

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
