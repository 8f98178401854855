//! The size and make-up of a file, for `data stats`.

use std::collections::{BTreeMap, HashSet};

use super::{Case, Dataset, RecordKind};
use finqa_core::program::Program;

/// The records, pages, questions and turns of a file, and the operations of its programs.
pub fn stats_text(dataset: &Dataset) -> String {
    let records = dataset.records.iter();
    let doubles = records.clone().filter(|r| r.kind == RecordKind::Double);
    let doubles = doubles.count();
    // The clusters of the statistics.
    let pages: HashSet<&str> = records
        .clone()
        .map(|r| r.document.filename.as_str())
        .collect();
    let executable = |case: &&Case| case.gold.program.is_some() && case.gold.exe_ans.is_some();
    let cases = || records.clone().flat_map(|record| record.cases());
    let with_value = cases().filter(executable).count();
    let turns = records.clone().flat_map(|record| &record.turns);
    let turns_with_value = turns.map(AsRef::as_ref).filter(executable).count();
    let mut operations: BTreeMap<&str, usize> = BTreeMap::new();
    for program in cases().filter_map(|case| Program::parse(case.gold.program.as_deref()?).ok()) {
        for step in program.steps() {
            *operations.entry(step.op.name()).or_default() += 1;
        }
    }
    let operations = operations.iter();
    let operations = operations.map(|(name, count)| format!("{count:>6}  {name}\n"));
    [
        format!("{}\nblake3     {}\n", dataset.source, dataset.hash),
        format!(
            "records    {} ({} Single, {doubles} Double) on {} pages\n",
            dataset.records.len(),
            dataset.records.len() - doubles,
            pages.len()
        ),
        format!(
            "questions  {} stand-alone, {} with program and value\n",
            dataset.question_count(),
            with_value - turns_with_value
        ),
        format!(
            "turns      {}, {turns_with_value} with program and value\noperations\n",
            dataset.turn_count()
        ),
        operations.collect(),
    ]
    .concat()
}
