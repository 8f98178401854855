//! Makes the environment's tables from one report page.

use std::collections::HashSet;

use serde_json::{Map, Value};

use finqa_score::dataset::Document;

/// The names and tables of one page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PageTables {
    /// The ticker of the company, with which the file name begins.
    pub(super) company: String,
    /// The name of the table, which needs no quotes in SQL.
    pub(super) name: String,
    /// The table as `{column: {row: cell}}`.
    pub(super) table: Map<String, Value>,
    sentences: Map<String, Value>,
    /// The file name of the page in the dataset.
    filename: String,
}

impl PageTables {
    pub(super) fn new(document: &Document) -> Self {
        let filename = document.filename.trim_end_matches(".pdf");
        let ticker = filename.split('/').next().unwrap_or_default();
        let rows: Vec<String> = (1..=document.sentences().count())
            .map(|n| n.to_string())
            .collect();
        let rows = column(rows.iter().map(String::as_str));
        let sentences = [("row", rows), ("sentence", column(document.sentences()))];
        Self {
            company: bare(ticker),
            name: bare(filename),
            table: table(&document.table),
            sentences: sentences
                .map(|(k, v)| (k.to_owned(), v))
                .into_iter()
                .collect(),
            filename: document.filename.clone(),
        }
    }

    /// Name, content and description of each of the page's tables.
    pub(super) fn tables(&self, name: &str) -> [(String, Map<String, Value>, String); 2] {
        let page = &self.filename;
        let table = format!("table of page {page}");
        let sentences = format!("sentences of page {page}, those before the table first");
        [
            (name.to_owned(), self.table.clone(), table),
            (sentences_of(name), self.sentences.clone(), sentences),
        ]
    }
}

/// The name of the table with a page's sentences.
pub(super) fn sentences_of(name: &str) -> String {
    format!("{name}_text")
}

/// A table as `{column: {row: cell}}`. Row 0 of `rows` has the headings. Missing cells are empty.
fn table(rows: &[Vec<String>]) -> Map<String, Value> {
    let (header, body) = rows
        .split_first()
        .map_or((&[][..], &[][..]), |(header, body)| {
            (header.as_slice(), body)
        });
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut taken = HashSet::new();
    (0..width)
        .map(|at| {
            let heading = heading(header.get(at).map_or("", String::as_str), at, &mut taken);
            let cells = body
                .iter()
                .map(|row| row.get(at).map_or("", String::as_str));
            (heading, column(cells))
        })
        .collect()
}

/// The name of a column: `item` for an empty first heading, `column_N` for any other empty one. An
/// agent's query needs names; docs/finqa-environment.md states them. A repeated heading gets a
/// number, even if it differs in case, because SQL ignores the case of names.
fn heading(text: &str, at: usize, taken: &mut HashSet<String>) -> String {
    let text = match text.trim() {
        "" if at == 0 => "item".to_owned(),
        "" => format!("column_{}", at + 1),
        text => text.to_owned(),
    };
    let others = (2..).map(|n| format!("{text}_{n}"));
    let mut names = std::iter::once(text.clone()).chain(others);
    let name = names.find(|name| taken.insert(name.to_lowercase()));
    // The numbers never end, so there is always a name.
    name.unwrap_or(text)
}

fn column<'a>(cells: impl Iterator<Item = &'a str>) -> Value {
    let cells = cells
        .enumerate()
        .map(|(row, cell)| (row.to_string(), Value::from(cell)));
    Value::Object(cells.collect())
}

/// A name of ASCII letters, digits and `_`, beginning with a letter.
fn bare(text: &str) -> String {
    let name: String = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name
    } else {
        format!("t_{name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_distinct_names() {
        let row = |cells: &[&str]| cells.iter().map(|c| (*c).to_owned()).collect::<Vec<_>>();
        let rows = [
            row(&["", "2009", "2009", "", "ITEM"]),
            row(&["a", "1", "2"]),
        ];
        let table = table(&rows);
        let names: Vec<&str> = table.keys().map(String::as_str).collect();
        assert_eq!(names, ["item", "2009", "2009_2", "column_4", "ITEM_2"]);
        assert_eq!(table["ITEM_2"]["0"], "");
    }

    #[test]
    fn names_need_no_quotes_and_leave_no_folder() {
        assert_eq!(bare("JKHY/2009/page_28"), "JKHY_2009_page_28");
        assert_eq!(bare("../x"), "t____x");
        assert_eq!(bare(""), "t_");
        assert_eq!(bare("3M"), "t_3M");
    }
}
