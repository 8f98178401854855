//! What was spent or received in all, by a list of transactions: "How much was spent at the bakery
//! in March?" is the sum of the rows that match.
//!
//! Such a sum is sure only if each word of the question is about the money, a period, or a text of
//! these rows, and if the signs or the columns tell what was spent from what was received.

use finqa_core::number::UnitKind;
use finqa_core::page::period::{Date, Period, Times, blank};
use finqa_core::program::Leaf;

use super::compute::{DirectAnswer, answer};
use super::find::FigureExpr;
use super::page::{Doubt, Reading, Tables, missing};
use super::question::RELATIVE_TIME;
use super::table::Place;
use super::transactions::{IN, OUT, Transaction, TransactionList, is_one_of};
use super::words::{FILLERS, NOISE, lists, lists_stem, plain_stems, same_word};
use crate::expr::{literal_value, turn_sign};
use crate::operations;

/// Words about the money or the rows that choose none of them.
const ABOUT: &str = "total sum all altogether transaction transactions category merchant payee shop store \
    much money i my me we on at in for";

/// Words that ask for more than a sum.
const BEYOND: &str = "average mean median largest biggest smallest highest lowest most least count many times share \
    percent percentage more less than difference change increase decrease compare compared per each every \
    monthly which when who where versus or except without excluding not other balance ratio top until till \
    through between over before after since fiscal first last past days weeks";

/// What is not money that was spent or received: a payment that failed, what was only moved.
const FAILED: &str = "declined failed cancelled canceled reverted pending voided rejected reversed";
const MOVED: &str = "transfer transfers savings atm";

/// The most rows of a sum.
const MOST: usize = 1000;

/// A transaction and its amount.
type Part<'l> = (&'l Transaction, Leaf<Option<Place>>);

/// Whether a day is in a period.
fn has_day(period: &Period, day: Date) -> bool {
    let (end, length) = (period.end, period.length());
    if end.year.is_some() && end.year != day.year {
        return false;
    }
    if end.day.is_some() {
        return end.day == day.day && end.month == day.month;
    }
    let last = end
        .month
        .or(period.quarter.map(|part| part * length))
        .unwrap_or(12);
    let first = (last + 1).saturating_sub(length);
    day.month
        .is_some_and(|month| first <= month && month <= last)
}

impl Tables {
    /// The sum of the transactions that a question asks for; `None` if it asks for no such sum.
    pub(super) fn of_list(&self, question: &str) -> Option<Reading<DirectAnswer>> {
        let list = self.list.as_ref()?;
        let mut text = question.to_lowercase();
        let times = Times::read(&text);
        for at in &times.said {
            blank(&mut text, at);
        }
        let words = text.split(|c: char| !c.is_alphanumeric() && !"&-'".contains(c));
        let words: Vec<&str> = words
            .map(|word| word.trim_end_matches("'s").trim_matches(['-', '\'']))
            .filter(|word| !word.is_empty())
            .collect();
        let says = |words: &[&str], list: &str| words.iter().any(|word| lists(list, word));
        if says(&words, BEYOND) || RELATIVE_TIME.is_match(&question.to_lowercase()) {
            return None;
        }
        let (mut meant, mut unmet): (Vec<String>, Option<&str>) = (Vec::new(), None);
        let mut about = says(&words, "total sum amount");
        let (mut out, mut into) = (false, false);
        for word in &words {
            let stems = plain_stems(word);
            let said = |stem: &String| {
                let mut texts = list.rows.iter().flat_map(|row| row.texts.iter().flatten());
                texts.any(|own| same_word(own, stem))
            };
            let (goes, comes) = (lists(OUT, word), lists(IN, word));
            let ignored = [FILLERS, NOISE, ABOUT].iter().any(|list| lists(list, word));
            about |= (goes || comes) && !ignored;
            if ignored {
                // A shop may be called "Total".
                let is_text = |row: &Transaction| row.texts.contains(&stems);
                let named = !stems.is_empty() && list.rows.iter().any(is_text);
                unmet = unmet.or(named.then_some(*word));
                continue;
            }
            (out, into) = (out || goes, into || comes);
            if !stems.is_empty() && stems.iter().all(said) {
                meant.extend(stems);
                continue;
            }
            if !goes && !comes && !list.headings.iter().any(|own| is_one_of(word, own)) {
                unmet = unmet.or(Some(*word));
            }
        }
        let spends = says(&words, "spent spend spending spends");
        (out, about) = (out || spends, about || spends);
        if !about || out && into {
            return None;
        }
        let period = match times.found.as_slice() {
            [] => None,
            // "From March" and "nine months" begin or end elsewhere.
            [(at, only)] => {
                let before = question.to_lowercase();
                let before = before.get(..at.start).unwrap_or_default().trim_end();
                let open = ["from", "to", "by"]
                    .iter()
                    .any(|word| before.ends_with(&format!(" {word}")));
                let placed =
                    only.end.month.is_some() || only.quarter.is_some() || only.length() == 12;
                let named = only.end != Date::default() || only.quarter.is_some();
                if open || only.start.is_some() || !placed || !named {
                    return None;
                }
                Some(*only)
            }
            _ => return None,
        };
        if let Some(word) = unmet {
            return Some(missing(format!("{word:?} may not be what the list has")));
        }
        Some(self.sum_of_rows(list, &meant, period, (out, into)))
    }

