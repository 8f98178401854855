//! Counts of the rows that a question describes: "how many invoices are above 500?".

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::DirectAnswer;
use super::axis::{AxisLabel, label_words};
use super::comparisons::ACTUAL;
use super::keys::NUMBERED;
use super::lines::LabelQuery;
use super::quantities::is_filler;
use super::scales;
use super::values::{DirectReader, NoReading, Reading, TableAmount};
use crate::expr::Expr;
use crate::reading::text::stem;
use finqa_core::number::{self, NumberReading};

/// How a figure of a counted row compares with a limit, by the phrase before the limit.
const LIMITS: [(&str, Ordering); 12] = [
    ("more than", Ordering::Greater),
    ("greater than", Ordering::Greater),
    ("higher than", Ordering::Greater),
    ("larger than", Ordering::Greater),
    ("above", Ordering::Greater),
    ("over", Ordering::Greater),
    ("less than", Ordering::Less),
    ("fewer than", Ordering::Less),
    ("lower than", Ordering::Less),
    ("smaller than", Ordering::Less),
    ("below", Ordering::Less),
    ("under", Ordering::Less),
];

/// Nouns for the rows of any table.
const ITEMS: [&str; 6] = ["item", "line", "entry", "one", "row", "thing"];

/// Words that compare a figure with zero.
const SIGNS: [(&str, Ordering); 7] = [
    ("no", Ordering::Equal),
    ("without", Ordering::Equal),
    ("out of", Ordering::Equal),
    ("negative", Ordering::Less),
    ("below zero", Ordering::Less),
    ("positive", Ordering::Greater),
    ("above zero", Ordering::Greater),
];

/// Words between the counted noun and what is said of it.
const VERBS: [&str; 14] = [
    "are", "is", "were", "was", "have", "has", "had", "do", "does", "did", "there", "with", "in",
    "on",
];

