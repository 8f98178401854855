//! The size and make-up of a file, for `data stats`.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::{Dataset, RecordKind};
use finqa_core::page::CellKind;
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
    /// Sentences before and after the tables.
    pub sentences: usize,
    /// Rows of the tables, the header among them.
    pub rows: Range,
    /// Columns of the tables, the one of the row labels among them.
    pub columns: Range,
    /// Cells that are neither in the header nor row labels.
    pub cells: CellCounts,
}

/// Least, mean and most over the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    pub min: usize,
    pub mean: f64,
    pub max: usize,
}

impl Range {
    fn of(values: &[usize]) -> Self {
        Self {
            min: values.iter().copied().min().unwrap_or_default(),
            mean: values.iter().sum::<usize>() as f64 / values.len().max(1) as f64,
            max: values.iter().copied().max().unwrap_or_default(),
        }
    }
}

/// Cells by what they hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellCounts {
    pub numbers: usize,
    /// Of these, written twice.
    pub doubled: usize,
    /// Of these, below zero.
    pub negative: usize,
    /// Of these, percentages.
    pub percent: usize,
    /// Dashes, lost ones included.
    pub dashes: usize,
    /// Other text.
    pub text: usize,
    /// Blank cells.
    pub empty: usize,
}

impl CellCounts {
    fn count(&mut self, kind: CellKind) {
        match kind {
            CellKind::Number {
                doubled,
                negative,
                percent,
                ..
            } => {
                self.numbers += 1;
                self.doubled += usize::from(doubled);
                self.negative += usize::from(negative);
                self.percent += usize::from(percent);
            }
            CellKind::Dash => self.dashes += 1,
            CellKind::Text => self.text += 1,
            CellKind::Empty => self.empty += 1,
        }
    }
}

/// Counts records, questions, programs and cells.
pub fn stats(dataset: &Dataset) -> Stats {
    let mut stats = Stats {
        records: dataset.records.len(),
        questions: dataset.question_count(),
        turns: dataset.turn_count(),
        ..Stats::default()
    };
    let mut pages = HashSet::new();
    let (mut rows, mut columns) = (Vec::new(), Vec::new());
    for record in &dataset.records {
        match record.kind {
            RecordKind::Single => stats.singles += 1,
            RecordKind::Double => stats.doubles += 1,
        }
        pages.insert(record.document.filename.as_str());
        stats.sentences += record.document.sentences().count();
        if !record.turns.is_empty() {
            *stats
                .turns_per_conversation
                .entry(record.turns.len())
                .or_default() += 1;
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
                *stats
                    .steps_per_program
                    .entry(program.steps().len())
                    .or_default() += 1;
                for step in program.steps() {
                    *stats.operations.entry(step.op.name()).or_default() += 1;
                }
            }
        }
        let table = &record.document.page().table;
        rows.push(table.rows().len());
        columns.push(table.columns().len());
        for cell in table
            .cells()
            .iter()
            .skip(1)
            .flat_map(|row| row.iter().skip(1))
        {
            stats.cells.count(cell.kind);
        }
    }
    stats.pages = pages.len();
    stats.rows = Range::of(&rows);
    stats.columns = Range::of(&columns);
    stats
}
