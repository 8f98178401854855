//! Finds the places of a program's number: cells, sentences, earlier answers, or the question
//! itself.

use std::sync::Arc;

use finqa_core::number::{self, Value};
use finqa_core::page::{NumberPlace, NumberSource, years_in};
use finqa_core::question::{Document, Question};

/// The places of the numbers of a page, which all its questions share, and of one question.
#[derive(Clone, Debug)]
pub struct LiteralPlaces {
    document: Arc<Document>,
    of_question: Vec<NumberPlace>,
}

impl LiteralPlaces {
    /// The places of all numbers that a program can take for this question: those of the page, the
    /// values of the earlier turns, and the numbers in the question itself.
    pub fn of(question: &Question) -> Self {
        let mut places = Self::of_page(&question.document);
        for (at, entry) in question.history.iter().enumerate() {
            let years: Arc<[u16]> = years_in(&entry.question).into();
            if let Some(Value::Number(value)) = entry.value {
                let source = NumberSource::Earlier(u32::try_from(at + 1).unwrap_or(u32::MAX));
                let place = |value: f64, percent| NumberPlace {
                    source,
                    magnitude: value.abs(),
                    years: Arc::clone(&years),
                    percent,
                    dash: false,
                };
                // A later turn may use an earlier answer as a fraction or as a percentage.
                let both = [place(value, false), place(value * 100.0, true)];
                places.of_question.extend(both);
            }
        }
        let no_years = Arc::default();
        let named = NumberPlace::in_text(NumberSource::Question, &question.text, &no_years, false);
        places.of_question.extend(named);
        places
    }

    pub fn of_page(document: &Arc<Document>) -> Self {
        Self {
            document: Arc::clone(document),
            of_question: Vec::new(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &NumberPlace> {
        let of_page = &self.document.places().numbers;
        of_page.iter().chain(&self.of_question)
    }

    /// The places of a program's literal. Signs and percent signs are ignored, because the
    /// dataset's programs use outflows without their sign and percentages as fractions.
    pub fn find(&self, literal: &str) -> Vec<&NumberPlace> {
        let Some(value) = magnitude(literal) else {
            return Vec::new();
        };
        self.all()
            .filter(|place| number::same(place.magnitude, value))
            .collect()
    }

    /// True if the page has a program's literal as a percentage: 0.28 as `28%`.
    pub(super) fn has_percentage_of(&self, literal: &str) -> bool {
        magnitude(literal).is_some_and(|fraction| {
            let same = |place: &NumberPlace| number::same(place.magnitude, fraction * 100.0);
            self.all().any(|place| place.percent && same(place))
        })
    }

    pub(super) fn at(&self, id: &str) -> impl Iterator<Item = &NumberPlace> {
        let source = NumberSource::named(id);
        let of_source = move |place: &&NumberPlace| Some(place.source) == source;
        self.all().filter(of_source)
    }

    /// True if a row or column of the table is labelled with this year.
    pub(crate) fn has_year(&self, year: u16) -> bool {
        self.all()
            .any(|place| place.source.is_cell() && place.years.contains(&year))
    }

    pub(crate) fn names_year(&self, year: u16) -> bool {
        self.document.places().years.contains(&year)
    }
}

/// The absolute value of a literal, without its percent sign.
fn magnitude(literal: &str) -> Option<f64> {
    let bare = literal.trim().trim_end_matches('%').trim();
    number::python_float(&bare.replace(',', "")).map(f64::abs)
}

/// True if a program's literal is this number. Signs and percent signs are ignored.
pub(crate) fn is_number(literal: &str, value: f64) -> bool {
    magnitude(literal).is_some_and(|of_literal| number::same(of_literal, value.abs()))
}
