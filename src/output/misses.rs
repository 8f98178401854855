//! The misses of an analysis as CSV, one a row.

use std::path::Path;

use crate::analysis::Miss;
use crate::score::files::cell;

use super::staged::{OutputError, write_atomic};

/// The columns, in order.
const COLUMNS: [&str; 13] = [
    "id",
    "part",
    "epoch",
    "cause",
    "detail",
    "also",
    "question",
    "gold",
    "answer",
    "program",
    "gold_program",
    "suspect",
    "also_detail",
];

/// Writes the misses.
pub(crate) fn write_misses(path: &Path, misses: &[Miss]) -> Result<(), OutputError> {
    write_atomic(path, |file| {
        let mut writer = ::csv::Writer::from_writer(file);
        writer.write_record(COLUMNS)?;
        for miss in misses {
            let also: Vec<&str> = miss.also.iter().map(|found| found.cause.name()).collect();
            let details: Vec<&str> = miss
                .also
                .iter()
                .map(|found| found.detail.as_str())
                .collect();
            let or_empty = |text: &Option<String>| text.clone().unwrap_or_default();
            let cells = [
                miss.key.id.clone(),
                miss.key.part.clone(),
                miss.epoch.clone(),
                miss.cause.name().to_owned(),
                miss.detail.clone(),
                also.join(" "),
                miss.question.clone(),
                miss.gold.clone(),
                miss.answer.clone(),
                or_empty(&miss.program),
                or_empty(&miss.gold_program),
                or_empty(&miss.suspect),
                details.join("; "),
            ];
            writer.write_record(cells.iter().map(|text| cell(text)))?;
        }
        writer.flush()
    })
}
