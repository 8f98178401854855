//! How well a figure's labels fit the words of a question.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::names::SOFT;
use super::operand::{Operand, Wording};
use super::table::{Label, Place, ReportColumn, ReportRow, ReportTable, SCOPES};
use super::words::{LIGHT, LOOSE, same_word, stemmed as set};
use crate::reading::outflow::names_cost;

/// Words that a label has without meaning another figure.
static UNMEANT: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set("expense period year quarter group abstract note unaudited successor predecessor")
});

/// Words of a section that say where in a statement a row is, not of whom.
static STRUCTURAL: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set(
        "assets liabilities equity current noncurrent non operating investing financing activities cash flow flows \
        costs expenses revenue revenues sales income earnings loss other statement adjustments reconcile \
        provided used change changes per share shares stockholders shareholders common stock capital basic \
        diluted commitments contingencies continuing operations partners members deficit class b \
        calculation numerator denominator",
    )
});

/// Words of a section of a primary statement that is about a part of the whole, or about changes
/// of what it names.
static PARTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set(
        "discontinued held sale segment parent guarantor noncontrolling company group subsidiary \
        weighted average number computing computation change changes increase decrease",
    )
});
pub(super) static CHANGES: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("change changes increase decrease"));

/// Words of a label whose figures are percentages by their kind.
static RATE_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("ratio rate margin yield return"));

/// Words of a question that any cost meets.
static COST_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("expense cost charge spending"));

static SALES_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set("sales revenue"));

static SOFT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(SOFT));
static LIGHT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(LIGHT));
static LOOSE_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(LOOSE));

/// What a label of a plain table costs for each word that nobody asked for.
const HEAVY: f64 = 10.0;

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
    /// Nor do its section and its title say more than the operand, or its labels the opposite.
    pub(super) plain: bool,
    /// By the words of the question rather than by other names.
    pub(super) said: bool,
    pub(super) period: Option<Period>,
    /// It is of a budget or a forecast.
    pub(super) plan: bool,
    /// In units of the currency, if that is its kind.
    pub(super) value: f64,
    pub(super) percent: bool,
    /// Counts the words that only the row or only the question has: four for each, one for a word
    /// of the company's name. The row with the fewest says no more than the question.
    pub(super) extra: usize,
}

impl FitFigure {
    pub(super) fn place(&self) -> Place {
        Place {
            table: self.table,
            row: self.row,
            column: self.column,
        }
    }
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
                *counts.entry(word.to_owned()).or_default() += 1;
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

    pub(super) fn is_soft(&self, word: &str) -> bool {
        SOFT_STEMS.contains(word) || self.company.iter().any(|own| own == word)
    }

    pub(super) fn company(&self) -> &[String] {
        &self.company
    }

    pub(super) fn is_of_company(&self, word: &String) -> bool {
        self.company.contains(word)
    }

    /// Whether a label or a title has a word.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.of.contains_key(word)
    }

    /// How much of the best of some readings is said, and whether all of one.
    pub(super) fn share(
        &self,
        readings: &[Vec<String>],
        said: &dyn Fn(&String) -> bool,
    ) -> (f64, bool) {
        let share = |reading: &Vec<String>| -> f64 {
            let all: f64 = reading.iter().map(|word| self.of(word)).sum();
            let words = reading.iter().filter(|word| said(word));
            words.map(|word| self.of(word)).sum::<f64>() / all.max(1.0)
        };
        let best = readings.iter().map(share).fold(0.0, f64::max);
        (
            best,
            readings.iter().any(|reading| reading.iter().all(said)),
        )
    }

    fn of(&self, word: &str) -> f64 {
        self.of.get(word).copied().unwrap_or(self.unknown)
    }
}

/// Whether a question may say it of any figure.
pub(super) fn is_loose(word: &str) -> bool {
    word == "total" || LOOSE_STEMS.contains(word)
}

