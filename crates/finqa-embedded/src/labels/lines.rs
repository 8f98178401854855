//! A user's table by its labels: which cells a question's words and periods name in full.

use std::collections::BTreeMap;

use super::axis::{AxisLabel, is_light, label_words, same_word};
use super::comparisons::{ACTUAL, PLANNED};
use super::values::TableAmount;
use super::{keys, scales};
use crate::expr::{Expr, PageLeaf, literal_value};
use crate::reading::facts::{Fact, FactPlace, Facts};
use crate::reading::text::stem;
use crate::reading::words::synonyms;
use finqa_core::page::period::{CalendarSpan, WHOLE, spans};

/// What a part of a question asks for.
#[derive(Clone, Debug, Default)]
pub(crate) struct LabelQuery {
    pub(crate) words: Vec<String>,
    /// Words of the question's other parts, which decide between cells that fit alike.
    pub(crate) context: Vec<String>,
    /// A period of the page.
    pub(crate) span: Option<CalendarSpan>,
    /// Only percentages, or only amounts.
    pub(crate) percent: Option<bool>,
    /// Totals are left out.
    pub(crate) parts: bool,
}

impl LabelQuery {
    /// Whether a label has words that nobody asked for.
    pub(super) fn leaves_out(&self, label: &AxisLabel) -> bool {
        let asked = || self.words.iter().chain(&self.context);
        let called =
            |word: &String, own: &String| same_word(word, own) || synonyms(word).contains(own);
        let mut own = label.words.iter().filter(|own| !is_light(own));
        own.any(|own| !asked().any(|word| called(word, own)))
    }
}

/// The row and the column of a cell.
pub(crate) type Place = (usize, usize);

/// The cells that a query names best, all equally well.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellMatch {
    pub(crate) cells: Vec<Place>,
    /// Words of the query that neither label has.
    pub(crate) missing: Vec<String>,
    /// How many words a label has.
    pub(crate) found: usize,
}

pub(crate) struct LabelledTable<'a> {
    pub(crate) facts: &'a Facts,
    pub(crate) rows: Vec<AxisLabel>,
    pub(crate) columns: Vec<AxisLabel>,
    /// Words of the upper left cell and of headings, which are about all cells.
    corner: Vec<String>,
    /// Computed amounts, whose indices follow those of the facts.
    pub(super) derived: Vec<TableAmount>,
    /// Names of lines other than their labels, and the words that stand for them.
    pub(super) aliases: Vec<(String, Vec<String>)>,
    /// The columns that name the rows, if several do.
    pub(super) keys: Vec<usize>,
    /// The index of each cell's fact.
    pub(super) cells: BTreeMap<Place, usize>,
    /// The periods of the cells, in their order in time; no two cover the same months.
    pub(crate) periods: Vec<CalendarSpan>,
    /// The largest scale that a cell has of its own.
    pub(super) largest_scale: Option<f64>,
}

/// Words of a query that are weighed: one bit for each.
const MOST_WORDS: usize = u64::BITS as usize;

/// The words of the page's headings: short lines without a figure.
fn titles(facts: &Facts) -> Vec<String> {
    let of_text = |fact: &Fact| match fact.place {
        FactPlace::Text { sentence, .. } => Some(sentence),
        FactPlace::Cell { .. } => None,
    };
    let with_figures: Vec<usize> = facts.all.iter().filter_map(of_text).collect();
    let sentences = facts.sentences.iter().enumerate();
    // What is above another table, read as text, is not about this one.
    let of_other = |at: usize| {
        let next = facts
            .sentences
            .get(at + 1)
            .filter(|_| with_figures.contains(&(at + 1)));
        next.is_some_and(|next| next.text.contains(" : "))
    };
    // "Table 4: emissions": the figure is its number.
    let numbered = |text: &str| {
        let mut words = text.split(|c: char| !c.is_alphabetic());
        let first = words.find(|word| !word.is_empty()).unwrap_or_default();
        ["table", "note", "exhibit", "schedule", "item"].contains(&first)
    };
    // "Staff at 31 December": the figure is a day.
    let dated = |text: &str| {
        let mut text = text.to_lowercase();
        for named in spans(&text).into_iter().rev() {
            text.replace_range(named.at, " ");
        }
        !text.contains(|c: char| c.is_ascii_digit())
    };
    let short = sentences.filter(|(at, s)| {
        let plain = !with_figures.contains(at) || numbered(&s.text) || dated(&s.text);
        s.words.len() <= 16 && plain && !of_other(*at)
    });
    short
        .flat_map(|(_, sentence)| label_words(&sentence.text))
        .collect()
}

