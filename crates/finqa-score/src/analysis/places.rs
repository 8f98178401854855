//! Finds where a number is on a page.

use std::sync::Arc;

use crate::dataset::Document;
use finqa_core::number::{self, percent_forms, readings};
use finqa_core::page::CellKind;

/// A number on a page, or a dash of its table.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PageFigure {
    /// As a program reads it: 0.17 for `17%`.
    pub value: f64,
    /// The evidence id: `r3c2` for a cell, `t5` for a sentence.
    pub id: String,
    /// Row and column; `None` for a number in a sentence.
    pub cell: Option<(usize, usize)>,
    /// True for a dash, which is `2014` or `2013` in the dataset.
    pub dash: bool,
}

/// The numbers of a page.
#[derive(Debug)]
pub(super) struct PageFigures {
    places: Vec<PageFigure>,
}

impl PageFigures {
    /// Reads a page: first the numbers and lost dashes in the table, without years, headers and
    /// labels; then the numbers in the sentences.
    pub(crate) fn of(document: &Arc<Document>) -> Self {
        let table = &document.page().table;
        let mut places = Vec::new();
        for (row, cells) in table.cells().iter().enumerate() {
            for (column, cell) in cells.iter().enumerate() {
                let dash = cell.kind == CellKind::Dash && cell.is_lost_dash();
                let value = if dash {
                    finqa_core::number::read(&cell.raw).map(|found| found.value)
                } else {
                    cell.fraction().filter(|_| !cell.is_year())
                };
                if let (Some(value), true) = (value, row > 0 && column > 0) {
                    places.push(PageFigure {
                        value,
                        id: format!("r{row}c{column}"),
                        cell: Some((row, column)),
                        dash,
                    });
                }
            }
        }
        for (at, sentence) in document.sentences().enumerate() {
            for found in readings(sentence) {
                places.push(PageFigure {
                    // The dataset's programs use basis points as printed: 25 for `25 bps`.
                    value: if found.basis_points {
                        found.value
                    } else {
                        found.fraction()
                    },
                    id: format!("t{}", at + 1),
                    cell: None,
                    dash: false,
                });
            }
        }
        Self { places }
    }

    /// Every number of the page.
    pub(crate) fn all(&self) -> &[PageFigure] {
        &self.places
    }

    /// The places of this number. Places with the same percent form come first, and cells come
    /// before sentences. The sign is ignored, because programs use many negative cells without it.
    pub(crate) fn find(&self, value: f64) -> Vec<&PageFigure> {
        let same = |place: &&PageFigure| {
            let mut forms = percent_forms(place.value.abs()).into_iter();
            forms.any(|form| number::same(form, value.abs()))
        };
        let mut found: Vec<&PageFigure> = self.places.iter().filter(same).collect();
        // A stable sort, so that cells stay before sentences.
        found.sort_by_key(|place| !number::same(place.value.abs(), value.abs()));
        found
    }

    /// The other numbers in the row of this cell.
    pub(crate) fn row(&self, of: (usize, usize)) -> impl Iterator<Item = &PageFigure> {
        self.cells().filter_map(move |(place, (row, column))| {
            (row == of.0 && column != of.1).then_some(place)
        })
    }

    /// The other numbers in the column of this cell.
    pub(crate) fn column(&self, of: (usize, usize)) -> impl Iterator<Item = &PageFigure> {
        self.cells().filter_map(move |(place, (row, column))| {
            (row != of.0 && column == of.1).then_some(place)
        })
    }

    pub(crate) fn at(&self, cell: (usize, usize)) -> Option<&PageFigure> {
        self.places.iter().find(|place| place.cell == Some(cell))
    }

    fn cells(&self) -> impl Iterator<Item = (&PageFigure, (usize, usize))> {
        self.places
            .iter()
            .filter_map(|place| Some((place, place.cell?)))
    }
}