    fn sum_of_rows(
        &self,
        list: &TransactionList,
        meant: &[String],
        period: Option<Period>,
        (out, into): (bool, bool),
    ) -> Reading<DirectAnswer> {
        let says = |texts: &[String], word: &String| texts.iter().any(|own| same_word(own, word));
        let of_period = list
            .rows
            .iter()
            .filter(|row| period.is_none_or(|period| has_day(&period, row.day)));
        let of_period: Vec<&Transaction> = of_period.collect();
        let mut years: Vec<Option<u16>> = of_period.iter().map(|row| row.day.year).collect();
        years.dedup();
        if period.is_some_and(|period| period.end.year.is_none()) && years.len() > 1 {
            return missing("the list has it in several years");
        }
        // The columns in which a row has all of the words.
        let columns = |row: &Transaction| -> Vec<usize> {
            let has = |texts: &Vec<String>| meant.iter().all(|word| says(texts, word));
            let all = row.texts.iter().enumerate();
            all.filter(|(_, texts)| has(texts))
                .map(|(c, _)| c)
                .collect()
        };
        let in_row = |row: &&&Transaction| {
            meant
                .iter()
                .all(|word| row.texts.iter().any(|texts| says(texts, word)))
        };
        let rows: Vec<&Transaction> = of_period.iter().filter(in_row).copied().collect();
        // "Books" is a category of one row, and a part of the shop's name in another.
        let has_word = |row: &Transaction, word: &String| -> Vec<bool> {
            row.texts.iter().map(|texts| says(texts, word)).collect()
        };
        let odd = |word: &String| {
            let mut all = rows.iter().map(|row| has_word(row, word));
            let first = all.next();
            all.any(|other| Some(other) != first)
        };
        if meant.iter().any(odd) {
            return missing("the words are in several columns of the list");
        }
        let places: Vec<Vec<usize>> = rows.iter().map(|row| columns(row)).collect();
        let mut first = places.iter().filter_map(|columns| columns.first());
        let whole = places.iter().all(|columns| !columns.is_empty());
        if places.iter().any(|columns| !columns.is_empty()) && !meant.is_empty() {
            let column = *first.next().ok_or(Doubt::Open)?;
            // "Food" is a category, and a part of a shop's name.
            if !whole || !places.iter().all(|columns| columns.contains(&column)) {
                return missing("the words are in several columns of the list");
            }
            // "Tesco Express" and "Tesco Metro" are both Tesco; "pet food" is not "food".
            let mut texts: Vec<&Vec<String>> = rows
                .iter()
                .filter_map(|row| row.texts.get(column))
                .collect();
            texts.sort();
            texts.dedup();
            let begins = |own: &&Vec<String>| own.starts_with(meant);
            let exact = texts.iter().filter(|own| own.as_slice() == meant).count();
            if texts.len() > 1 && (exact > 0 || !texts.iter().all(begins)) {
                return missing("several names of the list have these words");
            }
        } else if meant.len() > 1 {
            // Each word, or each run of them, has a column of its own.
            let alone = |word: &String| {
                let mut of_word = rows.iter().map(|row| {
                    let columns = row.texts.iter().enumerate();
                    let columns = columns.filter(|(_, texts)| says(texts, word));
                    columns
                        .map(|(c, texts)| (c, texts.clone()))
                        .collect::<Vec<_>>()
                });
                let first = of_word.next().unwrap_or_default();
                first.len() == 1 && of_word.all(|other| other == first)
            };
            if !meant.iter().all(alone) {
                return missing("the words are in several columns of the list");
            }
        }
        if rows.is_empty() {
            return missing("the list has no row of it");
        }
        let mut currencies: Vec<&Option<String>> = rows.iter().map(|row| &row.currency).collect();
        currencies.dedup();
        if currencies.len() > 1 {
            return missing("the rows are in several currencies");
        }
        let has = |row: &Transaction, list: &str| {
            let mut words = row.texts.iter().flatten();
            words.any(|own| lists_stem(list, own))
        };
        let unsure = |row: &Transaction| has(row, FAILED) || meant.is_empty() && has(row, MOVED);
        if rows.iter().any(|row| unsure(row)) {
            return missing("some of the rows may not be what was spent or received");
        }
        let mut parts = Vec::new();
        for row in &rows {
            parts.extend(self.part(list, row, (out, into))?);
        }
        self.of_one_side(list, parts, (out, into))
    }