impl<'a> LabelledTable<'a> {
    pub(crate) fn read(facts: &'a Facts) -> Self {
        let mut cells = BTreeMap::new();
        let keys = keys::columns(facts);
        let dated: Vec<bool> = keys.iter().map(|key| keys::is_dated(facts, *key)).collect();
        for (index, fact) in facts.all.iter().enumerate() {
            if let Some(place) = fact.cell().filter(|place| !keys.contains(&place.1)) {
                cells.insert(place, index);
            }
        }
        let mut section = String::new();
        let mut rows = Vec::with_capacity(facts.rows.len());
        for (r, row) in facts.rows.iter().enumerate() {
            let empty = r > 0 && (1..facts.columns.len()).all(|c| !cells.contains_key(&(r, c)));
            if empty {
                section.clone_from(&row.name);
            }
            // "Total assets" below current assets is not of these alone.
            let apart = || {
                let label = AxisLabel::read(&row.name, "", &[]);
                label.total && label.words.len() > 1
            };
            let in_section = !section.is_empty() && !apart();
            let section = if in_section { section.as_str() } else { "" };
            rows.push(if keys.is_empty() {
                AxisLabel::read(&row.name, section, &row.years)
            } else {
                let written = facts.written.get(r);
                let named = |column: &usize| written.and_then(|row| row.get(*column));
                let names = keys.iter().zip(&dated).map(|(column, dated)| {
                    let name = named(column).map_or("", |name| name.trim());
                    if *dated {
                        AxisLabel::read(name, "", &[])
                    } else {
                        AxisLabel::undated(name)
                    }
                });
                AxisLabel::joined(names.collect())
            });
        }
        let columns: Vec<AxisLabel> = facts
            .columns
            .iter()
            .map(|column| AxisLabel::read(&column.name, "", &column.years))
            .collect();
        let of_corner = columns.first().map(|c| c.words.iter().chain(&c.aside));
        let mut corner: Vec<String> = of_corner.into_iter().flatten().cloned().collect();
        corner.extend(titles(facts));
        let mut table = Self {
            facts,
            rows,
            columns,
            corner,
            derived: Vec::new(),
            aliases: Vec::new(),
            keys,
            cells,
            periods: Vec::new(),
            largest_scale: scales::largest(facts),
        };
        table.find_rows_of_all();
        let mut periods: Vec<CalendarSpan> = Vec::new();
        for place in table.cells.keys() {
            let span = table.span_of(*place);
            let known = |span: &CalendarSpan| periods.iter().any(|other| other.covers(*span));
            let span = span.filter(|span| !known(span));
            periods.extend(span);
        }
        periods.sort_by_key(|span| span.order());
        table.periods = periods;
        table.add_figures();
        table
    }

    /// "All wards" under the heading "Ward" is a total.
    fn find_rows_of_all(&mut self) {
        let heading = self.columns.first().map_or(&[] as &[String], |c| &c.words);
        for row in self.rows.iter_mut().skip(1) {
            if !heading.is_empty() && row.words == heading && row.writes("all") {
                row.aside = std::mem::replace(&mut row.words, vec!["total".to_owned()]);
                row.total = true;
            }
        }
    }

