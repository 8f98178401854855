//! The fact store: every number of a page with the words that name it, its years and its place.
//!
//! It is read once for all questions about a page; `question::slot_scorer` ranks its facts for one.

use std::sync::Arc;

use finqa_core::number::Scale;
use finqa_core::page::{CellNumber, year_in_text, years_in};
use finqa_core::question::Document;

pub(crate) use super::fact::{Fact, FactColumn, FactPlace, FactRow, Sentence};
use super::outflow::names_outflow;
use super::prose;
use super::text::{TextToken, TokenKind, as_written, stem, tokenize};
use super::vocabulary::Vocabulary;
use crate::distinct;
use crate::expr::{Expr, value_of};

/// A page read into facts.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub all: Vec<Fact>,
    pub rows: Vec<FactRow>,
    pub columns: Vec<FactColumn>,
    pub sentences: Vec<Sentence>,
    /// Words of the table's upper left cell.
    pub(crate) corner: Vec<u32>,
    pub(crate) vocabulary: Vocabulary,
    /// The weight of each word: its inverse document frequency over rows, columns and sentences.
    pub(crate) idf: Vec<f64>,
    /// The scale that the table's caption states. `None` for a user's table, whose cells have their
    /// own scales.
    pub scale: Option<Scale>,
    /// The word "total", if the page has it.
    pub total: Option<u32>,
    /// The weights of the slot scorer, in the order of its features. They are here because the
    /// rules for plans and the reader of earlier turns score facts too, and have the page only.
    pub slot_weights: Vec<f64>,
    /// For each word the row of its vector, by [`Vocabulary::vectors`].
    pub(crate) vectors: Vec<Option<u16>>,
    /// True for a page of the user's own. The repairs of characters that the dataset lost are
    /// skipped, because they would erase `2013` and `2014` from it.
    pub users_page: bool,
}

impl Facts {
    /// Reads a page of the dataset, or of a user with one table. The marks and weights come last,
    /// because they compare all facts and words.
    pub(crate) fn read(document: &Document, slot_weights: &[f64]) -> Self {
        let mut facts = Self {
            slot_weights: slot_weights.to_vec(),
            users_page: document.own,
            ..Self::default()
        };
        facts.read_table(document);
        for (i, text) in document.sentences().enumerate() {
            facts.read_text(i + 1, text);
        }
        facts.vectors = facts.vocabulary.vectors();
        facts.weigh();
        facts.mark_balances();
        facts.mark_sums();
        facts
    }

    /// The row of a cell; `None` for a number in a sentence.
    pub(crate) fn row_of(&self, fact: &Fact) -> Option<&FactRow> {
        self.rows.get(fact.cell()?.0)
    }

    /// The column of a cell; `None` for a number in a sentence.
    pub(crate) fn column_of(&self, fact: &Fact) -> Option<&FactColumn> {
        self.columns.get(fact.cell()?.1)
    }

    /// The years of the table's columns and rows, with repetitions.
    pub(crate) fn table_years(&self) -> impl Iterator<Item = u16> {
        let of_columns = self.columns.iter().flat_map(|column| &*column.years);
        let of_rows = self.rows.iter().flat_map(|row| &row.years);
        of_columns.chain(of_rows).copied()
    }

    /// The facts of an expression from left to right, each with its index.
    pub(crate) fn of_expr(&self, expr: &Expr) -> impl Iterator<Item = (usize, &Fact)> {
        let indices = expr.leaves().into_iter().filter_map(|leaf| leaf.source);
        indices.filter_map(move |index| Some((index, self.all.get(index)?)))
    }

    /// Marks the cells that are a sum: in a column of the cells above, in a row of the cells to the
    /// left, or else to the right.
    fn mark_sums(&mut self) {
        let mut rows = vec![Vec::new(); self.rows.len()];
        let mut columns = vec![Vec::new(); self.columns.len()];
        for (i, fact) in self.all.iter().enumerate() {
            let Some((row, col)) = fact.cell() else {
                continue;
            };
            for (lines, line, place) in [(&mut rows, row, col), (&mut columns, col, row)] {
                if let Some(cells) = lines.get_mut(line) {
                    cells.push((i, place, fact.number));
                }
            }
        }
        for (lines, of_rows) in [(&columns, true), (&rows, false)] {
            for line in lines {
                for (at, (i, _, number)) in line.iter().enumerate() {
                    let Some(fact) = self.all.get_mut(*i) else {
                        continue;
                    };
                    let back = adding_up(*number, line.iter().take(at).rev());
                    if of_rows {
                        fact.adds_rows = back;
                    } else {
                        let ahead = || adding_up(*number, line.iter().skip(at + 1));
                        fact.adds_columns = back.or_else(ahead);
                    }
                }
            }
        }
    }

