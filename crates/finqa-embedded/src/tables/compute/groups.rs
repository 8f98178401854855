//! Finds the parts of a whole: rows, columns or repeated rows that add up to a figure of the
//! statements, such as the revenue of each segment or country.
//!
//! Only the sum makes a group certain, because nothing else on a page says where the group ends.

use std::collections::HashSet;
use std::sync::LazyLock;

use finqa_core::page::period::Period;

use crate::tables::find::Amount;
use crate::tables::find::fit::FitFigure;
use crate::tables::page::Tables;
use crate::tables::page::table::{ReportColumn, ReportRow, ReportTable};
use crate::tables::question::operand::Operand;
use crate::tables::question::ranking::{PART_NOUNS, PLACE_NOUNS};
use crate::tables::words::is_light;
use crate::tables::words::{lists, plain_stems, stemmed};

/// Largest difference between the sum of the parts and the whole, in units of the last printed
/// digit: each part is rounded, so that the sum may differ. Set by hand; the sum of more than three
/// parts can differ by more, and is then not found.
const ROUNDING: f64 = 2.0;

/// Maximum number of parts that are added up, which limits the time: sums are tried from each row.
/// Larger groups are not found.
const MOST_PARTS: usize = 40;

/// Stems of names of places, by which a group of countries or regions is recognized.
static PLACES: LazyLock<HashSet<String>> = LazyLock::new(|| {
    stemmed(
        "usa america american canada mexico brazil emea europe european apac asia pacific japan china \
    taiwan singapore germany kingdom france india korea australia africa international foreign domestic latin world",
    )
});

/// The parts of a whole, each with its name.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) parts: Vec<(String, FitFigure)>,
    /// The index of its table.
    pub(crate) table: usize,
    /// Stems of the headings and labels that describe the group.
    section: Vec<String>,
}

impl Tables {
    /// The groups of parts of a figure in a period: first those that add up to the figure of the
    /// statements, then those that add up to a total with this name in any table.
    pub(crate) fn groups_of(&self, of: &Operand, asked: Option<Period>) -> Vec<Group> {
        let whole = self.figure(of, asked, None);
        // Parts that add up to a doubtful figure would be as doubtful.
        let whole = whole.ok().filter(|whole| whole.doubt.is_none());
        let mut groups = whole.map_or_else(Vec::new, |whole| self.groups(&whole));
        let totalled = self.totalled(of, asked);
        let new = totalled.into_iter().filter(|group| {
            let place = |group: &Group| group.first().map(|one| one.place);
            !groups.iter().any(|known| place(known) == place(group))
        });
        let new: Vec<Group> = new.collect();
        groups.extend(new);
        groups
    }

    /// The groups that a noun can mean. "Country" means groups of places; if a title or a heading
    /// has the noun, only groups with it are kept.
    pub(crate) fn named_groups(
        &self,
        mut groups: Vec<Group>,
        noun: &[(String, String)],
    ) -> Vec<Group> {
        let says = |list: &str| noun.iter().any(|(_, said)| lists(list, said));
        let place = |group: &Group| {
            let mut names = group.parts.iter();
            names.any(|(name, _)| plain_stems(name).iter().any(|stem| PLACES.contains(stem)))
        };
        groups.retain(|group| says(PART_NOUNS) || place(group) == says(PLACE_NOUNS));
        let headed = |group: &Group| noun.iter().any(|(stem, _)| group.section.contains(stem));
        let titled = |group: &Group| {
            let title = self.tables.get(group.table).map(|table| &table.title);
            title.is_some_and(|title| noun.iter().any(|(stem, _)| title.contains(stem)))
        };
        // The title of a table may be about more than one of its groups.
        let any_headed = groups.iter().any(headed);
        let named = |group: &Group| headed(group) || !any_headed && titled(group);
        // Any other noun, such as "department", is known only if a title or a heading has it.
        if groups.iter().any(named) || !says(PART_NOUNS) && !says(PLACE_NOUNS) {
            groups.retain(named);
        }
        groups
    }

    /// True if the title of a table or a section heading has the word.
    pub(crate) fn is_titled(&self, word: &String) -> bool {
        self.tables.iter().any(|table| {
            let mut rows = table.rows.iter();
            table.title.contains(word) || rows.any(|row| row.section.contains(word))
        })
    }

