//! How well a figure's labels fit the words of a question.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use super::period::Period;
use super::question::{FigureName, SOFT};
use super::table::{ReportColumn, ReportRow, ReportTable};
use crate::labels::words::LIGHT;
use crate::reading::text::stem;

/// Words that a label has without meaning another figure.
static UNMEANT: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set("expense period year quarter group abstract note unaudited successor predecessor")
});

/// Words of a section that say where in a statement a row is, not of whom.
static STRUCTURAL: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set(
        "assets liabilities equity current noncurrent operating investing financing activities cash flow flows \
        costs expenses revenue revenues sales income earnings loss other statement adjustments reconcile \
        provided used change changes per share shares stockholders shareholders common stock capital basic \
        diluted commitments contingencies continuing operations",
    )
});

static SOFT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(SOFT));
static LIGHT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(LIGHT));

fn set(words: &str) -> HashSet<String> {
    let words = words.split_whitespace();
    words.map(|word| stem(word).into_owned()).collect()
}

/// Of a word that is not in the label but in its section or its column's heading, and of one
/// that is only in the title.
const ASIDE: f64 = 0.9;
const IN_TITLE: f64 = 0.6;

/// What a label loses if none of its words is asked for, and the heading of its column.
const UNASKED_LABEL: f64 = 0.35;
const UNASKED_HEADING: f64 = 0.25;
const UNASKED_SECTION: f64 = 0.06;

/// What a word that need not be in a label weighs if it is not.
const MISSING_SOFT: f64 = 0.1;

/// What the words of the question count more than other names of the same figure.
const SAID: f64 = 0.03;

/// What a primary statement counts more than a note.
const STATEMENT: f64 = 0.08;

/// A figure that may be what is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct FitFigure {
    pub(super) table: usize,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) score: f64,
    /// Its labels have all words of the operand, and no others of weight.
    pub(super) full: bool,
    /// Nor do its section and its title say more than the operand.
    pub(super) plain: bool,
    pub(super) period: Option<Period>,
    /// In units of the currency, if that is its kind.
    pub(super) value: f64,
    pub(super) percent: bool,
}

/// How rare words are among the labels of a report.
#[derive(Debug)]
pub(super) struct Weights {
    of: HashMap<String, f64>,
    /// Of a word that no label has.
    unknown: f64,
    /// The words of the company's name, which name no figure.
    company: Vec<String>,
}

impl Weights {
    #[allow(clippy::cast_precision_loss, reason = "numbers of rows")]
    pub(super) fn read(tables: &[ReportTable], company: Vec<String>) -> Self {
        let mut counts: HashMap<String, usize> = HashMap::new();
        let mut rows = 0;
        for table in tables {
            rows += table.rows.len();
            for word in table.words() {
                *counts.entry(word.clone()).or_default() += 1;
            }
        }
        let weight = |count: usize| (1.0 + rows as f64 / (1 + count) as f64).ln();
        let weights = counts
            .into_iter()
            .map(|(word, count)| (word, weight(count)));
        Self {
            of: weights.collect(),
            unknown: weight(0),
            company,
        }
    }

    fn is_soft(&self, word: &String) -> bool {
        SOFT_STEMS.contains(word) || self.company.contains(word)
    }

    fn of(&self, word: &str) -> f64 {
        self.of.get(word).copied().unwrap_or(self.unknown)
    }
}

fn is_light(word: &str) -> bool {
    LIGHT_STEMS.contains(word) || word.chars().all(|c| !c.is_alphabetic())
}

/// The share of words that are not asked for.
fn unasked(own: &[String], reading: &[String], weights: &Weights) -> f64 {
    let weigh = |words: &mut dyn Iterator<Item = &String>| -> f64 {
        words.map(|word| weights.of(word)).sum()
    };
    let all = weigh(&mut own.iter().filter(|word| !is_light(word)));
    let meant = |word: &&String| {
        !is_light(word)
            && !UNMEANT.contains(*word)
            && !weights.company.contains(word)
            && !reading.contains(word)
    };
    let left = weigh(&mut own.iter().filter(meant));
    if all > 0.0 { left / all } else { 0.0 }
}

impl ReportTable {
    /// The best figures of the table for an operand, of the columns that are wanted.
    pub(super) fn candidates(
        &self,
        at: usize,
        readings: &[Vec<String>],
        weights: &Weights,
        wanted: &dyn Fn(Option<&Period>) -> bool,
    ) -> Vec<FitFigure> {
        let mut out = Vec::new();
        for (r, row) in self.rows.iter().enumerate().skip(1) {
            for (c, figure) in row.cells.iter().enumerate().skip(1) {
                let (Some(figure), Some(column)) = (figure, self.columns.get(c)) else {
                    continue;
                };
                let period = match (column.period, row.period) {
                    (Some(column), Some(row)) if column.end.year.is_none() => Some(column.or(row)),
                    (None, Some(row)) => Some(row),
                    (column, _) => column,
                };
                if !wanted(period.as_ref()) {
                    continue;
                }
                let fits = readings.iter().enumerate().filter_map(|(at, reading)| {
                    let (score, full, plain) = self.fit(row, column, reading, weights)?;
                    Some((score + if at == 0 { SAID } else { 0.0 }, full, plain))
                });
                let Some((score, full, plain)) = fits.max_by(|a, b| a.0.total_cmp(&b.0)) else {
                    continue;
                };
                out.push(FitFigure {
                    table: at,
                    row: r,
                    column: c,
                    score,
                    full,
                    plain,
                    period,
                    value: figure.value,
                    percent: figure.percent,
                });
            }
        }
        out
    }