    /// Marks the cells of total rows and of opening and closing balances. "End" and "December" mean
    /// a closing balance only if the label is that of a balance, or another row is an opening
    /// balance.
    fn mark_balances(&mut self) {
        let known = |words: &[&str]| -> Vec<u32> {
            let stems = words.iter().map(|word| stem(word));
            stems.filter_map(|s| self.vocabulary.get(&s)).collect()
        };
        let opening = known(&["beginning", "january", "opening"]);
        let closing = known(&["ending", "end", "december", "closing"]);
        let balance = known(&["balance", "balances", "liability"]);
        let first = |row: &FactRow| row.label.iter().any(|word| opening.contains(word));
        // Row 0 is the header.
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

    /// The inverse document frequency of a word; 1 for a word that the page lacks.
    pub(crate) fn weight(&self, word: u32) -> f64 {
        self.idf.get(word as usize).copied().unwrap_or(1.0)
    }

    /// Prepares a text of the page, or a question about it, for `tokenize`: in lower case, and on a
    /// user's page with [`as_written`].
    pub(crate) fn written(&self, text: &str) -> String {
        let lower = text.to_lowercase();
        if self.users_page {
            as_written(&lower).into_owned()
        } else {
            lower
        }
    }

    /// The word of each token; `None` for stop words, years and punctuation.
    fn word_of_each(&mut self, tokens: &[TextToken<'_>]) -> Vec<Option<u32>> {
        let word = |token: &TextToken<'_>| match token.kind {
            TokenKind::Word | TokenKind::Number => self.vocabulary.intern(&token.text),
            TokenKind::Year(_) | TokenKind::Mark => None,
        };
        tokens.iter().map(word).collect()
    }

    /// The words of a text, each once.
    fn words(&mut self, text: &str) -> Vec<u32> {
        let text = self.written(text);
        distinct(self.word_of_each(&tokenize(&text)).into_iter().flatten())
    }

    /// Reads the table, whose header `finqa_core::page` has repaired.
    fn read_table(&mut self, document: &Document) {
        let table = &document.page().table;
        // In a user's table, each cell has a scale of its own (`scale_at` below).
        let caption = table.caption().filter(|_| !self.users_page);
        self.scale = caption.and_then(|caption| caption.scale);
        for (i, column) in table.columns().iter().enumerate() {
            let name = column.label.as_str();
            let name = if table.is_headerless() { "" } else { name };
            let label = self.words(name);
            if i == 0 {
                self.corner.clone_from(&label);
            }
            self.columns.push(FactColumn {
                name: name.to_owned(),
                label: label.into(),
                years: years_in(name).into(),
            });
        }
        if self.users_page {
            self.date_repeated_columns();
        }
        for (r, (row, cells)) in table.rows().iter().zip(table.cells()).enumerate() {
            let name = row.label.clone();
            let label = self.words(&name);
            let section = self.words(row.section.as_deref().unwrap_or_default());
            let mut full = label.clone();
            full.extend(section.into_iter().filter(|word| !label.contains(word)));
            self.rows.push(FactRow {
                years: years_in(&name),
                outflow: names_outflow(&name),
                name,
                label,
                full: full.into(),
                is_rate: row.is_of_rates(),
                ..FactRow::default()
            });
            for (c, cell) in cells.iter().enumerate().skip(1) {
                // In the header row, these are headings and not figures.
                let heading = |number: &CellNumber| {
                    year_in_text(&number.literal).is_some()
                        || !number.words().is_empty() && !number.dollar
                        || number.percent
                };
                // In the dataset, `2013` and `2014` can be the remains of a dash. They are skipped
                // even in a column of years; docs/decisions.md has the accuracy without this
                // exception.
                let lost = cell.is_lost_dash() && !self.users_page;
                let number = cell.number.as_ref().filter(|_| !lost);
                if let Some(number) = number.filter(|number| r > 0 || !heading(number)) {
                    let scale = table.scale_at(r, c).filter(|_| self.users_page);
                    self.push_cell(r, c, number, scale);
                }
            }
        }
    }

    /// Gives columns without a year, of which several have the same name, the year of the column to
    /// their left: in `2019 | % of total | 2018 | % of total`, the first percentages are of 2019.
    fn date_repeated_columns(&mut self) {
        // The page numbers labels that occur twice: "amount (group 1)".
        let base = |name: &str| name.split(" (group ").next().map(str::to_owned);
        let names: Vec<_> = self.columns.iter().map(|c| base(&c.name)).collect();
        let mut left: Arc<[u16]> = Arc::default();
        for column in self.columns.iter_mut().skip(1) {
            let own = base(&column.name);
            let repeated = names.iter().filter(|name| **name == own).count() > 1;
            if column.years.is_empty() && repeated {
                column.years = Arc::clone(&left);
            } else {
                left = Arc::clone(&column.years);
            }
        }
    }

    /// Adds the fact of a cell. The header names and dates only the cells below it, not row 0.
    fn push_cell(&mut self, row: usize, col: usize, number: &CellNumber, scale: Option<Scale>) {
        let extra = self.words(number.words());
        let Some(of_row) = self.rows.get(row) else {
            return;
        };
        let header = self.columns.get(col).filter(|_| row > 0);
        let header = header.map(|header| (Arc::clone(&header.label), Arc::clone(&header.years)));
        let (mut near, mut years) = header.unwrap_or_default();
        if !extra.is_empty() {
            near = near.iter().copied().chain(extra).collect();
        }
        if !of_row.years.is_empty() {
            let mut all = of_row.years.clone();
            all.extend(years.iter());
            // Drops only repeats side by side: the years of the row stay first.
            all.dedup();
            years = all.into();
        }
        let label = Arc::clone(&of_row.full);
        self.all.push(Fact {
            value: value_of(&number.literal, number.value),
            literal: (*number.literal).into(),
            number: number.value,
            percent: number.percent,
            dollar: number.dollar,
            scale: number.scale.or(scale),
            place: FactPlace::Cell { row, col },
            label,
            near,
            years,
            ..Fact::default()
        });
    }

    /// Adds the facts of a sentence of the document; `document_sentence` is its number, from
    /// 1.
    fn read_text(&mut self, document_sentence: usize, text: &str) {
        let text = self.written(text);
        for tokens in prose::sentences(tokenize(&text)) {
            let words = self.word_of_each(&tokens);
            let label: Arc<[u32]> = distinct(words.iter().flatten().copied()).into();
            let sentence = self.sentences.len();
            for number in prose::numbers(&tokens, self.users_page) {
                let fact = prose::fact(&number, document_sentence, sentence, &words, &label);
                self.all.push(fact);
            }
            let texts: Vec<&str> = tokens.iter().map(|token| &*token.text).collect();
            self.sentences.push(Sentence {
                text: texts.join(" "),
                words,
            });
        }
    }

    /// Computes the weights of words and row labels. A word weighs less, the more rows, columns and
    /// sentences have it.
    fn weigh(&mut self) {
        // For each word, the number of units that have it.
        let mut df = vec![0.0; self.vocabulary.len()];
        let mut units: f64 = 0.0;
        let mut count = |words: &[u32]| {
            units += 1.0;
            for word in words {
                if let Some(n) = df.get_mut(*word as usize) {
                    *n += 1.0;
                }
            }
        };
        // The words of a label are distinct.
        for row in self.rows.iter().skip(1) {
            count(&row.label);
        }
        for column in self.columns.iter().skip(1) {
            count(&column.label);
        }
        for sentence in &self.sentences {
            count(&distinct(sentence.words.iter().flatten().copied()));
        }
        // At least 0.2, so that a word that nearly all units have still counts. The 0.5 keeps the
        // quotient finite for a word that no unit has.
        let weight = |n: f64| libm::log((units + 1.0) / (n + 0.5)).max(0.2);
        self.idf = df.into_iter().map(weight).collect();
        let weight = |word: &u32| self.idf.get(*word as usize).copied().unwrap_or(1.0);
        for row in &mut self.rows {
            row.weight = row.label.iter().map(weight).sum();
        }
    }
}

/// Maximum difference between a total and the sum of the cells, as a share of the total: the cells
/// are rounded. Set by hand; a larger one would take more unrelated cells for totals.
const ROUNDING: f64 = 0.003;

/// Maximum number of cells that are added up to find a total. Each cell is compared with sums of
/// its neighbours, so without a limit the time would grow with the square of the column. Set by
/// hand.
const ADDENDS: usize = 40;

/// Adds up numbers, beginning with the first, until their sum is `total`. Returns the lowest and
/// the highest place of those added; `None` if no sum of two or more numbers matches.
///
/// A number comes with the index of its fact and its place: its row or its column. Zeros do not
/// count as numbers, because one number and zeros would be a sum. A total of zero matches nothing.
fn adding_up<'a>(
    total: f64,
    numbers: impl Iterator<Item = &'a (usize, usize, f64)>,
) -> Option<(u32, u32)> {
    if total.abs() <= 0.0 {
        return None;
    }
    let (mut sum, mut addends, mut first, mut last) = (0.0_f64, 0, usize::MAX, 0_usize);
    for (_, at, number) in numbers.take(ADDENDS) {
        sum += number;
        addends += usize::from(number.abs() > 0.0);
        (first, last) = (first.min(*at), last.max(*at));
        if addends > 1 && (sum - total).abs() <= ROUNDING * total.abs() {
            return Some((u32::try_from(first).ok()?, u32::try_from(last).ok()?));
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
        let read = |users_page: bool| {
            let document = Document {
                table: cells.map(|row| row.map(str::to_owned).to_vec()).to_vec(),
                own: users_page,
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
