//! The text of `get_table_info`, made once for each entry of the metadata.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::frame::{FrameCell, RawColumn};
use crate::python;

/// The metadata entry without its `table`, but with the type of each column, and with the distinct
/// values of the first column and of all columns that are not numeric.
///
/// Existing keys keep their positions. The new keys follow, types before values.
pub(super) fn table_info(entry: &Map<String, Value>, frame: &[RawColumn]) -> String {
    let (mut dtypes, mut values) = (Map::new(), Map::new());
    // The values of the first column are always listed, even if they are numbers, as in OpenEnv's
    // `finqa_env`.
    for (at, (name, cells)) in frame.iter().enumerate() {
        let kind = dtype(cells);
        dtypes.insert(name.clone(), kind.into());
        let mut column: Vec<Value> = cells.iter().map(|cell| shown(cell, kind)).collect();
        if at == 0 || !all_numeric(&column) {
            let mut seen = HashSet::new();
            column.retain(|value| seen.insert(value.to_string()));
            values.insert(name.clone(), column.into());
        }
    }
    let mut entry = entry.clone();
    entry.shift_remove("table");
    entry.insert("column_dtypes".to_owned(), dtypes.into());
    entry.insert("unique_vals_per_col".to_owned(), values.into());
    dumped(&entry.into())
}

const FLOAT: &str = "float64";

/// The dtype of the column that pandas 3 would build from these values without inferring types.
fn dtype(cells: &[FrameCell]) -> &'static str {
    let only = |test: fn(&FrameCell) -> bool| {
        let present = cells.iter().any(|c| *c != FrameCell::Null);
        present && cells.iter().all(|c| *c == FrameCell::Null || test(c))
    };
    let missing = cells.contains(&FrameCell::Null);
    if only(|c| matches!(c, FrameCell::Text(_))) {
        "str"
    } else if only(|c| matches!(c, FrameCell::Integer(_))) && !missing {
        "int64"
    } else if only(|c| matches!(c, FrameCell::Integer(_) | FrameCell::Real(_))) {
        FLOAT
    } else if only(|c| matches!(c, FrameCell::Bool(_))) && !missing {
        "bool"
    } else {
        "object"
    }
}

/// A cell as JSON, in a column of this dtype. A missing cell is null; OpenEnv's `finqa_env` writes
/// `NaN`, which is not JSON.
fn shown(cell: &FrameCell, dtype: &str) -> Value {
    match cell {
        FrameCell::Null => Value::Null,
        FrameCell::Bool(b) => (*b).into(),
        // In a float64 column, 1 is written as 1.0.
        FrameCell::Integer(i) if dtype == FLOAT => (*i as f64).into(),
        FrameCell::Integer(i) => (*i).into(),
        FrameCell::Real(x) => (*x).into(),
        FrameCell::Text(text) => text.as_str().into(),
    }
}

/// True if every letter or digit from the second row on is a digit, as in `12%` and `$ (1,234)`. A
/// missing cell counts as the text `None`, so it makes the result false. OpenEnv's `finqa_env` also
/// skips the first row.
fn all_numeric(cells: &[Value]) -> bool {
    cells.iter().skip(1).all(|cell| {
        let text = python::display(cell);
        let mut plain = text.chars().filter(|c| c.is_alphanumeric());
        plain.all(char::is_numeric)
    })
}

/// Writes JSON like Python's `json.dumps(indent=0)`, but without the line breaks: the separators
/// are `,` and `: `.
fn dumped(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(dumped).collect();
            format!("[{}]", items.join(","))
        }
        Value::Object(map) => {
            let field = |(key, value): (&String, _)| {
                format!("{}: {}", python::json_string(key), dumped(value))
            };
            let fields: Vec<String> = map.iter().map(field).collect();
            format!("{{{}}}", fields.join(","))
        }
        Value::String(text) => python::json_string(text),
        Value::Number(n) if n.is_f64() => python::repr_json(value),
        Value::Number(_) | Value::Bool(_) | Value::Null => value.to_string(),
    }
}