    /// The only part of the whole that has all words of an operand; `None` if two groups have it
    /// with different values, or none has it.
    pub(crate) fn part_of(&self, whole: &Amount, part: &Operand) -> Option<FitFigure> {
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
        // 0.1 % allows for another rounding.
        let same = |one: &FitFigure| (one.value - first.value).abs() <= 0.001 * first.value.abs();
        found.iter().all(same).then_some(first)
    }

    /// Groups above a total row, or to the left of a total column, that add up to it. The total,
    /// its headings and its title must have all words of the operand, and its labels no other
    /// words.
    fn totalled(&self, of: &Operand, asked: Option<Period>) -> Vec<Group> {
        let readings: Vec<Vec<String>> = (of.of_parts().readings().into_iter())
            .filter(|one| !one.opposite)
            .map(|one| one.words)
            .collect();
        let mut out = Vec::new();
        for (t, table) in self.tables.iter().enumerate() {
            let figure = |row: usize, column: usize| {
                let figure = table.figure(t, row, column)?;
                let fits = !figure.percent && self.fits(figure.period, asked);
                fits.then_some(figure)
            };
            for (c, column) in table.columns.iter().enumerate().skip(1) {
                for (r, row) in table.rows.iter().enumerate().skip(1) {
                    let Some(total) = figure(r, c) else { continue };
                    if !self.is_named_total(&readings, table, row, column) {
                        continue;
                    }
                    let found = match (row.label.total, column.label.total) {
                        (true, _) => rows_above(table, r, |row| figure(row, c)),
                        (false, true) => columns_before(table, c, |column| figure(r, column)),
                        _ => continue,
                    };
                    let margin = table.last_digit(r, c) * ROUNDING;
                    out.extend(
                        last_parts_of(&found, total.value, margin).map(|parts| Group {
                            parts: parts.to_vec(),
                            table: t,
                            section: [row.section.to_vec(), row.label.words.to_vec()].concat(),
                        }),
                    );
                }
            }
        }
        // Without a period in the question, the latest is meant.
        if asked.is_none() {
            let end = |group: &Group| group.first().and_then(|one| one.period);
            let latest = out.iter().filter_map(end).map(|period| period.end).max();
            out.retain(|group| end(group).map(|period| period.end) == latest);
        }
        out
    }

    /// True if the labels, the headings and the title of a total have all words of a reading, and
    /// the labels no other words.
    fn is_named_total(
        &self,
        readings: &[Vec<String>],
        table: &ReportTable,
        row: &ReportRow,
        column: &ReportColumn,
    ) -> bool {
        let labels = row.label.words.iter().chain(column.label.words.iter());
        let own: Vec<&str> = labels
            .chain(row.section.iter().map(String::as_str))
            .collect();
        let free = |word: &str| is_light(word) || self.weights.is_soft(word);
        let met = |words: &Vec<String>| {
            let says = |word: &String| {
                free(word)
                    || own.contains(&word.as_str())
                    || row.label.aside.contains(word)
                    || table.title.contains(word)
            };
            let asked = |word: &&str| free(word) || words.iter().any(|asked| asked == word);
            words.iter().all(says) && own.iter().all(asked)
        };
        readings.iter().any(met)
    }

