//! Infers the types of a table's columns as `pandas.read_json` does.

use strum::IntoStaticStr;

use super::frame::{FrameCell, RawColumn};
use super::timestamp;
use crate::python;

/// The declared `SQLite` type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "UPPERCASE")]
pub enum ColumnType {
    /// All cells are 64-bit integers.
    Integer,
    /// All cells are numbers or missing.
    Real,
    /// Anything else.
    Text,
    /// Dates, written as text.
    Timestamp,
}

impl ColumnType {
    /// The type's name in `CREATE TABLE`.
    pub fn sql(self) -> &'static str {
        self.into()
    }
}

/// A column that can be queried.
#[derive(Clone, Debug, PartialEq)]
pub struct TypedColumn {
    /// The heading as in the file. OpenEnv's `finqa_env` converts headings that are all numbers or
    /// dates: `007` becomes `7`, and years with an empty heading among them become timestamps.
    pub name: String,
    pub kind: ColumnType,
    /// The cells. In a `Text` column they are as in the file, so they may be numbers.
    pub cells: Vec<FrameCell>,
}

/// The columns of a frame, with the types that they have in OpenEnv's `finqa_env`.
///
/// # Errors
/// The message with which OpenEnv's `finqa_env` refuses every query of such a table.
pub(super) fn columns(frame: &[RawColumn]) -> Result<Vec<TypedColumn>, String> {
    if frame.is_empty() {
        return Err("near \")\": syntax error".to_owned());
    }
    // SQLite ignores the case of ASCII letters in names.
    let mut seen = std::collections::HashSet::new();
    let columns = frame.iter().map(|(heading, cells)| {
        if !seen.insert(heading.to_ascii_lowercase()) {
            return Err(format!("duplicate column name: {heading}"));
        }
        let (kind, cells) = infer(heading, cells);
        let name = heading.clone();
        Ok(TypedColumn { name, kind, cells })
    });
    columns.collect()
}

/// The type of a column, and its cells in this type. A column without cells is one of doubles. A
/// column is one of dates only if its heading names a date; if its cells have no other common type,
/// it is one of texts.
fn infer(heading: &str, cells: &[FrameCell]) -> (ColumnType, Vec<FrameCell>) {
    if is_date_heading(heading)
        && let Some(cells) = as_dates(cells)
    {
        return (ColumnType::Timestamp, cells);
    }
    let Some(numbers) = cells.iter().map(number).collect::<Option<Vec<FrameCell>>>() else {
        return (ColumnType::Text, cells.to_vec());
    };
    if !numbers.is_empty() && numbers.iter().all(|n| matches!(n, FrameCell::Integer(_))) {
        return (ColumnType::Integer, numbers);
    }
    // In pandas, one missing or fractional cell makes the whole column float64.
    let real = |n: FrameCell| match n {
        FrameCell::Integer(i) => FrameCell::Real(i as f64),
        other => other,
    };
    (ColumnType::Real, numbers.into_iter().map(real).collect())
}

/// The cell as an integer if it is a whole JSON number or the text of an integer, and otherwise as
/// a double. A missing cell and a NaN become null. `None` if the cell is a text that is not a
/// number.
fn number(cell: &FrameCell) -> Option<FrameCell> {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::float_cmp,
        reason = "whole and within 2^63, compared exactly"
    )]
    let whole =
        |x: f64| (x.trunc() == x && x.abs() < 9.2e18).then_some(FrameCell::Integer(x as i64));
    let double = |x: f64| {
        let x = Some(x).filter(|x| !x.is_nan());
        x.map_or(FrameCell::Null, FrameCell::Real)
    };
    Some(match cell {
        FrameCell::Null => FrameCell::Null,
        FrameCell::Bool(b) => FrameCell::Integer(i64::from(*b)),
        FrameCell::Integer(i) => FrameCell::Integer(*i),
        FrameCell::Real(x) => whole(*x).unwrap_or_else(|| double(*x)),
        FrameCell::Text(text) => match python::int(text) {
            Some(i) => FrameCell::Integer(i),
            None => double(python::float(text)?),
        },
    })
}

/// True if `pandas.read_json` tries to read a column with this heading as dates.
fn is_date_heading(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    heading.ends_with("_at")
        || heading.ends_with("_time")
        || heading.starts_with("timestamp")
        || matches!(heading.as_str(), "date" | "datetime" | "modified")
}

/// The cells as dates; `None` unless each cell is the text of a date, empty, or missing. A number
/// is never read as a date, although OpenEnv's `finqa_env` reads a large number as seconds since
/// 1970.
fn as_dates(cells: &[FrameCell]) -> Option<Vec<FrameCell>> {
    if cells.is_empty() {
        return None;
    }
    let date = |cell: &FrameCell| match cell {
        FrameCell::Null => Some(FrameCell::Null),
        FrameCell::Text(text) if text.is_empty() => Some(FrameCell::Null),
        FrameCell::Text(text) if python::int(text).is_none() => {
            let date = timestamp::parse(text)?;
            Some(FrameCell::Text(timestamp::print(date)))
        }
        _ => None,
    };
    cells.iter().map(date).collect()
}
