//! Where a literal stands: cells, sentences, history, the question itself.

use crate::dataset::Question;
use crate::number::{self, Value};
use crate::table::{CellKind, Style, Table, years_in};

/// One place where a number stands.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// `r3c2`, `t5`, `h1`, or `question`.
    pub id: String,
    /// The number's magnitude as written (14.1 for `14.1%`).
    pub magnitude: f64,
    /// Years of its row and column, or of its sentence.
    pub years: Vec<i32>,
    /// The cell is a dash that lost its escape.
    pub dash: bool,
}

/// All numbers that a question's program may use.
#[derive(Clone, Debug, Default)]
pub struct Places {
    places: Vec<Place>,
}

impl Places {
    /// Collects the numbers of the page, the history and the question.
    #[must_use]
    pub fn of(question: &Question) -> Self {
        let mut places = Self::default();
        places.add_table(question);
        for (at, sentence) in question.document.sentences().enumerate() {
            let years = years_in(sentence);
            places.add_text(&format!("t{}", at + 1), sentence, &years);
        }
        for (at, entry) in question.history.iter().enumerate() {
            let years = years_in(&entry.question);
            if let Some(Value::Number(value)) = entry.value {
                let id = format!("h{}", at + 1);
                places.add(&id, value, &years);
                places.add(&id, value * 100.0, &years);
            }
        }
        places.add_text("question", &question.text, &[]);
        places
    }

    fn add_table(&mut self, question: &Question) {
        let table = Table::from_document(&question.document, Style::Repaired);
        for (row, cells) in table.cells().iter().enumerate() {
            let row_year = table.rows().get(row).and_then(|row| row.year);
            for (column, cell) in cells.iter().enumerate() {
                let column_year = table.columns().get(column).and_then(|column| column.year);
                let years: Vec<i32> = row_year.into_iter().chain(column_year).collect();
                let id = format!("r{row}c{column}");
                if cell.kind == CellKind::Dash {
                    let magnitude =
                        number::read(&cell.raw).map_or(0.0, |reading| reading.value.abs());
                    self.places.push(Place {
                        id,
                        magnitude,
                        years,
                        dash: true,
                    });
                } else {
                    self.add_text(&id, &cell.raw, &years);
                }
            }
        }
    }

    fn add_text(&mut self, id: &str, text: &str, years: &[i32]) {
        for reading in number::readings(text) {
            self.add(id, reading.value, years);
        }
    }

    fn add(&mut self, id: &str, value: f64, years: &[i32]) {
        self.places.push(Place {
            id: id.to_owned(),
            magnitude: value.abs(),
            years: years.to_vec(),
            dash: false,
        });
    }

    /// Where a program's literal stands; signs and percent signs do not matter,
    /// for the dataset takes magnitudes of outflows and fractions of percents.
    #[must_use]
    pub fn find(&self, literal: &str) -> Vec<&Place> {
        let bare = literal.trim().trim_end_matches('%').trim();
        let Some(value) = number::python_float(&bare.replace(',', "")) else {
            return Vec::new();
        };
        let same =
            |place: &&Place| (place.magnitude - value.abs()).abs() <= 1e-9 * value.abs().max(1.0);
        self.places.iter().filter(same).collect()
    }

    /// Whether some row or column of the table is labelled with this year.
    #[must_use]
    pub fn has_year(&self, year: i32) -> bool {
        self.places
            .iter()
            .any(|place| place.id.starts_with('r') && place.years.contains(&year))
    }
}
