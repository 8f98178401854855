//! The sending of requests: each as soon as it is ready, or in batches.

use clap::Args;
use serde::{Deserialize, Serialize};

/// The settings of batches.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Batches")]
#[serde(default, deny_unknown_fields)]
pub struct BatchSettings {
    /// Send each request as soon as it is ready, or collect requests in batches, which the provider answers within a day at half the price
    #[arg(long, value_name = "ENGINE", default_value = "live")]
    pub engine: ExecutionEngine,
}

/// The way requests are sent (`--engine`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExecutionEngine {
    /// Send each request as soon as it is ready, and wait for its reply.
    Live,
    /// Collect requests for the provider's batch API, at half the price.
    Batch,
}

finqa_core::options::declared_defaults!(BatchSettings);
