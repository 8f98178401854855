//! Reads workbooks. Blank rows separate the tables of a sheet. Figures are read as they are
//! printed. Hidden cells are not read, but `left_out` names them.

mod number_format;
mod sheet_xml;
mod sums;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{BufReader, Cursor};

use calamine::{
    Data, ExcelDateTime, ExcelDateTimeType, Reader, SheetType, SheetVisible, Xlsx, XlsxError,
};
use finqa_core::page::column_name;
use finqa_core::text::{counted, single_spaced};

use crate::block::{Block, PrintedTable};
use crate::cells::{is_year, names_period};
use crate::grid::spans::{self, PrintedCell, SpannedCell};
use crate::source::SheetCell;
use crate::text::printed as as_seen;
use number_format::{NumberFormat, Shown, general};
use sheet_xml::{CellRef, SheetXml};

/// Maximum size of the unpacked workbook, in bytes, so that a small archive cannot fill the memory.
/// Set by hand.
const LARGEST: u64 = 256 * 1024 * 1024;

/// Maximum number of cells of a sheet that are not blank. Set by hand; it bounds the memory.
const MOST_CELLS: usize = 5_000_000;

/// Reasons why a cell is not read.
const FORMULA: &str = "a formula without a stored value";
const ERROR: &str = "an error";
const FORMAT: &str = "hidden by its number format";
const ROW: &str = "in a hidden row";
const COLUMN: &str = "in a hidden column";
const SHEET: &str = "in a hidden sheet";

/// The contents that are read from a workbook.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Workbook {
    /// The paragraphs and tables, without their hidden cells.
    pub(crate) blocks: Vec<Block>,
    /// The tables that have hidden cells, with labels but without figures. They show which figures
    /// are only in hidden cells.
    pub(crate) hidden: Vec<Block>,
    /// What is not read, one line each.
    pub(crate) left_out: Vec<String>,
}

/// A cell that is not blank, as it is printed.
#[derive(Clone, Debug)]
struct ReadCell {
    text: String,
    source: SheetCell,
    /// The reason why the cell is hidden; `None` for a visible one.
    hidden: Option<&'static str>,
}

type Cells = BTreeMap<CellRef, ReadCell>;

/// Reads a workbook.
///
/// # Errors
/// Why it cannot be read: it is damaged or too large.
pub(crate) fn read(bytes: &[u8]) -> Result<Workbook, String> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    // An unknown size counts as too large.
    let unpacked = archive.decompressed_size().unwrap_or(u128::MAX);
    if unpacked > LARGEST.into() {
        return Err(format!(
            "unpacked it is larger than {} MB",
            LARGEST / (1024 * 1024)
        ));
    }
    let mut book = Xlsx::new(Cursor::new(bytes)).map_err(|error| broken(&error))?;
    let files = sheet_xml::files(&mut archive);
    let mut read = Workbook::default();
    let sheets = book.sheets_metadata().to_vec().into_iter();
    // Charts, dialogs and macros are not read.
    for sheet in sheets.filter(|sheet| sheet.typ == SheetType::WorkSheet) {
        let name = sheet.name;
        let file = files.get(&name).and_then(|file| archive.by_name(file).ok());
        let xml = file.map(|file| SheetXml::read(BufReader::new(file)));
        let xml = xml.transpose().map_err(|error| broken(&error))?;
        // If the file is not found, nothing is known to be hidden.
        let xml = xml.unwrap_or_default();
        let sheet_hidden = sheet.visible != SheetVisible::Visible;
        let mut cells = cells(&mut book, &name, &xml).map_err(|error| broken(&error))?;
        for ((row, column), cell) in &mut cells {
            let reasons = [
                (sheet_hidden, SHEET),
                (xml.is_hidden_row(*row), ROW),
                (xml.is_hidden_column(*column), COLUMN),
            ];
            let reason = reasons.into_iter().find(|(is, _)| *is);
            cell.hidden = reason.map(|(_, why)| why).or(cell.hidden);
        }
        // If they cannot be read, no cell is wider than its column.
        let merged = book.merge_cells_by_sheet_name(&name).unwrap_or_default();
        let ends: HashMap<CellRef, u32> = merged
            .iter()
            .map(|whole| (whole.start, whole.end.1))
            .collect();
        read.add(&name, cells, &ends, sheet_hidden);
    }
    Ok(read)
}

