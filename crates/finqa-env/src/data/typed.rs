//! A table with column types, inferred as `pandas.read_json` infers them.

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
    /// The heading in the file. OpenEnv's `finqa_env` turns headings that are years and one empty
    /// heading into dates, and `007` into `7`.
    pub name: String,
    pub kind: ColumnType,
    /// The cells. A `Text` column keeps numbers as written in the file.
    pub cells: Vec<FrameCell>,
}

/// The columns of a frame with the types that OpenEnv's `finqa_env` gives.
///
/// # Errors
/// The text with which OpenEnv's `finqa_env` refuses every query of such a table.
pub(super) fn columns(frame: &[RawColumn]) -> Result<Vec<TypedColumn>, String> {
    if frame.is_empty() {
        return Err("near \")\": syntax error".to_owned());
    }
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
    // As OpenEnv's float64 column.
    let real = |n: FrameCell| match n {
        FrameCell::Integer(i) => FrameCell::Real(i as f64),
        other => other,
    };
    (ColumnType::Real, numbers.into_iter().map(real).collect())
}

/// The cell as an integer if it is one, otherwise as a double or missing; `None` if
/// it is not a number.
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

fn is_date_heading(heading: &str) -> bool {
    let heading = heading.to_lowercase();
    heading.ends_with("_at")
        || heading.ends_with("_time")
        || heading.starts_with("timestamp")
        || matches!(heading.as_str(), "date" | "datetime" | "modified")
}

/// The dates of cells that are all texts of dates, empty or missing; otherwise `None`. A number
/// is never a date here. OpenEnv's `finqa_env` reads a large one as seconds since 1970.
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
