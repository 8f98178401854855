//! Scores how well the labels of a figure fit the words of a question.
//!
//! The scores and costs below are set by hand with the reports of docs/embedded-analyst.md in view.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use finqa_core::page::Statement;
use finqa_core::page::period::Period;

use super::names::SOFT;
use super::operand::{Operand, Phrasing};
use super::table::{Label, Place, ReportColumn, ReportRow, ReportTable, SCOPES};
use super::words::{LIGHT, LOOSE, STRUCTURAL, same_word, stemmed as set};
use crate::reading::outflow::names_cost;

/// Words of a label that do not make it another figure: "Sales, unaudited" are sales.
static UNMEANT: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set("expense period year quarter group abstract note unaudited successor predecessor")
});

static STRUCTURAL_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(STRUCTURAL));

/// Words of a section in a primary statement whose rows are only a part of the company's figures
/// ("Discontinued operations") or changes of them.
static PARTS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    set(
        "discontinued held sale segment parent guarantor noncontrolling company group subsidiary \
        weighted average number computing computation change changes increase decrease",
    )
});
pub(super) static CHANGES: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("change changes increase decrease"));

/// Words of a label whose figures are percentages: "Tax rate".
static RATE_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("ratio rate margin yield return"));

/// Words of a question that the row of any cost answers: "how much was spent on rent".
static COST_STEMS: LazyLock<HashSet<String>> =
    LazyLock::new(|| set("expense cost charge spending"));

static SALES_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set("sales revenue"));

static SOFT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(SOFT));
static LIGHT_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(LIGHT));
static LOOSE_STEMS: LazyLock<HashSet<String>> = LazyLock::new(|| set(LOOSE));

/// Cost of a plain table's label for each of its words that the question lacks; a light word costs
/// 1.
const HEAVY: f64 = 10.0;

/// Share of a word's weight that counts if it is not in the row's own label but in brackets, the
/// section or the heading (0.9), or only in the title (0.6).
const ASIDE: f64 = 0.9;
const IN_TITLE: f64 = 0.6;

/// Score that is lost if the question has no word of the label, the heading or the section; if it
/// has some of the words, in proportion.
const UNASKED_LABEL: f64 = 0.35;
const UNASKED_HEADING: f64 = 0.25;
const UNASKED_SECTION: f64 = 0.06;

/// Factor of a word's weight if the label lacks it but need not have it, such as "group".
const MISSING_SOFT: f64 = 0.1;

/// Bonus for a label with the words of the question over one with another name of the figure.
const SAID: f64 = 0.03;

/// Bonus for a figure of a primary statement over one of a note.
const STATEMENT: f64 = 0.08;

/// A figure that may be the one asked for, with its score.
#[derive(Clone, Copy, Debug)]
pub(super) struct FitFigure {
    pub(super) table: usize,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) score: f64,
    /// True if the labels have all words of the operand and no other word that names something.
    pub(super) full: bool,
    /// True if `full`, and section and title say no more than the operand either, and the labels do
    /// not mean the opposite ("net loss" for "net income").
    pub(super) plain: bool,
    /// True if the labels fit the words of the question, not only another name of the figure.
    pub(super) said: bool,
    pub(super) period: Option<Period>,
    /// True for a figure of a budget or a forecast.
    pub(super) plan: bool,
    /// The value with its scale: 5,000,000 for "5" in millions. NaN for a cell that is not read.
    pub(super) value: f64,
    pub(super) percent: bool,
    /// How much the label and the question differ: 4 for each word that only one of them has, 1 for
    /// a word of the company's name. The smallest is the row that says no more than the question.
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

/// The weights of words: the rarer a word is among the labels of a report, the larger.
#[derive(Debug)]
pub(super) struct Weights {
    of: HashMap<String, f64>,
    /// The weight of a word that no label has.
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

