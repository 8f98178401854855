//! Finds the parts of a whole: rows, columns or repeated rows that add up to a figure of the
//! statements, such as the revenue of each segment or country.
//!
//! Only the sum makes a group certain, because nothing else on a page says where the group ends.

use std::collections::{BTreeMap, HashSet};

use finqa_core::number::within;
use finqa_core::page::CellNumber;
use finqa_core::page::period::Period;

use super::Amount;
use super::fit::FitFigure;
use crate::tables::page::Tables;
use crate::tables::page::table::{Label, Place, ReportTable};
use crate::tables::question::operand::Operand;
use crate::tables::question::rank_question::{OF_PLACES, PART_NOUNS, PLACE_NOUNS, is_part_noun};
use crate::tables::words::{SaidWord, Stems, is_light, lists, plain_stems};

/// Largest difference between the sum of the parts and the whole, in units of the last printed
/// digit: each part is rounded, so that the sum may differ. The sum of more than three parts can
/// differ by more, and is then not found.
const ROUNDING: f64 = 2.0;

/// Maximum number of parts that are added up, which limits the time: sums are tried from each row.
/// Larger groups are not found.
const MOST_PARTS: usize = 40;

/// Stems of names of places, by which a group of countries or regions is recognized.
static PLACES: Stems = Stems::new(
    "usa america american canada mexico brazil emea europe european apac asia pacific japan china \
    taiwan singapore germany kingdom france india korea australia africa international foreign domestic latin world",
);

/// The name and the figure of a part.
type Part = (String, FitFigure);

/// The figure of a row and a column, if it can be a part.
pub(crate) type FigureAt<'f> = &'f dyn Fn(usize, usize) -> Option<FitFigure>;

/// The parts of a whole in one table, at least two.
#[derive(Clone)]
pub(crate) struct Group {
    pub(crate) parts: Vec<Part>,
    /// Stems of the headings and labels that describe the group.
    section: Vec<String>,
}

impl Tables {
    /// The groups of parts of a figure in a period: first those that add up to the figure of the
    /// statements, then those in any table that add up to a total there with this name.
    pub(crate) fn groups_of(&self, of: &Operand, asked: Option<Period>) -> Vec<Group> {
        let whole = self.figure(of, asked);
        // Parts that add up to a doubtful figure would be as doubtful.
        let whole = whole.ok().filter(|whole| whole.doubt.is_none());
        let mut groups = whole.map_or_else(Vec::new, |whole| self.groups(&whole));
        let place = |group: &Group| group.first().map(|one| one.place);
        let known: Vec<Option<Place>> = groups.iter().map(place).collect();
        let totalled = self.totalled(of, asked).into_iter();
        groups.extend(totalled.filter(|group| !known.contains(&place(group))));
        groups
    }

