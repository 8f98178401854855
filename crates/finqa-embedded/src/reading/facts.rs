//! The fact store: every number of a page with its names, its years, and its place.
//!
//! It does not know the question; `slots` ranks facts for one.

use std::sync::Arc;

use finqa_core::number::Scale;
use finqa_core::page::{CellNumber, year_in_text, years_in};
use finqa_core::question::Document;

pub(crate) use super::fact::{Fact, FactColumn, FactPlace, FactRow, Sentence};
use super::prose;
use super::similarity;
use super::text::{TextToken, TokenKind, as_written, stem, tokenize};
use super::vocabulary::Vocabulary;
use crate::expr::literal_value;

/// A page read into facts.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub all: Vec<Fact>,
    pub rows: Vec<FactRow>,
    pub columns: Vec<FactColumn>,
    pub sentences: Vec<Sentence>,
    /// Words of the upper left cell.
    pub(crate) corner: Vec<u32>,
    pub(crate) vocabulary: Vocabulary,
    /// Inverse document frequency by word, over rows, columns and sentences.
    pub(crate) idf: Vec<f64>,
    /// The scale of the table's amounts.
    pub scale: Option<Scale>,
    /// The word `total`, where the page has it.
    pub total: Option<u32>,
    /// By the features of `slots`.
    pub slot_weights: Vec<f64>,
    /// The vector of each word that has one, by [`similarity::row`].
    pub(crate) vectors: Vec<Option<u16>>,
    /// The page is the user's own: it has no lost escapes.
    pub own: bool,
}

impl Facts {
    pub(crate) fn read(document: &Document, slot_weights: &[f64]) -> Self {
        let mut facts = Self {
            slot_weights: slot_weights.to_vec(),
            own: document.own,
            ..Self::default()
        };
        facts.read_table(document);
        for (i, filed) in document.sentences().enumerate() {
            facts.read_text(i + 1, filed);
        }
        facts.vectors = facts.vocabulary.stems(similarity::row);
        facts.weigh();
        facts.mark_balances();
        facts.mark_sums();
        facts
    }

    /// Marks the cells that are the sum of cells next to them.
    fn mark_sums(&mut self) {
        let mut rows = vec![Vec::new(); self.rows.len()];
        let mut columns = vec![Vec::new(); self.columns.len()];
        for (i, fact) in self.all.iter().enumerate() {
            let Some((row, col)) = fact.cell() else {
                continue;
            };
            if let Some(cells) = rows.get_mut(row) {
                cells.push((i, col, fact.number));
            }
            if let Some(cells) = columns.get_mut(col) {
                cells.push((i, row, fact.number));
            }
        }
        for (lines, of_rows) in [(&columns, true), (&rows, false)] {
            for line in lines {
                for (at, (i, _, number)) in line.iter().enumerate() {
                    let (before, rest) = line.split_at(at);
                    let after = rest.get(1..).unwrap_or_default();
                    let back = adding_up(*number, before.iter().rev());
                    let Some(fact) = self.all.get_mut(*i) else {
                        continue;
                    };
                    if of_rows {
                        fact.adds_rows = back;
                    } else {
                        fact.adds_columns = back.or_else(|| adding_up(*number, after.iter()));
                    }
                }
            }
        }
    }

    /// Marks the cells of total rows and of opening and closing balances.
    fn mark_balances(&mut self) {
        let known = |words: &[&str]| -> Vec<u32> {
            let stems = words.iter().map(|word| stem(word));
            stems.filter_map(|s| self.vocabulary.get(&s)).collect()
        };
        let opening = known(&["beginning", "january", "opening"]);
        let closing = known(&["ending", "end", "december", "closing"]);
        let balance = known(&["balance", "balances", "liability"]);
        let first = |row: &FactRow| row.label.iter().any(|word| opening.contains(word));
        let opened = self.rows.iter().skip(1).any(first);
        self.total = self.vocabulary.get("total");
        for fact in self.all.iter_mut().filter(|fact| fact.cell().is_some()) {
            let says = |words: &[u32]| words.iter().any(|word| fact.label.contains(word));
            let (opens, closes) = (says(&opening), says(&closing) && (opened || says(&balance)));
            fact.total = self.total.is_some_and(|word| fact.label.contains(&word));
            fact.opening = opens;
            fact.closing = closes && !opens;
        }
    }

    pub(crate) fn weight(&self, word: u32) -> f64 {
        self.idf.get(word as usize).copied().unwrap_or(1.0)
    }