    /// True if a label can lack the word: a soft word, or one of the company's name.
    pub(super) fn is_soft(&self, word: &str) -> bool {
        SOFT_STEMS.contains(word) || self.company.iter().any(|own| own == word)
    }

    pub(super) fn company(&self) -> &[String] {
        &self.company
    }

    pub(super) fn is_of_company(&self, word: &String) -> bool {
        self.company.contains(word)
    }

    /// True if a label or a title has the word.
    pub(super) fn knows(&self, word: &str) -> bool {
        self.of.contains_key(word)
    }

    /// The share, by weight, of the words of a reading for which `said` is true, in the best of the
    /// readings; and whether it is true for all words of one reading.
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

/// True if any figure may be asked for with this word: "the total due".
pub(super) fn is_loose(word: &str) -> bool {
    word == "total" || LOOSE_STEMS.contains(word)
}

pub(super) fn is_light(word: &str) -> bool {
    LIGHT_STEMS.contains(word) || word.chars().all(|c| !c.is_alphabetic())
}

/// The share of the label's weight that is in words the question lacks, from 0 to 1.
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
            && (!word.starts_with("charg") || !reading.iter().any(|word| COST_STEMS.contains(word)))
    };
    let left = weigh(&mut own.iter().filter(meant));
    if all > 0.0 { left / all } else { 0.0 }
}

