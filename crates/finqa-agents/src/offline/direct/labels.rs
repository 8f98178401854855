//! A user's table by its labels: which cells a question's words and periods name in full.

use std::collections::BTreeMap;

use super::calendar::{CalendarSpan, WHOLE, spans};
use super::scales;
use crate::offline::reading::facts::{Fact, FactPlace, Facts};
use crate::offline::reading::text::{TextToken, TokenKind, stem, tokenize};
use crate::offline::reading::words::{is_stop, synonyms};

/// A row or a column as questions name it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AxisLabel {
    /// As the page writes it, without periods unless it is nothing else.
    pub(crate) name: String,
    /// Its words without periods, as a question's are compared with them.
    pub(crate) words: Vec<String>,
    /// Those in brackets, which a question may leave out: units, "(loss)".
    pub(super) aside: Vec<String>,
    /// Words of the section above it.
    section: Vec<String>,
    pub(crate) span: Option<CalendarSpan>,
    pub(crate) total: bool,
}

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

/// The cells that a query names best, all equally well.
#[derive(Clone, Debug, Default)]
pub(crate) struct CellMatch {
    /// Index of the fact, row and column.
    pub(crate) cells: Vec<(usize, usize, usize)>,
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
    /// Facts by row and column.
    pub(super) cells: BTreeMap<(usize, usize), usize>,
    /// The periods of the cells, in their order in time; no two cover the same months.
    pub(crate) periods: Vec<CalendarSpan>,
    /// The largest scale that a cell has of its own.
    pub(super) largest_scale: Option<f64>,
}

/// Words of a query that are weighed: one bit for each.
const MOST_WORDS: usize = u64::BITS as usize;

/// Words of a label that a question leaves out without meaning another row.
const LIGHT: [&str; 3] = ["total", "net", "overall"];

/// Words of a total, also in other languages.
const TOTALS: [&str; 5] = ["total", "gesamt", "insgesamt", "summe", "totale"];

/// The words of a text that name something, stemmed; numbers too.
pub(crate) fn label_words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let named = |token: &TextToken<'_>| {
        matches!(token.kind, TokenKind::Word | TokenKind::Number) && !is_stop(&token.text)
    };
    let tokens = tokenize(&lower).into_iter().filter(named);
    let mut words: Vec<String> = tokens.map(|token| token.text.into_owned()).collect();
    words.dedup();
    words
}

/// Whether two stems are of one word: `matur` and `maturity`.
pub(crate) fn same_word(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    short == long || short.len() >= 5 && long.starts_with(short) && long.len() <= short.len() + 3
}

/// Whether a name is nothing but capitals.
fn is_abbreviation(name: &str) -> bool {
    !name.is_empty() && name.chars().all(char::is_uppercase)
}

impl AxisLabel {
    fn read(name: &str, section: &str, years: &[u16]) -> Self {
        let name = name.split(" (group ").next().unwrap_or(name).trim();
        let mut lower = name.to_lowercase();
        let named = spans(&lower);
        let mut span = match named.as_slice() {
            [one] => Some(one.span),
            _ => None,
        };
        if let ([], [year]) = (named.as_slice(), years) {
            span = Some(CalendarSpan::default().in_year(*year));
        }
        // Lower case may differ in length; the name is then kept in it.
        let mut shown = if lower.len() == name.len() {
            name.to_owned()
        } else {
            lower.clone()
        };
        for named in named.iter().rev() {
            lower.replace_range(named.at.clone(), " ");
            if shown.is_char_boundary(named.at.start) && shown.is_char_boundary(named.at.end) {
                shown.replace_range(named.at.clone(), " ");
            }
        }
        let (plain, aside) = without_brackets(&lower);
        let mut words = label_words(&plain);
        // "IT" is a name, "it" is not.
        if words.is_empty() && is_abbreviation(name) {
            words.push(name.to_lowercase());
        }
        let shown = finqa_core::text::single_spaced(&shown);
        let shown = if words.is_empty() { name } else { shown.trim() };
        Self {
            total: words.iter().any(|word| TOTALS.contains(&&**word)),
            name: shown.to_owned(),
            words,
            aside: label_words(&aside),
            section: label_words(section),
            span,
        }
    }

