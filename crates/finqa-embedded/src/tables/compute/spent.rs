//! Adds up what was spent or received in all, from a list of transactions: "How much was spent at
//! the bakery in March?" is the sum of the rows that match.
//!
//! Such a sum is sure only if each word of the question is about the money, a column, a period, or
//! the name of these rows, and if the list tells what was spent from what was received.

use std::ops::Range;

use finqa_core::number::UnitKind;
use finqa_core::page::period::{Date, Period, Times, blank};
use finqa_core::text::grouped;

use super::direct_answer::DirectAnswer;
use super::operation::answer;
use crate::expr::turn_sign;
use crate::operations;
use crate::tables::find::{self, FigureExpr};
use crate::tables::page::table::Place;
use crate::tables::page::transactions::{Sides, Transaction, TransactionList, TransactionText};
use crate::tables::page::{Doubt, TableResult, Tables, missing, missing_if};
use crate::tables::question::in_both_cases;
use crate::tables::question::sum_question::{SumQuestion, is_beyond, same_name};
use crate::tables::words::lists;

/// Words for payments that failed, and for money that only moved between own accounts.
const FAILED: &str = "declined failed cancelled canceled reverted pending voided rejected reversed";
const MOVED: &str = "transfer transfers savings atm exchange exchanged top-up top-ups";

/// Words for income, for lists that do not say which rows came in.
const EARNED: &str =
    "salary wages payroll pension income interest dividend dividends refund deposit";

/// Maximum number of rows that are added up. The answer has a step and a cited cell for each row.
const MOST: usize = 1000;

/// Maximum number of names that a reason for doubt lists.
const MOST_NAMES: usize = 4;

/// True if a day is in a period, which can begin in the year before. A period without a year
/// matches every year.
fn has_day(period: &Period, day: Date) -> bool {
    let end = period.end;
    if end.day.is_some() {
        let same_year = end.year.is_none() || end.year == day.year;
        return same_year && end.day == day.day && end.month == day.month;
    }
    let Some((year, month)) = day.year.zip(day.month) else {
        return false;
    };
    // A period without a year is in each year. It never begins in the year before: `period`
    // refuses such a one.
    let years = i32::from(end.year.unwrap_or(year)) - i32::from(year);
    let later = 12 * years + i32::from(period.last_month()) - i32::from(month);
    (0..i32::from(period.length())).contains(&later)
}

/// The period of a question; `None` if it names no time. A doubt if it names several periods, or a
/// time that is not read as one.
fn period(times: &Times, lower: &str) -> TableResult<Option<Period>> {
    let is_read = |at: &Range<usize>| {
        let mut found = times.found.iter();
        found.any(|(of, _)| of.start <= at.start && at.end <= of.end)
    };
    let text = |at: &Range<usize>| lower.get(at.clone()).unwrap_or_default();
    let slashed = |at: &&Range<usize>| text(at).contains('/');
    if let Some(at) = times.said.iter().filter(slashed).find(|at| !is_read(at)) {
        return missing(format!("the date {:?} is not clear", text(at)));
    }
    let said = times.found.iter().filter(|(at, _)| !at.is_empty());
    let said: Vec<_> = said.collect();
    match said.as_slice() {
        [] => Ok(None),
        [(at, only)] => {
            let before = lower.get(..at.start).unwrap_or_default().trim_end();
            // "From March" and "nine months" do not say where the period begins or ends.
            let mut open = [" from", " to", " by"].iter();
            let open = open.any(|word| before.ends_with(word));
            let placed = only.end.month.is_some() || only.quarter.is_some() || only.length() == 12;
            let named = only.end != Date::default() || only.quarter.is_some();
            // A list does not say when a fiscal year begins.
            let fiscal = ["fy", "fiscal"].iter().any(|word| text(at).contains(word));
            let is_of_day = only.end.day.is_some();
            // `has_day` reads "the year ended 31 March" as that day alone.
            let ends_on_day = is_of_day && (only.months.is_some() || only.quarter.is_some());
            // Without a year, "three months ended February" would have December of the same year.
            let begins_before =
                !is_of_day && only.end.year.is_none() && only.last_month() < only.length();
            let unclear = ends_on_day || begins_before;
            if open || fiscal || only.start.is_some() || !placed || !named || unclear {
                return missing(format!("{:?} is not read as one period", text(at)));
            }
            Ok(Some(*only))
        }
        _ => missing("the question names several periods"),
    }
}

