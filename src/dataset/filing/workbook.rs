//! Workbooks: the blocks of cells of each sheet, parted by blank rows, as tables.

use std::io::Cursor;

use calamine::{Data, Dimensions, Reader, Xlsx};
use finqa_core::text::single_spaced;

use super::block::{FiledBlock, FiledTable};
use super::report::printed as as_seen;
use super::spans::{self, FiledCell, SpannedCell};

/// The most bytes that the files in a workbook take when they are unpacked.
const LARGEST: u64 = 256 * 1024 * 1024;

/// The blocks of a workbook, or why it cannot be read.
pub(super) fn blocks(bytes: &[u8]) -> Result<Vec<FiledBlock>, String> {
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
        let range = book
            .worksheet_range(&sheet)
            .map_err(|error| broken(&error))?;
        let merged = book.merge_cells_by_sheet_name(&sheet).unwrap_or_default();
        blocks.push(FiledBlock::Text(sheet));
        let (first_row, first_column) = range.start().unwrap_or_default();
        let rows = range.rows().zip(first_row..);
        let rows = rows.map(|(row, at)| cells(row, at, first_column, &merged));
        add_tables(&mut blocks, rows.collect());
    }
    Ok(blocks)
}

fn broken(error: &impl ToString) -> String {
    format!(
        "it is no workbook that can be read: {}",
        single_spaced(&error.to_string())
    )
}

/// The cells of a row that are not blank; a merged one covers what it is merged with.
fn cells(row: &[Data], at: u32, first_column: u32, merged: &[Dimensions]) -> Vec<SpannedCell> {
    let cells = row.iter().zip(first_column..).filter_map(|(data, column)| {
        let text = printed(data).filter(|text| !text.is_empty())?;
        let whole = merged.iter().find(|whole| whole.start == (at, column));
        let end = whole.map_or(column, |whole| whole.end.1) + 1;
        Some(SpannedCell {
            start: (column - first_column) as usize,
            end: (end - first_column) as usize,
            content: FiledCell {
                text,
                tags: Vec::new(),
            },
        })
    });
    cells.collect()
}

/// A cell as text; none for an error.
fn printed(data: &Data) -> Option<String> {
    match data {
        Data::Empty | Data::Error(_) => None,
        Data::String(text) => Some(as_seen(text)),
        Data::Float(number) => Some(number.to_string()),
        Data::DateTime(date) => {
            let (year, month, day, ..) = date.to_ymd_hms_milli();
            Some(format!("{year}-{month:02}-{day:02}"))
        }
        other => Some(other.to_string()),
    }
}

/// Adds a sheet's tables, which end at a blank row after their figures, and the lines above them.
fn add_tables(blocks: &mut Vec<FiledBlock>, rows: Vec<Vec<SpannedCell>>) {
    let mut open: Vec<Vec<SpannedCell>> = Vec::new();
    for row in rows.into_iter().chain([Vec::new()]) {
        if !row.is_empty() {
            open.push(row);
        } else if open.iter().flatten().any(SpannedCell::is_figure) {
            add_table(blocks, std::mem::take(&mut open));
        }
    }
    blocks.extend(open.into_iter().filter_map(line).map(FiledBlock::Text));
}

fn add_table(blocks: &mut Vec<FiledBlock>, mut rows: Vec<Vec<SpannedCell>>) {
    // A cell alone above wider rows is a title.
    let titles = rows.iter().take_while(|row| row.len() == 1).count();
    let titles: Vec<_> = rows.drain(..titles).collect();
    blocks.extend(titles.into_iter().filter_map(line).map(FiledBlock::Text));
    if let Some(rows) = spans::grid(rows) {
        blocks.push(FiledBlock::Table(FiledTable {
            rows,
            ..FiledTable::default()
        }));
    }
}

fn line(row: Vec<SpannedCell>) -> Option<String> {
    let texts = row.into_iter().map(|cell| cell.content.text);
    Some(texts.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}
