//! The text of `get_table_info`, made once for each entry of the metadata.

use serde_json::{Map, Value};

use super::frame::{FrameCell, RawFrame};
use crate::python;

/// The metadata entry without its `table`, with the columns' types and the
/// values of the text columns.
///
/// Existing keys keep their positions; new ones follow, types before values.
pub(super) fn table_info(entry: &Map<String, Value>, frame: &RawFrame) -> String {
    let dtypes = frame
        .columns
        .iter()
        .map(|(name, cells)| (name.clone(), Value::from(dtype(cells))))
        .collect();
    let values = frame
        .columns
        .iter()
        .enumerate()
        .filter(|(i, (_, cells))| *i == 0 || !all_numeric(cells))
        .map(|(_, (name, cells))| (name.clone(), Value::Array(unique(cells))))
        .collect();
    let mut entry: Map<String, Value> = entry
        .iter()
        .filter(|(key, _)| *key != "table")
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    entry.insert("column_dtypes".to_owned(), Value::Object(dtypes));
    entry.insert("unique_vals_per_col".to_owned(), Value::Object(values));
    let mut out = String::new();
    dump(&mut out, &Value::Object(entry));
    out
}

const FLOAT: &str = "float64";

/// The dtype of a column that is built without inference (pandas 3).
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

/// True if, from the second row on, the letters and digits of every cell are digits. A
/// missing cell reads `nan`, which is not a number.
fn all_numeric(cells: &[FrameCell]) -> bool {
    let kind = dtype(cells);
    cells.iter().skip(1).all(|cell| {
        let text = match cell {
            FrameCell::Text(text) => text.clone(),
            FrameCell::Null => "nan".to_owned(),
            FrameCell::Bool(b) => b.to_string(),
            FrameCell::Integer(i) if kind != FLOAT => i.to_string(),
            // As OpenEnv's float64 column.
            FrameCell::Integer(i) => python::repr_float(*i as f64),
            FrameCell::Real(x) => python::repr_float(*x),
        };
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .all(char::is_numeric)
    })
}

/// Each value once, in the order of first appearance. A missing one is `null`:
/// OpenEnv's `finqa_env` writes `NaN` there, which is not JSON.
fn unique(cells: &[FrameCell]) -> Vec<Value> {
    let float = dtype(cells) == FLOAT;
    let mut seen = std::collections::HashSet::new();
    let values = cells.iter().map(|cell| match cell {
        FrameCell::Null => Value::Null,
        FrameCell::Bool(b) => Value::from(*b),
        // As OpenEnv's float64 column.
        FrameCell::Integer(i) if float => Value::from(*i as f64),
        FrameCell::Integer(i) => Value::from(*i),
        FrameCell::Real(x) => Value::from(*x),
        FrameCell::Text(text) => Value::from(text.as_str()),
    });
    values.filter(|v| seen.insert(v.to_string())).collect()
}

/// JSON as `json.dumps(indent=0)` without its line breaks: `,` and `: `.
fn dump(out: &mut String, value: &Value) {
    match value {
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                dump(out, item);
            }
            out.push(']');
        }
        Value::Object(map) => {
            out.push('{');
            for (i, (key, item)) in map.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                python::push_json_string(out, key);
                out.push_str(": ");
                dump(out, item);
            }
            out.push('}');
        }
        Value::String(text) => python::push_json_string(out, text),
        Value::Number(n) => match n.as_f64() {
            Some(x) if n.is_f64() => out.push_str(&python::repr_float(x)),
            _ => out.push_str(&n.to_string()),
        },
        Value::Bool(_) | Value::Null => out.push_str(&value.to_string()),
    }
}
