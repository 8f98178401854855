//! The prices of a run, and the cost of its earlier processes.

use finqa_agents::llm::{Budget, PriceList};
use finqa_core::files;
use finqa_journal::run::RunMeta;
use finqa_journal::settings::{Origin, Settings};

use super::PipelineError;
use super::locked_run::LockedRun;

/// The user's prices: those of the resumed run, otherwise those in the file that the settings name,
/// otherwise those of the recorded run.
///
/// # Errors
/// The file cannot be read, or its prices differ from those of the resumed run.
pub(crate) fn user_prices(
    settings: &Settings,
    resumed: Option<&LockedRun>,
    recorded: Option<&RunMeta>,
) -> Result<Option<PriceList>, PipelineError> {
    // A path from the run's own settings is not read, because the run has stored the prices
    // themselves.
    let by_run = settings.origins.get("prices") == Some(&Origin::Run);
    let named = settings.budget.prices.as_ref().filter(|_| !by_run);
    let named = named.map(|path| {
        let text = files::read_to_string(path).map_err(|source| PipelineError::PricesFile {
            path: path.clone(),
            source,
        })?;
        PriceList::from_json(&text).map_err(|source| PipelineError::Prices {
            path: path.clone(),
            source,
        })
    });
    let named = named.transpose()?;
    let Some(meta) = resumed.map(LockedRun::meta) else {
        return Ok(named.or_else(|| recorded?.prices.clone()));
    };
    if named.is_some() && named != meta.prices {
        return Err(PipelineError::ChangedPrices {
            id: meta.id.clone(),
        });
    }
    Ok(meta.prices.clone())
}

/// Adds the cost of earlier processes of the run to its budget.
///
/// # Errors
/// [`PipelineError::UnknownSpending`] if earlier requests were not counted, because the run was
/// started without a limit.
pub(super) fn count_earlier(budget: &Budget, run: &LockedRun) -> Result<(), PipelineError> {
    if !budget.counts_requests() {
        return Ok(());
    }
    let earlier = run.journal.begin_spending()?;
    let earlier = earlier.ok_or_else(|| PipelineError::UnknownSpending {
        id: run.meta.id.clone(),
    })?;
    budget.add_earlier(earlier.spent, earlier.last_id);
    Ok(())
}
