//! A page as its file has it, and the ids of its places.

use serde::{Deserialize, Serialize};

use super::cell::{CellSource, TableOrigin};

/// Where one of several tables begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableStart {
    /// The row of its header among the rows of the page.
    pub row: usize,
    /// The lines above it, the last next to it: its title, its unit.
    pub above: Vec<String>,
    /// The tags of its figures, if the report has some.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<FigureTag>,
    /// Where a workbook has its cells.
    #[serde(default, skip_serializing_if = "SheetPlaces::is_empty")]
    pub places: SheetPlaces,
}

/// Where a workbook has the cells of a table.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetPlaces {
    /// The sheet's name.
    pub sheet: String,
    /// Row and column from 0, of each cell of each row; none of what has no place.
    pub cells: Vec<Vec<Option<(u32, u32)>>>,
}

impl SheetPlaces {
    fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// `Key figures!D4`.
    pub fn name(&self, row: usize, column: usize) -> Option<String> {
        let (row, column) = (*self.cells.get(row)?.get(column)?)?;
        Some(format!("{}!{}{}", self.sheet, column_name(column), row + 1))
    }
}

/// The letters of a workbook's column, from 0: `A`, `Z`, `AA`.
pub fn column_name(column: u32) -> String {
    let letter = char::from_digit(column % 26 + 10, 36).unwrap_or('a');
    let before = match column / 26 {
        0 => String::new(),
        more => column_name(more - 1),
    };
    format!("{before}{}", letter.to_ascii_uppercase())
}

/// What a report's tag says of a figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureTag {
    /// The cell among the rows of the page.
    pub row: usize,
    pub column: usize,
    /// `us-gaap:NetIncomeLoss`.
    pub concept: String,
    /// `2024-09-28`, or `2023-10-01 to 2024-09-28`.
    pub period: String,
    /// `USD`, `shares`, `USD/shares`.
    pub unit: String,
    /// The power of ten of the printed digits.
    pub scale: i32,
}

/// What the cover of a report says of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// `Apple Inc.`
    pub company: String,
    /// The last day that the report is about, in any form.
    pub period_end: String,
    /// The fiscal year that it is a part of.
    pub fiscal_year: Option<u16>,
    /// The month that the company's fiscal years end in, from 1.
    pub year_end: Option<u8>,
}

/// What a page is read from.
#[derive(Clone, Copy)]
pub(crate) struct PageText<'a> {
    pub(crate) filename: &'a str,
    /// Sentences before and after the table.
    pub(crate) before: &'a [String],
    pub(crate) after: &'a [String],
    /// Row 0 is the header; rows may be ragged.
    pub(crate) table: &'a [Vec<String>],
    /// Where its tables begin, if they are several.
    pub(crate) starts: &'a [TableStart],
    /// What the file says of cells beyond their text, in the order of rows.
    pub(crate) sources: &'a [CellSource],
    /// The table before tokenisation.
    pub(crate) table_ori: Option<&'a [Vec<String>]>,
    /// A document of the user.
    pub(crate) own: bool,
    /// A report with a cover, or a table of one.
    pub(crate) report: bool,
}

impl<'a> PageText<'a> {
    /// Each table by itself, with the row that it begins in.
    pub(super) fn each_table(&self) -> Vec<(usize, PageText<'a>)> {
        if self.starts.is_empty() {
            return vec![(0, *self)];
        }
        let ends = self.starts.iter().skip(1).map(|next| next.row);
        let ends = ends.chain([self.table.len()]);
        let alone = |(start, end): (&'a TableStart, usize)| {
            let table = self.table.get(start.row..end).unwrap_or_default();
            let before = start.above.as_slice();
            let from = self.sources.partition_point(|one| one.row < start.row);
            let to = self.sources.partition_point(|one| one.row < end);
            (
                start.row,
                Self {
                    table,
                    before,
                    sources: self.sources.get(from..to).unwrap_or_default(),
                    table_ori: None,
                    starts: &[],
                    ..*self
                },
            )
        };
        self.starts.iter().zip(ends).map(alone).collect()
    }

    pub(super) fn origin(&self) -> TableOrigin {
        if self.own {
            TableOrigin::Own
        } else {
            TableOrigin::Published
        }
    }
}

/// Row and column of an evidence id: `r3c2` gives (3, 2).
pub fn position(id: &str) -> Option<(usize, usize)> {
    let (row, column) = id.trim().strip_prefix(['r', 'R'])?.split_once(['c', 'C'])?;
    let number = |digits: &str| -> Option<usize> {
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            digits.parse().ok()
        } else {
            None
        }
    };
    Some((number(row)?, number(column)?))
}
