//! Loads the records to ask about.

use crate::dataset::{self, Dataset, Selection, Source};
use crate::settings::Settings;

use super::PipelineError;

/// Default number of records for a remote endpoint, which may cost money.
const PAID_DEFAULT_RECORDS: usize = 100;

/// Loads and selects the records; `note` gets a line about each default.
pub(super) fn load_selected(
    settings: &Settings,
    remote: bool,
    note: impl Fn(&str),
) -> Result<Dataset, PipelineError> {
    let named = settings
        .questions
        .data_path
        .as_deref()
        .map(Source::from_name);
    let source = match named.or_else(Source::downloaded) {
        Some(source) => source,
        None if remote => return Err(PipelineError::NoData),
        None => {
            note("no --data-path and no data/train.json: answering the built-in sample");
            Source::Sample
        }
    };
    let dataset = dataset::load(&source)?;
    let chosen = settings.questions.n.is_some()
        || settings.questions.range.is_some()
        || !settings.questions.ids.is_empty();
    let n = match settings.questions.n {
        Some(n) => Some(n),
        None if remote && !chosen && dataset.records.len() > PAID_DEFAULT_RECORDS => {
            note(&format!(
                "using the first {PAID_DEFAULT_RECORDS} of {} records because the endpoint is remote; pass --n to change this",
                dataset.records.len()
            ));
            Some(PAID_DEFAULT_RECORDS)
        }
        None => None,
    };
    let selection = Selection {
        n,
        range: settings
            .questions
            .range
            .as_deref()
            .map(str::parse)
            .transpose()?,
        ids: settings.questions.ids.clone(),
        filter: settings.questions.filter.clone(),
        shuffle: settings.questions.shuffle,
        seed: settings.sampling.seed.unwrap_or_default(),
    };
    let chosen = dataset::select(&dataset, &selection)?;
    Ok(dataset.pick(&chosen))
}