    /// The groups that a noun can mean. "Country" means groups of places; if a title or a heading
    /// has the noun, only groups with it are kept. Of "therapeutic area", a title or a heading must
    /// have "therapeutic".
    pub(crate) fn named_groups(&self, mut groups: Vec<Group>, noun: &[SaidWord]) -> Vec<Group> {
        let says = |list: &str| noun.iter().any(|word| lists(list, &word.text));
        let is_known = says(PART_NOUNS) || says(PLACE_NOUNS);
        let is_other = |word: &&SaidWord| {
            let known = is_part_noun(&word.text) || lists(OF_PLACES, &word.text);
            is_known && !known && !self.weights.is_of_company(&word.stem)
        };
        let beside: Vec<&SaidWord> = noun.iter().filter(is_other).collect();
        let of_places = says(PLACE_NOUNS) && beside.iter().all(|word| PLACES.contains(&word.stem));
        let place = |group: &Group| {
            let mut names = group.parts.iter();
            names.any(|(name, _)| plain_stems(name).iter().any(|stem| PLACES.contains(stem)))
        };
        groups.retain(|group| says(PART_NOUNS) || place(group) == of_places);
        let said = |has: &dyn Fn(&String) -> bool| match beside.as_slice() {
            [] => noun.iter().any(|word| has(&word.stem)),
            beside => beside.iter().all(|word| has(&word.stem)),
        };
        let headed = |group: &Group| said(&|word| group.section.contains(word));
        let titled = |group: &Group| {
            let table = group.first().and_then(|one| self.table(one.place));
            table.is_some_and(|table| said(&|word| table.title.contains(word)))
        };
        // The title of a table may be about more than one of its groups.
        let any_headed = groups.iter().any(headed);
        let named = |group: &Group| headed(group) || !any_headed && titled(group);
        // Any other noun, such as "department", is known only if a title or a heading has it.
        if groups.iter().any(named) || !is_known || !beside.is_empty() {
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

    /// The only part of the whole whose name has all of these words; `None` if two groups have it
    /// with different values, or none has it.
    pub(crate) fn part_of(&self, whole: &Amount, words: &[SaidWord]) -> Option<FitFigure> {
        if words.is_empty() {
            return None;
        }
        let says = |stems: &[String]| words.iter().all(|word| stems.contains(&word.stem));
        let groups = self.groups(whole);
        let found: Vec<FitFigure> = groups.iter().filter_map(|group| group.only(says)).collect();
        let first = *found.first()?;
        // 0.1 % allows for another rounding.
        let same = |one: &FitFigure| within(one.value, first.value, 0.001);
        found.iter().all(same).then_some(first)
    }

    /// The groups in any table that add up to a total there with the operand's name.
    fn totalled(&self, of: &Operand, asked: Option<Period>) -> Vec<Group> {
        let readings = of.without_total().meant_readings();
        let totals = self.figures().filter(|one| {
            let fits = !one.percent && self.fits(one.period, asked);
            fits && self.is_named_total(&readings, one.place)
        });
        let groups = totals.filter_map(|one| Some(self.groups_in(self.table(one.place)?, one)));
        let mut out: Vec<Group> = groups.flatten().collect();
        // Without a period in the question, the latest is meant.
        if asked.is_none() {
            let end = |group: &Group| Some(group.first()?.period?.end);
            let latest = out.iter().filter_map(end).max();
            out.retain(|group| end(group) == latest);
        }
        out
    }

    /// True for a total whose labels, headings and title have all words of a reading, and the labels
    /// no other words.
    fn is_named_total(&self, readings: &[Vec<String>], total: Place) -> bool {
        let (Some(row), Some(column)) = (self.row(total), self.column(total)) else {
            return false;
        };
        let labels = row.label.words.iter().chain(&column.label.words);
        let own: Vec<&String> = labels.chain(&*row.section).collect();
        let free = |word: &str| is_light(word) || self.weights.is_soft(word);
        let titled = |word: &String| {
            let table = self.table(total);
            table.is_some_and(|table| table.title.contains(word))
        };
        let met = |words: &Vec<String>| {
            let says = |word: &String| {
                let named = own.contains(&word) || row.label.aside.contains(word);
                free(word) || named || titled(word)
            };
            let asked = |word: &&String| free(word) || words.contains(word);
            words.iter().all(says) && own.iter().all(asked)
        };
        (row.label.total || column.label.total) && readings.iter().any(met)
    }

    /// All groups whose parts add up to an amount of the page; empty for a computed amount.
    fn groups(&self, whole: &Amount) -> Vec<Group> {
        let of_table = |table: &ReportTable| whole.at.map(|whole| self.groups_in(table, whole));
        self.tables.iter().filter_map(of_table).flatten().collect()
    }

    /// The groups of a table whose parts add up to a figure of the page.
    fn groups_in(&self, table: &ReportTable, whole: FitFigure) -> Vec<Group> {
        let margin = ROUNDING * self.cell(whole.place).map_or(0.0, last_digit);
        let total = whole.value.abs();
        // The parts of a cost below zero may be printed without their sign.
        let is_whole = |sum: f64, whole: f64| (sum - whole).abs() <= margin;
        let adds_up = |sum: f64| is_whole(sum, total) || is_whole(sum, whole.value);
        let figure = |row: usize, column: usize| {
            let fits = |one: &FitFigure| !one.percent && self.fits(one.period, whole.period);
            let figure = table.figure(row, column).filter(fits);
            // A part is smaller than the whole.
            figure.filter(|one| one.value.abs() < total)
        };
        let mut out = Vec::new();
        for column in 1..table.columns.len() {
            let groups = rows_that_add_up(table, column, &figure, &adds_up);
            let finer = groups.iter().flat_map(|group| {
                let parts = group.parts.iter().enumerate();
                parts.filter_map(|part| group.finer(part, table, &figure, margin))
            });
            out.extend(finer.flatten());
            out.extend(groups);
        }
        for row in 1..table.rows.len() {
            let columns = table.figure_columns();
            let parts = columns.filter_map(|(at, column)| {
                part(&column.label, &column.label.name, figure(row, at)?)
            });
            let parts: Vec<Part> = parts.collect();
            if parts.len() > 1 && adds_up(sum(&parts)) {
                out.push(Group::unnamed(parts));
            }
        }
        out
    }
}

impl Group {
    /// A group that no heading describes.
    fn unnamed(parts: Vec<Part>) -> Self {
        Self {
            parts,
            section: Vec::new(),
        }
    }

    pub(crate) fn first(&self) -> Option<FitFigure> {
        self.parts.first().map(|(_, at)| *at)
    }

    pub(crate) fn table(&self) -> Option<usize> {
        self.first().map(|one| one.place.table)
    }

    /// The figure of the only part with this name. `None` also if several parts have this name.
    pub(crate) fn named(&self, name: &str) -> Option<FitFigure> {
        let stems = plain_stems(name);
        self.only(|own| own == stems)
    }

    /// The figure of the only part for the stems of whose name `is` is true.
    fn only(&self, is: impl Fn(&[String]) -> bool) -> Option<FitFigure> {
        let mut parts = self.parts.iter().filter(|(name, _)| is(&plain_stems(name)));
        let (part, more) = (parts.next(), parts.next());
        part.filter(|_| more.is_none()).map(|(_, at)| *at)
    }

    /// If a part is a subtotal of the rows above it: these rows as a group that its label names,
    /// and the whole group with these rows instead of the subtotal. `margin` is the largest
    /// difference that rounding explains.
    fn finer(
        &self,
        (at, (_, subtotal)): (usize, &Part),
        table: &ReportTable,
        figure: FigureAt<'_>,
        margin: f64,
    ) -> Option<[Self; 2]> {
        let adds_up = |sum: f64| (sum - subtotal.value).abs() <= margin;
        let above = |group: &Self| {
            let last = group.parts.last();
            last.is_some_and(|(_, last)| last.place.row + 1 == subtotal.place.row)
        };
        let groups = rows_that_add_up(table, subtotal.place.column, figure, &adds_up);
        let mut named = groups.into_iter().find(above)?;
        named.section.extend_from_slice(&self.section);
        let mut finer = self.clone();
        finer.parts.splice(at..=at, named.parts.iter().cloned());
        Some([named, finer])
    }
}

/// The value of one unit in the last printed digit of a cell: 100,000 for "1.5" in millions.
fn last_digit(cell: &CellNumber) -> f64 {
    let decimals = cell
        .bare()
        .split_once('.')
        .map_or(0, |(_, digits)| digits.len());
    let unit = cell.scale.map_or(1.0, |scale| f64::from(scale.units()));
    // No literal has as many decimals as an `i32` can count.
    unit / 10_f64.powi(i32::try_from(decimals).unwrap_or_default())
}

/// A part of this name; `None` without a label, or for another total.
fn part(label: &Label, name: &str, figure: FitFigure) -> Option<Part> {
    let is_part = !label.words.is_empty() && !label.total;
    is_part.then(|| (name.to_owned(), figure))
}

fn sum(parts: &[Part]) -> f64 {
    parts.iter().map(|(_, at)| at.value).sum()
}

/// The groups of rows in a column that add up to a whole: adjacent rows, and rows with one label
/// under different headings.
fn rows_that_add_up(
    table: &ReportTable,
    column: usize,
    figure: FigureAt<'_>,
    adds_up: &dyn Fn(f64) -> bool,
) -> Vec<Group> {
    let mut out = Vec::new();
    let printed = |row: usize| table.rows.get(row)?.cells.get(column)?.as_ref();
    for (start, row) in table.body() {
        let rows = table.body().skip(start - 1).take(MOST_PARTS);
        let run = rows.map_while(|(at, row)| part(&row.label, &row.printed, figure(at, column)?));
        let run: Vec<Part> = run.collect();
        let starts = (2..=run.len()).filter_map(|length| run.get(..length));
        let found = starts.filter(|parts| {
            let next = printed(start + parts.len());
            // Rows can add up by chance, so the sum must follow directly below them, or they must
            // fill a section of a note.
            let bare = next.is_none() && printed(start - 1).is_none();
            let alone = table.statement.is_none() && bare;
            adds_up(sum(parts)) && (alone || next.is_some_and(|next| adds_up(next.in_units())))
        });
        out.extend(found.map(|parts| {
            let end = start + parts.len();
            let total = printed(end).and(table.rows.get(end));
            let label = total.map_or_else(Vec::new, |row| row.label.words.clone());
            Group {
                parts: parts.to_vec(),
                section: [row.section.to_vec(), label].concat(),
            }
        }));
    }
    let mut repeated: BTreeMap<String, Vec<Part>> = BTreeMap::new();
    for (at, row) in table.body() {
        if let Some(figure) = figure(at, column).filter(|_| !row.section_text.is_empty()) {
            let name = row.printed.to_lowercase().replace("(loss)", "");
            // Treat "Operating loss" under one segment like "Operating income" under the others.
            let name = name.replace("loss", "income").trim().to_owned();
            let parts = repeated.entry(name).or_default();
            parts.push((row.section_text.to_string(), figure));
        }
    }
    let found = repeated.into_values().filter(|parts| {
        // The headings name the parts, so each may occur only once.
        let names: HashSet<&String> = parts.iter().map(|(name, _)| name).collect();
        parts.len() > 1 && names.len() == parts.len() && adds_up(sum(parts))
    });
    out.extend(found.map(Group::unnamed));
    out
}
