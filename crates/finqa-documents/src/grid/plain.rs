//! Builds a table with one header from rows of cells, as in CSV. Titles are separated, and a
//! missing corner or header is added. Rows of different lengths are refused, because a comma inside
//! a number can have split a cell.

use std::collections::HashMap;
use std::path::Path;

use finqa_core::page::period::Times;
use finqa_core::page::{Caption, year_of, years_in};
use finqa_core::text::single_spaced;

use super::spans::{self, PrintedCell, SpannedCell};
use crate::cells::{self, is_figure, is_year, lacks_labels, names_period, whole_year};
use crate::error::DocumentError;

/// A row: the number of the line in which it begins, and its cells.
pub(crate) type NumberedRow = (u64, Vec<String>);

/// A paragraph or the rows of a table, in a plain file.
pub(crate) enum PlainBlock {
    Text(String),
    Table(Vec<NumberedRow>),
}

/// A table of a plain file, and what was found out about it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Grid {
    /// Rows, the header first.
    pub(crate) rows: Vec<Vec<String>>,
    /// Lines above the header that are not rows, such as titles and units.
    pub(crate) titles: Vec<String>,
    /// The number of cells that show a decimal comma, minus the number of those that show a decimal
    /// point.
    pub(crate) votes: i32,
    pub(crate) notes: Vec<String>,
}

/// Reads the rows of each table in a file of separated values. Without a `separator`, the comma,
/// semicolon or tab is used that splits the lines most evenly.
pub(crate) fn separated(
    path: &Path,
    text: &str,
    separator: Option<u8>,
) -> Result<Vec<PlainBlock>, DocumentError> {
    let separator = separator.unwrap_or_else(|| separator_of(text));
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(separator)
        .from_reader(text.as_bytes());
    let mut lines = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| DocumentError::Table {
            path: path.to_owned(),
            line: error.position().map_or(1, csv::Position::line),
            reason: error.to_string(),
        })?;
        let line = record.position().map_or(1, csv::Position::line);
        let mut row = Vec::with_capacity(record.len());
        row.extend(record.iter().map(single_spaced));
        lines.push((line, row));
    }
    Ok(parts(lines).into_iter().map(PlainBlock::Table).collect())
}

/// Maximum number of lines that are counted to find the separator. Set by hand; the lines are read
/// once for each separator.
const LINES: usize = 1000;

/// The separator that splits most lines into equally many cells. On a tie, the later one in `marks`
/// wins: a semicolon is preferred to a comma, which can also mark decimals.
fn separator_of(text: &str) -> u8 {
    let alike = |mark: &u8| {
        let mut lines: HashMap<usize, usize> = HashMap::new();
        for line in text.lines().take(LINES) {
            // Every second part is outside of quotes.
            let open = line.split('"').step_by(2).flat_map(str::bytes);
            *lines
                .entry(open.filter(|byte| byte == mark).count())
                .or_default() += 1;
        }
        // A line without the mark says nothing about it.
        lines.remove(&0);
        lines.into_iter().map(|(cells, lines)| (lines, cells)).max()
    };
    let marks = [b',', b';', b'\t'];
    marks.into_iter().max_by_key(alike).unwrap_or(b',')
}

/// Splits a file into the rows of its tables. Below figures, a heading ([`is_heading`]) begins the
/// next table if it repeats the last heading, if its first cell is empty or states a unit, or if
/// lines with a single cell are directly above it. These lines then belong to the next table.
fn parts(lines: Vec<NumberedRow>) -> Vec<Vec<NumberedRow>> {
    let mut parts: Vec<Vec<NumberedRow>> = Vec::new();
    let mut open: Vec<NumberedRow> = Vec::new();
    let mut head: Option<Vec<String>> = None;
    // For the open table: whether it has figures, and how many of its last lines are not rows.
    let (mut figures, mut above) = (false, 0);
    for (line, row) in lines {
        let figured = has_figures(&row);
        let heading = !figured && is_heading(&row);
        if let Some(before) = head.as_ref().filter(|_| figures && heading) {
            let corner = row.first().map_or("", String::as_str);
            let again = row.iter().skip(1).eq(before.iter().skip(1));
            if again || corner.is_empty() || Caption::in_label(corner).is_some() || above > 0 {
                let next = open.split_off(open.len() - above);
                parts.push(std::mem::replace(&mut open, next));
                figures = false;
            }
        }
        if heading {
            head = Some(row.clone());
        }
        figures |= figured;
        above = if filled(&row) > 1 { 0 } else { above + 1 };
        open.push((line, row));
    }
    parts.push(open);
    parts
}

