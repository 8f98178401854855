//! A report's tables as words and periods.

use std::collections::HashSet;

use finqa_core::page::{Cell, CellKind, Table, TableStart};

use super::period::{Period, Times};
use super::question::plain_stems;

#[derive(Debug)]
pub(super) struct ReportTable {
    /// The row of the page that its header is in.
    pub(super) first_row: usize,
    pub(super) title: HashSet<String>,
    /// What its title says that makes its figures others than the company's.
    pub(super) qualifiers: Vec<String>,
    pub(super) statement: bool,
    pub(super) columns: Vec<ReportColumn>,
    pub(super) rows: Vec<ReportRow>,
    /// Its amounts are in thousands or more.
    pub(super) scaled: bool,
}

#[derive(Debug, Default)]
pub(super) struct ReportColumn {
    pub(super) words: Vec<String>,
    pub(super) period: Option<Period>,
}

#[derive(Debug, Default)]
pub(super) struct ReportRow {
    pub(super) label: String,
    /// The headings above it.
    pub(super) heading: String,
    pub(super) words: Vec<String>,
    /// In brackets.
    pub(super) aside: Vec<String>,
    pub(super) section: Vec<String>,
    pub(super) period: Option<Period>,
    pub(super) cells: Vec<Option<ReportFigure>>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ReportFigure {
    /// In units.
    pub(super) value: f64,
    pub(super) percent: bool,
}

const STATEMENTS: [&str; 8] = [
    "operations", "income", "cash flows", "cash flow", "earnings", "equity", "balance sheet",
    "financial position",
];

/// Words of a title of figures that are not the company's own.
const QUALIFIERS: [&str; 7] = [
    "parent", "forma", "discontinued", "predecessor", "guarantor", "guarantors", "consolidating",
];

/// Whether a column is of percentages, whose sign only the first of them may have.
fn is_of_percent(table: &Table, column: usize) -> bool {
    let cells = table
        .cells()
        .iter()
        .skip(1)
        .filter_map(|row| row.get(column));
    let numbers: Vec<_> = cells
        .filter(|cell| cell.kind == CellKind::Number)
        .filter_map(|cell| cell.number.as_ref())
        .collect();
    numbers.first().is_some_and(|first| first.percent)
        && numbers.iter().all(|one| one.value.abs() <= 100.0)
}

/// A heading without its unit in brackets.
fn without_unit(text: &str) -> String {
    let mut parts = text.split('(');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| match part.split_once(')') {
        Some((inside, after))
            if ["million", "thousand", "billion", "percent"]
                .iter()
                .any(|unit| inside.contains(unit)) =>
        {
            text + after
        }
        _ => text + " " + part,
    })
}

impl ReportTable {
    pub(super) fn read(table: &Table, start: &TableStart) -> Self {
        let title = start.above.join(" ");
        let lower = title.to_lowercase();
        let header = table.cells().first().map(Vec::as_slice).unwrap_or_default();
        let corner = header.first().map_or("", |cell| cell.raw.as_str());
        let (over, _) = Times::heading(&title);
        let over = Times::heading(corner).0.or(over).unwrap_or_default();
        let mut columns: Vec<(Option<Period>, String)> = header
            .iter()
            .map(|cell| Times::heading(&cell.raw))
            .collect();
        // A heading over several columns may stand above the last.
        if let [_, (None, _), .., (Some(_), _)] = columns.as_slice() {
            let mut right: Option<Period> = None;
            for (period, _) in columns.iter_mut().skip(1).rev() {
                right = period.filter(|one| one.months.is_some()).or(right);
                *period = period.or(right);
            }
        }
        let column = |(period, rest): (Option<Period>, String)| {
            let period = period.unwrap_or_default().or(over);
            ReportColumn {
                words: plain_stems(&without_unit(&rest)),
                period: (period != Period::default()).then_some(period),
            }
        };
        let statement = (lower.contains("statement") || lower.contains("balance sheet"))
            && STATEMENTS.iter().any(|of| lower.contains(of));
        let rows = table.rows().iter().zip(table.cells());
        let percent: Vec<bool> = (0..header.len())
            .map(|at| is_of_percent(table, at))
            .collect();
        let said = lower.split(|c: char| !c.is_alphabetic());
        let qualifiers = said.filter(|word| QUALIFIERS.contains(word));
        let (mut section, mut after_heading) = (String::new(), false);
        Self {
            first_row: table.first_row(),
            title: plain_stems(&format!("{title} {corner}"))
                .into_iter()
                .collect(),
            qualifiers: qualifiers.flat_map(plain_stems).collect(),
            statement,
            columns: columns.into_iter().map(column).collect(),
            rows: rows
                .enumerate()
                .map(|(at, (row, cells))| {
                    let units = table
                        .scale_of(at)
                        .map_or(1.0, |scale| f64::from(scale.units()));
                    let read = ReportRow::read(&row.label, &section, cells, units, &percent);
                    let heading = at > 0 && read.cells.iter().all(Option::is_none);
                    // A heading below another is a part of it.
                    match (heading, after_heading) {
                        (true, true) => section = format!("{section} {}", row.label),
                        (true, false) => section.clone_from(&row.label),
                        _ => {}
                    }
                    after_heading = heading;
                    read
                })
                .collect(),
            scaled: table
                .caption()
                .is_some_and(|caption| caption.scale.is_some()),
        }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &String> {
        let rows = self
            .rows
            .iter()
            .flat_map(|row| row.words.iter().chain(&row.aside));
        let columns = self.columns.iter().flat_map(|column| &column.words);
        rows.chain(columns).chain(&self.title)
    }
}

impl ReportTable {
    /// Whether a row is of money rather than of numbers of things.
    pub(super) fn is_money(&self, row: usize) -> bool {
        let things = ["share", "unit", "employee", "store", "number", "warehouse"];
        let row = self.rows.get(row);
        let says = |words: &[String]| words.iter().any(|word| things.contains(&word.as_str()));
        let of_things =
            row.is_some_and(|row| says(&row.words) || says(&row.aside) || says(&row.section));
        self.scaled && !of_things
    }
}

impl ReportRow {
    fn read(label: &str, section: &str, cells: &[Cell], units: f64, percent: &[bool]) -> Self {
        let (period, rest) = Times::heading(label);
        let dated = period.filter(|period| period.end.year.is_some());
        let rest = if dated.is_some() {
            rest
        } else {
            label.to_owned()
        };
        let (plain, inside) = rest.split_once(['(', '[']).unwrap_or((&rest, ""));
        let (inside, after) = inside.split_once([')', ']']).unwrap_or((inside, ""));
        let figure = |(cell, of_percent): (&Cell, &bool)| {
            let number = cell
                .number
                .as_ref()
                .filter(|_| cell.kind == CellKind::Number);
            number.map(|number| {
                let percent = number.percent || *of_percent;
                let value = number.value * if percent { 1.0 } else { units };
                ReportFigure { value, percent }
            })
        };
        Self {
            label: label.to_owned(),
            heading: section.to_owned(),
            words: plain_stems(&format!("{plain} {after}")),
            aside: plain_stems(inside),
            section: plain_stems(&section.replace("[Line Items]", "")),
            period: dated,
            cells: cells.iter().zip(percent).map(figure).collect(),
        }
    }

    pub(super) fn is_total(&self) -> bool {
        self.words.iter().any(|word| word == "total")
    }
}
