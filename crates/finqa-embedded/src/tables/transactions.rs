//! Lists of transactions, as banks and apps export them: an amount on each day, and with whom or
//! for what.

use finqa_core::number::currency_in;
use finqa_core::page::period::{Date, DayOrder, Times};
use finqa_core::page::{Cell, Table};

use super::words::{lists, plain_stems};

/// Headings and texts of what goes out and of what comes in, as questions say it too.
pub(super) const OUT: &str = "spent spend spending spends pay paid pays cost costs bought buy expense expenses expenditure \
    purchase purchases debit dr withdrawal withdrawals out payment payments";
pub(super) const IN: &str =
    "received receive earned income credit cr deposit deposits in paid-in refund refunds refunded";

/// Headings of what may be added up, and of what may not.
const AMOUNTS: &str = "amount amounts value total sum spent spending paid cost costs expense expenses debit credit \
    sales revenue turnover income betrag";
const NO_AMOUNTS: &str =
    "balance running cumulative price rate quantity qty unit units number no id ref year month day";

/// Words of rows that repeat others: a total, an opening balance.
const REPEATS: &str = "total subtotal balance";
const BALANCE: &str =
    "balance opening closing brought carried forward starting ending previous old new on at of";

/// A list of transactions.
#[derive(Debug)]
pub(super) struct TransactionList {
    pub(super) table: usize,
    pub(super) headings: Vec<String>,
    /// One column of amounts, or what went out and what came in.
    pub(super) amounts: Vec<usize>,
    pub(super) rows: Vec<Transaction>,
}

#[derive(Debug)]
pub(super) struct Transaction {
    pub(super) row: usize,
    pub(super) day: Date,
    /// The stems of each column of texts.
    pub(super) texts: Vec<Vec<String>>,
    pub(super) currency: Option<String>,
    /// Whether a text says that it came in; `None` if none says so.
    pub(super) came_in: Option<bool>,
}

pub(super) fn is_one_of(list: &str, text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| lists(list, word))
}

impl TransactionList {
    /// Reads a table as a list; `None` if it is anything else.
    pub(super) fn read(at: usize, table: &Table) -> Option<Self> {
        let (header, body) = table.cells().split_first()?;
        let headings: Vec<String> = header.iter().map(|cell| cell.raw.to_lowercase()).collect();
        let column = |c: usize| body.iter().filter_map(move |row| row.get(c));
        let order = |c: usize| DayOrder::of(column(c).map(|cell| &*cell.raw));
        let day = |cell: &Cell, order| {
            let (period, rest) = Times::heading_in(&cell.raw, order);
            let end = period?.end;
            let whole = end.day.is_some() && end.month.is_some() && end.year.is_some();
            (whole && plain_stems(&rest).is_empty()).then_some(end)
        };
        let is_days = |c: &usize| {
            column(*c)
                .filter(|cell| day(cell, order(*c)).is_some())
                .count()
        };
        let all = 0..headings.len();
        let days = all.clone().find(|c| 2 * is_days(c) > body.len())?;
        let filled = |c: usize| column(c).filter(|cell| !cell.raw.trim().is_empty());
        let is_figures = |c: &usize| {
            let figure = |cell: &Cell| cell.number.is_some() || cell.unread().is_some();
            filled(*c).count() > 0 && filled(*c).all(figure)
        };
        let named =
            |c: &usize, list: &str| headings.get(*c).is_some_and(|name| is_one_of(list, name));
        let figures = all.clone().filter(|c| *c != days && is_figures(c));
        let figures: Vec<usize> = figures.filter(|c| !named(c, NO_AMOUNTS)).collect();
        let amounts = match figures.as_slice() {
            [only] if named(only, AMOUNTS) => vec![*only],
            several => {
                let sides = [OUT, IN].map(|list| several.iter().copied().find(|c| named(c, list)));
                let amount = several
                    .iter()
                    .copied()
                    .filter(|c| named(c, "amount value total"));
                match (sides, amount.collect::<Vec<usize>>().as_slice()) {
                    ([Some(out), Some(into)], []) if out != into => vec![out, into],
                    (_, [only]) => vec![*only],
                    _ => return None,
                }
            }
        };
        let letters = |c: &usize| filled(*c).any(|cell| cell.raw.contains(char::is_alphabetic));
        let texts: Vec<usize> = all
            .filter(|c| *c != days && !is_figures(c) && letters(c))
            .collect();
        let mut rows = Vec::new();
        for (row, cells) in body.iter().enumerate() {
            let text = |c: &usize| cells.get(*c).map_or("", |cell| &*cell.raw);
            let repeats = texts
                .iter()
                .chain([&days])
                .any(|c| is_one_of(REPEATS, &text(c).to_lowercase()));
            let said = |list: &str| {
                texts
                    .iter()
                    .any(|c| lists(list, &text(c).trim().to_lowercase()))
            };
            let Some(day) = day(cells.get(days)?, order(days)) else {
                // Only a row that repeats others has no day.
                if repeats || cells.iter().all(|cell| cell.raw.trim().is_empty()) {
                    continue;
                }
                return None;
            };
            // A shop may be called "Opening".
            let is_balance = |c: &usize| {
                let lower = text(c).to_lowercase();
                let mut words = lower.split_whitespace();
                lower.contains("balance") && words.all(|word| lists(BALANCE, word))
            };
            if texts.iter().any(is_balance) {
                continue;
            }
            let mut written = amounts
                .iter()
                .chain(&texts)
                .filter_map(|c| currency_in(text(c)));
            rows.push(Transaction {
                row: row + 1,
                day,
                texts: texts.iter().map(|c| plain_stems(text(c))).collect(),
                currency: written.next(),
                came_in: match (said(OUT), said(IN)) {
                    (true, false) => Some(false),
                    (false, true) => Some(true),
                    _ => None,
                },
            });
        }
        (!texts.is_empty() && rows.len() > 1).then_some(Self {
            table: at,
            headings,
            amounts,
            rows,
        })
    }
}