impl TransactionList {
    /// The column of texts that has a name. A doubt if some rows have the name in another column,
    /// or if the name is part of several different texts that are not of one brand ("Tesco").
    fn column_of(&self, name: &[&str]) -> TableResult<usize> {
        let fits = |text: &&TransactionText| same_name(&text.words, name).is_some();
        let columns = 0..self.texts.len();
        let has = |row: &&Transaction| row.texts.iter().any(|text| fits(&text));
        let rows: Vec<&Transaction> = self.rows.iter().filter(has).collect();
        let found = |c: usize| {
            rows.iter()
                .filter_map(move |row| row.texts.get(c))
                .filter(fits)
        };
        let said_in: Vec<usize> = columns.filter(|c| found(*c).count() > 0).collect();
        // "Books" can be the category of one row, and part of the shop's name in another.
        let is_clear = said_in.iter().all(|c| found(*c).count() == rows.len());
        let all = said_in.first().copied().filter(|_| is_clear);
        let texts: Vec<&TransactionText> = match all {
            Some(c) => found(c).collect(),
            None => said_in.into_iter().flat_map(found).collect(),
        };
        let mut names: Vec<&TransactionText> = Vec::new();
        for text in texts {
            if !names.iter().any(|other| other.words == text.words) {
                names.push(text);
            }
        }
        let printed = names.iter().take(MOST_NAMES);
        let printed: Vec<&str> = printed.map(|text| text.printed.as_str()).collect();
        let printed = printed.join("; ");
        let said = name.join(" ");
        let Some(column) = all else {
            return missing(format!(
                "{said:?} is in several columns of the list: {printed}"
            ));
        };
        // "Tesco Express" and "Tesco Metro" are both Tesco; "pet food" is not "food", and neither
        // "Rent Greenwood" nor "Rent Hertz" is known to be "rent".
        let is_brand = name.iter().any(|word| word.starts_with(char::is_uppercase));
        let begins = |text: &&TransactionText| {
            same_name(&text.words, name) == Some(0) && text.words.len() > name.len()
        };
        if names.len() > 1 && !(is_brand && names.iter().all(begins)) {
            return missing(format!(
                "several names of the list have {said:?}: {printed}"
            ));
        }
        Ok(column)
    }
}

impl Tables {
    /// The sum of the transactions that a question asks for; `None` if it asks for something else
    /// ([`is_beyond`]), or if the page is not a list.
    pub(crate) fn sum_of_list(&self, question: &str) -> Option<TableResult<DirectAnswer>> {
        let list = self.list.as_ref()?;
        let (mut spelled, lower) = in_both_cases(question);
        let times = Times::read_in(&lower, list.order);
        if is_beyond(&lower) {
            return None;
        }
        for at in &times.said {
            blank(&mut spelled, at);
        }
        let asked = SumQuestion::read(list, &spelled)?;
        Some(asked.and_then(|asked| self.sum_of_rows(list, &asked, period(&times, &lower)?)))
    }

