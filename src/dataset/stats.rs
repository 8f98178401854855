//! The size and make-up of a file, for `data stats`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Dataset, RecordKind};
use finqa_core::program::Program;

/// Counts over the records of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stats {
    pub records: usize,
    /// Records with one stand-alone question.
    pub singles: usize,
    /// Records with two.
    pub doubles: usize,
    /// Distinct report pages: the clusters of the statistics.
    pub pages: usize,
    /// Stand-alone questions.
    pub questions: usize,
    /// Stand-alone questions with program and value: the n of execution accuracy.
    pub questions_executable: usize,
    pub turns: usize,
    /// Turns with program and value.
    pub turns_executable: usize,
    /// Conversations by their number of turns.
    pub turns_per_conversation: BTreeMap<usize, usize>,
    /// Programs (of questions and turns) by their number of steps; 0 is a look-up.
    pub steps_per_program: BTreeMap<usize, usize>,
    /// Steps by operation.
    pub operations: BTreeMap<&'static str, usize>,
    /// Programs whose value is yes or no.
    pub yes_no: usize,
}

/// Counts records, questions and programs.
pub fn stats(dataset: &Dataset) -> Stats {
    let mut stats = Stats {
        records: dataset.records.len(),
        questions: dataset.question_count(),
        turns: dataset.turn_count(),
        ..Stats::default()
    };
    let mut pages = HashSet::new();
    for record in &dataset.records {
        match record.kind {
            RecordKind::Single => stats.singles += 1,
            RecordKind::Double => stats.doubles += 1,
        }
        pages.insert(record.document.filename.as_str());
        if !record.turns.is_empty() {
            let conversations = &mut stats.turns_per_conversation;
            *conversations.entry(record.turns.len()).or_default() += 1;
        }
        let executable = |cases: &[Arc<super::Case>]| {
            cases
                .iter()
                .filter(|case| case.gold.program.is_some() && case.gold.exe_ans.is_some())
                .count()
        };
        stats.questions_executable += executable(&record.questions);
        stats.turns_executable += executable(&record.turns);
        for case in record.cases() {
            let value = case.gold.exe_ans.as_ref();
            stats.yes_no += usize::from(value.is_some_and(|value| value.yes_no().is_some()));
            let program = case.gold.program.as_deref();
            if let Some(program) = program.and_then(|text| Program::parse(text).ok()) {
                let programs = &mut stats.steps_per_program;
                *programs.entry(program.steps().len()).or_default() += 1;
                for step in program.steps() {
                    *stats.operations.entry(step.op.name()).or_default() += 1;
                }
            }
        }
    }
    stats.pages = pages.len();
    stats
}