    /// Whether both have the same words, of any periods.
    pub(crate) fn is_alike(&self, other: &Self) -> bool {
        self.words == other.words && self.aside == other.aside
    }

    /// Whether it has a word, and otherwise only some of these.
    pub(super) fn names(&self, word: &str, others: &[&str]) -> bool {
        let of = |word: &str, own: &String| same_word(&stem(word), own);
        self.words.iter().any(|own| of(word, own))
            && (self.words.iter()).all(|own| others.iter().any(|other| of(other, own)))
    }

    /// Whether its name has a word as it is.
    pub(crate) fn writes(&self, word: &str) -> bool {
        let name = self.name.to_lowercase();
        name.split(|c: char| !c.is_alphabetic())
            .any(|other| other == word)
    }

    pub(crate) fn says(&self, word: &str) -> bool {
        let all = self.words.iter().chain(&self.aside).chain(&self.section);
        all.into_iter().any(|other| same_word(other, word))
    }

    /// Whether only its section says a word, and so does not tell it from its neighbours.
    fn says_by_section(&self, word: &str) -> bool {
        let own = self.words.iter().chain(&self.aside);
        self.says(word) && !own.into_iter().any(|other| same_word(other, word))
    }

    /// The weight of its words that nobody asked for, and of those that only its section has.
    /// Words of the context excuse a label's own, but a label without them fits better.
    fn excess(&self, asked: &[&String], context: &[&String]) -> f64 {
        let said = |words: &[&String]| words.iter().any(|word| self.says(word));
        // Labels that say none of them fit alike, however long they are.
        if !self.words.is_empty() && !said(asked) && !said(context) {
            let light = self.words.iter().all(|word| LIGHT.contains(&&**word));
            return if light { 0.5 } else { 1.0 };
        }
        let of_section = asked
            .iter()
            .filter(|word| self.says_by_section(word))
            .count();
        let is_in = |words: &[&String], word: &str| words.iter().any(|o| same_word(o, word));
        let missing = |word: &&String| !is_in(asked, word);
        let weight = |word: &String| match (LIGHT.contains(&&**word), is_in(context, word)) {
            (true, true) => 0.0,
            (false, true) => 0.05,
            (true, false) => 0.5,
            (false, false) => 1.0,
        };
        let words: f64 = self.words.iter().filter(missing).map(weight).sum();
        #[allow(clippy::cast_precision_loss, reason = "labels are short")]
        let aside = self
            .aside
            .iter()
            .filter(|word| missing(word) && !is_in(context, word));
        let aside = aside.count() as f64;
        #[allow(clippy::cast_precision_loss, reason = "questions are short")]
        let of_section = of_section as f64;
        words + 0.1 * aside + 0.3 * of_section
    }
}

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
    let short = sentences.filter(|(at, s)| {
        let plain = !with_figures.contains(at) || numbered(&s.text);
        s.words.len() <= 16 && plain && !of_other(*at)
    });
    short
        .flat_map(|(_, sentence)| label_words(&sentence.text))
        .collect()
}

/// A text without what it has in brackets, and that.
pub(crate) fn without_brackets(text: &str) -> (String, String) {
    let (mut plain, mut aside, mut depth) = (String::new(), String::new(), 0_u32);
    for c in text.chars() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ if depth > 0 => aside.push(c),
            _ => plain.push(c),
        }
        if matches!(c, '(' | ')' | '[' | ']') {
            plain.push(' ');
            aside.push(' ');
        }
    }
    (plain, aside)
}

impl<'a> LabelledTable<'a> {
    pub(crate) fn read(facts: &'a Facts) -> Self {
        let mut cells = BTreeMap::new();
        for (index, fact) in facts.all.iter().enumerate() {
            if let Some(place) = fact.cell() {
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
            rows.push(AxisLabel::read(&row.name, &section, &row.years));
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
            cells,
            periods: Vec::new(),
            largest_scale: scales::largest(facts),
        };
        let mut periods: Vec<CalendarSpan> = Vec::new();
        for (row, column) in table.cells.keys() {
            let span = table.span_of(*row, *column);
            let known = |span: &CalendarSpan| periods.iter().any(|other| other.covers(*span));
            let span = span.filter(|span| !known(span));
            periods.extend(span);
        }
        periods.sort_by_key(|span| span.order());
        table.periods = periods;
        table
    }

    pub(crate) fn fact(&self, index: usize) -> Option<&'a Fact> {
        self.facts.all.get(index)
    }