fn broken(error: &impl ToString) -> String {
    format!(
        "it cannot be read as a workbook: {}",
        single_spaced(&error.to_string())
    )
}

/// Reads the cells of a sheet that are not blank. A formula without a stored value is computed if
/// it only adds cells; otherwise its cell is marked as unread. An error if there are more than
/// [`MOST_CELLS`].
fn cells(book: &mut Xlsx<Cursor<&[u8]>>, sheet: &str, xml: &SheetXml) -> Result<Cells, XlsxError> {
    let from_1904 = book.has_1904_epoch();
    let mut reader = book.worksheet_cells_reader(sheet)?;
    let formats: Vec<NumberFormat> = reader
        .styles()
        .iter()
        .map(|style| {
            let format = style.number_format.as_ref();
            NumberFormat::read(format.map_or("General", |format| &format.format_code))
        })
        .collect();
    let plain = NumberFormat::read("General");
    let printing = |style: usize| Printing {
        // A style that the file does not define prints like "General".
        format: formats.get(style).unwrap_or(&plain),
        from_1904,
    };
    let mut cells = Cells::new();
    let mut numbers: HashMap<CellRef, f64> = HashMap::new();
    let mut formulas: HashMap<CellRef, usize> = HashMap::new();
    while let Some((cell, style)) = reader.next_cell_with_style_id()? {
        let place = cell.get_position();
        let data = Data::from(cell.get_value().clone());
        // The file has no value for these formulas; they are computed below.
        if xml.formulas.contains_key(&place) {
            formulas.insert(place, style);
            continue;
        }
        // Only the sums below need the numbers.
        if !xml.formulas.is_empty()
            && let Some(number) = number_of(&data)
        {
            numbers.insert(place, number);
        }
        if let Some(cell) = printing(style).cell(place, &data) {
            cells.insert(place, cell);
        }
        if cells.len() > MOST_CELLS {
            return Err(XlsxError::Unexpected(
                "a sheet has more than 5 million cells",
            ));
        }
    }
    let sums = sums::values(&numbers, &xml.formulas);
    for (place, formula) in &xml.formulas {
        // A cell that the reader did not return has style 0, the default of the format.
        let style = formulas.get(place).copied().unwrap_or_default();
        let sum = sums.get(place).map(|sum| Data::Float(*sum));
        let computed = sum.and_then(|sum| printing(style).cell(*place, &sum));
        let mut cell = computed.unwrap_or_else(|| ReadCell {
            text: format!("={formula}"),
            source: SheetCell {
                place: *place,
                unread: Some(FORMULA),
                ..SheetCell::default()
            },
            hidden: None,
        });
        cell.source.formula = Some(formula.clone());
        cells.insert(*place, cell);
    }
    Ok(cells)
}

/// The number of a cell; for a date, the number of days since the workbook's first day. `None` for
/// every other cell.
fn number_of(data: &Data) -> Option<f64> {
    match data {
        Data::Float(number) => Some(*number),
        // Through its text, because `f64` has no `From<i64>`.
        Data::Int(number) => number.to_string().parse().ok(),
        Data::DateTime(date) => Some(date.as_f64()),
        _ => None,
    }
}

/// Prints cells with the number format of their style.
struct Printing<'f> {
    format: &'f NumberFormat,
    from_1904: bool,
}

