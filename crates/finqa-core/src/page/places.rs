//! Collects the numbers of a page, each with its id.

use std::collections::BTreeSet;

use crate::number;

use super::cell::CellKind;
use super::page_table::Table;
use super::text::PageText;
use super::years::years_in;

/// One place of a number on a page.
#[derive(Clone, Debug, PartialEq)]
pub struct NumberPlace {
    /// The evidence id: `r3c2`, `t5`, `h1`, or `question`.
    pub id: String,
    /// The absolute value as written: 14.1 for `14.1%`.
    pub magnitude: f64,
    /// The years in the labels of its row and column, or in its sentence.
    pub years: Vec<u16>,
    /// True if the number or the label of its row or column has a percent sign or word.
    pub percent: bool,
    /// True if the cell is a dash. `magnitude` is then 2013 or 2014 if the dash lost its escape,
    /// and otherwise 0.
    pub dash: bool,
}

impl NumberPlace {
    /// The numbers in a text. All of them get these years.
    pub fn in_text(id: &str, text: &str, years: &[u16], percent: bool) -> Vec<Self> {
        let readings = number::readings(text);
        readings
            .map(|reading| Self {
                id: id.to_owned(),
                magnitude: reading.value.abs(),
                years: years.to_vec(),
                percent: percent || reading.percent,
                dash: false,
            })
            .collect()
    }
}

/// The numbers of a page and the years that it names. Numbers in cells come first.
#[derive(Debug)]
pub struct PagePlaces {
    pub numbers: Vec<NumberPlace>,
    /// The years in its labels, cells and sentences, and in its file name.
    pub years: BTreeSet<u16>,
}

impl PagePlaces {
    pub(super) fn read<'t>(page: &PageText<'_>, tables: impl Iterator<Item = &'t Table>) -> Self {
        let mut places = Self {
            numbers: Vec::new(),
            years: years_in(page.filename).into_iter().collect(),
        };
        tables.for_each(|table| places.add_table(table));
        for (at, sentence) in page.before.iter().chain(page.after).enumerate() {
            let years = years_in(sentence);
            places.years.extend(&years);
            let found = NumberPlace::in_text(&format!("t{}", at + 1), sentence, &years, false);
            places.numbers.extend(found);
        }
        places
    }

    fn add_table(&mut self, table: &Table) {
        let labels = table.columns().iter().map(|column| column.label.as_str());
        self.years.extend(labels.flat_map(years_in));
        let percent_columns: Vec<bool> = table
            .columns()
            .iter()
            .map(|column| is_percent_label(&column.label))
            .collect();
        for (row, (of_row, cells)) in table.rows().iter().zip(table.cells()).enumerate() {
            let row_percent = is_percent_label(&of_row.label);
            let columns = table.columns().iter().zip(&percent_columns);
            for (column, (cell, (of_column, column_percent))) in
                cells.iter().zip(columns).enumerate()
            {
                let years: Vec<u16> = of_row.year.into_iter().chain(of_column.year).collect();
                let id = format!("r{}c{column}", table.first_row() + row);
                let percent = row > 0 && column > 0 && (row_percent || *column_percent);
                if cell.kind == CellKind::Dash {
                    let reading = number::read(&cell.raw);
                    self.numbers.push(NumberPlace {
                        id,
                        magnitude: reading.map_or(0.0, |reading| reading.value.abs()),
                        years,
                        percent,
                        dash: true,
                    });
                } else {
                    self.years.extend(years_in(&cell.raw));
                    let found = NumberPlace::in_text(&id, &cell.raw, &years, percent);
                    self.numbers.extend(found);
                    // A workbook calculates with the stored figure and a reader with the printed
                    // one, so both are listed.
                    let stored = cell.number.as_ref().filter(|one| one.printed.is_some());
                    self.numbers.extend(stored.map(|one| NumberPlace {
                        id,
                        magnitude: one.value.abs(),
                        years,
                        percent: percent || one.percent,
                        dash: false,
                    }));
                }
            }
        }
    }
}

/// True if a label says that its figures are percentages: `% of total`.
pub fn is_percent_label(label: &str) -> bool {
    let lower = label.to_lowercase();
    lower.contains('%') || lower.contains("percent") || lower.contains("per cent")
}
