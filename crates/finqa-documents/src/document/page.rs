//! The page that questions are asked about: tables and paragraphs of a document, with what its
//! cover and its tags say.

use finqa_core::page::{Cover, FigureTag, TableStart};
use finqa_core::question;

use super::Document;
use crate::block::PrintedTable;

/// What a page has of a block.
#[derive(Clone, Debug)]
pub enum Shown<'d> {
    Text(&'d str),
    /// Rows of a table, the header first.
    Rows(&'d PrintedTable, Vec<usize>),
}

impl Document {
    /// All that is asked about: the page of a plain file, or all tables of a report.
    pub fn whole(&self) -> question::Document {
        let all = |table: &PrintedTable| (0..table.rows.len()).collect();
        match &self.plain {
            Some(page) => page.clone(),
            None => self.page(self.tables().map(|table| Shown::Rows(table, all(table)))),
        }
    }

    /// A page of parts of a report, in their order.
    pub fn page<'d>(&self, parts: impl IntoIterator<Item = Shown<'d>>) -> question::Document {
        let mut page = question::Document {
            id: self.name.clone(),
            filename: self.name.clone(),
            own: true,
            pre_text: self.in_words().into_iter().collect(),
            cover: Some(self.cover.clone()),
            ..question::Document::default()
        };
        for part in parts {
            match part {
                Shown::Text(text) => page.pre_text.push(text.to_owned()),
                Shown::Rows(table, rows) => {
                    let first = page.table.len();
                    page.tables.push(TableStart {
                        row: first,
                        above: table.above(),
                        tags: table.tags(&rows, first),
                    });
                    let rows = rows.iter().filter_map(|row| table.rows.get(*row));
                    page.table
                        .extend(rows.map(|row| row.iter().map(|cell| cell.text.clone()).collect()));
                }
            }
        }
        page
    }

    /// What the cover says, in a line; none if it says nothing.
    fn in_words(&self) -> Option<String> {
        let Cover {
            company,
            period_end,
            fiscal_year,
            ..
        } = &self.cover;
        let period = Some(format!("period ended {period_end}")).filter(|_| !period_end.is_empty());
        let year = fiscal_year.map(|year| format!("fiscal year {year}"));
        let company = Some(company.clone()).filter(|company| !company.is_empty());
        let parts: Vec<String> = [company, period, year].into_iter().flatten().collect();
        (!parts.is_empty()).then(|| parts.join(", ") + ".")
    }
}

impl PrintedTable {
    /// The first tags of figures, of rows that a page has from `first`.
    fn tags(&self, rows: &[usize], first: usize) -> Vec<FigureTag> {
        let cells = rows.iter().zip(first..).flat_map(|(row, at)| {
            let cells = self.rows.get(*row).into_iter().flatten();
            cells
                .enumerate()
                .map(move |(column, cell)| (at, column, cell))
        });
        let tags = cells.filter_map(|(row, column, cell)| {
            let tag = cell.tags.first()?;
            Some(FigureTag {
                row,
                column,
                concept: tag.concept.clone(),
                period: tag.period.in_words(),
                unit: tag.unit.clone(),
                scale: tag.scale,
            })
        });
        tags.collect()
    }
}
