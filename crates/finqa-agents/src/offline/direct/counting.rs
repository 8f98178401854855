//! Counts of the rows that a question describes: "how many invoices are above 500?".

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::DirectAnswer;
use super::axis::{AxisLabel, label_words};
use super::labels::LabelQuery;
use super::values::{DirectReader, NoReading, Reading};
use crate::offline::expr::{Expr, literal_value};
use finqa_core::number::UnitKind;

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
        let nouns = label_words(&noun.join(" "));
        let Some(column) = self.headed(&nouns) else {
            return Ok(None);
        };
        let not_read = || NoReading::Missing("it asks for a number of rows".to_owned());
        let mut names = BTreeSet::new();
        for row in self.described(&rest.join(" ")).map_err(|_| not_read())? {
            let label = self.table.rows.get(row).filter(|label| !label.total);
            let key = self.table.keys.iter().position(|key| *key == column);
            let name = label.map(|label| key.and_then(|key| label.keys.get(key)).unwrap_or(label));
            names.extend(
                name.map(|name| name.name.clone())
                    .filter(|name| !name.is_empty()),
            );
        }
        let count = Expr::literal(&names.len().to_string()).ok_or(NoReading::Open)?;
        Ok(Some(DirectAnswer::new(
            "count of rows",
            count,
            UnitKind::Number,
        )))
    }

    /// The column of row names whose heading has these words, which no other label has.
    fn headed(&self, nouns: &[String]) -> Option<usize> {
        let keys = match self.table.keys.as_slice() {
            [] => &[0],
            keys => keys,
        };
        let says = |column: &&usize| {
            let label = self.table.columns.get(**column);
            !nouns.is_empty()
                && label.is_some_and(|label| nouns.iter().all(|noun| label.says(noun)))
        };
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
    fn described(&mut self, clause: &str) -> Reading<Vec<usize>> {
        let text = format!(" {clause} ");
        if [" not ", " or ", " at least ", " at most ", " and "]
            .iter()
            .any(|word| text.contains(word))
        {
            return Err(NoReading::Open);
        }
        let none = [" no ", " without "]
            .iter()
            .find_map(|word| text.split_once(word));
        let limit = LIMITS
            .iter()
            .find_map(|(word, side)| Some((text.split_once(&format!(" {word} "))?, *side)));
        let (figure, limit) = match (none, limit) {
            (None, None) => (text.clone(), None),
            (Some((_, figure)), None) => (figure.to_owned(), Some((0.0, Ordering::Equal))),
            (None, Some(((left, right), side))) => {
                let (number, right) = right.trim().split_once(' ').unwrap_or((right.trim(), ""));
                let number = number.trim_matches(|c: char| !c.is_ascii_digit());
                match literal_value(&number.replace(',', "")) {
                    Some(number) => (format!("{left} {right}"), Some((number, side))),
                    None => return self.beyond_column(&text, side),
                }
            }
            _ => return Err(NoReading::Open),
        };
        let span = match self.asked.spans() {
            [] => None,
            [span] => Some(self.only_period(*span)?),
            _ => return Err(NoReading::Open),
        };
        let operand = self.asked.operand(&self.table, &figure, &[&VERBS]);
        let query = LabelQuery {
            words: operand.words.clone(),
            context: operand.context,
            span,
            ..LabelQuery::default()
        };
        let doubts = self.doubts.len();
        let cells = match operand.words.is_empty() {
            true => self.table.find(&query).cells,
            false => self.cells(&query)?,
        };
        let columns: BTreeSet<usize> = cells.iter().map(|cell| cell.2).collect();
        let rows: BTreeSet<usize> = cells.iter().map(|cell| cell.1).collect();
        let one_figure = columns.len() == 1 && rows.len() == cells.len() && rows.len() > 1;
        if self.doubts.len() > doubts || limit.is_some() && !one_figure {
            return Err(NoReading::Open);
        }
        let fits = |(fact, row, column): &(usize, usize, usize)| {
            limit.is_none_or(|(to, side)| {
                let amount = self.of_fact(*fact, (*row, *column));
                amount.is_some_and(|amount| amount.number.partial_cmp(&to) == Some(side))
            })
        };
        Ok(cells
            .iter()
            .filter(|cell| fits(cell))
            .map(|cell| cell.1)
            .collect())
    }

    /// The rows whose actual figure is beyond that of a column: "over budget".
    fn beyond_column(&self, clause: &str, side: Ordering) -> Reading<Vec<usize>> {
        let words = label_words(clause);
        let column = |is: &dyn Fn(&AxisLabel) -> bool| {
            let mut found = self
                .table
                .columns
                .iter()
                .enumerate()
                .skip(1)
                .filter(|(_, label)| is(label));
            let (first, second) = (found.next(), found.next());
            first.filter(|_| second.is_none()).map(|(at, _)| at)
        };
        let limit = column(&|label| {
            !label.words.is_empty() && label.words.iter().all(|own| words.contains(own))
        });
        let actual = column(&|label| label.writes("actual"));
        let (limit, actual) = limit.zip(actual).ok_or(NoReading::Open)?;
        let rows = (1..self.table.rows.len()).filter(|row| {
            let pair = self
                .table
                .amount_at((*row, actual))
                .zip(self.table.amount_at((*row, limit)));
            pair.is_some_and(|(a, b)| a.number.partial_cmp(&b.number) == Some(side))
        });
        Ok(rows.collect())
    }
}