    /// The amount of a transaction, and the row; `None` if it is on the other side.
    fn part<'l>(
        &self,
        list: &TransactionList,
        row: &'l Transaction,
        (out, into): (bool, bool),
    ) -> Reading<Option<Part<'l>>> {
        let leaf = |column: &usize| {
            let place = Place {
                table: list.table,
                row: row.row,
                column: *column,
            };
            let cell = self.cell(place)?;
            Some(Leaf {
                literal: cell.literal().into(),
                value: literal_value(&cell.literal())?,
                source: Some(place),
            })
        };
        let unread = self
            .tables
            .get(list.table)
            .and_then(|table| table.rows.get(row.row));
        let unread =
            unread.is_some_and(|read| read.unread.iter().any(|(c, _)| list.amounts.contains(c)));
        let found = match list.amounts.as_slice() {
            _ if unread => return missing("an amount of the list is not read"),
            [only] => match row.came_in {
                Some(came) if came && out || !came && into => return Ok(None),
                _ => leaf(only),
            },
            [paid, _] if out => return Ok(leaf(paid).map(|leaf| (row, leaf))),
            [_, got] if into => return Ok(leaf(got).map(|leaf| (row, leaf))),
            _ => return missing("the question does not say whether it was spent or received"),
        };
        let why = || Doubt::Missing("a row of the list has no amount".to_owned());
        found.map(|leaf| Some((row, leaf))).ok_or_else(why)
    }

    /// The sum of amounts, all of what went out or all of what came in.
    fn of_one_side(
        &self,
        list: &TransactionList,
        mut parts: Vec<Part<'_>>,
        (out, into): (bool, bool),
    ) -> Reading<DirectAnswer> {
        let place = |row: &Transaction, column: usize| Place {
            table: list.table,
            row: row.row,
            column,
        };
        let figures = list.rows.iter().filter_map(|row| {
            let column = list.amounts.first().copied().unwrap_or_default();
            Some(self.cell(place(row, column))?.number)
        });
        let (negative, positive): (Vec<f64>, Vec<f64>) = figures.partition(|number| *number < 0.0);
        let signed = list.amounts.len() == 1 && !negative.is_empty();
        // Most rows of a list are paid; a card prints them above zero.
        if signed && (out || into) && negative.len() <= positive.len() {
            return missing("the signs do not tell what was spent from what was received");
        }
        let told =
            signed || list.amounts.len() > 1 || list.rows.iter().any(|row| row.came_in.is_some());
        let (below, above): (Vec<_>, Vec<_>) = parts.iter().partition(|(_, leaf)| leaf.value < 0.0);
        if !told && into || told && !out && !into && !signed {
            return missing("the list does not say what was received");
        }
        // A refund has the name of what was paid.
        let shares = |(a, _): &&(&Transaction, _), (b, _): &&(&Transaction, _)| {
            a.texts
                .iter()
                .zip(&b.texts)
                .any(|(a, b)| !a.is_empty() && a == b)
        };
        let mixed = below.iter().any(|a| above.iter().any(|b| shares(a, b)));
        if mixed || !out && !into && !below.is_empty() && !above.is_empty() {
            return missing("some of the amounts were paid and some received");
        }
        if signed && (out || into) {
            parts.retain(|(_, leaf)| (leaf.value < 0.0) == out);
        }
        if parts.is_empty() || parts.len() > MOST {
            return missing("the list has no row of it");
        }
        let leaves = parts.into_iter().map(|(_, mut leaf)| {
            if out && leaf.value < 0.0 {
                turn_sign(&mut leaf);
            }
            FigureExpr::Leaf(leaf)
        });
        let expr = operations::sum(leaves).ok_or(Doubt::Open)?;
        Ok(DirectAnswer {
            confidence: 0.95,
            ..answer(SUM_OF_ROWS, expr, UnitKind::Number)
        })
    }
}

/// The name of a sum of transactions.
pub(crate) const SUM_OF_ROWS: &str = "sum of rows";