/// True if a row, which the caller knows to have no figures, names at least two periods, and its
/// years are equal or one apart. "First year, 1998, 2012" is a row of a table and not a heading.
fn is_heading(row: &[String]) -> bool {
    let cells = row.iter().skip(1).filter(|cell| !cell.is_empty());
    let dated = |cell: &&String| names_period(cell) || Times::heading(cell).0.is_some();
    let dated = cells.clone().filter(dated);
    let years: Vec<u16> = cells
        .filter_map(|cell| year_of(whole_year(cell).unwrap_or(cell)))
        .collect();
    let follow = |pair: &[u16]| matches!(pair, [a, b] if a.abs_diff(*b) <= 1);
    dated.count() > 1 && years.windows(2).all(follow)
}

/// Builds a table from rows.
///
/// # Errors
/// [`DocumentError::Nothing`] without rows, and [`DocumentError::Table`] if a row is longer than
/// the header.
pub(crate) fn shape(path: &Path, lines: Vec<NumberedRow>) -> Result<Grid, DocumentError> {
    let mut lines: Vec<NumberedRow> = lines
        .into_iter()
        .filter(|(_, row)| filled(row) > 0)
        .collect();
    let mut grid = Grid {
        titles: take_titles(&mut lines),
        ..Grid::default()
    };
    shorten_years(&mut lines);
    merge_header(&mut lines);
    for (_, row) in lines.iter_mut().skip(1) {
        // Separators at the end of a line are not cells.
        row.truncate(filled(row));
    }
    if lines.is_empty() {
        return Err(DocumentError::Nothing {
            path: path.to_owned(),
            reason: "the table has no rows".to_owned(),
        });
    }
    if complete_header(&mut lines) {
        grid.notes.push(format!(
            "{} has no header row: its columns are called column 1, column 2, …",
            path.display()
        ));
    }
    let header = lines.first().into_iter().flat_map(|(_, header)| header);
    let first = lines.iter().skip(1).filter_map(|(_, row)| row.first());
    let lacks = lacks_labels(header.map(String::as_str), first.map(String::as_str));
    if lacks && lines.len() > 1 {
        for (_, row) in &mut lines {
            row.insert(0, String::new());
        }
    }
    grid.rows = rows_of_one_width(path, lines)?;
    let written = grid.rows.iter_mut();
    let written = written.map(|row| row.iter_mut().map(|cell| (cell, None)).collect());
    let mut written: Vec<_> = written.collect();
    grid.votes = cells::votes(&written);
    let notes = cells::normalise(&mut written, None);
    grid.notes.extend(notes);
    Ok(grid)
}

/// Removes the lines above the header, and returns their cells. A line with a single cell above
/// wider ones is a title. A year that is not in the first cell is the heading of the only column
/// instead. If all lines are titles by this rule, they stay as rows.
fn take_titles(lines: &mut Vec<NumberedRow>) -> Vec<String> {
    let is_title = |row: &[String]| {
        let mut cells = row.iter().enumerate().filter(|(_, cell)| !cell.is_empty());
        match (cells.next(), cells.next()) {
            (Some((at, cell)), None) => at == 0 || years_in(cell).is_empty(),
            _ => false,
        }
    };
    let titles = lines.iter().take_while(|(_, row)| is_title(row)).count();
    if titles == lines.len() {
        return Vec::new();
    }
    let above = lines.drain(..titles).flat_map(|(_, row)| row);
    above.filter(|cell| !cell.is_empty()).collect()
}

/// Writes years such as `2032.0` as a plain year, in the header and in the labels of the rows.
fn shorten_years(lines: &mut [NumberedRow]) {
    let first = lines.len().min(1);
    let (above, below) = lines.split_at_mut(first);
    let labels = below.iter_mut().filter_map(|(_, row)| row.first_mut());
    for cell in above.iter_mut().flat_map(|(_, row)| row).chain(labels) {
        if let Some(year) = whole_year(cell) {
            *cell = year.to_owned();
        }
    }
}

/// Adds what the first row lacks to be a header: its corner, or the whole row if the first row has
/// figures. Returns true if it added a row.
fn complete_header(lines: &mut Vec<NumberedRow>) -> bool {
    let widest = lines.iter().skip(1).map(|(_, row)| row.len()).max();
    let Some((_, header)) = lines.first_mut() else {
        return false;
    };
    // A column with figures counts even if its heading is empty.
    header.truncate(filled(header).max(widest.unwrap_or(0)));
    // `2019,2018` above `Revenue,10,9`: the header lacks its corner.
    let cornerless = widest == Some(header.len() + 1)
        && header
            .first()
            .is_some_and(|first| !years_in(first).is_empty());
    if cornerless {
        header.insert(0, String::new());
        return false;
    }
    let headerless = is_data(header);
    if headerless {
        let names = (1..header.len()).map(|column| format!("column {column}"));
        let names = std::iter::once(String::new()).chain(names).collect();
        lines.insert(0, (1, names));
    }
    headerless
}

