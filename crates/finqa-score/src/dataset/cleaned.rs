//! The page of a record in the cleaned ConvFinQA file, `{"train": […], "dev": […]}`, in which
//! texts are whole, and a table is an object of columns: `{column: {row: value}}`.
//!
//! The corner of the table's header is lost there. A repeated column has a number at its end.

use std::collections::HashMap;

use super::Pairs;
use super::raw::{CleanedPage, Prose, RawRecord, Scalar};

/// Puts the page of a cleaned record where a record of the original file has it.
pub(super) fn move_page(page: CleanedPage, record: &mut RawRecord) {
    record.pre_text = page.pre_text.map(sentences);
    record.post_text = page.post_text.map(sentences);
    record.table = page.table.map(rows);
}

/// The sentences, each of which ends with a separate full stop in the dataset.
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

/// The rows of a table, its header first, in the order in which the columns name them. A column
/// without a row has an empty cell there; a row's label that a column has twice is two rows.
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