    /// The fact of a cell.
    pub(crate) fn fact_at(&self, place: (usize, usize)) -> Option<usize> {
        self.cells.get(&place).copied()
    }

    /// The name of a cell's row or column, if the label is such.
    pub(super) fn label_of(
        &self,
        (row, column): (usize, usize),
        is: impl FnMut(&&AxisLabel) -> bool,
    ) -> Option<String> {
        let labels = [self.rows.get(row), self.columns.get(column)];
        let found = labels.into_iter().flatten().find(is);
        found.map(|label| label.name.clone())
    }

    /// The period of a cell.
    pub(crate) fn span_of(&self, row: usize, column: usize) -> Option<CalendarSpan> {
        let of = |labels: &[AxisLabel], at: usize| labels.get(at).and_then(|label| label.span);
        match (of(&self.rows, row), of(&self.columns, column)) {
            (Some(a), Some(b)) => Some(a.and(b)),
            (a, b) => a.or(b),
        }
    }

    /// Whether a cell is of a period.
    pub(crate) fn is_of(&self, (row, column): (usize, usize), span: CalendarSpan) -> bool {
        self.span_of(row, column)
            .is_some_and(|of_cell| of_cell.covers(span))
    }

    /// Whether any row or column has this word.
    pub(crate) fn knows(&self, word: &str) -> bool {
        let rows = self.rows.iter().skip(1);
        let labels = rows.chain(self.columns.iter().skip(1));
        labels.into_iter().any(|label| label.says(word)) || self.corner_says(word)
    }

    /// Whether a label has a word as it is.
    pub(crate) fn writes(&self, word: &str) -> bool {
        let mut labels = self.rows.iter().chain(&self.columns).skip(1);
        labels.any(|label| label.writes(word))
    }

    /// Whether any has this word or a synonym of it.
    pub(crate) fn means(&self, word: &str) -> bool {
        self.knows(&self.known_as(word))
    }

    fn corner_says(&self, word: &str) -> bool {
        self.corner.iter().any(|other| other == word)
    }

    /// The word itself if a label has it, else a synonym that one has.
    fn known_as(&self, word: &str) -> String {
        if self.knows(word) {
            return word.to_owned();
        }
        let known = synonyms(word).iter().find(|other| self.knows(other));
        known.map_or_else(|| word.to_owned(), Clone::clone)
    }

    /// The cells that a query names best. "Net sales of A" is the row A, and what only "Total
    /// net sales" says is about all rows.
    pub(crate) fn find(&self, query: &LabelQuery) -> CellMatch {
        let found = self.best(query);
        let Some((_, first, _)) = found.cells.first() else {
            return found;
        };
        let of_one = found.cells.iter().all(|(_, row, _)| row == first);
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
        for ((row, column), index) in self.cells.iter().filter(|((row, _), _)| *row > 0) {
            let (Some(of_row), Some(of_column)) = (rows.get(*row), columns.get(*column)) else {
                continue;
            };
            let fits = query
                .span
                .is_none_or(|span| self.is_of((*row, *column), span));
            let kind = query.percent.is_none_or(|percent| {
                self.fact(*index)
                    .is_some_and(|fact| fact.percent == percent)
            });
            let labels = [self.rows.get(*row), self.columns.get(*column)];
            let total = labels.iter().flatten().any(|label| label.total);
            if !fits || !kind || query.parts && total {
                continue;
            }
            let found = of_row.0 | of_column.0;
            let named = (found | in_corner).count_ones();
            // A word that only the corner has is worth less than one of a label.
            let of_corner = 0.2 * f64::from(named - found.count_ones());
            // Of a year and a fiscal year, the one that is asked for.
            let other = query.span.is_some() && query.span != self.span_of(*row, *column);
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
                out.cells.push((*index, *row, *column));
            }
        }
        out
    }
}

/// Whether a page's period is a whole year.
pub(crate) fn is_year(span: CalendarSpan) -> bool {
    span.range() == WHOLE
}
