//! A table as a JSON file has it, before types are inferred.

use serde_json::Value;

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum FrameCell {
    /// Missing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number that the file writes without a fraction.
    Integer(i64),
    /// Any other number.
    Real(f64),
    Text(String),
}

/// Columns by name in file order, all of the same length.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct RawFrame {
    /// Heading and cells of each column.
    pub(super) columns: Vec<(String, Vec<FrameCell>)>,
}

impl RawFrame {
    /// Reads the accepted shapes: `{col: {row: v}}`, `{col: [v]}`, `[{col: v}]`.
    ///
    /// # Errors
    /// OpenEnv's text for any other shape.
    pub(super) fn from_json(value: &Value) -> Result<Self, String> {
        match value {
            Value::Object(columns) => Self::from_columns(columns.iter()),
            Value::Array(rows) => Self::from_records(rows),
            _ => Err("DataFrame constructor not properly called!".to_owned()),
        }
    }

    fn from_columns<'a>(
        columns: impl Iterator<Item = (&'a String, &'a Value)> + Clone,
    ) -> Result<Self, String> {
        let mut labels: RowLabels<'a> = RowLabels::default();
        let mut lists = 0;
        let mut length = None;
        for (_, column) in columns.clone() {
            match column {
                Value::Object(rows) => rows.keys().for_each(|row| labels.add(row)),
                Value::Array(rows) => {
                    lists += 1;
                    if *length.get_or_insert(rows.len()) != rows.len() {
                        return Err("All arrays must be of the same length".to_owned());
                    }
                }
                _ => return Err("If using all scalar values, you must pass an index".to_owned()),
            }
        }
        if lists > 0 && !labels.order.is_empty() {
            let text = "Mixing dicts with non-Series may lead to ambiguous ordering.";
            return Err(text.to_owned());
        }
        let columns = columns.map(|(name, column)| {
            let cells = match column {
                Value::Array(rows) => rows.iter().map(cell).collect::<Result<_, _>>()?,
                other => {
                    let row = |label: &&str| other.get(*label).map_or(Ok(FrameCell::Null), cell);
                    labels.order.iter().map(row).collect::<Result<_, _>>()?
                }
            };
            Ok((name.clone(), cells))
        });
        Ok(Self {
            columns: columns.collect::<Result<_, String>>()?,
        })
    }

    fn from_records(rows: &[Value]) -> Result<Self, String> {
        let mut names: RowLabels<'_> = RowLabels::default();
        for row in rows {
            let Value::Object(row) = row else {
                return Err("the rows of a table must be objects".to_owned());
            };
            row.keys().for_each(|name| names.add(name));
        }
        let column = |name: &&str| {
            let cells = rows
                .iter()
                .map(|row| row.get(*name).map_or(Ok(FrameCell::Null), cell));
            Ok(((*name).to_owned(), cells.collect::<Result<_, String>>()?))
        };
        Ok(Self {
            columns: names
                .order
                .iter()
                .map(column)
                .collect::<Result<_, String>>()?,
        })
    }
}

/// Labels in the order of their first appearance.
#[derive(Default)]
struct RowLabels<'a> {
    order: Vec<&'a str>,
    seen: std::collections::HashSet<&'a str>,
}

impl<'a> RowLabels<'a> {
    fn add(&mut self, label: &'a str) {
        if self.seen.insert(label) {
            self.order.push(label);
        }
    }
}

fn cell(value: &Value) -> Result<FrameCell, String> {
    Ok(match value {
        Value::Null => FrameCell::Null,
        Value::Bool(b) => FrameCell::Bool(*b),
        Value::Number(n) => match n.as_i64() {
            Some(i) => FrameCell::Integer(i),
            // An integer beyond 64 bits makes OpenEnv's table unusable.
            None => n.as_f64().map_or(FrameCell::Null, FrameCell::Real),
        },
        Value::String(text) => FrameCell::Text(text.clone()),
        // OpenEnv's `finqa_env` says this of a nested value, after naming its INSERT.
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
        let frame = RawFrame::from_json(&table).unwrap();
        assert_eq!(
            frame.columns[1].1,
            [
                FrameCell::Null,
                FrameCell::Integer(1),
                FrameCell::Integer(5)
            ]
        );
        assert_eq!(frame.columns[0].1[2], FrameCell::Null);
        let records = json!([{"a": 1, "b": "x"}, {"b": "y", "c": 2}]);
        let frame = RawFrame::from_json(&records).unwrap();
        let names: Vec<&str> = frame.columns.iter().map(|c| c.0.as_str()).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert!(frame.columns.iter().all(|(_, cells)| cells.len() == 2));
    }

    #[test]
    fn other_shapes_are_refused() {
        for bad in [
            json!("x"),
            json!({"a": 5}),
            json!({"a": [1], "b": [1, 2]}),
            json!({"a": [[1]]}),
        ] {
            assert!(RawFrame::from_json(&bad).is_err(), "{bad}");
        }
    }
}
