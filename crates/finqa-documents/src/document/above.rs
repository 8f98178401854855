//! Recognizes the lines above a table: units, page numbers, footnotes. The lengths and counts are
//! set by hand.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use finqa_core::page::Caption;

use crate::block::{Block, PrintedTable};
use crate::cells::{is_figure, is_year};

/// Maximum length of a heading in bytes; a longer paragraph is running text.
pub(super) const HEADING: usize = 240;

/// True for a page number or a link to the table of contents. A year is not a page mark, because it
/// can be the title of a table of its quarters.
pub(super) fn is_page_mark(text: &str) -> bool {
    let mark = |c: char| c.is_whitespace() || c.is_ascii_digit() || "-–—|.".contains(c);
    let bare = text.trim_matches(mark);
    bare.is_empty() && !is_year(text.trim()) || bare.eq_ignore_ascii_case("table of contents")
}

/// True for a line that states a unit, such as "(In millions, except per share amounts)", or for a
/// sentence that ends with one.
pub(super) fn states_unit(text: &str) -> bool {
    let unit = Caption::in_label(text).and_then(|unit| unit.scale);
    let ends = text.starts_with('(') || text.trim_end_matches('.').ends_with([':', ')']);
    unit.is_some() && ends || Caption::is_alone(text)
}

/// The unit that a paragraph above a table states: the whole line if it is only a unit, or the
/// brackets in "in the following table (in millions), which shows …". `None` without one.
pub(super) fn unit_line(text: &str) -> Option<String> {
    if states_unit(text) {
        return Some(text.to_owned());
    }
    let (_, of_table) = text.split_once("following table")?;
    let unit = Caption::in_label(of_table).filter(|unit| unit.scale.is_some())?;
    let apart = of_table.contains(&format!("({})", unit.text));
    apart.then(|| format!("({})", unit.text))
}

/// True for a footnote: "(1) Not applicable."
pub(super) fn is_footnote(text: &str) -> bool {
    let mark = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    mark.is_some_and(|(mark, _)| (1..=2).contains(&mark.len()))
}

/// True for a line about all following tables: "Amounts in millions of dollars except per share
/// amounts or as otherwise specified."
pub(super) fn states_every_unit(text: &str) -> bool {
    let lower = text.to_lowercase();
    let otherwise = [
        "unless otherwise", "unless stated", "unless noted", "except as otherwise",
        "or as otherwise", "except where otherwise",
    ];
    text.len() <= HEADING
        && otherwise.iter().any(|words| lower.contains(words))
        && ["amount", "figures", "dollars", "values"]
            .iter()
            .any(|of| lower.contains(of))
        && Caption::in_label(text).is_some_and(|unit| unit.scale.is_some())
}

/// The unit that is stated above the title. `texts` has the texts above the table, the nearest
/// first.
pub(super) fn above_title(texts: &[&str], title: &str) -> Option<String> {
    let at = texts.iter().position(|text| *text == title)?;
    texts.iter().skip(at + 1).find_map(|text| unit_line(text))
}

/// Gives all tables the unit that is stated above the first title, unless any of them states its
/// own.
pub(super) fn share_unit(blocks: &mut [Block], unit: Option<String>) {
    let Some(unit) = unit else { return };
    let tables = blocks.iter().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        Block::Text(_) => None,
    });
    let states = |table: &PrintedTable| match &table.unit {
        Some(own) => *own != unit,
        None => table.has_unit(),
    };
    // The first table is the one below that unit.
    if tables.skip(1).any(states) {
        return;
    }
    for block in blocks {
        if let Block::Table(table) = block {
            table.unit.get_or_insert_with(|| unit.clone());
        }
    }
}

/// Minimum number of times that a line must occur to count as a running head or foot.
const RUNNING: usize = 5;

/// The texts that are repeated on the pages, such as the company's name or a link to the table of
/// contents, as [`without_numbers`] returns them. They do not belong to any table. Some filings
/// print them as tables of one row.
pub(super) fn running_lines(blocks: &[Block]) -> HashSet<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for line in blocks.iter().filter_map(page_line) {
        // A unit can be repeated too, but it belongs to the table below it.
        if line.len() <= HEADING / 2 && !states_unit(&line) {
            *counts.entry(without_numbers(&line)).or_insert(0) += 1;
        }
    }
    counts.retain(|_, count| *count >= RUNNING);
    counts.into_keys().collect()
}

