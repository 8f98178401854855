//! A user's table by its labels: rows, columns, their periods, and the amounts of its cells.

use std::collections::BTreeMap;

use super::label::Label;
use super::words::{same_word, stems};
use crate::expr::{Expr, PageLeaf, literal_value, turn_sign};
use crate::reading::facts::{Fact, FactColumn, FactRow, Facts};
use crate::reading::outflow::names_cost;
use finqa_core::number::Scale;
use finqa_core::page::period::CalendarSpan;

/// The row and the column of a cell.
pub(super) type Place = (usize, usize);

/// An amount that a question may ask for.
#[derive(Clone, Debug)]
pub(super) struct Amount {
    pub(super) expr: Expr,
    pub(super) kind: AmountKind,
    /// `None` of what is computed from several cells.
    pub(super) place: Option<Place>,
    /// A cost that the page prints below zero, read without its sign.
    pub(super) turned: bool,
    pub(super) scale: Option<Scale>,
    /// What tells it from the others of a series.
    pub(super) name: String,
}

impl Amount {
    /// As printed; of what is computed, its result.
    pub(super) fn number(&self) -> f64 {
        self.expr.number().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AmountKind {
    Plain,
    /// A percentage as the page prints it.
    Percent,
    /// A quotient that is shown as a percentage.
    Share,
}

pub(super) struct LabelledTable<'a> {
    pub(super) facts: &'a Facts,
    /// The first is the header, the first column holds the names of the rows.
    pub(super) rows: Vec<Label>,
    pub(super) columns: Vec<Label>,
    /// Words of the upper left cell.
    pub(super) corner: Vec<String>,
    /// The index of each cell's fact.
    pub(super) cells: BTreeMap<Place, usize>,
    /// The periods of the cells, in their order in time; no two cover the same months.
    pub(super) periods: Vec<CalendarSpan>,
}

impl<'a> LabelledTable<'a> {
    pub(super) fn read(facts: &'a Facts) -> Self {
        let places = facts.all.iter().enumerate();
        let places = places.filter_map(|(index, fact)| Some((fact.cell()?, index)));
        let cells: BTreeMap<Place, usize> = places.filter(|((row, _), _)| *row > 0).collect();
        let column = |column: &FactColumn| Label::read(&column.name, "", &column.years);
        let columns: Vec<Label> = facts.columns.iter().map(column).collect();
        let corner = facts.columns.first().map(|column| stems(&column.name));
        let corner = corner.unwrap_or_default();
        let rows = facts.rows.iter().map(|row| of_row(row, &corner)).collect();
        let mut table = Self {
            facts,
            rows,
            columns,
            corner,
            cells,
            periods: Vec::new(),
        };
        let spans = table.cells.keys();
        let mut periods: Vec<_> = spans.filter_map(|place| table.span_of(*place)).collect();
        periods.sort_by_key(|span| span.order());
        periods.dedup_by_key(|span| span.order());
        table.periods = periods;
        table
    }

    /// The labels of a cell's row and column.
    pub(super) fn labels_of(&self, (row, column): Place) -> impl Iterator<Item = &Label> {
        let labels = [self.rows.get(row), self.columns.get(column)];
        labels.into_iter().flatten()
    }

    /// Whether the label of any row or column has a word.
    pub(super) fn says(&self, word: &str) -> bool {
        self.labels().any(|label| label.says(word))
    }

    pub(super) fn labels(&self) -> impl Iterator<Item = &Label> {
        self.rows.iter().skip(1).chain(self.columns.iter().skip(1))
    }

    /// The name of a cell's row, or of its column if the row is but a period.
    pub(super) fn name_of(&self, place: Place) -> String {
        let mut labels = self.labels_of(place);
        let name = labels.find(|label| !label.words.is_empty());
        name.map_or_else(String::new, |label| label.name.clone())
    }

