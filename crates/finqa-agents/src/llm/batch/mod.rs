//! The batch engine: calls are collected into waves, which a provider answers within a day
//! at half price.
//!
//! A [`BatchQueue`] is below the models: each HTTP request that a model would send waits in
//! it. Once every conversation of the run waits, the waiting requests are a wave. It is
//! split at the limits of the provider's API, submitted and polled, and each result goes to
//! the call that waits for it, which reads it like a live reply. Reading order: `queue`
//! (who waits), `sender` (how a call gets there), `driver` (from waiting calls to waves and back),
//! `wave` (what is submitted), `open` (a submitted batch), `delivery` (its results, to the calls),
//! `recovery` (what earlier processes have left), `client`, `lookup` and `results` (the HTTP
//! requests), `api` (what differs between providers), `openai` and `anthropic` (its
//! implementations), `record` (what the journal holds).

mod anthropic;
mod api;
mod client;
mod delivery;
mod driver;
mod lookup;
mod open;
mod openai;
mod queue;
mod record;
mod recovery;
mod results;
mod sender;
mod wave;

use std::fmt;
use std::time::Duration;

pub use queue::{BatchQueue, BatchUnit, RunBatches};
pub use record::{BatchRecord, BatchRecorder, BatchStage};

pub(super) use anthropic::MessageBatches;
pub(super) use client::BatchClient;
pub(super) use openai::FileBatches;
pub(super) use queue::{BatchAnswer, BatchReply};
pub(super) use sender::BatchSender;

/// The options of waiting for batches.
#[derive(Debug, Clone, Copy)]
pub struct BatchOptions {
    /// Poll until every batch has ended; otherwise check once, and end the run after the
    /// next wave is submitted.
    pub waits: bool,
    /// A batch that has not ended by then is cancelled.
    pub timeout: Duration,
    /// Send requests of a cancelled or expired batch live; otherwise they join the next
    /// wave.
    pub sends_late_live: bool,
}

/// Something that happened to a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchNotice {
    Submitted {
        wave: u32,
        batch: String,
        requests: usize,
    },
    /// A batch submitted by an earlier process.
    Awaited { batch: String, requests: usize },
    /// A batch whose results have arrived.
    Ended {
        batch: String,
        /// The reason of its end.
        why: &'static str,
        counts: BatchCounts,
    },
    /// A batch without any processed request.
    Rejected { batch: String, why: String },
    /// A batch that did not end in time.
    Cancelled { batch: String, after: Duration },
    /// A batch whose state cannot be fetched at present.
    Unreachable { batch: String, why: String },
    /// A request to submit it had no answer, and the batch is not in the provider's list.
    Repeated { wave: u32, requests: usize },
    /// A request to submit it had no answer, and a batch in the provider's list may be it.
    AssumedOurs { wave: u32, batch: String },
    /// A batch of another run, or one that cannot be identified as ours.
    NotOurs {
        wave: u32,
        batch: String,
        why: &'static str,
    },
}

/// The counts of a batch's results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BatchCounts {
    /// Results that went to a call.
    pub results: usize,
    /// The number of errors among them.
    pub failed: usize,
    /// Requests without a result.
    pub again: usize,
    /// Lines that are not a result, or longer than a reply may be.
    pub unreadable: usize,
    /// Further results of a request that has one: the first is taken.
    pub duplicate: usize,
    /// Results of requests that are not in the batch.
    pub unknown: usize,
}

impl fmt::Display for BatchNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Submitted {
                wave,
                batch,
                requests,
            } => write!(
                f,
                "wave {wave}: submitted batch {batch}, requests: {requests}"
            ),
            Self::Awaited { batch, requests } => {
                write!(f, "waiting for batch {batch}, requests: {requests}")
            }
            Self::Ended { batch, why, counts } => {
                write!(f, "batch {batch} {why}, results: {}", counts.results)?;
                for (count, what) in [
                    (counts.failed, "errors"),
                    (counts.again, "requests without a result"),
                    (counts.unreadable, "unreadable lines"),
                    (counts.duplicate, "further results of the same request"),
                    (counts.unknown, "results of unknown requests"),
                ] {
                    if count > 0 {
                        write!(f, ", {what}: {count}")?;
                    }
                }
                Ok(())
            }
            Self::Rejected { batch, why } => write!(f, "batch {batch} was {why}"),
            Self::Cancelled { batch, after } => write!(
                f,
                "canceling batch {batch}, which has not ended within {} s (--batch-timeout)",
                after.as_secs()
            ),
            Self::Unreachable { batch, why } => {
                write!(f, "cannot ask about batch {batch} for now: {why}")
            }
            Self::Repeated { wave, requests } => write!(
                f,
                "wave {wave} may be at the provider twice: its submission had no answer and is \
                 not listed, so it is submitted again, requests: {requests}"
            ),
            Self::AssumedOurs { wave, batch } => write!(
                f,
                "wave {wave}: its submission had no answer; batch {batch} is of its time and \
                 size, and its results will show whether it is this one"
            ),
            Self::NotOurs { wave, batch, why } => {
                write!(f, "batch {batch} is not used for wave {wave}: {why}")
            }
        }
    }
}
