//! The parts of a whole: rows, columns or repeated rows of a report that add up to a figure of its
//! statements, such as the revenue of each segment or country.
//!
//! That they add up is what makes a group of them certain: nothing else says where one ends.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::find::Amount;
use super::fit::FitFigure;
use super::operand::Operand;
use super::page::{Doubt, Reading, Tables, missing};
use super::table::{ReportRow, ReportTable};
use super::words::{lists, plain_stems, stemmed};

/// Parts are rounded one by one, so that their sum may differ from the printed whole by this many
/// units of its last digit.
const ROUNDING: f64 = 2.0;

/// The most parts of a whole.
const MOST_PARTS: usize = 40;

/// Nouns of parts that may be called by a place or by anything else.
const PART_NOUNS: &str = "segment segments division divisions";

/// Nouns of places, and stems of names of places.
const PLACE_NOUNS: &str = "country countries region regions geography geographies location locations area areas nation continent";
static PLACES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    stemmed(
        "usa america american canada mexico brazil emea europe european apac asia pacific japan china \
    taiwan singapore germany kingdom france india korea australia africa international foreign domestic latin world",
    )
});

/// Names of what is left over, which no question asks for.
const REST: &str = "other others rest all corporate eliminations elimination unallocated hedging remaining adjustments";

/// A group of parts, with their names.
struct Group {
    parts: Vec<(String, FitFigure)>,
    /// Words of its table and headings.
    table: usize,
    section: Vec<String>,
}

impl Tables {
    /// The part of a whole that is largest or smallest, without those that the question leaves out.
    pub(super) fn extreme_part(
        &self,
        of: &Operand,
        noun: &[(String, String)],
        apart: &[String],
        largest: bool,
    ) -> Reading<(String, Amount)> {
        let whole = self.figure(of, None, None)?;
        if whole.doubt.is_some() {
            return Err(Doubt::Open);
        }
        let mut groups = self.groups(&whole);
        let says = |list: &str| noun.iter().any(|(_, said)| lists(list, said));
        let place = |group: &Group| {
            let mut names = group.parts.iter();
            names.any(|(name, _)| plain_stems(name).iter().any(|stem| PLACES.contains(stem)))
        };
        groups.retain(|group| says(PART_NOUNS) || place(group) == says(PLACE_NOUNS));
        // The noun in the title or a heading decides between groups.
        let named = |group: &Group| {
            let title = self.tables.get(group.table).map(|table| &table.title);
            noun.iter().any(|(stem, _)| {
                group.section.contains(stem) || title.is_some_and(|title| title.contains(stem))
            })
        };
        if groups.iter().any(named) {
            groups.retain(named);
        }
        let best = |group: &Group| {
            let parts = group.parts.iter().filter(|(name, _)| {
                let stems = plain_stems(name);
                let rest = name.to_lowercase();
                let rest = rest
                    .split_whitespace()
                    .next()
                    .is_some_and(|word| lists(REST, word));
                !(rest || !stems.is_empty() && stems.iter().all(|stem| apart.contains(stem)))
            });
            let order = |a: &&(String, FitFigure), b: &&(String, FitFigure)| {
                let (a, b) = if largest { (a, b) } else { (b, a) };
                a.1.value.total_cmp(&b.1.value)
            };
            parts.max_by(order).cloned()
        };
        let found: Vec<(String, FitFigure)> = groups.iter().filter_map(best).collect();
        let (name, at) = found.first().ok_or(Doubt::Open)?;
        let other = found
            .iter()
            .find(|(other, _)| plain_stems(other) != plain_stems(name));
        if let Some((other, _)) = other {
            return missing(format!("it may be {name} or {other}"));
        }
        Ok((name.clone(), self.amount(*at).ok_or(Doubt::Open)?))
    }

    /// The part of a whole that an operand names, if it is in a group.
    pub(super) fn part_of(&self, whole: &Amount, part: &Operand) -> Option<FitFigure> {
        let words = &part.words;
        if words.is_empty() {
            return None;
        }
        let is_named = |(name, _): &&(String, FitFigure)| {
            let stems = plain_stems(name);
            words.iter().all(|(stem, _)| stems.contains(stem))
        };
        let groups = self.groups(whole);
        let mut found: Vec<FitFigure> = Vec::new();
        for group in &groups {
            let mut named = group.parts.iter().filter(is_named);
            let (first, more) = (named.next(), named.next());
            found.extend(first.filter(|_| more.is_none()).map(|(_, at)| *at));
        }
        let first = *found.first()?;
        let same = |one: &FitFigure| (one.value - first.value).abs() <= 0.001 * first.value.abs();
        found.iter().all(same).then_some(first)
    }