    /// A text of the page, or of a question about it, as `tokenize` reads it.
    pub(crate) fn written(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        if self.own {
            as_written(&lower).into_owned()
        } else {
            lower
        }
    }

    fn words(&mut self, text: &str) -> (Vec<u32>, Vec<u16>) {
        let text = self.written(text);
        let tokens = tokenize(&text);
        let mut words = Vec::new();
        for token in &tokens {
            if matches!(token.kind, TokenKind::Word | TokenKind::Number)
                && let Some(word) = self.vocabulary.intern(&token.text)
                && !words.contains(&word)
            {
                words.push(word);
            }
        }
        let mut years: Vec<u16> = tokens.iter().filter_map(TextToken::year).collect();
        years.dedup();
        (words, years)
    }

    /// Reads the table, its header repaired.
    fn read_table(&mut self, document: &Document) {
        let table = &document.page().table;
        // Each figure of a user's table has its own.
        let caption = table.caption().filter(|_| !self.own);
        self.scale = caption.and_then(|caption| caption.scale);
        for (i, column) in table.columns().iter().enumerate() {
            let name = if table.is_headerless() {
                ""
            } else {
                column.label.as_str()
            };
            let (label, _) = self.words(name);
            if i == 0 {
                self.corner.clone_from(&label);
            }
            self.columns.push(FactColumn {
                name: name.to_owned(),
                label: label.into(),
                years: years_in(name),
            });
        }
        if self.own {
            self.date_repeated_columns();
        }
        for (r, (row, cells)) in table.rows().iter().zip(table.cells()).enumerate() {
            let name = row.label.clone();
            let (label, _) = self.words(&name);
            let (section, _) = self.words(row.section.as_deref().unwrap_or_default());
            let mut full = label.clone();
            full.extend(section.into_iter().filter(|word| !label.contains(word)));
            self.rows.push(FactRow {
                years: years_in(&name),
                name,
                label,
                full: full.into(),
                is_rate: row.is_of_rates(),
                ..FactRow::default()
            });
            for (c, cell) in cells.iter().enumerate().skip(1) {
                let heading = |number: &CellNumber| {
                    year_in_text(&number.literal).is_some()
                        || !number.words.is_empty() && !number.dollar
                        || number.percent
                };
                // Even among years: so it was on the pages that the weights were trained on.
                let lost = cell.is_lost_dash() && !self.own;
                let number = cell.number.as_ref().filter(|_| !lost);
                if let Some(number) = number.filter(|number| r > 0 || !heading(number)) {
                    let scale = table.scale_at(r, c).filter(|_| self.own);
                    self.push_cell(r, c, number, scale);
                }
            }
        }
    }

    /// Columns of one name without a year, such as "% of total" after each year's amounts, are
    /// of the year of the column to their left.
    fn date_repeated_columns(&mut self) {
        // `Table` numbers labels that occur twice.
        let base = |name: &str| name.split(" (group ").next().map(str::to_owned);
        let names: Vec<_> = self.columns.iter().map(|c| base(&c.name)).collect();
        let mut left: Vec<u16> = Vec::new();
        for column in self.columns.iter_mut().skip(1) {
            let own = base(&column.name);
            let repeated = names.iter().filter(|name| **name == own).count() > 1;
            if column.years.is_empty() && repeated {
                column.years.clone_from(&left);
            } else {
                left.clone_from(&column.years);
            }
        }
    }

    fn push_cell(&mut self, row: usize, col: usize, number: &CellNumber, scale: Option<Scale>) {
        let (extra, _) = self.words(&number.words);
        let (Some(of_row), column) = (self.rows.get(row), self.columns.get(col)) else {
            return;
        };
        let scale = number.scale.or(scale);
        let header = column.filter(|_| row > 0).map(|c| Arc::clone(&c.label));
        let mut near = header.unwrap_or_default();
        if !extra.is_empty() {
            near = near.iter().copied().chain(extra).collect();
        }
        let mut years = of_row.years.clone();
        years.extend(column.iter().flat_map(|c| &c.years).filter(|_| row > 0));
        years.dedup();
        let label = Arc::clone(&of_row.full);
        self.all.push(Fact {
            value: literal_value(&number.literal).unwrap_or(number.value),
            literal: number.literal.as_str().into(),
            number: number.value,
            percent: number.percent,
            dollar: number.dollar,
            scale,
            place: FactPlace::Cell { row, col },
            label,
            near,
            years,
            total: false,
            opening: false,
            closing: false,
            adds_rows: None,
            adds_columns: None,
        });
    }

