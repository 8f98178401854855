//! Builds the page that a question is asked about, from tables and paragraphs of a document, with
//! the data of the cover and the tags.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use finqa_core::page::{Cell, CellSource, Cover, FigureTag, SheetPlaces, TableStart};
use finqa_core::question;

use super::Document;
use crate::block::{Block, PrintedTable};
use crate::formats::plain::table_of;
use crate::grid::spans::PrintedCell;
use crate::tags::Tag;

/// The part of a block that a page contains.
#[derive(Clone, Debug)]
pub enum Shown<'d> {
    Text(&'d str),
    /// Rows of a table, the header first.
    Rows(&'d PrintedTable, Vec<usize>),
}

impl Document {
    /// Everything that can be asked about: the page of a plain file, or all paragraphs and tables
    /// of a report and the hidden tables.
    pub fn whole(&self) -> Arc<question::Document> {
        let all = |table: &PrintedTable| (0..table.rows.len()).collect();
        match &self.plain {
            Some(page) => Arc::clone(page),
            None => {
                let blocks = self.blocks.iter().map(|block| match block {
                    Block::Text(text) => Shown::Text(text),
                    Block::Table(table) => Shown::Rows(table, all(table)),
                });
                let hidden = self.hidden.iter();
                let hidden = hidden.map(|table| Shown::Rows(table, all(table)));
                Arc::new(self.page(blocks.chain(hidden)))
            }
        }
    }

    /// The tables for `--list-tables`, in their order, also the table of a plain file.
    pub fn listed(&self) -> Vec<Cow<'_, PrintedTable>> {
        let Some(page) = &self.plain else {
            return self.tables().map(Cow::Borrowed).collect();
        };
        let texts = |texts: &[String]| texts.iter().cloned().map(Block::Text).collect();
        let blocks: [Vec<Block>; 3] = [
            texts(&page.pre_text),
            vec![Block::Table(table_of(page.table.clone()))],
            texts(&page.post_text),
        ];
        // Read again like a report, which finds the title and the unit of the table.
        let read = Self::of_blocks(&self.name, blocks.concat(), &HashMap::new(), Vec::new());
        let blocks = read.blocks.into_iter();
        let tables = blocks.filter_map(|block| match block {
            Block::Table(table) if !table.rows.is_empty() => Some(Cow::Owned(table)),
            _ => None,
        });
        tables.collect()
    }

    /// A page with parts of a report, in the given order. All its texts precede its tables, because
    /// a page keeps them apart.
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
                        places: table.sheet_places(&rows),
                        page: table.page,
                    });
                    page.sources.extend(table.sources(&rows, first));
                    let rows = rows.iter().filter_map(|row| table.rows.get(*row));
                    page.table
                        .extend(rows.map(|row| row.iter().map(|cell| cell.text.clone()).collect()));
                }
            }
        }
        page
    }

    /// The data of the cover in a sentence; `None` without any.
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
    /// The cells of these rows with their rows and columns on a page, where the table begins in row
    /// `first`.
    fn cells<'t>(
        &'t self,
        rows: &'t [usize],
        first: usize,
    ) -> impl Iterator<Item = (usize, usize, &'t PrintedCell)> {
        rows.iter().zip(first..).flat_map(|(row, at)| {
            let cells = self.rows.get(*row).into_iter().flatten().enumerate();
            cells.map(move |(column, cell)| (at, column, cell))
        })
    }

    /// The first tag of each figure (of nested tags, the outer one), with its row and column on the
    /// page.
    fn tags(&self, rows: &[usize], first: usize) -> Vec<FigureTag> {
        let tags = self.cells(rows, first).filter_map(|(row, column, cell)| {
            let tag = cell.tags.first()?;
            Some(FigureTag {
                row,
                column,
                concept: tag.concept.clone(),
                period: tag.period.in_words(),
                unit: tag.unit.clone(),
                scale: tag.scale,
                members: tag.members(),
            })
        });
        tags.collect()
    }

    /// The sheet and the cells of a workbook's rows; empty for other documents.
    fn sheet_places(&self, rows: &[usize]) -> SheetPlaces {
        if self.sheet.is_empty() {
            return SheetPlaces::default();
        }
        let place = |cell: &PrintedCell| Some(cell.source.as_ref()?.place);
        let rows = rows.iter().filter_map(|row| self.rows.get(*row));
        SheetPlaces {
            sheet: self.sheet.clone(),
            cells: rows.map(|row| row.iter().map(place).collect()).collect(),
        }
    }

    /// What the file says about figures beyond their text: the stored value, scale, formula and
    /// tag.
    fn sources(&self, rows: &[usize], first: usize) -> Vec<CellSource> {
        let cells = self.cells(rows, first);
        let figures = cells.filter(|(row, column, _)| *row > first && *column > 0);
        let sources = figures.filter_map(|(row, column, cell)| {
            let bare = CellSource {
                row,
                column,
                ..CellSource::default()
            };
            let tagged = CellSource {
                tag: cell.tags.first().map(Tag::unit_of_figure),
                ..bare.clone()
            };
            let source = match &cell.source {
                None => tagged,
                Some(source) => {
                    let printed = Cell::read(&cell.text).value();
                    CellSource {
                        // A stored value adds nothing if it is the printed one.
                        value: source.value.filter(|value| printed != Some(*value)),
                        scale: source.scale.map(|(scale, _)| scale),
                        scale_in_text: source.scale.is_some_and(|(_, in_text)| in_text),
                        formula: source.formula.clone(),
                        unread: source.unread.map(str::to_owned),
                        ..tagged
                    }
                }
            };
            (source != bare).then_some(source)
        });
        sources.collect()
    }
}