impl DirectReader<'_> {
    /// The number of rows, or of names in the column that the noun after "how many" heads;
    /// `None` if the noun is a quantity of the table.
    pub(super) fn row_count(&mut self) -> Reading<Option<DirectAnswer>> {
        let Some((_, rest)) = self.asked.wording.split("how many") else {
            return Ok(None);
        };
        let words: Vec<&str> = rest.split_whitespace().collect();
        let end = words.iter().position(|word| VERBS.contains(word));
        let (noun, rest) = words.split_at(end.unwrap_or(words.len()));
        let mut nouns = label_words(&noun.join(" "));
        let heading = |noun: &String| self.table.columns.iter().any(|label| label.says(noun));
        nouns.retain(|noun| !is_filler(noun) || heading(noun));
        let Some(column) = self.headed(&nouns) else {
            return Ok(None);
        };
        let not_read = || NoReading::Missing("it asks for a number of rows".to_owned());
        let described = self.described(&rest.join(" ")).map_err(|_| not_read())?;
        let names = self.names_of(&described, column);
        let count = Expr::literal(&names.len().to_string()).ok_or(NoReading::Open)?;
        Ok(Some(DirectAnswer::number("count of rows", count)))
    }

    /// "Which invoices are above 500?": the names of the rows whose figure is on one side of a
    /// limit.
    pub(super) fn described_rows(&mut self, noun: &str) -> Reading<DirectAnswer> {
        let (_, clause) = self.asked.wording.split(noun).ok_or(NoReading::Open)?;
        let column = self.headed(&label_words(noun)).ok_or(NoReading::Open)?;
        if limit(&clause).is_none() {
            return Err(NoReading::Open);
        }
        let described = self.described(&clause)?;
        let names = self.names_of(&described, column);
        let none = || NoReading::Missing("no row is such".to_owned());
        let first = described.into_iter().next().ok_or_else(none)?;
        let label = Some(names.into_iter().collect::<Vec<_>>().join(", "));
        Ok(DirectAnswer {
            label,
            ..DirectAnswer::number("labels of rows", first.expr)
        })
    }

    /// The names of rows in a column, without totals.
    fn names_of(&self, amounts: &[TableAmount], column: usize) -> Vec<String> {
        let key = self.table.keys.iter().position(|key| *key == column);
        let rows = amounts
            .iter()
            .map(|amount| self.table.rows.get(amount.place.0));
        let parts = rows.flatten().filter(|label| !label.total);
        let names = parts.map(|label| key.and_then(|key| label.keys.get(key)).unwrap_or(label));
        let mut all: Vec<String> = Vec::new();
        for name in names.map(|name| &name.name).filter(|name| !name.is_empty()) {
            if !all.contains(name) {
                all.push(name.clone());
            }
        }
        all
    }

    /// The column of row names whose heading has these words, which no other label has.
    pub(super) fn headed(&self, nouns: &[String]) -> Option<usize> {
        let keys = match self.table.keys.as_slice() {
            [] => &[0],
            keys => keys,
        };
        let says = |column: &&usize| {
            let label = self.table.columns.get(**column);
            !nouns.is_empty()
                && label.is_some_and(|label| nouns.iter().all(|noun| label.says_noun(noun)))
        };
        if matches!(nouns, [noun] if ITEMS.iter().any(|item| stem(item) == *noun)) {
            let numbered = |column: &&usize| {
                let name = self.table.facts.columns.get(**column);
                name.is_some_and(|name| NUMBERED.contains(&&*name.name.to_lowercase()))
            };
            let named = keys.iter().find(|column| !numbered(column));
            return keys.iter().find(says).or(named).copied();
        }
        let column = keys.iter().find(says)?;
        let others = self.table.columns.iter().enumerate();
        let others = others
            .filter(|(at, _)| !keys.contains(at))
            .map(|(_, label)| label);
        let mut others = others.chain(self.table.rows.iter().skip(1));
        let said = |label: &AxisLabel| nouns.iter().any(|noun| label.says(noun));
        (!others.any(said)).then_some(*column)
    }

    /// The rows that a clause is about: all, those with a name in it, those whose figure is on
    /// one side of a limit.
    fn described(&mut self, clause: &str) -> Reading<Vec<TableAmount>> {
        let text = format!(" {clause} ");
        if [" not ", " or ", " at least ", " at most ", " and "]
            .iter()
            .any(|word| text.contains(word))
        {
            return Err(NoReading::Open);
        }
        let (figure, limit) = match limit(&text) {
            None => (text.clone(), None),
            Some((left, Some(limit), right, side)) => {
                (format!("{left} {right}"), Some((limit, side)))
            }
            Some((left, None, right, side)) => return self.beyond_column(&left, &right, side),
        };
        let span = match self.asked.spans() {
            [] => None,
            [span] => Some(self.only_period(*span)?),
            _ => return Err(NoReading::Open),
        };
        let mut operand = self.asked.operand(&self.table, &figure, &[&VERBS]);
        for word in &mut operand.words {
            *word = self.table.measured(word);
        }
        let query = LabelQuery {
            parts: true,
            ..operand.query(span)
        };
        let doubts = self.doubts.len();
        let cells = match operand.words.is_empty() {
            true => self.table.find(&query).cells,
            false => self.cells(&query)?,
        };
        let columns: BTreeSet<usize> = cells.iter().map(|(_, column)| *column).collect();
        let rows: BTreeSet<usize> = cells.iter().map(|(row, _)| *row).collect();
        let one_figure = columns.len() == 1 && rows.len() == cells.len() && rows.len() > 1;
        if self.doubts.len() > doubts || limit.is_some() && !one_figure {
            return Err(NoReading::Open);
        }
        let amounts = cells
            .iter()
            .filter_map(|place| self.table.amount_at(*place));
        let amounts: Vec<TableAmount> = amounts.collect();
        let limit = match limit {
            None => None,
            Some((limit, side)) => {
                let to = scales::limit_for(&limit, &self.table, &amounts);
                Some((to.ok_or(NoReading::Open)?, side))
            }
        };
        let fits = |amount: &TableAmount| {
            limit.is_none_or(|(to, side)| amount.number.partial_cmp(&to) == Some(side))
        };
        let end = self.table.end_of_parts();
        let parts = amounts.into_iter().filter(|amount| amount.place.0 < end);
        Ok(parts.filter(fits).collect())
    }

    /// The rows whose figure in one column is beyond that in another: "marketing over budget". Of
    /// the first, the heading that says what has happened comes first.
    fn beyond_column(&self, left: &str, right: &str, side: Ordering) -> Reading<Vec<TableAmount>> {
        let (left, right) = (label_words(left), label_words(right));
        let columns = || self.table.columns.iter().enumerate().skip(1);
        let said = |label: &AxisLabel, words: &[String]| {
            words.iter().filter(|word| label.says(word)).count()
        };
        let best = |sizes: Vec<(usize, usize)>| {
            let most = sizes
                .iter()
                .map(|(size, _)| *size)
                .max()
                .filter(|size| *size > 0)?;
            let mut found = sizes.iter().filter(|(size, _)| *size == most);
            let (first, second) = (found.next(), found.next());
            first.filter(|_| second.is_none()).map(|(_, at)| *at)
        };
        let limits = columns().filter(|(_, label)| said(label, &right) > 0);
        let limits = limits.map(|(at, label)| (said(label, &right) + said(label, &left), at));
        let limit = best(limits.collect()).ok_or(NoReading::Open)?;
        let of_limit = self.table.columns.get(limit).ok_or(NoReading::Open)?;
        let others = columns().filter(|(_, label)| said(label, &right) == 0);
        let actual = others.map(|(at, label)| {
            let happened = ACTUAL.iter().any(|word| label.writes(word));
            (
                said(label, &of_limit.words) + said(label, &left) + usize::from(happened),
                at,
            )
        });
        let actual = best(actual.collect()).ok_or(NoReading::Open)?;
        let rows = (1..self.table.rows.len()).filter_map(|row| {
            let limit = self.table.amount_at((row, limit))?;
            let amount = self.table.amount_at((row, actual))?;
            (amount.number.partial_cmp(&limit.number) == Some(side)).then_some(amount)
        });
        Ok(rows.collect())
    }
}

/// What a clause says before a limit, the limit if it is a number, what it says after it, and on
/// which side of it a figure is.
fn limit(clause: &str) -> Option<(String, Option<NumberReading>, String, Ordering)> {
    let text = format!(" {} ", clause.trim());
    let split = |word: &str| text.split_once(&format!(" {word} "));
    let zero = SIGNS
        .iter()
        .find_map(|(word, side)| Some((split(word)?, *side)));
    if let Some(((left, right), side)) = zero {
        let zero = number::read("0");
        return Some((format!(" {left} "), zero, format!(" {right} "), side));
    }
    let ((left, right), side) = LIMITS
        .iter()
        .find_map(|(word, side)| Some((split(word)?, *side)))?;
    let right = right.trim().trim_start_matches(['€', '£', '¥']);
    let number = number::read(right).filter(|number| number.span.start == 0);
    let rest = right.get(number.as_ref().map_or(0, |number| number.span.end)..)?;
    Some((left.to_owned(), number, rest.to_owned(), side))
}
