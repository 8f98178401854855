//! The size and make-up of a file, for `data stats`.

use std::collections::HashSet;
use std::sync::Arc;

use finqa_core::text::counted;

use super::{Case, Dataset, RecordKind};

/// The numbers of records, pages, questions and turns of a dataset, as text.
pub fn stats_text(dataset: &Dataset) -> String {
    let records = &dataset.records;
    let doubles = records.iter().filter(|r| r.kind == RecordKind::Double);
    let doubles = doubles.count();
    // Pages are counted because statistics cluster by page.
    let pages = records.iter().map(|r| r.document.filename.as_str());
    let pages: HashSet<&str> = pages.collect();
    let has_value = |case: &&Arc<Case>| case.gold.program.is_some() && case.gold.exe_ans.is_some();
    let questions = records.iter().flat_map(|record| &record.questions);
    let turns = records.iter().flat_map(|record| &record.turns);
    format!(
        "{}\nblake3     {}\n\
         records    {} ({} Single, {doubles} Double) on {}\n\
         questions  {} stand-alone, {} with program and value\n\
         turns      {}, {} with program and value\n",
        dataset.source,
        dataset.hash,
        records.len(),
        records.len() - doubles,
        counted(pages.len(), "page"),
        dataset.question_count(),
        questions.filter(has_value).count(),
        dataset.turn_count(),
        turns.filter(has_value).count()
    )
}