    /// All groups whose parts add up to an amount of the page; empty for a computed amount.
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
                let fits = !figure.percent && self.fits(figure.period, period);
                // A part is smaller than the whole.
                (fits && figure.value.abs() < total).then_some(figure)
            };
            for column in 1..table.columns.len() {
                let groups = rows_that_add_up(table, t, column, &figure, &adds_up);
                let figure = |row: usize| figure(row, column);
                let finer = groups.iter().flat_map(|group| {
                    let parts = 0..group.parts.len();
                    parts.filter_map(|part| group.finer(part, table, figure, ROUNDING * unit))
                });
                out.extend(finer.flatten());
                out.extend(groups);
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

impl Group {
    fn first(&self) -> Option<FitFigure> {
        self.parts.first().map(|(_, at)| *at)
    }

    /// If a part is a subtotal of the rows above it: these rows as a group that its label names,
    /// and the whole group with these rows instead of the subtotal. `margin` is the largest
    /// difference that rounding explains.
    fn finer(
        &self,
        part: usize,
        table: &ReportTable,
        figure: impl Fn(usize) -> Option<FitFigure>,
        margin: f64,
    ) -> Option<[Self; 2]> {
        let (_, subtotal) = self.parts.get(part)?;
        let row = subtotal.place.row;
        let above = rows_above(table, row, figure);
        let rows = last_parts_of(&above, subtotal.value, margin)?;
        let label = &table.rows.get(row)?.label.words;
        let mut parts = self.parts.clone();
        parts.splice(part..=part, rows.iter().cloned());
        let named = Self {
            parts: rows.to_vec(),
            table: self.table,
            section: [self.section.as_slice(), &label.to_vec()].concat(),
        };
        Some([
            named,
            Self {
                parts,
                ..self.clone()
            },
        ])
    }
}

impl ReportTable {
    /// The value of one unit in the last printed digit of a cell: 100,000 for "1.5" in millions.
    fn last_digit(&self, row: usize, column: usize) -> f64 {
        let cell = self
            .rows
            .get(row)
            .and_then(|row| row.cells.get(column)?.as_ref());
        // Callers have found a figure there, so the 1 is not used.
        cell.map_or(1.0, |cell| {
            let decimals = cell
                .literal()
                .split_once('.')
                .map_or(0, |(_, digits)| digits.len());
            let unit = cell.scale.map_or(1.0, |scale| f64::from(scale.units()));
            // No literal has as many decimals as an `i32` can count.
            unit / 10_f64.powi(i32::try_from(decimals).unwrap_or_default())
        })
    }
}

/// The rows directly above a row, up to one without a label or a figure, or up to another total; at
/// most [`MOST_PARTS`], each with its name and figure, in the order of the table.
fn rows_above(
    table: &ReportTable,
    row: usize,
    figure: impl Fn(usize) -> Option<FitFigure>,
) -> Vec<(String, FitFigure)> {
    let part = |at: usize| {
        let row = table.rows.get(at)?;
        let named = !row.label.words.is_empty() && !row.label.total;
        Some((row.printed.clone(), figure(at).filter(|_| named)?))
    };
    let mut parts: Vec<_> = (1..row).rev().map_while(part).take(MOST_PARTS).collect();
    parts.reverse();
    parts
}

/// The columns directly to the left of a column, up to one without a label or a figure, or up to
/// another total; at most [`MOST_PARTS`], each with its name and figure, in the order of the table.
fn columns_before(
    table: &ReportTable,
    column: usize,
    figure: impl Fn(usize) -> Option<FitFigure>,
) -> Vec<(String, FitFigure)> {
    let part = |at: usize| {
        let label = &table.columns.get(at)?.label;
        let named = !label.words.is_empty() && !label.total;
        Some((label.name.clone(), figure(at).filter(|_| named)?))
    };
    let mut parts: Vec<_> = (1..column).rev().map_while(part).take(MOST_PARTS).collect();
    parts.reverse();
    parts
}

/// As many of the last parts as add up to a total, at least two. `margin` is the largest
/// difference that rounding explains.
fn last_parts_of(
    parts: &[(String, FitFigure)],
    total: f64,
    margin: f64,
) -> Option<&[(String, FitFigure)]> {
    let starts = 0..parts.len().saturating_sub(1);
    let mut ends = starts.filter_map(|start| parts.get(start..));
    ends.find(|end| (sum(end) - total).abs() <= margin)
}

fn sum(parts: &[(String, FitFigure)]) -> f64 {
    parts.iter().map(|(_, at)| at.value).sum()
}

/// The groups of rows in a column that add up to a whole: adjacent rows, and rows with one label
/// under different headings.
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
            // Rows can add up by chance, so the sum must follow directly below them, or they must
            // fill a section of a note.
            let figure_of = |row: usize| table.rows.get(row)?.cells.get(column)?.as_ref();
            let total = || figure_of(row + 1).is_some_and(|next| adds_up(next.value()));
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
                        .map_or_else(Vec::new, |row| row.section.to_vec()),
                    parts: parts.clone(),
                    table: t,
                });
            }
        }
    }
    // Treat "Operating loss" under one segment like "Operating income" under the others.
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
            .filter_map(|(at, row)| Some((row.heading.to_string(), figure(at, column)?)))
            .collect();
        // The headings name the parts, so each may occur only once.
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
