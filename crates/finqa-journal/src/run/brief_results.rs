//! The results of a run in a few figures, for a list of runs.

use std::path::Path;

use serde::{Deserialize, Serialize};

use finqa_agents::llm::Cost;

/// The score and the cost in `summary.json`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct BriefResults {
    /// The share of right answers by financial equivalence, from 0 to 1.
    pub financial_equivalence: Option<f64>,
    /// Lower end of the 95 % interval of the share.
    pub financial_equivalence_low: Option<f64>,
    /// Upper end of the 95 % interval of the share.
    pub financial_equivalence_high: Option<f64>,
    /// Number of questions that the share is computed over.
    pub financial_equivalence_n: usize,
    /// The results of the episodes, if the questions were played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub episodes: Option<BriefEpisodes>,
    pub spent: BriefSpending,
}

/// The results of episodes in `summary.json`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct BriefEpisodes {
    pub reward: Option<MeanReward>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct MeanReward {
    pub mean: f64,
}

/// The calls and the cost in `summary.json`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
pub struct BriefSpending {
    pub calls: u64,
    pub cost: Cost,
}

impl BriefResults {
    /// Reads `summary.json`. `None` if there is none yet, or another version wrote it.
    pub(super) fn read(summary: &Path) -> Option<Self> {
        let summary = std::fs::read(summary).ok()?;
        serde_json::from_slice(&summary).ok()
    }
}