pub(super) fn is_light(word: &str) -> bool {
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
    /// The best figures of the table for an operand, of the columns that are wanted; or the best
    /// cells that are not read.
    pub(super) fn candidates(
        &self,
        at: usize,
        readings: &[Wording],
        weights: &Weights,
        wanted: &dyn Fn(Option<&Period>) -> bool,
        read: bool,
    ) -> Vec<FitFigure> {
        let mut out = Vec::new();
        for (r, row) in self.rows.iter().enumerate().skip(1) {
            for c in 1..row.cells.len() {
                let figure = match read {
                    true => self.figure(at, r, c),
                    false => self.unread(at, r, c),
                };
                let (Some(figure), Some(column)) = (figure, self.columns.get(c)) else {
                    continue;
                };
                if !wanted(figure.period.as_ref()) {
                    continue;
                }
                let fits = readings.iter().enumerate().filter_map(|(at, reading)| {
                    let (score, full, plain, extra) = match self.plain {
                        true => {
                            let (score, full, plain) =
                                self.fit_in_full(row, column, &reading.words)?;
                            (score, full, plain, 0)
                        }
                        false => self.fit(row, column, &reading.words, weights)?,
                    };
                    let said = at == 0;
                    let score = score + if said { SAID } else { 0.0 };
                    Some(FitFigure {
                        score,
                        full,
                        plain: plain && !reading.opposite,
                        extra,
                        said,
                        ..figure
                    })
                });
                out.extend(fits.max_by(|a, b| a.score.total_cmp(&b.score)));
            }
        }
        out
    }

    /// A figure of the table that nothing is known of.
    pub(super) fn figure(&self, table: usize, row: usize, column: usize) -> Option<FitFigure> {
        let figure = self.rows.get(row)?.cells.get(column)?.as_ref()?;
        Some(FitFigure {
            value: figure.value(),
            percent: figure.percent,
            ..self.unknown(table, row, column)
        })
    }

    /// A cell that is not read, as a figure without a value.
    fn unread(&self, table: usize, row: usize, column: usize) -> Option<FitFigure> {
        let mut unread = self.rows.get(row)?.unread.iter();
        unread.find(|(at, _)| *at == column)?;
        Some(self.unknown(table, row, column))
    }

    fn unknown(&self, table: usize, row: usize, column: usize) -> FitFigure {
        FitFigure {
            table,
            row,
            column,
            score: 0.0,
            full: false,
            plain: false,
            said: false,
            period: self.period_of(row, column),
            plan: self.columns.get(column).is_some_and(|column| column.plan)
                || self.rows.get(row).is_some_and(|row| row.plan),
            value: f64::NAN,
            percent: false,
            extra: 0,
        }
    }

    /// The period of a cell, by its column or its row.
    pub(super) fn period_of(&self, row: usize, column: usize) -> Option<Period> {
        let row = self.rows.get(row)?.label.period;
        match (self.columns.get(column)?.label.period, row) {
            (Some(column), Some(row)) if column.end.year.is_none() || self.plain => {
                Some(column.or(row))
            }
            (None, Some(row)) => Some(row),
            // The title of a schedule has the day from which its years are counted.
            (_, Some(row)) if self.columns.get(column)?.is_dated_by_title => Some(row),
            (column, _) => column,
        }
    }

    /// How well a row and a column of a plain table fit words: both together have all of them. A
    /// label that has none of them is left open, but for a total.
    fn fit_in_full(
        &self,
        row: &ReportRow,
        column: &ReportColumn,
        reading: &[String],
    ) -> Option<(f64, bool, bool)> {
        let says = |word: &String| row.says(word) || column.label.says(word);
        let loose = |word: &String| is_loose(word) || self.is_heading(word);
        if !reading.iter().all(|word| says(word) || loose(word)) {
            return None;
        }
        // What a label costs, and whether it says more than the question.
        let cost = |label: &Label, asked: bool| {
            if !label.words.is_empty() && !asked {
                return (if label.total { HEAVY / 2.0 } else { HEAVY }, false);
            }
            let unasked = |own: &&str| !reading.iter().any(|word| same_word(own, word));
            let costs = label.words.iter().filter(unasked);
            let cost: f64 = costs
                .map(|own| if is_light(own) { 1.0 } else { HEAVY })
                .sum();
            (cost, cost >= HEAVY)
        };
        let (of_row, more) = cost(&row.label, reading.iter().any(|word| row.says(word)));
        let of_column = reading.iter().any(|word| column.label.says(word));
        let (of_column, also_more) = cost(&column.label, of_column);
        let full = !more && !also_more;
        Some((-of_row - of_column, full, full))
    }

    /// Whether the heading of the rows has a word that no label has: it is about all cells.
    pub(super) fn is_heading(&self, word: &str) -> bool {
        self.plain && self.title.iter().any(|own| same_word(own, word))
    }

    /// How well a row and a column fit words, whether in full, and whether of the whole company.
    fn fit(
        &self,
        row: &ReportRow,
        column: &ReportColumn,
        reading: &[String],
        weights: &Weights,
    ) -> Option<(f64, bool, bool, usize)> {
        // What reduces a balance is a part of its name, not another figure.
        let balance = self.statement == Some(Statement::Balances);
        let own = row.label.words.iter();
        let deducted = |word: &str| row.label.deducted.iter().any(|own| own == word);
        let own = own.filter(|word| !(balance && deducted(word)));
        let own: Vec<String> = own.map(str::to_owned).collect();
        let (mut all, mut found, mut named, mut missing) = (0.0, 0.0, false, false);
        for word in reading {
            let place = if own.contains(word) {
                named = true;
                1.0
            } else if row.label.words.contains(word)
                || row.label.aside.contains(word)
                || column.label.words.contains(word)
            {
                named = true;
                ASIDE
            } else if row.section.contains(word) && !self.is_place(row, word) {
                named |= !weights.is_soft(word);
                ASIDE
            } else if self.title.contains(word) && self.statement.is_none() {
                // A year under "Maturities of debt" is named by its title alone.
                let dated = row.label.period.or(column.label.period).is_some();
                named |= dated && row.label.words.iter().all(is_light);
                IN_TITLE
            } else {
                // The name of a statement is not that of its rows.
                0.0
            };
            let mut weight = weights.of(word);
            // What is spent is a cost, however its row calls it.
            let spent = !COST_STEMS.contains(word)
                || names_cost(&row.printed)
                || self.statement.is_some() && names_cost(&row.heading);
            let soft = weights.is_soft(word) || is_light(word);
            let soft = soft && !SCOPES.contains(&word.as_str());
            if place <= 0.0 && word != "net" && soft && spent {
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
        let mut label = unasked(&own, reading, weights);
        let extra = own.iter();
        let extra = extra.filter(|word| *word != "total" && !reading.contains(word));
        let elsewhere = reading
            .iter()
            .filter(|word| !row.label.words.contains(word));
        let company = |word: &&String| weights.company.contains(*word);
        let (of_company, more): (Vec<&String>, Vec<&String>) = extra.clone().partition(company);
        let beside = 4 * (more.len() + elsewhere.count()) + of_company.len();
        // Balances are net of what reduces them, flows may be printed gross too.
        let apart = |word: &&String| {
            // Nobody earns anything a share but the owners of the shares.
            let per_share = row.label.words.iter().any(|own| own == "share");
            // Sales are net sales.
            let sales = row.label.words.iter().any(|own| SALES_STEMS.contains(own));
            word.starts_with("attribut") && !per_share
                || *word == "net" && !sales && self.statement != Some(Statement::Balances)
        };
        if extra.clone().any(|word| apart(&word)) {
            label += 0.1;
        }
        let heading = unasked(&column.label.words.to_vec(), reading, weights);
        let changes = |word: &String| CHANGES.contains(word) && !reading.contains(word);
        let changes = f64::from(u8::from(row.section.iter().any(changes)));
        let section = unasked(&row.section, reading, weights) + changes;
        // A section that only says where a row is, is no doubt.
        let of_part = |word: &&String| match self.statement {
            Some(_) => PARTS.contains(*word),
            None => !STRUCTURAL.contains(*word) && !weights.is_soft(word),
        };
        let mut of_whom: Vec<String> = row.section.iter().filter(of_part).cloned().collect();
        let heads = |word: &str| row.section.iter().any(|own| own.starts_with(word));
        // The heading of all that is not an asset names each of its kinds.
        if heads("liabilit") && heads("equit") || self.is_only_part(row, &of_whom, reading, weights)
        {
            of_whom.clear();
        }
        let statement = self.statement.map_or(0.0, |_| STATEMENT);
        let score = found / all
            - UNASKED_LABEL * label
            - UNASKED_HEADING * heading
            - UNASKED_SECTION * section
            + statement;
        // A row without a name is a part of the one above it.
        let unnamed = row.printed.trim().is_empty() && column.label.words.is_empty();
        // "The allowance" is not the receivables net of it.
        let net = reading.iter().any(|word| word == "net");
        let deducted = !net && reading.iter().any(|word| row.label.deducted.contains(word));
        let full = !missing && label <= 0.0 && heading <= 0.0 && !unnamed && !deducted;
        let plain = unasked(&of_whom, reading, weights) <= 0.0
            && self.qualifiers.iter().all(|word| reading.contains(word));
        Some((score, full, full && plain, beside))
    }
}

/// All figures for an operand, the best first.
pub(super) fn candidates(
    tables: &[ReportTable],
    operand: &Operand,
    weights: &Weights,
    wanted: &dyn Fn(Option<&Period>) -> bool,
) -> Vec<FitFigure> {
    // Of a plain table, a total is found by its label.
    let plain = tables.iter().any(|table| table.plain);
    let readings = match plain {
        true => operand.of_parts().readings(),
        false => operand.readings(),
    };
    let percent = operand.wants_percent();
    let of =
        |(at, table): (usize, &ReportTable)| table.candidates(at, &readings, weights, wanted, true);
    let mut all: Vec<FitFigure> = tables.iter().enumerate().flat_map(of).collect();
    let is_rate = |one: &FitFigure| {
        let row = tables
            .get(one.table)
            .and_then(|table| table.rows.get(one.row));
        row.is_some_and(|row| row.label.is_one_of(&RATE_STEMS))
    };
    // Of an amount and its share of another, the one that is asked for; a rate is printed as one.
    for one in &mut all {
        if one.percent != percent && !(one.percent && !plain && is_rate(one)) {
            one.score -= if plain && percent { 5.0 * HEAVY } else { 0.3 };
            one.full &= plain;
            one.plain &= plain;
        }
    }
    all.sort_by(|a, b| b.score.total_cmp(&a.score));
    all
}