    pub(crate) fn fact(&self, index: usize) -> Option<&'a Fact> {
        self.facts.all.get(index)
    }

    /// The fact of a cell.
    pub(crate) fn fact_at(&self, place: Place) -> Option<usize> {
        self.cells.get(&place).copied()
    }

    /// A cell as an amount. Percentages are numbers as printed.
    pub(super) fn amount_at(&self, place: Place) -> Option<TableAmount> {
        let index = self.fact_at(place)?;
        if let Some(at) = index.checked_sub(self.facts.all.len()) {
            return self.derived.get(at).cloned();
        }
        let fact = self.fact(index)?;
        let literal = fact.literal.trim_end_matches('%');
        let leaf = PageLeaf {
            value: literal_value(literal)?,
            literal: literal.into(),
            source: Some(index),
        };
        Some(TableAmount {
            number: leaf.value * scales::relative(self.facts, fact, self.largest_scale),
            expr: Expr::Leaf(leaf),
            percent: fact.percent,
            place,
        })
    }

    pub(super) fn is_percent(&self, place: Place) -> bool {
        let percent = |index: usize| match index.checked_sub(self.facts.all.len()) {
            Some(at) => self.derived.get(at).is_some_and(|amount| amount.percent),
            None => self.fact(index).is_some_and(|fact| fact.percent),
        };
        self.fact_at(place).is_some_and(percent)
    }

    /// The labels of a cell's row and column.
    pub(super) fn labels_of(&self, (row, column): Place) -> impl Iterator<Item = &AxisLabel> {
        let labels = [self.rows.get(row), self.columns.get(column)];
        labels.into_iter().flatten()
    }

    /// The name of a cell's row or column, if the label is such.
    pub(super) fn label_of(
        &self,
        place: Place,
        is: impl FnMut(&&AxisLabel) -> bool,
    ) -> Option<String> {
        self.labels_of(place)
            .find(is)
            .map(|label| label.name.clone())
    }

    /// The period of a cell.
    pub(crate) fn span_of(&self, (row, column): Place) -> Option<CalendarSpan> {
        let of = |labels: &[AxisLabel], at: usize| labels.get(at).and_then(|label| label.span);
        match (of(&self.rows, row), of(&self.columns, column)) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether its rows are what happened on single days, such as invoices.
    pub(crate) fn lists_days(&self) -> bool {
        !self.keys.is_empty() && self.periods.iter().any(|span| span.day.is_some())
    }

    /// Whether a cell is of a period; a day that rows list is of its month and quarter too.
    pub(crate) fn is_of(&self, place: Place, span: CalendarSpan) -> bool {
        self.span_of(place).is_some_and(|of_cell| {
            of_cell.covers(span) || self.lists_days() && of_cell.is_day_within(span)
        })
    }

    /// Of a figure and its plan, which fit alike, what has happened.
    pub(super) fn keep_actual(&self, cells: &mut Vec<Place>) {
        let of = |cell: &Place, words: &[&str]| {
            let mut labels = self.labels_of(*cell);
            labels.any(|label| words.iter().any(|word| label.writes(word)))
        };
        let some = |words: &[&str]| cells.iter().any(|cell| of(cell, words));
        if cells.len() == 2 && some(&ACTUAL) && some(&PLANNED) {
            cells.retain(|cell| !of(cell, &PLANNED));
        }
    }

    /// The row behind which no parts of a whole are: the only one called "Total", if any parts
    /// come before it. What follows it is of another kind: "of which", a cost of the parts.
    pub(super) fn end_of_parts(&self) -> usize {
        let bare = |(_, row): &(usize, &AxisLabel)| row.total && row.words.len() == 1;
        let mut totals = self.rows.iter().enumerate().skip(1).filter(bare);
        match (totals.next(), totals.next()) {
            (Some((at, _)), None) if at > 2 => at,
            _ => usize::MAX,
        }
    }

    /// The labels of the rows and of the columns, the upper left cell among these.
    pub(super) fn labels(&self) -> impl Iterator<Item = &AxisLabel> {
        self.rows.iter().skip(1).chain(&self.columns)
    }

    /// Whether any row or column has this word.
    pub(crate) fn knows(&self, word: &str) -> bool {
        let rows = self.rows.iter().skip(1);
        let labels = rows.chain(self.columns.iter().skip(1));
        labels.into_iter().any(|label| label.says(word)) || self.corner_says(word)
    }

    /// Whether a label has a word as it is.
    pub(crate) fn writes(&self, word: &str) -> bool {
        self.labels().any(|label| label.writes(word))
    }

    /// Whether any has this word or a synonym of it.
    pub(crate) fn means(&self, word: &str) -> bool {
        self.knows(&self.known_as(word))
    }

    pub(super) fn corner_says(&self, word: &str) -> bool {
        self.corner.iter().any(|other| other == word)
    }

    /// Whether a line that was found is named by more than the question says, and another line
    /// by this word: the column "Admissions" has no "staff cost".
    pub(super) fn is_of_another(&self, word: &str, query: &LabelQuery, found: &CellMatch) -> bool {
        let word = self.known_as(word);
        let another = |labels: &[AxisLabel], at: usize| {
            let mut others = labels.iter().skip(1).filter(|label| !label.derived);
            let more = labels.get(at).is_some_and(|label| query.leaves_out(label));
            more && others.any(|label| label.says(&word))
        };
        let mut cells = found.cells.iter();
        cells.any(|(row, column)| another(&self.rows, *row) || another(&self.columns, *column))
    }

    /// The word itself if a label has it, else a synonym that one has.
    fn known_as(&self, word: &str) -> String {
        if self.knows(word) {
            return word.to_owned();
        }
        let known = synonyms(word).iter().find(|other| self.knows(other));
        let scenario = || {
            let mut lists = [&ACTUAL as &[&str], &PLANNED].into_iter();
            let words = lists.find(|list| list.iter().any(|name| stem(name) == word))?;
            words
                .iter()
                .map(|name| stem(name).into_owned())
                .find(|name| self.knows(name))
        };
        known
            .cloned()
            .or_else(scenario)
            .unwrap_or_else(|| word.to_owned())
    }

    /// The cells that a query names best. "Net sales of A" is the row A, and what only "Total
    /// net sales" says is about all rows.
    pub(crate) fn find(&self, query: &LabelQuery) -> CellMatch {
        let found = self.best(query);
        let Some((first, _)) = found.cells.first() else {
            return found;
        };
        let of_one = found.cells.iter().all(|(row, _)| row == first);
        let Some(total) = self.rows.get(*first).filter(|row| row.total && of_one) else {
            return found;
        };
        let in_full = |row: &&AxisLabel| {
            let asked = |word: &String| query.words.iter().any(|other| same_word(other, word));
            !row.total && !row.words.is_empty() && row.words.iter().all(asked)
        };
        let mut items = self.rows.iter().skip(1).filter(in_full);
        let (Some(item), None) = (items.next(), items.next()) else {
            return found;
        };
        let said = |word: &&String| item.says(word) || !total.says(word);
        let (words, others): (Vec<&String>, Vec<&String>) = query.words.iter().partition(said);
        if item.words.iter().any(|word| total.says(word)) {
            return found;
        }
        let others = others.into_iter().chain(&query.context).cloned();
        self.best(&LabelQuery {
            context: others.collect(),
            words: words.into_iter().cloned().collect(),
            ..*query
        })
    }

    /// The cells that have most words of a query; none if it has more than can be weighed.
    fn best(&self, query: &LabelQuery) -> CellMatch {
        if query.words.len() > MOST_WORDS {
            return CellMatch::default();
        }
        let words: Vec<String> = query.words.iter().map(|word| self.known_as(word)).collect();
        let asked: Vec<&String> = words.iter().collect();
        let context: Vec<String> = query
            .context
            .iter()
            .map(|word| self.known_as(word))
            .collect();
        let context: Vec<&String> = context.iter().collect();
        let bits = |said: &dyn Fn(&str) -> bool| {
            let words = asked.iter().enumerate();
            words.fold(0_u64, |all, (at, word)| all | u64::from(said(word)) << at)
        };
        let weigh = |labels: &[AxisLabel]| -> Vec<(u64, f64)> {
            labels
                .iter()
                .map(|label| {
                    (
                        bits(&|word| label.says(word)),
                        label.excess(&asked, &context),
                    )
                })
                .collect()
        };
        let (rows, columns) = (weigh(&self.rows), weigh(&self.columns));
        let in_corner = bits(&|word| self.corner_says(word));
        let mut best: Option<(u32, f64)> = None;
        let mut out = CellMatch::default();
        for place in self.cells.keys().filter(|(row, _)| *row > 0) {
            let (row, column) = place;
            let (Some(of_row), Some(of_column)) = (rows.get(*row), columns.get(*column)) else {
                continue;
            };
            let fits = query.span.is_none_or(|span| self.is_of(*place, span));
            let kind = (query.percent).is_none_or(|percent| self.is_percent(*place) == percent);
            let total = self.labels_of(*place).any(|label| label.total);
            // A computed figure is of those alone who ask for it.
            let mut computed = self.labels_of(*place).filter(|label| label.derived);
            let unasked = computed.any(|label| {
                !label
                    .words
                    .iter()
                    .all(|word| words.contains(word) || query.context.contains(word))
            });
            if !fits || !kind || unasked || query.parts && total {
                continue;
            }
            let found = of_row.0 | of_column.0;
            let named = (found | in_corner).count_ones();
            // A word that only the corner has is worth less than one of a label.
            let of_corner = 0.2 * f64::from(named - found.count_ones());
            // Of a year and a fiscal year, the one that is asked for.
            let other = query.span.is_some() && query.span != self.span_of(*place);
            let excess = of_row.1 + of_column.1 + of_corner + 0.05 * f64::from(u8::from(other));
            let better = best
                .is_none_or(|(most, least)| named > most || named == most && excess < least - 1e-9);
            let equal =
                best.is_some_and(|(most, least)| named == most && (excess - least).abs() <= 1e-9);
            if better {
                best = Some((named, excess));
                out.cells.clear();
                let lacks = |at: &usize| (found | in_corner) & (1_u64 << at) == 0;
                let lacking = (0..query.words.len()).filter(lacks);
                out.missing = lacking
                    .filter_map(|at| query.words.get(at).cloned())
                    .collect();
                out.found = found.count_ones() as usize;
            }
            if better || equal {
                out.cells.push(*place);
            }
        }
        out
    }
}

/// Whether a page's period is a whole year.
pub(crate) fn is_year(span: CalendarSpan) -> bool {
    span.range() == WHOLE
}
