//! Defines the input of a page's parser, and the ids of its cells.

use serde::{Deserialize, Serialize};

use super::cell::{CellSource, TableOrigin};

/// The start of a table on a page with several tables.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableStart {
    /// The row of the page that is the table's header.
    pub row: usize,
    /// The lines above the table, such as its title and unit. The last line is the nearest.
    pub above: Vec<String>,
    /// The tags of its figures, if the report is tagged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<FigureTag>,
    /// The places of its cells in a workbook.
    #[serde(default, skip_serializing_if = "SheetPlaces::is_empty")]
    pub places: SheetPlaces,
    /// The page of a PDF on which it begins, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<usize>,
}

/// The places of a table's cells in a workbook.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SheetPlaces {
    pub sheet: String,
    /// Row and column in the workbook, from 0, for each cell of each row; `None` for a cell that
    /// the workbook does not have.
    pub cells: Vec<Vec<Option<(u32, u32)>>>,
}

impl SheetPlaces {
    fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The name of a cell in the notation of workbooks, such as `Key figures!D4`.
    pub fn name(&self, row: usize, column: usize) -> Option<String> {
        let (row, column) = (*self.cells.get(row)?.get(column)?)?;
        Some(format!("{}!{}{}", self.sheet, column_name(column), row + 1))
    }
}

/// The letters of a workbook's column, which is counted from 0: `A`, `Z`, `AA`.
pub fn column_name(column: u32) -> String {
    // In base 36, the digits 10 to 35 are the letters. `AA` follows `Z`, so there is no zero.
    let letter = char::from_digit(column % 26 + 10, 36).unwrap_or('a');
    let before = match column / 26 {
        0 => String::new(),
        more => column_name(more - 1),
    };
    format!("{before}{}", letter.to_ascii_uppercase())
}

/// A report's tag for a figure (inline XBRL).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FigureTag {
    /// The row of the figure, counted over all tables of the page.
    pub row: usize,
    pub column: usize,
    /// The name of the concept: `us-gaap:NetIncomeLoss`.
    pub concept: String,
    /// The tag's period: `2024-09-28`, or `2023-10-01 to 2024-09-28`.
    pub period: String,
    /// The tag's unit: `USD`, `shares`, `USD/shares`.
    pub unit: String,
    /// The power of ten by which the printed digits are multiplied.
    pub scale: i32,
    /// The members of the tag's dimensions, such as a segment, without their prefixes. Empty for
    /// the whole company.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<String>,
}

/// The data on the cover of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cover {
    /// The company's name: `Apple Inc.`
    pub company: String,
    /// The last day of the report's period, as printed.
    pub period_end: String,
    /// The fiscal year to which the period belongs.
    pub fiscal_year: Option<u16>,
    /// The month, from 1, in which the company's fiscal years end.
    pub year_end: Option<u8>,
}

/// The borrowed text of a document, from which its page is parsed.
#[derive(Clone, Copy)]
pub(crate) struct PageText<'a> {
    pub(crate) filename: &'a str,
    /// Sentences before and after the table.
    pub(crate) before: &'a [String],
    pub(crate) after: &'a [String],
    /// Row 0 is the header; rows may be ragged.
    pub(crate) table: &'a [Vec<String>],
    /// The start of each table, if there are several.
    pub(crate) starts: &'a [TableStart],
    /// The file's data about cells in addition to their text, sorted by row.
    pub(crate) sources: &'a [CellSource],
    /// The table before the dataset's tokenisation.
    pub(crate) table_ori: Option<&'a [Vec<String>]>,
    /// True for a document of the user, whose text is not repaired.
    pub(crate) own: bool,
    /// True for a report with a cover, or for a part of one.
    pub(crate) report: bool,
}

impl<'a> PageText<'a> {
    /// Splits the page into its tables, each with the row of the page where it begins.
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

/// The row and column of an evidence id: (3, 2) for `r3c2`. `None` for any other text.
pub fn position(id: &str) -> Option<(usize, usize)> {
    let (row, column) = id.trim().strip_prefix(['r', 'R'])?.split_once(['c', 'C'])?;
    let number = |digits: &str| -> Option<usize> {
        // `parse` alone would also accept `+3`.
        if digits.bytes().all(|byte| byte.is_ascii_digit()) {
            digits.parse().ok()
        } else {
            None
        }
    };
    Some((number(row)?, number(column)?))
}