impl Printing<'_> {
    /// The cell as it is printed; `None` if nothing is printed.
    fn cell(&self, place: CellRef, data: &Data) -> Option<ReadCell> {
        let mut source = SheetCell {
            place,
            ..SheetCell::default()
        };
        let mut hidden = None;
        let text = match data {
            Data::Empty => return None,
            Data::Error(error) => {
                source.unread = Some(ERROR);
                error.to_string()
            }
            Data::String(text) => {
                hidden = self.format.hides_text().then_some(FORMAT);
                as_seen(text)
            }
            data => match number_of(data) {
                Some(number) if self.format.is_blank() => {
                    hidden = Some(FORMAT);
                    source.value = Some(number);
                    general(number)
                }
                Some(number) => self.number(number, &mut source),
                None => data.to_string(),
            },
        };
        (!text.is_empty()).then_some(ReadCell {
            text,
            source,
            hidden,
        })
    }

    /// The text of a number in its format. A date is written with the parts that the format shows:
    /// a year, a month or a day.
    fn number(&self, number: f64, source: &mut SheetCell) -> String {
        match self.format.show(number) {
            Shown::Number { text, value, scale } => {
                source.value = Some(value);
                source.scale = scale;
                text
            }
            Shown::Words(text) => text,
            shown => {
                let date = ExcelDateTime::new(number, ExcelDateTimeType::DateTime, self.from_1904);
                let (year, month, day, hour, minute, ..) = date.to_ymd_hms_milli();
                match shown {
                    Shown::Date('y') => format!("{year}"),
                    Shown::Date('m') => format!("{year}-{month:02}"),
                    Shown::Date(_) => format!("{year}-{month:02}-{day:02}"),
                    _ => format!("{hour}:{minute:02}"),
                }
            }
        }
    }
}

impl Workbook {
    /// Adds the tables of a sheet: to `blocks` what is visible, and to `hidden` the labels of the
    /// rows with hidden figures.
    fn add(&mut self, sheet: &str, mut cells: Cells, ends: &HashMap<CellRef, u32>, hidden: bool) {
        self.left_out.extend(left_out(sheet, &cells, hidden));
        if cells.values().any(|cell| cell.hidden.is_some()) {
            // A copy, because the hidden cells are then removed for the visible tables.
            let mut all = cells.clone();
            for cell in all.values_mut().filter(|cell| cell.source.is_figure()) {
                cell.source.unread = cell.hidden;
            }
            let mut blocks = Vec::new();
            add_tables(&mut blocks, sheet, rows(&all, ends));
            blocks.iter_mut().for_each(keep_hidden);
            self.hidden.extend(blocks);
            cells.retain(|_, cell| cell.hidden.is_none());
        }
        if !hidden {
            // The name of the sheet is the title of a table that has no other one.
            self.blocks.push(Block::Text(sheet.to_owned()));
            add_tables(&mut self.blocks, sheet, rows(&cells, ends));
        }
    }
}

/// Keeps the header of a table and the rows with hidden figures, and in these rows only the
/// labels and the places of the hidden figures.
fn keep_hidden(block: &mut Block) {
    let Block::Table(table) = block else { return };
    let is_hidden = |cell: &PrintedCell| {
        let source = cell.source.as_ref();
        source.is_some_and(|source| source.unread.is_some())
    };
    for cell in table
        .rows
        .iter_mut()
        .skip(1)
        .flat_map(|row| row.iter_mut().skip(1))
    {
        cell.text.clear();
        if !is_hidden(cell) {
            cell.source = None;
        }
    }
    let mut at = 0..;
    table
        .rows
        .retain(|row| at.next() == Some(0) || row.iter().skip(1).any(is_hidden));
}