impl ReportTable {
    /// For each figure of the table in a wanted period, its fit to the best reading of an operand.
    /// If `read` is false, the same for the cells that look like figures but could not be read.
    pub(super) fn candidates(
        &self,
        at: usize,
        readings: &[Phrasing],
        weights: &Weights,
        wanted: &dyn Fn(Option<&Period>) -> bool,
        read: bool,
    ) -> Vec<FitFigure> {
        let mut out = Vec::new();
        for (r, row) in self.rows.iter().enumerate().skip(1) {
            for c in 1..row.cells.len() {
                let figure = if read {
                    self.figure(at, r, c)
                } else {
                    self.unread(at, r, c)
                };
                let (Some(figure), Some(column)) = (figure, self.columns.get(c)) else {
                    continue;
                };
                if !wanted(figure.period.as_ref()) {
                    continue;
                }
                let fits = readings.iter().enumerate().filter_map(|(at, reading)| {
                    let (score, full, plain, extra) = if self.plain {
                        let (score, full, plain) = self.fit_in_full(row, column, &reading.words)?;
                        (score, full, plain, 0)
                    } else {
                        self.fit(row, column, &reading.words, weights)?
                    };
                    let said = at == 0;
                    // "Net income" below zero is the net loss that is asked for.
                    let lost =
                        figure.value < 0.0 && readings.first().is_some_and(|one| one.loses());
                    let score = score + if said { SAID } else { 0.0 };
                    Some(FitFigure {
                        score,
                        full,
                        plain: plain && (!reading.opposite || lost && !self.plain),
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

    /// A figure of the table before its labels are compared; `None` if the cell has none.
    pub(super) fn figure(&self, table: usize, row: usize, column: usize) -> Option<FitFigure> {
        let figure = self.rows.get(row)?.cells.get(column)?.as_ref()?;
        Some(FitFigure {
            value: figure.value(),
            percent: figure.percent,
            ..self.unknown(table, row, column)
        })
    }

    /// A cell that could not be read, as a figure without a value.
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

    /// The period of a cell, from its column or its row; `None` if neither names one.
    pub(super) fn period_of(&self, row: usize, column: usize) -> Option<Period> {
        let row = self.rows.get(row)?.label.period;
        match (self.columns.get(column)?.label.period, row) {
            (Some(column), Some(row)) if column.end.year.is_none() || self.plain => {
                Some(column.or(row))
            }
            (None, Some(row)) => Some(row),
            // The title of a schedule names the day from which it counts, its rows name the years.
            (_, Some(row)) if self.columns.get(column)?.is_dated_by_title => Some(row),
            (column, _) => column,
        }
    }

    /// The score of a row and a column of a plain table, and whether the labels say no more than
    /// the question, once for [`FitFigure::full`] and once for [`FitFigure::plain`]. `None` unless
    /// every word of the reading is in one of the two labels. A label that has none of the words
    /// costs less if it is a total.
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
        // The cost of a label, and whether it says more than the question.
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

    /// True if the corner of a plain table has the word. It is about all rows then.
    pub(super) fn is_heading(&self, word: &str) -> bool {
        self.plain && self.title.iter().any(|own| same_word(own, word))
    }

    /// The score of a row and a column of a report; whether the labels fit in full; whether section
    /// and title also say no more; and [`FitFigure::extra`]. `None` if no label names the figure.
    fn fit(
        &self,
        row: &ReportRow,
        column: &ReportColumn,
        reading: &[String],
        weights: &Weights,
    ) -> Option<(f64, bool, bool, usize)> {
        // In a balance sheet, "net of allowance" is a part of the row's name and not another
        // figure.
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
                || column.label.aside.contains(word)
            {
                named = true;
                ASIDE
            } else if row.section.contains(word) && !self.is_place(row, word) {
                named |= !weights.is_soft(word);
                ASIDE
            } else if self.title.contains(word) && self.statement.is_none() {
                // A row "2031" under the title "Maturities of debt" has its name only in the title.
                let dated = row.label.period.or(column.label.period).is_some();
                named |= dated && row.label.words.iter().all(is_light);
                IN_TITLE
            } else {
                // The title of a statement, such as "Balance sheet", does not name its rows.
                0.0
            };
            let mut weight = weights.of(word);
            // "Spent" is met by the row of any cost, even if the row does not say "expense".
            let spent = !COST_STEMS.contains(word)
                || names_cost(&row.printed)
                || row.is_charge()
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
        // Balances are always net of what reduces them; flows may also be printed gross.
        let apart = |word: &&String| {
            // Per share, earnings are always those of the shareholders.
            let per_share = row.label.words.iter().any(|own| own == "share");
            // "Net sales" and "sales" are one figure.
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
        // A section that only gives the place in a statement is not a doubt.
        let held = row.section.iter().any(|own| own == "held");
        let of_part = |word: &&String| match self.statement {
            Some(_) => PARTS.contains(*word) && (*word != "sale" || held),
            None => !STRUCTURAL_STEMS.contains(*word) && !weights.is_soft(word),
        };
        let mut of_whom: Vec<String> = row.section.iter().filter(of_part).cloned().collect();
        let heads = |word: &str| row.section.iter().any(|own| own.starts_with(word));
        // "Liabilities and equity" is the heading of every row that is not an asset.
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
        // A row without a label is a part of the row above it.
        let unnamed = row.printed.trim().is_empty() && column.label.words.is_empty();
        // "The allowance" does not mean the receivables net of it.
        let net = reading.iter().any(|word| word == "net");
        let deducted = !net && reading.iter().any(|word| row.label.deducted.contains(word));
        let full = !missing && label <= 0.0 && heading <= 0.0 && !unnamed && !deducted;
        let plain = unasked(&of_whom, reading, weights) <= 0.0
            && self.qualifiers.iter().all(|word| reading.contains(word));
        Some((score, full, full && plain, beside))
    }
}

/// All figures that fit an operand, the best first.
pub(super) fn candidates(
    tables: &[ReportTable],
    operand: &Operand,
    weights: &Weights,
    wanted: &dyn Fn(Option<&Period>) -> bool,
) -> Vec<FitFigure> {
    // In a plain table, a total is found by its label, so "total" need not be among the words.
    let plain = tables.iter().any(|table| table.plain);
    let readings = if plain {
        operand.of_parts().readings()
    } else {
        operand.readings()
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
    // If a row has an amount and its share of another, prefer the one asked for. A rate is always
    // printed as a percentage, so it loses nothing.
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
