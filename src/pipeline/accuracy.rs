//! A model's accuracy as an earlier run shows it, for `--second-opinion arbitrate`.

use serde::Deserialize;

use crate::run::RunFolder;
use crate::settings::Settings;
use finqa_agents::pair::{AgreementCount, PairOptions};

use super::PipelineError;

/// Fewer answers say too little about a model.
const LEAST_ANSWERS: usize = 20;

/// What the summary of an earlier run says about its model.
#[derive(Deserialize)]
struct EarlierSummary {
    run: EarlierRun,
    second_opinion: SecondOpinions,
}

#[derive(Deserialize)]
struct EarlierRun {
    id: String,
    identity: EarlierIdentity,
}

#[derive(Deserialize)]
struct EarlierIdentity {
    model: String,
}

#[derive(Deserialize)]
struct SecondOpinions {
    count: AgreementCount,
}

/// Estimates the accuracy of `model`, where the answers are weighed by one that is not given,
/// from its newest run with enough second opinions. Returns a note. A shard needs it given,
/// because another shard might find another run.
pub(super) fn estimate(
    pair: &mut PairOptions,
    model: &str,
    settings: &Settings,
) -> Result<Option<String>, PipelineError> {
    if !pair.settings.lacks_accuracy() {
        return Ok(None);
    }
    let runs = match settings.shards.shard {
        Some(_) => Vec::new(),
        None => RunFolder::all(&settings.run.output),
    };
    let found = runs.iter().rev().find_map(|run| {
        let summary = std::fs::read(run.path().join(RunFolder::SUMMARY)).ok()?;
        // A run without second opinions has no count.
        let summary: EarlierSummary = serde_json::from_slice(&summary).ok()?;
        let enough = summary.second_opinion.count.answers >= LEAST_ANSWERS;
        (enough && summary.run.identity.model == model).then_some(summary)
    });
    let summary = found.ok_or(PipelineError::NoAccuracy {
        least: LEAST_ANSWERS,
    })?;
    let count = summary.second_opinion.count;
    let accuracy = count.model_accuracy();
    pair.settings.model_accuracy = Some(accuracy);
    Ok(Some(format!(
        "note: --model-accuracy is {accuracy:.2}, from {} answers of run {}",
        count.answers, summary.run.id
    )))
}
