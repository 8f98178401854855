//! Reads the page of a record in the cleaned ConvFinQA file, `{"train": […], "dev": […]}`. In this
//! file, a text may be one string instead of a list of sentences, and a table is an object of
//! columns, `{column: {row: value}}`.
//!
//! The upper left cell of the table is lost in this form, and the name of a repeated column ends in
//! a number.

use std::collections::HashMap;

use super::Pairs;
use super::raw::{CleanedPage, Prose, RawRecord, Scalar};

/// Moves the page of a cleaned record to the fields that a record of the original file has.
pub(super) fn move_page(page: CleanedPage, record: &mut RawRecord) {
    record.pre_text = page.pre_text.map(sentences);
    record.post_text = page.post_text.map(sentences);
    record.table = page.table.map(rows);
}

/// Splits a text into sentences. In the dataset, each ends with a full stop between spaces.
fn sentences(prose: Prose) -> Vec<Scalar> {
    match prose {
        Prose::Sentences(sentences) => sentences,
        Prose::Text(text) => text
            .split_inclusive(" . ")
            .map(str::trim)
            .filter(|sentence| !sentence.is_empty())
            .map(|sentence| Scalar::Text(sentence.to_owned()))
            .collect(),
    }
}

/// The rows of a table, the header first, in the order in which the columns list them. A cell is
/// empty if its column lacks the row. A label that occurs twice in a column makes two rows.
fn rows(Pairs(columns): Pairs<Pairs<Scalar>>) -> Vec<Vec<Scalar>> {
    let empty = || Scalar::Text(String::new());
    if columns.is_empty() {
        return Vec::new();
    }
    let width = columns.len() + 1;
    let mut places: HashMap<(String, usize), usize> = HashMap::new();
    let mut header = vec![empty()];
    let mut rows: Vec<Vec<Scalar>> = Vec::new();
    for (at, (name, Pairs(cells))) in columns.into_iter().enumerate() {
        header.push(Scalar::Text(name));
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (label, value) in cells {
            let times = seen.entry(label.clone()).or_default();
            let place = *places.entry((label.clone(), *times)).or_insert_with(|| {
                let mut row = vec![Scalar::Text(label)];
                row.resize_with(width, empty);
                rows.push(row);
                rows.len() - 1
            });
            *times += 1;
            let cell = rows.get_mut(place).and_then(|row| row.get_mut(at + 1));
            if let Some(cell) = cell {
                *cell = value;
            }
        }
    }
    rows.insert(0, header);
    rows
}
