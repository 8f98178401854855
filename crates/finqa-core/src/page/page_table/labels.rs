//! Reads the labels of the rows of a user's table. They can be in two columns: an account's number
//! and name, or a cost centre and its lines.

use std::collections::{HashMap, HashSet};

use crate::page::cell::{Cell, CellKind};

/// The content of the first column of a table whose second column names the rows too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FirstColumn {
    /// The numbers of the rows: 1, 2, 3.
    Count,
    /// Numbers of other things, such as accounts or years.
    Codes,
    /// Names that several rows share. A blank cell repeats the one above it.
    Groups,
}

/// The label of each row, that of the header included.
pub(super) fn of_rows(cells: &[Vec<Cell>]) -> Vec<String> {
    let kind = first_column(cells);
    // The number of groups with a line of each name. Counted once, because a table can be long.
    let mut lines: HashMap<&str, usize> = HashMap::new();
    if kind == Some(FirstColumn::Groups) {
        for row in cells.iter().skip(1) {
            *lines.entry(text(row, 1)).or_default() += 1;
        }
    }
    let mut group = "";
    let mut labels = Vec::with_capacity(cells.len());
    for (at, row) in cells.iter().enumerate() {
        let (first, second) = (text(row, 0), text(row, 1));
        if !first.is_empty() {
            group = first;
        }
        let is_total = second.to_lowercase().starts_with("total");
        labels.push(match kind.filter(|_| !second.is_empty()) {
            None => first.to_owned(),
            Some(FirstColumn::Count) => second.to_owned(),
            // The rows are the lines and not the groups, and the header says what the rows are.
            Some(FirstColumn::Groups) if at == 0 => second.to_owned(),
            Some(_) if first.is_empty() && is_total => second.to_owned(),
            Some(FirstColumn::Codes) => format!("{first} {second}").trim().to_owned(),
            // The group need not be asked for if only one of its lines has the name.
            Some(FirstColumn::Groups) => match lines.get(second) {
                Some(1) => format!("{second} ({group})"),
                _ => format!("{group}, {second}"),
            },
        });
    }
    labels
}

/// `None` if only the first column names the rows.
fn first_column(cells: &[Vec<Cell>]) -> Option<FirstColumn> {
    let body = cells.get(1..)?;
    let column = |at: usize| body.iter().map(move |row| text(row, at));
    let filled = |at: usize| column(at).filter(|text| !text.is_empty());
    let names = |row: &Vec<Cell>| {
        let cell = row.get(1);
        cell.is_none_or(|cell| matches!(cell.kind, CellKind::Text | CellKind::Empty))
    };
    let has_letters = |text: &str| text.contains(char::is_alphabetic);
    let has_figures = |row: &Vec<Cell>| row.iter().skip(2).any(|cell| cell.value().is_some());
    let often = 2 * filled(1).count() > body.len();
    if !(body.iter().all(names) && often && body.iter().any(has_figures)) {
        return None;
    }
    let named = body.iter().filter(|row| !text(row, 1).is_empty());
    let firsts: Vec<&str> = named.map(|row| text(row, 0)).collect();
    // A total has no number.
    let numbers = || firsts.iter().filter(|first| !first.is_empty());
    let is_code = |first: &&str| first.chars().all(|c| c.is_ascii_digit());
    if numbers()
        .zip(1..)
        .all(|(first, number)| *first == number.to_string())
    {
        return Some(FirstColumn::Count);
    }
    if numbers().all(is_code) {
        return filled(1).any(has_letters).then_some(FirstColumn::Codes);
    }
    let distinct: HashSet<&str> = firsts.iter().copied().collect();
    let repeats = distinct.len() < firsts.len() || distinct.contains("");
    let begins = firsts.first().is_some_and(|first| !first.is_empty());
    // Dates that several rows share are those of transactions.
    let is_name = |first: &&str| first.is_empty() || has_letters(first);
    (repeats && begins && firsts.iter().all(is_name)).then_some(FirstColumn::Groups)
}

fn text(row: &[Cell], column: usize) -> &str {
    row.get(column).map_or("", |cell| cell.raw.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lines: &[&str]) -> Vec<String> {
        let read = |line: &&str| line.split('|').map(Cell::read).collect();
        let cells: Vec<Vec<Cell>> = lines.iter().map(read).collect();
        of_rows(&cells).split_off(1)
    }

    #[test]
    fn rows_are_named_by_the_first_column_or_by_two() {
        for (table, expected) in [
            (
                ["Line|2031|2030", "Rent|5|4", "Wages|7|6"],
                ["Rent", "Wages"],
            ),
            // The numbers of accounts and of years name rows, a count does not.
            (
                ["No.|Account|Balance", "1010|Cash|5", "2000|Loan|-4"],
                ["1010 Cash", "2000 Loan"],
            ),
            (
                ["Year|Region|Sales", "2031|North|5", "2031|South|4"],
                ["2031 North", "2031 South"],
            ),
            (
                ["No.|Due|Paid", "1|31/01/2031|5", "2|28/02/2031|4"],
                ["31/01/2031", "28/02/2031"],
            ),
            // A group is needed only for a name that several groups have.
            (
                ["Centre|Line|Cost", "Sales|Rent|5", "Sales|Travel|4"],
                ["Rent (Sales)", "Travel (Sales)"],
            ),
            (
                ["Centre|Line|Cost", "Sales|Rent|5", "|Travel|4"],
                ["Rent (Sales)", "Travel (Sales)"],
            ),
            // A second column of other facts, of transactions, and one without figures behind it.
            (
                ["Team|Head|Staff", "North|Ann Bell|5", "South|Bo Carr|4"],
                ["North", "South"],
            ),
            (
                ["Date|Text|Amount", "01/02/2031|Rent|5", "01/02/2031|Fee|4"],
                ["01/02/2031", "01/02/2031"],
            ),
            (
                ["Centre|Line|Note", "Sales|Rent|new", "Sales|Travel|old"],
                ["Sales", "Sales"],
            ),
        ] {
            assert_eq!(labels(&table), expected, "{table:?}");
        }
        let both = [
            "Centre|Line|Cost", "Sales|Rent|5", "Sales|Travel|3", "Admin|Rent|4", "Total||12",
        ];
        let expected = ["Sales, Rent", "Travel (Sales)", "Admin, Rent", "Total"];
        assert_eq!(labels(&both), expected);
    }
}