    /// The sum of the rows that have all names, the period and the currency of a question; an error
    /// if these may not be the rows that are meant.
    fn sum_of_rows(
        &self,
        list: &TransactionList,
        asked: &SumQuestion<'_>,
        period: Option<Period>,
    ) -> TableResult<DirectAnswer> {
        let names: Vec<(usize, &Vec<&str>)> = (asked.names.iter())
            .map(|name| Ok((list.column_of(name)?, name)))
            .collect::<TableResult<_>>()?;
        let named = |c: usize| names.iter().any(|(of, _)| list.texts.get(*of) == Some(&c));
        if let Some(c) = asked.headings.iter().find(|c| !named(**c)) {
            let heading = list.headings.get(*c).map_or("", String::as_str);
            return missing(format!("the question names no {heading:?} of the list"));
        }
        let has = |row: &&Transaction, (c, name): &(usize, &Vec<&str>)| {
            let text = row.texts.get(*c);
            text.is_some_and(|text| same_name(&text.words, name).is_some())
        };
        let is_meant = |row: &&Transaction| names.iter().all(|name| has(row, name));
        let mut rows: Vec<&Transaction> = list.rows.iter().filter(is_meant).collect();
        if let Some(period) = period {
            retain_period(list, &mut rows, &period)?;
        }
        if let Some(currency) = &asked.currency {
            rows.retain(|row| row.currency.as_ref() == Some(currency));
        }
        missing_if(rows.is_empty(), "the list has no row of it")?;
        let says = |row: &Transaction, list: &str| {
            let mut words = row.texts.iter().flat_map(|text| &text.words);
            words.any(|own| lists(list, own))
        };
        let unsaid = list.sides == Sides::Unsaid;
        let unsure = |row: &Transaction| {
            let other = says(row, MOVED) || unsaid && says(row, EARNED);
            says(row, FAILED) || names.is_empty() && other
        };
        let why = "some of the rows may not be what was spent or received";
        missing_if(rows.iter().any(|row| unsure(row)), why)?;
        let rows = of_side(list, rows, asked)?;
        missing_if(rows.is_empty(), "the list has no row of it")?;
        if rows.len() > MOST {
            let [rows, most] = [rows.len(), MOST].map(|count| grouped(count as u64));
            return missing(format!(
                "{rows} rows match, and at most {most} are added up: name a shorter period"
            ));
        }
        let leaves = rows.iter().map(|row| self.amount_of(list, row, asked));
        let leaves: Vec<FigureExpr> = leaves.collect::<TableResult<_>>()?;
        in_one_currency(&rows)?;
        let expr = operations::sum(leaves).ok_or(Doubt::Open)?;
        Ok(DirectAnswer {
            // As for one figure of a single table (`confidence`). Multiplied for each row, as in
            // other answers, it would be near 0 for a long list.
            confidence: 0.95,
            ..answer(SUM_OF_ROWS, expr, UnitKind::Number)
        })
    }

    /// The figure of a transaction to add up.
    fn amount_of(
        &self,
        list: &TransactionList,
        row: &Transaction,
        asked: &SumQuestion<'_>,
    ) -> TableResult<FigureExpr> {
        let column = match (asked.column, list.amounts.as_slice()) {
            (Some(column), _) => column,
            (None, [_, into]) if row.came_in == Some(true) => *into,
            (None, amounts) => *amounts.first().ok_or(Doubt::Open)?,
        };
        let place = Place {
            // A page with a list has no other table.
            table: 0,
            row: row.row,
            column,
        };
        let cell = self.cell(place).filter(|cell| !cell.percent);
        let cell = cell.filter(|_| self.why_unread(place).is_none());
        let leaf = cell.and_then(|cell| find::leaf(&cell.literal(), place));
        let Some(mut leaf) = leaf else {
            let heading = list.headings.get(column).map_or("", String::as_str);
            return missing(format!("a row of it has no {heading:?} that can be read"));
        };
        // What was spent is answered as a positive number, even if the list prints it below zero.
        if asked.came_in == Some(false) && leaf.value < 0.0 {
            turn_sign(&mut leaf);
        }
        Ok(FigureExpr::Leaf(leaf))
    }
}

/// Keeps the rows of a period. A doubt if the list has the period in several years, or if its dates
/// do not tell the day from the month.
fn retain_period(
    list: &TransactionList,
    rows: &mut Vec<&Transaction>,
    period: &Period,
) -> TableResult<()> {
    let fits = |row: &Transaction| row.days.map(|day| has_day(period, day));
    // The years are those of all rows in the period, not only of the rows that are meant.
    let mut years: Vec<Option<u16>> = (list.rows.iter())
        .filter(|row| fits(row).contains(&true))
        .map(|row| row.days[0].year)
        .collect();
    // Unsorted, because only the number of years matters: 1 or more.
    years.dedup();
    let several = period.end.year.is_none() && years.len() > 1;
    missing_if(several, "the list has it in several years")?;
    let unclear = rows.iter().any(|row| fits(row)[0] != fits(row)[1]);
    let why = "the dates of the list do not tell the day from the month";
    missing_if(unclear, why)?;
    rows.retain(|row| fits(row)[0]);
    Ok(())
}