/// What is not read in a sheet, one line each.
fn left_out(sheet: &str, cells: &Cells, hidden: bool) -> Vec<String> {
    if hidden {
        return vec![format!("the sheet {sheet:?} is hidden")];
    }
    let places = |why: &str| {
        let of = cells
            .iter()
            .filter(|(_, cell)| cell.hidden.or(cell.source.unread) == Some(why));
        of.map(|(place, _)| *place).collect::<Vec<CellRef>>()
    };
    let columns: BTreeSet<u32> = places(COLUMN)
        .into_iter()
        .map(|(_, column)| column)
        .collect();
    let rows: BTreeSet<u32> = places(ROW).into_iter().map(|(row, _)| row).collect();
    let columns: Vec<String> = columns.into_iter().map(column_name).collect();
    let rows: Vec<String> = rows.into_iter().map(|row| (row + 1).to_string()).collect();
    let mut lines = Vec::new();
    for (names, one, several) in [(columns, "column", "columns"), (rows, "row", "rows")] {
        let words = match names.as_slice() {
            [] => continue,
            [name] => format!("{one} {name} of {sheet:?} is hidden"),
            names => format!("{several} {} of {sheet:?} are hidden", names.join(", ")),
        };
        lines.push(words);
    }
    for (why, words) in [
        (FORMAT, "hidden by their number format"),
        (ERROR, "with errors"),
    ] {
        let count = places(why).len();
        if count > 0 {
            lines.push(format!("{} of {sheet:?} {words}", counted(count, "cell")));
        }
    }
    lines
}

/// Arranges cells in rows, with one empty row where the sheet has blank ones. A merged cell spans
/// the columns of its area.
fn rows(cells: &Cells, ends: &HashMap<CellRef, u32>) -> Vec<Vec<SpannedCell>> {
    // Positions are counted from the first column with a cell, which is taken for the labels.
    let first_column = cells.keys().map(|(_, column)| *column).min().unwrap_or(0);
    let mut rows: Vec<Vec<SpannedCell>> = Vec::new();
    let mut last = None;
    for ((row, column), cell) in cells {
        if last != Some(*row) {
            let apart = last.is_some_and(|last| row - last > 1);
            rows.extend(apart.then(Vec::new));
            rows.push(Vec::new());
            last = Some(*row);
        }
        let end = ends.get(&(*row, *column));
        let end = end.map_or(*column, |end| *column.max(end));
        if let Some(cells) = rows.last_mut() {
            cells.push(SpannedCell {
                start: (column - first_column) as usize,
                end: (end - first_column) as usize + 1,
                content: PrintedCell {
                    text: cell.text.clone(),
                    source: Some(Box::new(cell.source.clone())),
                    ..PrintedCell::default()
                },
            });
        }
    }
    rows
}

/// Adds the tables of a sheet and the lines above them. A table ends at the first blank row
/// after a figure.
fn add_tables(blocks: &mut Vec<Block>, sheet: &str, rows: Vec<Vec<SpannedCell>>) {
    let mut open: Vec<Vec<SpannedCell>> = Vec::new();
    for row in rows.into_iter().chain([Vec::new()]) {
        // A blank row directly below the headings is only spacing, so it does not end the table.
        let figure = |cell: &SpannedCell| cell.is_figure() && !is_year(&cell.content.text);
        if !row.is_empty() {
            open.push(row);
        } else if open.iter().flatten().any(figure) {
            add_table(blocks, sheet, std::mem::take(&mut open));
        }
    }
    blocks.extend(open.into_iter().filter_map(line).map(Block::Text));
}

/// Adds one table and the titles above it.
fn add_table(blocks: &mut Vec<Block>, sheet: &str, mut rows: Vec<Vec<SpannedCell>>) {
    // A single cell above wider rows is a title, unless it is the heading of the only column.
    let is_title = |row: &&Vec<SpannedCell>| matches!(row.as_slice(), [cell] if cell.start == 0 || !names_period(&cell.content.text));
    let titles = rows.iter().take_while(is_title).count();
    let titles: Vec<_> = rows.drain(..titles).collect();
    blocks.extend(titles.into_iter().filter_map(line).map(Block::Text));
    if let Some(rows) = spans::grid(rows) {
        blocks.push(Block::Table(PrintedTable {
            sheet: sheet.to_owned(),
            rows,
            ..PrintedTable::default()
        }));
    }
}

/// The cells of a row as one line of text; `None` if it is empty.
fn line(row: Vec<SpannedCell>) -> Option<String> {
    let texts = row.into_iter().map(|cell| cell.content.text);
    Some(texts.collect::<Vec<_>>().join(" ")).filter(|line| !line.is_empty())
}