/// Fills each row to the width of the header.
///
/// # Errors
/// If a row is longer than the header.
fn rows_of_one_width(
    path: &Path,
    mut lines: Vec<NumberedRow>,
) -> Result<Vec<Vec<String>>, DocumentError> {
    let width = lines.first().map_or(0, |(_, header)| header.len());
    if let Some((line, row)) = lines.iter().find(|(_, row)| row.len() > width) {
        return Err(DocumentError::Table {
            path: path.to_owned(),
            line: *line,
            reason: format!(
                "{} cells under a header of {width}; put quotes around cells that hold the separator (\"1,234\"), or complete the header",
                row.len()
            ),
        });
    }
    for (_, row) in &mut lines {
        row.resize(width, String::new());
    }
    let mut rows: Vec<Vec<String>> = lines.into_iter().map(|(_, row)| row).collect();
    // Rows of large files should take only the memory of their cells.
    rows.shrink_to_fit();
    Ok(rows)
}

/// The number of cells up to the last one that is not empty.
fn filled(row: &[String]) -> usize {
    let last = row.iter().rposition(|cell| !cell.is_empty());
    last.map_or(0, |last| last + 1)
}

/// True if a heading in the row is above several columns: the next cell is empty or repeats it.
fn spans_columns(row: &[String]) -> bool {
    let mut names = row.iter().skip(1).skip_while(|cell| cell.is_empty());
    let first = names.next();
    let mut pairs = first.into_iter().chain(names.clone()).zip(names);
    pairs.any(|(left, cell)| cell.is_empty() || cell == left)
}

/// Joins the lines of a header into one. A header line has no figures except years, and no label.
/// Only below headings that span columns, one line with a label belongs to the header too. An upper
/// heading also applies to the empty cells to its right.
fn merge_header(lines: &mut Vec<NumberedRow>) {
    let named = |row: &[String]| row.iter().skip(1).any(|cell| !cell.is_empty());
    let bare = |row: &[String]| {
        let corner = row.first().map_or("", String::as_str);
        corner.is_empty() || corner.starts_with('(')
    };
    let mut count = 0;
    let mut upper: Option<&[String]> = None;
    let mut labelled = false;
    for (_, row) in lines.iter() {
        let below = upper.is_none_or(|upper| !labelled && spans_columns(upper));
        if !named(row) || has_figures(row) || !bare(row) && !below {
            break;
        }
        labelled |= !bare(row);
        upper = Some(row);
        count += 1;
    }
    // Without rows below, the lines are not a header.
    if count < 2 || count >= lines.len() {
        return;
    }
    let upper = lines.iter().take(count);
    let width = upper.clone().map(|(_, row)| row.len()).max();
    let columns: Vec<(usize, usize)> = (1..width.unwrap_or(1)).map(|at| (at, at + 1)).collect();
    let spanned: Vec<Vec<SpannedCell>> = upper
        .enumerate()
        .map(|(at, (_, row))| spanned(row, width.filter(|_| at + 1 < count)))
        .collect();
    let merged = spans::header_row(&spanned, &columns).into_iter();
    let merged = merged.map(|cell| cell.text).collect();
    let line = lines.first().map_or(1, |(line, _)| *line);
    lines.splice(..count, [(line, merged)]);
}

/// The cells of a row that are not empty. With the `width` of the table, each heading also covers
/// the empty cells to its right.
fn spanned(row: &[String], width: Option<usize>) -> Vec<SpannedCell> {
    let mut cells: Vec<SpannedCell> = Vec::new();
    for (at, text) in row
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, cell)| !cell.is_empty())
    {
        let next = cells.last().map(|next| next.start).or(width);
        cells.push(SpannedCell {
            start: at,
            end: next.filter(|_| at > 0 && width.is_some()).unwrap_or(at + 1),
            content: PrintedCell {
                text: text.clone(),
                ..PrintedCell::default()
            },
        });
    }
    cells.reverse();
    cells
}

fn has_figures(row: &[String]) -> bool {
    let mut cells = row.iter().skip(1);
    cells.any(|cell| is_figure(cell) && !is_year(cell))
}

/// True if a first row has figures instead of names: only numbers after its first cell, and not all
/// of them years.
fn is_data(row: &[String]) -> bool {
    let mut cells = row.iter().skip(1).filter(|cell| !cell.is_empty());
    cells.clone().all(|cell| is_figure(cell)) && !cells.all(|cell| !years_in(cell).is_empty())
}

#[cfg(test)]
mod tests;