/// The line of a block that can be a running head or foot: a text, or a table of one row with no
/// other number than years and a page number. `None` for other tables.
pub(super) fn page_line(block: &Block) -> Option<Cow<'_, str>> {
    let table = match block {
        Block::Text(text) => return Some(Cow::Borrowed(text)),
        Block::Table(table) => table,
    };
    let mut rows = table.rows.iter().filter_map(|row| {
        let cells = row.iter().map(|cell| cell.text.trim());
        let cells: Vec<&str> = cells.filter(|text| !text.is_empty()).collect();
        (!cells.is_empty()).then_some(cells)
    });
    let (Some(cells), None) = (rows.next(), rows.next()) else {
        return None;
    };
    let numbers = cells
        .iter()
        .filter(|text| is_figure(text) && !is_year(text));
    let is_page_number = |text: &&str| text.len() <= 3 && text.chars().all(|c| c.is_ascii_digit());
    let numbers: Vec<&str> = numbers.copied().collect();
    (numbers.len() <= 1 && numbers.iter().all(is_page_number)).then(|| Cow::Owned(cells.join(" ")))
}

/// A text without its numbers. Years remain, because they distinguish "FY2023" from "FY2024".
pub(super) fn without_numbers(text: &str) -> String {
    let is_digit = |c: &char| c.is_ascii_digit();
    let chars: Vec<char> = text.to_lowercase().chars().collect();
    let runs = chars.chunk_by(|a, b| is_digit(a) == is_digit(b));
    let runs = runs.map(|run| run.iter().collect::<String>());
    runs.filter(|run| !run.starts_with(|c: char| c.is_ascii_digit()) || is_year(run))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::document::Document;
    use crate::formats::html::blocks;

    /// The texts of all cells in the tables of a file with a table and this foot on each page.
    fn cells(foot: &str) -> Vec<String> {
        let titles = ["Costs", "Prices", "Wages", "Leases", "Taxes", "Debts"];
        let pages = titles.iter().enumerate().map(|(page, title)| {
            let foot = foot.replace("{}", &page.to_string());
            format!(
                "<p>{title}</p><table><tr><td></td><td>2031</td></tr><tr><td>{title} of all</td>\
                 <td>5,{page}00</td></tr></table><table><tr><td></td><td></td><td></td></tr><tr>\
                 {foot}</tr></table>"
            )
        });
        let (blocks, tagged) = blocks(&pages.collect::<String>()).unwrap();
        let document = Document::of_blocks("f.htm", blocks, &tagged, Vec::new());
        let rows = document
            .tables()
            .flat_map(|table| table.rows.iter().flatten());
        rows.map(|cell| cell.text.clone()).collect()
    }

    #[test]
    fn a_foot_of_the_pages_that_is_printed_as_a_table_is_not_read() {
        for foot in [
            "<td>ORIEL CORPORATION</td><td>2031 Form 10-K</td><td>4{}</td>",
            "<td>Oriel</td><td>4{}</td>",
            "<td>Table of Contents</td><td>Oriel</td>",
        ] {
            let cells = cells(foot);
            let is_foot =
                |text: &String| text.starts_with('4') || text.to_lowercase().contains("oriel");
            assert!(!cells.iter().any(is_foot), "{foot}: {cells:?}");
            assert!(cells.contains(&"5,500".to_owned()), "{foot}: {cells:?}");
        }
    }

    #[test]
    fn a_table_of_one_row_that_repeats_with_amounts_is_read() {
        for foot in [
            "<td>Rent</td><td>7,{}00</td>", "<td>Rent</td><td>5</td><td>7{}</td>",
        ] {
            let cells = cells(foot);
            assert!(
                cells.iter().any(|text| text.starts_with('7')),
                "{foot}: {cells:?}"
            );
        }
    }
}
