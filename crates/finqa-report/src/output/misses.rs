//! Writes the misses of an analysis as CSV, one per row.

use std::path::Path;

use finqa_score::analysis::{CauseFound, Miss};
use finqa_score::score::files::cell;

use super::csv::write_record;
use super::staged::{OutputError, write_atomic};

/// A column: its name, and the function that returns its text for a miss.
type MissColumn = (&'static str, fn(&Miss) -> String);

const COLUMNS: [MissColumn; 13] = [
    ("id", |miss| miss.key.id.clone()),
    ("part", |miss| miss.key.part.clone()),
    ("epoch", |miss| miss.epoch.clone()),
    ("cause", |miss| miss.cause.name().to_owned()),
    ("detail", |miss| miss.detail.clone()),
    ("also", |miss| {
        also(miss, |found| found.cause.name()).join(" ")
    }),
    ("question", |miss| miss.question.clone()),
    ("gold", |miss| miss.gold.clone()),
    ("answer", |miss| miss.answer.clone()),
    ("program", |miss| miss.program.clone().unwrap_or_default()),
    ("gold_program", |miss| {
        miss.gold_program.clone().unwrap_or_default()
    }),
    ("suspect", |miss| miss.suspect.clone().unwrap_or_default()),
    ("also_detail", |miss| {
        also(miss, |found| &found.detail).join("; ")
    }),
];

pub fn write_misses(path: &Path, misses: &[Miss]) -> Result<(), OutputError> {
    write_atomic(path, |file| {
        write_record(file, COLUMNS.map(|(name, _)| name))?;
        misses
            .iter()
            .try_for_each(|miss| write_record(file, COLUMNS.map(|(_, text)| cell(&text(miss)))))
    })
}

fn also(miss: &Miss, of: fn(&CauseFound) -> &str) -> Vec<&str> {
    miss.also.iter().map(of).collect()
}