/// Checks that all rows are in one currency, or that none has a currency.
fn in_one_currency(rows: &[&Transaction]) -> TableResult<()> {
    let mut currencies: Vec<&Option<String>> = rows.iter().map(|row| &row.currency).collect();
    currencies.sort();
    currencies.dedup();
    match currencies.as_slice() {
        [_] => Ok(()),
        [None, _] => missing("some of the amounts have no currency"),
        _ => missing("the rows are in several currencies"),
    }
}

/// The rows of the side that a question asks for, which is spent or received. If it asks for
/// neither, all rows, if they are of one side.
fn of_side<'l>(
    list: &TransactionList,
    mut rows: Vec<&'l Transaction>,
    asked: &SumQuestion<'_>,
) -> TableResult<Vec<&'l Transaction>> {
    match (list.sides, asked.came_in) {
        // Most rows of a list are payments, but the list of a card prints payments above zero.
        (Sides::UnclearSigns, Some(_)) => {
            return missing("the signs do not tell what was spent from what was received");
        }
        (Sides::Unsaid, Some(true)) | (Sides::ColumnsOrTexts, None) => {
            return missing("it is not said whether it was spent or received");
        }
        (Sides::Unsaid, Some(false)) if list.is_of_income() => {
            return missing("the list may be of what was received");
        }
        (Sides::Unsaid, _) => return Ok(rows),
        _ => {}
    }
    let of = |came_in| rows.iter().filter(move |row| row.came_in == Some(came_in));
    // A refund has the same name as the payment.
    let shares = |a: &Transaction, b: &Transaction| {
        let mut texts = a.texts.iter().zip(&b.texts);
        texts.any(|(a, b)| !a.words.is_empty() && a.words == b.words)
    };
    let mixed = match asked.came_in {
        None => of(true).count() > 0 && of(false).count() > 0,
        Some(true) => false,
        Some(false) => of(true).any(|a| of(false).any(|b| shares(a, b))),
    };
    let why = "some of the amounts were paid and some received";
    missing_if(mixed, why)?;
    if let Some(side) = asked.came_in {
        let unsaid = rows.iter().any(|row| row.came_in.is_none());
        missing_if(unsaid, "a row of it has no amount of either side")?;
        rows.retain(|row| row.came_in == Some(side));
    }
    Ok(rows)
}

/// The name of a sum of transactions.
pub(crate) const SUM_OF_ROWS: &str = "sum of rows";

#[cfg(test)]
mod tests {
    use finqa_core::question::Document;

    use super::*;

    /// True if a question is answered by a sum of the list with these rows.
    fn is_summed(rows: [[&str; 4]; 2], question: &str) -> bool {
        let header = ["Date", "Shop", "Kind", "Amount"];
        let rows = std::iter::once(header).chain(rows);
        let document = Document {
            table: rows.map(|row| row.map(str::to_owned).to_vec()).collect(),
            own: true,
            ..Document::default()
        };
        let sum = Tables::read(&document).sum_of_list(question);
        sum.is_some_and(|sum| sum.is_ok())
    }

    #[test]
    fn what_failed_was_moved_or_may_be_income_is_not_added_up() {
        let failed = "declined failed cancelled canceled reverted pending voided rejected reversed";
        let moved = "transfer transfers savings atm exchange exchanged top-up top-ups";
        let earned =
            "salary wages payroll pension income interest dividend dividends refund deposit";
        let [at_rewe, in_all] = [
            "How much was spent at Rewe?", "How much was spent in January?",
        ];
        for (words, question, minus, is_sure) in [
            (failed, at_rewe, "-", false),
            (moved, at_rewe, "-", true),
            (moved, in_all, "-", false),
            // Without signs, the list does not show which rows were received.
            (earned, at_rewe, "", true),
            (earned, in_all, "", false),
            ("taxi", in_all, "-", true),
            ("taxi", in_all, "", true),
        ] {
            for word in words.split(' ') {
                let [kind, first, second] = [
                    format!("{word} abroad"),
                    format!("{minus}12"),
                    format!("{minus}20"),
                ];
                let rows = [
                    ["2031-01-05", "Rewe", &kind, &first],
                    ["2031-01-09", "Halden", "food", &second],
                ];
                assert_eq!(is_summed(rows, question), is_sure, "{word}: {question}");
            }
        }
    }
}
