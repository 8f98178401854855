//! Rebuilds report pages for the embedded analyst from the results of the environment's tools.

use std::collections::HashSet;

use serde_json::Value;

use finqa_score::dataset::Document;

/// The tables that the question names, with the tables of sentences on the same pages.
pub(super) fn named_tables(question: &str, names: &[String]) -> Vec<String> {
    let words: HashSet<&str> = question
        .split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
        .collect();
    let is_named = |name: &&String| {
        let page = name.strip_suffix("_text").unwrap_or(name);
        words.contains(name.as_str()) || words.contains(page)
    };
    names.iter().filter(is_named).cloned().collect()
}

/// The columns of a table, from the tool `get_table_info`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TableColumns {
    pub name: String,
    columns: Vec<String>,
}

impl TableColumns {
    /// Reads a result of `get_table_info`; `None` if the tool returned an error.
    pub(crate) fn read(name: &str, info: &str) -> Option<Self> {
        // OpenEnv's finqa_env writes a missing value as bare NaN, which is not JSON.
        let info: Value = serde_json::from_str(info)
            .or_else(|_| serde_json::from_str(&info.replace("NaN", "null")))
            .ok()?;
        let columns: Vec<String> = info
            .get("column_names")?
            .as_array()?
            .iter()
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect();
        (!columns.is_empty()).then(|| Self {
            name: name.to_owned(),
            columns,
        })
    }

    /// A query for all rows of the table. Names are in backticks, because `SQLite` reads an unknown
    /// name in double quotes as a string. The environment refuses `*` and queries without a filter,
    /// so the columns are listed and a filter on the first one is added.
    pub(crate) fn query(&self) -> String {
        let quoted = |name: &str| format!("`{}`", name.replace('`', "``"));
        let columns: Vec<String> = self.columns.iter().map(|name| quoted(name)).collect();
        let first = columns.first().map_or("", String::as_str);
        format!(
            "SELECT {} FROM {} WHERE {first} IS NOT NULL",
            columns.join(", "),
            quoted(&self.name)
        )
    }

    /// Reads the rows in a query's result; `None` if the tool returned an error.
    pub(crate) fn rows(&self, result: &str) -> Option<PageTable> {
        let records: Vec<serde_json::Map<String, Value>> = serde_json::from_str(result).ok()?;
        let rows = records
            .iter()
            .map(|record| record.values().map(cell).collect())
            .collect();
        Some(PageTable {
            columns: self.columns.clone(),
            rows,
        })
    }
}

/// The text of a cell as it was published, as far as the database has kept it.
fn cell(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        // In a column with a missing cell, whole numbers arrive as floats such as 5.0.
        Value::Number(number) => match number.as_f64() {
            Some(x) if number.is_f64() => x.to_string(),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// A table with all of its rows.
#[derive(Debug)]
pub(super) struct PageTable {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl PageTable {
    /// The index of the column with sentences; `None` if the table has no sentences.
    fn sentences(&self) -> Option<usize> {
        self.columns.iter().position(|name| name == "sentence")
    }

    /// The table as published, with the headings as row 0. Undoes the changes of the environment,
    /// which names an empty first heading `item` and numbers repeated headings.
    fn table(&self) -> Vec<Vec<String>> {
        let heading = |(at, name): (usize, &String)| {
            let base = name
                .rsplit_once('_')
                .filter(|(_, n)| n.parse::<u32>().is_ok());
            match base {
                _ if at == 0 && name == "item" => String::new(),
                Some((base, _)) if self.columns.iter().any(|other| other == base) => {
                    base.to_owned()
                }
                _ => name.clone(),
            }
        };
        let header = self.columns.iter().enumerate().map(heading).collect();
        std::iter::once(header)
            .chain(self.rows.iter().cloned())
            .collect()
    }
}

/// Makes a page of each table, with all sentences that were read. If only sentences were read,
/// makes one page of these.
pub(super) fn documents(read: &[PageTable]) -> Vec<Document> {
    let sentences: Vec<String> = read
        .iter()
        .filter_map(|table| Some((table, table.sentences()?)))
        .flat_map(|(table, at)| {
            table
                .rows
                .iter()
                .filter_map(move |row| row.get(at).cloned())
        })
        .collect();
    let page = |table: Vec<Vec<String>>| Document {
        pre_text: sentences.clone(),
        table,
        ..Document::default()
    };
    let tables: Vec<&PageTable> = read.iter().filter(|t| t.sentences().is_none()).collect();
    if tables.is_empty() && !sentences.is_empty() {
        return vec![page(Vec::new())];
    }
    tables.into_iter().map(|t| page(t.table())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_is_named_is_read_with_its_sentences() {
        let all = ["A_2009_page_28", "A_2009_page_28_text", "A_2009_page_2"].map(str::to_owned);
        let question = "For company `A`, report page `A_2009_page_28`, here is the question:\nx?";
        assert_eq!(
            named_tables(question, &all),
            ["A_2009_page_28", "A_2009_page_28_text"]
        );
        assert!(named_tables("x", &all).is_empty());
    }

    #[test]
    fn a_table_is_read_back_as_it_was_published() {
        let info = r#"{"description": "d","column_names": ["item","2009","2009_2","a`b"]}"#;
        let columns = TableColumns::read("t-1", info).unwrap();
        assert_eq!(
            columns.query(),
            "SELECT `item`, `2009`, `2009_2`, `a``b` FROM `t-1` WHERE `item` IS NOT NULL"
        );
        let read = columns
            .rows(r#"[{"item":"revenue","2009":5.0,"2009_2":7,"a`b":null}]"#)
            .unwrap();
        assert_eq!(
            read.table(),
            [
                vec!["", "2009", "2009", "a`b"],
                vec!["revenue", "5", "7", ""]
            ]
        );
        assert!(TableColumns::read("t", "Error: Table 't' not found").is_none());
        assert!(columns.rows("Error executing query: no").is_none());
    }
}
