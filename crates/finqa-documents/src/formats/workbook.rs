//! Workbooks: the blocks of cells of each sheet, parted by blank rows, as tables.

use std::collections::{BTreeMap, HashMap};
use std::io::Cursor;

use calamine::{Data, Reader, Xlsx, XlsxError};
use finqa_core::text::single_spaced;

use crate::block::{Block, PrintedTable};
use crate::grid::spans::{self, PrintedCell, SpannedCell};
use crate::text::printed as as_seen;

/// The most bytes that the files in a workbook take when they are unpacked.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The most cells of a sheet that are not blank.
const MOST_CELLS: usize = 5_000_000;

/// The blocks of a workbook, or why it cannot be read.
pub(crate) fn blocks(bytes: &[u8]) -> Result<Vec<Block>, String> {
    let archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let unpacked = archive.decompressed_size().unwrap_or(u128::MAX);
    if unpacked > LARGEST.into() {
        return Err(format!(
            "unpacked it is larger than {} MB",
            LARGEST / (1024 * 1024)
        ));
    }
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let mut blocks = Vec::new();
    for sheet in book.sheet_names() {
        let rows = rows(&mut book, &sheet).map_err(|error| broken(&error))?;
        blocks.push(Block::Text(sheet));
        add_tables(&mut blocks, rows);
    }
    Ok(blocks)
}

fn broken(error: &impl ToString) -> String {
    format!(
        "it cannot be read as a workbook: {}",
        single_spaced(&error.to_string())
    )
}

/// The rows of a sheet with the cells that are not blank; between rows that are apart, one that is
/// empty. A merged cell covers the columns that it is merged with.
fn rows(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str) -> Result<Vec<Vec<SpannedCell>>, XlsxError> {
    let merged = book.merge_cells_by_sheet_name(sheet).unwrap_or_default();
    let ends: HashMap<(u32, u32), u32> = merged
        .iter()
        .map(|whole| (whole.start, whole.end.1))
        .collect();
    let mut reader = book.worksheet_cells_reader(sheet)?;
    let percent: Vec<bool> = reader
        .styles()
        .iter()
        .map(|style| {
            let format = style.number_format.as_ref();
            format.is_some_and(|format| format.format_code.contains('%'))
        })
        .collect();
    let mut cells: BTreeMap<(u32, u32), String> = BTreeMap::new();
    while let Some((cell, style)) = reader.next_cell_with_style_id()? {
        let percent = percent.get(style).copied().unwrap_or_default();
        let text = printed(&cell.get_value().clone().into(), percent);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            cells.insert(cell.get_position(), text);
        }
        if cells.len() > MOST_CELLS {
            return Err(XlsxError::Unexpected(
                "a sheet has more than 5 million cells",
            ));
        }
    }
    let first_column = cells.keys().map(|(_, column)| *column).min().unwrap_or(0);
    let mut rows: Vec<Vec<SpannedCell>> = Vec::new();
    let mut last = None;
    for ((row, column), text) in cells {
        if last != Some(row) {
            let apart = last.is_some_and(|last| row - last > 1);
            rows.extend(apart.then(Vec::new));
            rows.push(Vec::new());
            last = Some(row);
        }
        let end = ends
            .get(&(row, column))
            .map_or(column, |end| column.max(*end));
        let content = PrintedCell {
            text,
            tags: Vec::new(),
        };
        let start = (column - first_column) as usize;
        let end = (end - first_column) as usize + 1;
        if let Some(cells) = rows.last_mut() {
            cells.push(SpannedCell {
                start,
                end,
                content,
            });
        }
    }
    Ok(rows)
}

/// A cell as text, a share as the percentage that its format shows; none for an error.
fn printed(data: &Data, percent: bool) -> Option<String> {
    match data {
        Data::Empty | Data::Error(_) => None,
        Data::String(text) => Some(as_seen(text)),
        Data::Float(share) if percent => Some(format!("{}%", in_percent(*share))),
        Data::Float(number) => Some(number.to_string()),
        Data::DateTime(date) => {
            let (year, month, day, ..) = date.to_ymd_hms_milli();
            Some(format!("{year}-{month:02}-{day:02}"))
        }
        other => Some(other.to_string()),
    }
}

/// Without the digits that only the product has: 0.14 is 14, not 14.000000000000002.
fn in_percent(share: f64) -> f64 {
    (share * 1e12).round() / 1e10
}

/// Adds a sheet's tables, which end at a blank row after their figures, and the lines above them.
fn add_tables(blocks: &mut Vec<Block>, rows: Vec<Vec<SpannedCell>>) {
    let mut open: Vec<Vec<SpannedCell>> = Vec::new();
    for row in rows.into_iter().chain([Vec::new()]) {
        if !row.is_empty() {
            open.push(row);
        } else if open.iter().flatten().any(SpannedCell::is_figure) {
            add_table(blocks, std::mem::take(&mut open));
        }
    }
    blocks.extend(open.into_iter().filter_map(line).map(Block::Text));
}

fn add_table(blocks: &mut Vec<Block>, mut rows: Vec<Vec<SpannedCell>>) {
    // A cell alone above wider rows is a title.
    let titles = rows.iter().take_while(|row| row.len() == 1).count();
    let titles: Vec<_> = rows.drain(..titles).collect();
    blocks.extend(titles.into_iter().filter_map(line).map(Block::Text));
    if let Some(rows) = spans::grid(rows) {
        blocks.push(Block::Table(PrintedTable {
            rows,
            ..PrintedTable::default()
        }));
    }
}

fn line(row: Vec<SpannedCell>) -> Option<String> {
    let texts = row.into_iter().map(|cell| cell.content.text);
    Some(texts.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}
