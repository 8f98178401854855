//! Lists the tables that were read from a user's report (`ask --list-tables`).

use finqa_core::text::counted;

use super::style::{TerminalStyle, broken};
use finqa_documents::PrintedTable;

/// Number of columns before the text. The table's number is in them.
const INDENT: usize = 5;

/// A table in two lines: its number and title; its rows, formulas, unit and headings.
pub fn table_lines(number: usize, table: &PrintedTable) -> String {
    let columns: Vec<&str> = table.headings().collect();
    let unit = table.stated_unit();
    let formulas = match table.formulas() {
        (0, _) => String::new(),
        (rows, computed) => {
            let rows_of = |count| counted::<usize>(count, "row");
            let sums = match computed {
                0 => String::new(),
                all if all == rows => ", computed as sums".to_owned(),
                some => format!(", {} computed as sums", rows_of(some)),
            };
            format!("{} of formulas without values{sums}; ", rows_of(rows))
        }
    };
    let of_table = format!(
        "{}; {}; {formulas}{}",
        counted(table.rows.len().saturating_sub(1), "row"),
        unit.as_deref().unwrap_or("no unit stated"),
        columns.join(" | ")
    );
    let width = TerminalStyle::default().width.into();
    let [title, of_table] =
        [&table.title, &of_table].map(|text| broken(text, INDENT, INDENT, width));
    format!("{number:>3}  {title}\n{:INDENT$}{of_table}\n", "")
}
