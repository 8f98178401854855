//! Reads a table's JSON into columns of cells, before the types of the columns are inferred.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameCell {
    /// A missing value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that the file writes without a fraction and that fits into 64 bits.
    Integer(i64),
    /// Any other number.
    Real(f64),
    Text(String),
}

/// The heading and the cells of a column.
pub(super) type RawColumn = (String, Vec<FrameCell>);

/// The columns in file order, all of the same length.
pub(super) type RawFrame = Vec<RawColumn>;

/// Reads a table in one of the accepted shapes: `{col: {row: v}}`, `{col: [v]}`, `[{col: v}]`,
/// `[[v]]`.
///
/// # Errors
/// If the table has another shape; usually with the message of OpenEnv's `finqa_env`.
pub(super) fn frame(value: &Value) -> Result<RawFrame, String> {
    match value {
        Value::Object(columns) => from_columns(columns),
        Value::Array(rows) => from_records(rows),
        _ => Err("DataFrame constructor not properly called!".to_owned()),
    }
}

/// Reads a table that is an object of columns. Each column is a list, or an object of cells by row
/// label; a column without a label has a null there.
///
/// # Errors
/// The message of pandas for columns that are neither, that mix both kinds, or whose lists differ
/// in length; a cell that is a list or an object.
fn from_columns(columns: &Map<String, Value>) -> Result<RawFrame, String> {
    let objects: Vec<_> = columns.values().filter_map(Value::as_object).collect();
    let lists: Vec<_> = columns.values().filter_map(Value::as_array).collect();
    let labels = distinct(objects.iter().flat_map(|column| column.keys()));
    let length = lists.first().map_or(0, |list| list.len());
    if objects.len() + lists.len() < columns.len() {
        return Err("If using all scalar values, you must pass an index".to_owned());
    }
    if lists.iter().any(|list| list.len() != length) {
        return Err("All arrays must be of the same length".to_owned());
    }
    if !lists.is_empty() && !labels.is_empty() {
        return Err("Mixing dicts with non-Series may lead to ambiguous ordering.".to_owned());
    }
    let columns = columns.iter().map(|(name, column)| {
        let cells: Result<Vec<_>, _> = match column {
            Value::Array(rows) => rows.iter().map(Some).map(cell).collect(),
            rows => labels.iter().map(|row| cell(rows.get(row))).collect(),
        };
        Ok((name.clone(), cells?))
    });
    columns.collect()
}

/// Reads a table that is a list of rows: all objects, or all lists. An object without a column has
/// a null there.
///
/// # Errors
/// The rows are of both kinds or of another kind, or a cell is a list or an object.
fn from_records(rows: &[Value]) -> Result<RawFrame, String> {
    let lists: Vec<_> = rows.iter().filter_map(Value::as_array).collect();
    if !rows.is_empty() && lists.len() == rows.len() {
        return from_lists(&lists);
    }
    let rows: Option<Vec<_>> = rows.iter().map(Value::as_object).collect();
    let rows = rows.ok_or("the rows of a table must be all objects or all lists")?;
    let names = distinct(rows.iter().flat_map(|row| row.keys()));
    let columns = names.into_iter().map(|name| {
        let cells = rows.iter().map(|row| cell(row.get(name)));
        Ok((name.to_owned(), cells.collect::<Result<_, String>>()?))
    });
    columns.collect()
}

/// The headings are the column numbers from 0, and short rows are filled with nulls, as in pandas.
fn from_lists(rows: &[&Vec<Value>]) -> Result<RawFrame, String> {
    let width = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let columns = (0..width).map(|at| {
        let cells = rows.iter().map(|row| cell(row.get(at)));
        Ok((at.to_string(), cells.collect::<Result<_, String>>()?))
    });
    columns.collect()
}

/// Labels in the order of their first appearance.
fn distinct<'a>(labels: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let labels = labels.map(String::as_str);
    labels.filter(|label| seen.insert(*label)).collect()
}

/// Reads a cell. Without a value, it is a null.
///
/// # Errors
/// The value is a list or an object.
fn cell(value: Option<&Value>) -> Result<FrameCell, String> {
    Ok(match value.unwrap_or(&Value::Null) {
        Value::Null => FrameCell::Null,
        Value::Bool(b) => FrameCell::Bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => FrameCell::Integer(i),
            // OpenEnv's `finqa_env` cannot query a table with an integer beyond 64 bits. Here, the
            // integer becomes a double.
            None => n.as_f64().map_or(FrameCell::Null, FrameCell::Real),
        },
        Value::String(text) => FrameCell::Text(text.clone()),
        // OpenEnv's `finqa_env` reports `Execution failed` for a nested value.
        Value::Array(_) | Value::Object(_) => {
            return Err("Execution failed: a cell holds a list or an object".to_owned());
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rows_are_aligned_by_label() {
        let table = json!({"a": {"1": "x", "0": "y"}, "b": {"0": 1, "2": 5}});
        let columns = frame(&table).unwrap();
        let integers = [1, 5].map(FrameCell::Integer);
        assert_eq!(columns[1].1, [&[FrameCell::Null][..], &integers].concat());
        assert_eq!(columns[0].1[2], FrameCell::Null);
        let records = json!([{"a": 1, "b": "x"}, {"b": "y", "c": 2}]);
        let columns = frame(&records).unwrap();
        let names: Vec<&str> = columns.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(columns.iter().all(|(_, cells)| cells.len() == 2));
    }

    #[test]
    fn a_list_of_lists_has_numbered_columns() {
        let columns = frame(&json!([["a", 1], ["b"], []])).unwrap();
        let text = |text: &str| FrameCell::Text(text.to_owned());
        let null = FrameCell::Null;
        let first = vec![text("a"), text("b"), null.clone()];
        let second = vec![FrameCell::Integer(1), null.clone(), null];
        assert_eq!(columns, [("0".to_owned(), first), ("1".to_owned(), second)]);
    }

    #[test]
    fn other_shapes_are_refused() {
        for bad in [
            json!("x"),
            json!([[1], {"a": 1}]),
            json!([1, 2]),
            json!([[[1]]]),
            json!({"a": 5}),
            json!({"a": [1], "b": [1, 2]}),
            json!({"a": [[1]]}),
        ] {
            assert!(frame(&bad).is_err(), "{bad}");
        }
    }
}
