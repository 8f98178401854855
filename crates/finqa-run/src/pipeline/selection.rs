//! Loads and selects the records to ask about, and plans their questions.

use finqa_core::text::counted;
use finqa_journal::run::Plan;
use finqa_journal::settings::Settings;
use finqa_score::dataset::{self, Dataset, Mode, Selection, Source};

use super::PipelineError;
use super::only::Only;

/// Default number of records with a remote model, because its calls may cost money. Set by hand.
const PAID_DEFAULT_RECORDS: usize = 100;

/// The selected records and the plan of their questions.
pub(super) struct Selected {
    pub dataset: Dataset,
    pub plan: Plan,
    /// The setting `--only`, as [`Only::setting`] returns it; `None` if it was not given.
    pub only: Option<String>,
}

/// Loads and selects the records, and plans their questions. `note` is called with a line for each
/// default that is applied and for each note about the records.
pub(super) fn plan(
    settings: &Settings,
    remote: bool,
    note: impl Fn(&str),
) -> Result<Selected, PipelineError> {
    let only = Only::of(settings)?;
    let dataset = load_selected(settings, remote, &note)?;
    let asked = &settings.questions;
    let earlier = only.as_ref().and_then(Only::mode);
    let mode = match earlier.filter(|_| !settings.origins.contains_key("mode")) {
        Some(earlier) => earlier,
        None => mode(settings, &dataset, &note),
    };
    let mut plan = Plan::new(&dataset, mode, asked.history, asked.epochs)?;
    if let Some(line) = not_asked(&dataset, mode) {
        note(&line);
    }
    if let Some(only) = &only {
        only.reduce(&mut plan, &dataset)?;
    }
    Ok(Selected {
        only: only.map(|only| only.setting()),
        dataset,
        plan,
    })
}

/// Without a named file, the downloaded one is read, and without that the sample, but not with a
/// remote model.
fn load_selected(
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
            note("no --data-path and no data/train.json: using the built-in sample");
            Source::Sample
        }
    };
    let dataset = dataset::load_split(&source, settings.questions.split.as_deref())?;
    for line in &dataset.notes {
        note(&format!("{}: {line}", dataset.source));
    }
    choose(&dataset, settings, remote, note)
}

/// The mode in which questions are asked. It is conversations if the user named no mode and the
/// records have only those.
fn mode(settings: &Settings, dataset: &Dataset, note: impl Fn(&str)) -> Mode {
    let named = settings.origins.contains_key("mode");
    if named || dataset.question_count() > 0 || dataset.turn_count() == 0 {
        return settings.questions.mode;
    }
    note("no stand-alone questions in the data: asking its conversations (--mode conversations)");
    Mode::Conversations
}

/// A line about records that have no question of this mode; `None` if every record has one.
fn not_asked(dataset: &Dataset, mode: Mode) -> Option<String> {
    let (other, question) = match mode {
        Mode::Questions => ("conversations", "stand-alone question"),
        Mode::Conversations => ("questions", "conversation"),
    };
    let records = dataset.records.iter();
    let lacking = records.filter(|record| match mode {
        Mode::Questions => record.questions.is_empty(),
        Mode::Conversations => record.turns.is_empty(),
    });
    let (lacking, all) = (lacking.count(), counted(dataset.records.len(), "record"));
    (lacking > 0).then(|| {
        format!(
            "{lacking} of {all} without a {question}, so not asked; \
             --mode {other} asks such records"
        )
    })
}

/// The records that the settings select. With a remote model, the default limit applies too.
fn choose(
    dataset: &Dataset,
    settings: &Settings,
    remote: bool,
    note: impl Fn(&str),
) -> Result<Dataset, PipelineError> {
    let questions = &settings.questions;
    let selection = Selection {
        n: questions.n,
        range: questions.range.as_deref().map(str::parse).transpose()?,
        ids: questions.ids.clone(),
        filter: questions.filter.clone(),
        shuffle: questions.shuffle,
        // Without --seed, the shuffle uses seed 0, so it is the same each time.
        seed: settings.sampling.seed.unwrap_or_default(),
    };
    // A filter alone sets no limit, because it may match any number of records.
    let counted = selection.n.is_some()
        || selection.range.is_some()
        || !selection.ids.is_empty()
        || questions.only.is_some();
    let mut chosen = dataset::select(dataset, &selection)?;
    if remote && !counted && chosen.len() > PAID_DEFAULT_RECORDS {
        let found = selection.filter.map_or("", |_| " that match --filter");
        note(&format!(
            "using the first {PAID_DEFAULT_RECORDS} of {} records{found} because the model is remote; pass --n to change this",
            chosen.len()
        ));
        chosen.truncate(PAID_DEFAULT_RECORDS);
    }
    Ok(dataset.pick(&chosen))
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn the_default_limit_counts_the_records_that_match_the_filter() {
        let sample = dataset::load(&Source::Sample).unwrap();
        let records = sample.records.len();
        let id = sample.records.first().unwrap().id().to_owned();
        let asked = |repeats: usize, filter: Option<&str>, remote| {
            let positions: Vec<usize> = (0..records * repeats).map(|at| at % records).collect();
            let mut settings = Settings::default();
            settings.questions.filter = filter.map(str::to_owned);
            let notes = RefCell::new(String::new());
            let note = |line: &str| notes.borrow_mut().push_str(line);
            let asked = choose(&sample.pick(&positions), &settings, remote, note).unwrap();
            (asked.records.len(), notes.into_inner())
        };
        assert_eq!(asked(99, Some(&id), true), (99, String::new()));
        let (count, note) = asked(120, Some(&id), true);
        assert_eq!(count, 100);
        assert!(note.starts_with("using the first 100 of 120 records that match --filter"));
        assert_eq!(asked(120, Some(&id), false), (120, String::new()));
        let (count, note) = asked(120, None, true);
        assert_eq!(count, 100);
        let all = format!("using the first 100 of {} records because", 120 * records);
        assert!(note.starts_with(&all), "{note}");
    }
}