    fn read_text(&mut self, filed: usize, text: &str) {
        let text = self.written(text);
        for tokens in prose::sentences(tokenize(&text)) {
            let words: Vec<Option<u32>> = tokens
                .iter()
                .map(|t| {
                    let wordy = matches!(t.kind, TokenKind::Word | TokenKind::Number);
                    wordy.then(|| self.vocabulary.intern(&t.text)).flatten()
                })
                .collect();
            let sentence = self.sentences.len();
            let label: Arc<[u32]> = prose::distinct(&words).into();
            for number in prose::numbers(&tokens, self.own) {
                let fact = prose::fact(&number, filed, sentence, &words, &label);
                self.all.push(fact);
            }
            let pieces = tokens.iter().map(|token| token.text.as_ref());
            let mut joined = String::with_capacity(text.len());
            for piece in pieces {
                joined.push_str(piece);
                joined.push(' ');
            }
            joined.pop();
            self.sentences.push(Sentence {
                text: joined,
                words,
            });
        }
    }

    fn weigh(&mut self) {
        // Of each word in how many units it is, and the last of them.
        let mut df = vec![(0.0_f64, 0.0_f64); self.vocabulary.len()];
        let mut units = 0.0;
        let mut count = |words: &mut dyn Iterator<Item = u32>| {
            units += 1.0;
            for word in words {
                if let Some((n, last)) = df.get_mut(word as usize)
                    && *last < units
                {
                    (*n, *last) = (*n + 1.0, units);
                }
            }
        };
        for row in self.rows.iter().skip(1) {
            count(&mut row.label.iter().copied());
        }
        for column in self.columns.iter().skip(1) {
            count(&mut column.label.iter().copied());
        }
        for sentence in &self.sentences {
            count(&mut sentence.words.iter().flatten().copied());
        }
        let total: f64 = units;
        self.idf = df
            .into_iter()
            .map(|(n, _)| libm::log((total + 1.0) / (n + 0.5)).max(0.2))
            .collect();
        let weight = |word: &u32| self.idf.get(*word as usize).copied().unwrap_or(1.0);
        for row in &mut self.rows {
            row.weight = row.label.iter().map(weight).sum();
        }
    }
}

/// How far a printed total may be from the sum, as a share of it.
const ROUNDING: f64 = 0.003;

/// The most numbers that are added up.
const ADDENDS: usize = 40;

/// The first and last place of the shortest run, two or more of the numbers, that has the sum.
fn adding_up<'a>(
    total: f64,
    numbers: impl Iterator<Item = &'a (usize, usize, f64)>,
) -> Option<(usize, usize)> {
    if total.abs() <= 0.0 {
        return None;
    }
    let (mut sum, mut addends, mut ends) = (0.0_f64, 0, None::<(usize, usize)>);
    for (_, at, number) in numbers.take(ADDENDS) {
        sum += number;
        addends += usize::from(number.abs() > 0.0);
        let (first, last) = ends.unwrap_or((*at, *at));
        ends = Some((first.min(*at), last.max(*at)));
        if addends > 1 && (sum - total).abs() <= ROUNDING * total.abs() {
            return ends;
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_2014_is_a_figure_on_a_page_of_the_users_own_alone() {
        let cells = [
            ["plan", "expires"],
            ["first", "2012"],
            ["second", "2014"],
            ["third", "2015"],
        ];
        let read = |own: bool| {
            let document = Document {
                table: cells.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
                own,
                ..Document::default()
            };
            let facts = Facts::read(&document, &[]);
            let has = |literal: &str| facts.all.iter().any(|fact| &*fact.literal == literal);
            [has("2012"), has("2014")]
        };
        assert_eq!((read(false), read(true)), ([true, false], [true, true]));
    }

    #[test]
    fn a_total_names_the_first_and_last_of_what_it_adds_up() {
        let numbers = [(0, 3, 5.0), (1, 2, 70.1), (2, 1, 30.0)];
        assert_eq!(adding_up(100.0, numbers.iter()), None);
        assert_eq!(adding_up(105.2, numbers.iter()), Some((1, 3)));
        assert_eq!(adding_up(75.1, numbers.iter()), Some((2, 3)));
        assert_eq!(adding_up(0.0, numbers.iter()), None);
    }
}