    /// How well a row and a column fit words, whether in full, and whether of the whole company.
    fn fit(
        &self,
        row: &ReportRow,
        column: &ReportColumn,
        reading: &[String],
        weights: &Weights,
    ) -> Option<(f64, bool, bool)> {
        let (mut all, mut found, mut named, mut missing) = (0.0, 0.0, false, false);
        for word in reading {
            let place = if row.words.contains(word) {
                named = true;
                1.0
            } else if row.aside.contains(word) || column.words.contains(word) {
                named = true;
                ASIDE
            } else if row.section.contains(word) {
                named |= !weights.is_soft(word);
                ASIDE
            } else if self.title.contains(word) {
                IN_TITLE
            } else {
                0.0
            };
            let mut weight = weights.of(word);
            if place <= 0.0 && word != "net" && (weights.is_soft(word) || is_light(word)) {
                weight *= MISSING_SOFT;
            } else {
                missing |= place <= 0.0;
            }
            all += weight;
            found += weight * place;
        }
        if !named || all <= 0.0 {
            return None;
        }
        let label = unasked(&row.words, reading, weights);
        let heading = unasked(&column.words, reading, weights);
        let section = unasked(&row.section, reading, weights);
        let statement = if self.statement { STATEMENT } else { 0.0 };
        let score = found / all
            - UNASKED_LABEL * label
            - UNASKED_HEADING * heading
            - UNASKED_SECTION * section
            + statement;
        let full = !missing && label <= 0.0 && heading <= 0.0;
        let structural = |word: &&String| !STRUCTURAL.contains(*word) && !weights.is_soft(word);
        let of_whom: Vec<String> = row.section.iter().filter(structural).cloned().collect();
        let plain = unasked(&of_whom, reading, weights) <= 0.0
            && self.qualifiers.iter().all(|word| reading.contains(word));
        Some((score, full, full && plain))
    }
}

/// All figures for an operand, the best first.
pub(super) fn candidates(
    tables: &[ReportTable],
    operand: &FigureName,
    weights: &Weights,
    wanted: &dyn Fn(Option<&Period>) -> bool,
) -> Vec<FitFigure> {
    let readings = operand.readings();
    let of = |(at, table): (usize, &ReportTable)| table.candidates(at, &readings, weights, wanted);
    let mut all: Vec<FitFigure> = tables.iter().enumerate().flat_map(of).collect();
    // Of an amount and its share of another, the one that is asked for.
    for one in &mut all {
        if one.percent != operand.percent {
            one.score -= 0.3;
            (one.full, one.plain) = (false, false);
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}

impl ReportTable {
    /// The figures of the rows of a section, in one column, and how well the table is about what
    /// they are asked for.
    pub(super) fn series(
        &self,
        at: usize,
        readings: &[Vec<String>],
        weights: &Weights,
        wanted: &dyn Fn(Option<&Period>) -> bool,
    ) -> Option<(f64, Vec<FitFigure>)> {
        let mut best: Option<(f64, Vec<FitFigure>)> = None;
        let named = self.candidates(at, readings, weights, wanted);
        for (c, _) in self.columns.iter().enumerate() {
            let full = named
                .iter()
                .filter(|one| one.full && one.column == c && !one.percent);
            let cells: Vec<FitFigure> = full.copied().collect();
            let heading =
                |one: &FitFigure| self.rows.get(one.row).map(|row| (&row.label, &row.heading));
            let apart = cells.windows(2).all(|two| match two {
                [a, b] => {
                    heading(a).map(|one| one.0) == heading(b).map(|one| one.0)
                        && heading(a) != heading(b)
                }
                _ => true,
            });
            if cells.len() > 1 && apart {
                best = best.or(Some((1.0, cells)));
            }
        }
        for (c, column) in self.columns.iter().enumerate().skip(1) {
            if !wanted(column.period.as_ref()) {
                continue;
            }
            let mut start = 1;
            for rows in self
                .rows
                .get(1..)
                .unwrap_or_default()
                .chunk_by(|a, b| a.section == b.section)
            {
                let first = start;
                start += rows.len();
                let cell = |(r, row): (usize, &ReportRow)| {
                    let figure = row.cells.get(c).copied().flatten()?;
                    (!row.is_total() && !figure.percent).then_some(FitFigure {
                        table: at,
                        row: first + r,
                        column: c,
                        score: 0.0,
                        full: false,
                        plain: false,
                        period: column.period,
                        value: figure.value,
                        percent: false,
                    })
                };
                let cells: Vec<FitFigure> = rows.iter().enumerate().filter_map(cell).collect();
                let Some(row) = rows.first().filter(|_| cells.len() > 1) else {
                    continue;
                };
                let says = |word: &String| {
                    row.section.contains(word)
                        || column.words.contains(word)
                        || self.title.contains(word)
                };
                let score = |reading: &Vec<String>| -> f64 {
                    let all: f64 = reading.iter().map(|word| weights.of(word)).sum();
                    let said = reading.iter().filter(|word| says(word));
                    said.map(|word| weights.of(word)).sum::<f64>() / all.max(1.0)
                };
                let score = readings.iter().map(score).fold(0.0, f64::max);
                if best.as_ref().is_none_or(|(of_best, _)| score > *of_best) {
                    best = Some((score, cells));
                }
            }
        }
        best
    }
}
