//! The places of a literal: cells, sentences, history, the question itself.

use std::collections::BTreeSet;

use finqa_core::number::{self, Value};
use finqa_core::page::{CellKind, Table, TableStyle, years_in};
use finqa_core::question::Question;

use super::super::percent::is_percent_label;

/// One occurrence of a number.
#[derive(Clone, Debug, PartialEq)]
pub struct LiteralPlace {
    /// `r3c2`, `t5`, `h1`, or `question`.
    pub id: String,
    /// The number's magnitude as written (14.1 for `14.1%`).
    pub(crate) magnitude: f64,
    /// Years of its row and column, or of its sentence.
    pub(crate) years: Vec<i32>,
    /// The number is a percentage: by its sign, or by the label of its row or column.
    pub percent: bool,
    /// The cell is a dash that lost its escape.
    pub dash: bool,
}

#[derive(Clone, Debug, Default)]
pub struct LiteralPlaces {
    places: Vec<LiteralPlace>,
    years: BTreeSet<i32>,
}

impl LiteralPlaces {
    pub fn of(question: &Question) -> Self {
        let mut places = Self::default();
        places.years.extend(years_in(&question.document.filename));
        places.add_table(question);
        for (at, sentence) in question.document.sentences().enumerate() {
            let years = years_in(sentence);
            places.years.extend(&years);
            places.add_text(&format!("t{}", at + 1), sentence, &years, false);
        }
        for (at, entry) in question.history.iter().enumerate() {
            let years = years_in(&entry.question);
            if let Some(Value::Number(value)) = entry.value {
                let id = format!("h{}", at + 1);
                places.add(&id, value, &years, false);
                places.add(&id, value * 100.0, &years, true);
            }
        }
        places.add_text("question", &question.text, &[], false);
        places
    }

    fn add_table(&mut self, question: &Question) {
        let table = Table::from_document(&question.document, TableStyle::Repaired);
        let labels = table.columns().iter().map(|column| column.label.as_str());
        self.years.extend(labels.flat_map(years_in));
        for (row, cells) in table.cells().iter().enumerate() {
            let of_row = table.rows().get(row);
            let row_year = of_row.and_then(|row| row.year);
            let row_percent = of_row.is_some_and(|row| is_percent_label(&row.label));
            for (column, cell) in cells.iter().enumerate() {
                let of_column = table.columns().get(column);
                let column_year = of_column.and_then(|column| column.year);
                let years: Vec<i32> = row_year.into_iter().chain(column_year).collect();
                let id = format!("r{row}c{column}");
                let percent = row > 0
                    && column > 0
                    && (row_percent
                        || of_column.is_some_and(|column| is_percent_label(&column.label)));
                if cell.kind == CellKind::Dash {
                    let magnitude =
                        number::read(&cell.raw).map_or(0.0, |reading| reading.value.abs());
                    self.places.push(LiteralPlace {
                        id,
                        magnitude,
                        years,
                        percent,
                        dash: true,
                    });
                } else {
                    self.years.extend(years_in(&cell.raw));
                    self.add_text(&id, &cell.raw, &years, percent);
                }
            }
        }
    }

    fn add_text(&mut self, id: &str, text: &str, years: &[i32], percent: bool) {
        for reading in number::readings(text) {
            self.add(id, reading.value, years, percent || reading.percent);
        }
    }

    fn add(&mut self, id: &str, value: f64, years: &[i32], percent: bool) {
        self.places.push(LiteralPlace {
            id: id.to_owned(),
            magnitude: value.abs(),
            years: years.to_vec(),
            percent,
            dash: false,
        });
    }

    /// The places of a program's literal; signs and percent signs are ignored, because the
    /// dataset takes magnitudes of outflows and fractions of percents.
    pub fn find(&self, literal: &str) -> Vec<&LiteralPlace> {
        let Some(value) = magnitude(literal) else {
            return Vec::new();
        };
        self.places
            .iter()
            .filter(|place| number::same(place.magnitude, value))
            .collect()
    }

    pub(super) fn at<'p>(&'p self, id: &'p str) -> impl Iterator<Item = &'p LiteralPlace> {
        self.places.iter().filter(move |place| place.id == id)
    }

    /// True if a row or column of the table is labelled with this year.
    pub(crate) fn has_year(&self, year: i32) -> bool {
        self.places
            .iter()
            .any(|place| place.id.starts_with('r') && place.years.contains(&year))
    }

    pub(crate) fn names_year(&self, year: i32) -> bool {
        self.years.contains(&year)
    }
}

/// A literal's magnitude, without sign and percent sign.
fn magnitude(literal: &str) -> Option<f64> {
    let bare = literal.trim().trim_end_matches('%').trim();
    number::python_float(&bare.replace(',', "")).map(f64::abs)
}

/// True if a program's literal is this number; signs and percent signs are ignored.
pub(crate) fn is_number(literal: &str, value: f64) -> bool {
    magnitude(literal).is_some_and(|of_literal| number::same(of_literal, value.abs()))
}