    /// The names of a cell's row and column.
    pub(super) fn full_name(&self, place: Place) -> String {
        let names = self.labels_of(place).map(|label| label.name.as_str());
        let names: Vec<&str> = names.collect();
        names.join(" · ")
    }

    pub(super) fn span_of(&self, place: Place) -> Option<CalendarSpan> {
        let of_labels = self.labels_of(place).filter_map(|label| label.span);
        of_labels.reduce(CalendarSpan::and)
    }

    /// Whether the heading of the rows has a word that is then about all cells.
    pub(super) fn is_heading(&self, word: &str) -> bool {
        self.corner.iter().any(|own| same_word(own, word))
    }

    fn fact(&self, place: Place) -> Option<&Fact> {
        self.facts.all.get(*self.cells.get(&place)?)
    }

    pub(super) fn is_percent(&self, place: Place) -> bool {
        self.fact(place).is_some_and(|fact| fact.percent)
    }

    /// A cell as an amount. Where a page prints all of a cost below zero, the sign only
    /// repeats its name.
    pub(super) fn amount(&self, place: Place) -> Option<Amount> {
        let fact = self.fact(place)?;
        let literal = fact.literal.trim_end_matches('%');
        let value = literal_value(literal)?;
        let leaf = PageLeaf {
            literal: literal.into(),
            value,
            source: self.cells.get(&place).copied(),
        };
        let kind = match fact.percent {
            true => AmountKind::Percent,
            false => AmountKind::Plain,
        };
        let mut amount = Amount {
            expr: Expr::Leaf(leaf),
            kind,
            place: Some(place),
            turned: self.is_below_zero(place, |label| names_cost(&label.name)),
            scale: fact.scale.or(self.facts.scale),
            name: String::new(),
        };
        if amount.turned {
            amount.expr.change_leaves(&mut turn_sign);
        }
        Some(amount)
    }

    /// Whether all figures of the cell's row, or of its column, are below zero, if its label is
    /// of a kind.
    pub(super) fn is_below_zero(&self, place: Place, kind: impl Fn(&Label) -> bool) -> bool {
        let all = |in_line: &dyn Fn(&Place) -> bool| {
            let line = self.cells.iter().filter(|(other, _)| in_line(other));
            let numbers = line.filter_map(|(_, index)| self.facts.all.get(*index));
            let numbers = numbers.map(|fact| fact.number).filter(|x| x.abs() > 0.0);
            let mut numbers = numbers.peekable();
            numbers.peek().is_some() && numbers.all(|x| x < 0.0)
        };
        self.rows.get(place.0).is_some_and(&kind) && all(&|other| other.0 == place.0)
            || self.columns.get(place.1).is_some_and(&kind) && all(&|other| other.1 == place.1)
    }

    /// Whether a row is a part of what the table adds up. What follows its only bare total is
    /// of another kind: "of which", a cost of the parts.
    pub(super) fn is_part(&self, row: usize) -> bool {
        let rows = self.rows.iter().enumerate().skip(1);
        let bare = rows.filter(|(_, label)| label.total && label.words.len() <= 1);
        let bare: Vec<usize> = bare.map(|(at, _)| at).collect();
        let ends = matches!(bare.as_slice(), [only] if *only > 2 && row > *only);
        !ends && self.rows.get(row).is_some_and(|label| !label.total)
    }
}

/// The label of a row. "Total assets" below current assets is not of these alone.
fn of_row(row: &FactRow, corner: &[String]) -> Label {
    let read = |section: &str| Label::read(&row.name, section, &row.years);
    let plain = read("");
    let apart = plain.total && plain.words.len() > 1;
    let section = row.section.as_deref().filter(|_| !apart);
    let mut label = section.map_or(plain, read);
    // Only "All wards" under the heading "Ward" is a total.
    let all = label.words.first().is_some_and(|word| word == "all");
    label.total &= !all || label.words.get(1..) == Some(corner);
    label
}