    /// All groups whose parts add up to an amount that is printed.
    fn groups(&self, whole: &Amount) -> Vec<Group> {
        let Some(at) = whole.at else {
            return Vec::new();
        };
        let period = at.period;
        let unit = match whole.scale {
            Some(scale) => f64::from(scale.units()),
            None => 1.0,
        };
        let total = at.value.abs();
        let adds_up = |sum: f64| (sum - total).abs() <= ROUNDING * unit;
        let mut out = Vec::new();
        for (t, table) in self.tables.iter().enumerate() {
            let figure = |row: usize, column: usize| {
                let figure = table.figure(t, row, column)?;
                let fits = !figure.percent && self.fits(figure.period.as_ref(), period.as_ref());
                (fits && figure.value.abs() < total).then_some(figure)
            };
            for column in 1..table.columns.len() {
                out.extend(rows_that_add_up(table, t, column, &figure, &adds_up));
            }
            for row in 1..table.rows.len() {
                let parts = (1..table.columns.len()).filter_map(|column| {
                    let label = &table.columns.get(column)?.label;
                    Some((label.name.clone(), figure(row, column)?))
                });
                let parts: Vec<(String, FitFigure)> = parts.collect();
                if parts.len() > 1 && adds_up(sum(&parts)) {
                    out.push(Group {
                        parts,
                        table: t,
                        section: Vec::new(),
                    });
                }
            }
        }
        out
    }
}

fn sum(parts: &[(String, FitFigure)]) -> f64 {
    parts.iter().map(|(_, at)| at.value).sum()
}

/// The runs of rows of a column, and the rows of one label under headings, that add up to a whole.
fn rows_that_add_up(
    table: &ReportTable,
    t: usize,
    column: usize,
    figure: &dyn Fn(usize, usize) -> Option<FitFigure>,
    adds_up: &dyn Fn(f64) -> bool,
) -> Vec<Group> {
    let mut out = Vec::new();
    let named = |row: usize| {
        let row = table.rows.get(row)?;
        (!row.label.words.is_empty() && !row.label.total).then_some(row)
    };
    let part = |row: usize| Some((named(row)?.printed.clone(), figure(row, column)?));
    for start in 1..table.rows.len() {
        let mut parts: Vec<(String, FitFigure)> = Vec::new();
        for row in (start..table.rows.len()).take(MOST_PARTS) {
            let Some(one) = part(row) else { break };
            parts.push(one);
            // Rows add up by chance too: parts stand above their sum, or fill their section.
            let figure_of = |row: usize| table.rows.get(row)?.cells.get(column)?.as_ref();
            let total = || figure_of(row + 1).is_some_and(|next| adds_up(next.value));
            let alone = || {
                table.statement.is_none()
                    && figure_of(row + 1).is_none()
                    && figure_of(start - 1).is_none()
            };
            if parts.len() > 1 && adds_up(sum(&parts)) && (total() || alone()) {
                out.push(Group {
                    section: table
                        .rows
                        .get(start)
                        .map_or_else(Vec::new, |row| row.section.clone()),
                    parts: parts.clone(),
                    table: t,
                });
            }
        }
    }
    // "Operating income" under each segment, "Operating loss" under one.
    let plain = |row: &ReportRow| {
        row.printed
            .to_lowercase()
            .replace("(loss)", "")
            .replace("loss", "income")
    };
    let plain = |row: &ReportRow| plain(row).trim().to_owned();
    let mut labels: Vec<String> = table.rows.iter().map(plain).collect();
    labels.sort_unstable();
    labels.dedup();
    for label in labels {
        let rows = table.rows.iter().enumerate().skip(1);
        let rows = rows.filter(|(_, row)| plain(row) == label && !row.heading.is_empty());
        let parts: Vec<(String, FitFigure)> = rows
            .filter_map(|(at, row)| Some((row.heading.clone(), figure(at, column)?)))
            .collect();
        let mut names: Vec<&String> = parts.iter().map(|(name, _)| name).collect();
        names.sort();
        names.dedup();
        if parts.len() > 1 && names.len() == parts.len() && adds_up(sum(&parts)) {
            out.push(Group {
                parts,
                table: t,
                section: Vec::new(),
            });
        }
    }
    out
}
