//! Reads lists of transactions, as banks and apps export them: each row has a day, an amount, and
//! with whom or for what.

use finqa_core::number::{currency_in, is_currency};
use finqa_core::page::period::{Date, DayOrder, Times};
use finqa_core::page::{Cell, Table};

use super::words::{lists, plain_stems};

/// Words for money that goes out and money that comes in, in headings, texts and questions.
pub(super) const OUT: &str = "spent spend spending spends pay paid pays cost costs bought buy expense expenses expenditure \
    purchase purchases debit dr withdrawal withdrawals out payment payments";
pub(super) const IN: &str =
    "received receive earned income credit cr deposit deposits in paid-in refund refunds refunded";

/// Words for money that comes in without being income.
const SOLD: &str = "sell sold return returned";

/// Headings of columns of money that can be added up, and of columns that cannot.
const AMOUNTS: &str = "amount amounts value total sum spent spending paid cost costs expense expenses debit credit \
    sales revenue turnover income betrag";
const NO_AMOUNTS: &str = "balance running cumulative price rate no id ref year month day";
const COUNTS: &str = "quantity qty unit units number points hours shares";

/// Headings that mark a list of earnings.
const OF_INCOME: &str = "client customer invoice sales revenue income buyer donor";

/// Words that mark a row as a total or a balance, which repeats other rows.
const REPEATS: &str = "total subtotal balance";
const BALANCE: &str =
    "balance opening closing brought carried forward starting ending previous old new on at of";

/// Words that do not distinguish one name from another.
const LINKS: &str = "the of and a an to from by at in on for with";

/// A list of transactions.
#[derive(Debug)]
pub(super) struct TransactionList {
    pub(super) table: usize,
    pub(super) headings: Vec<String>,
    /// One column of amounts, or what went out and what came in.
    pub(super) amounts: Vec<usize>,
    /// All columns of figures.
    pub(super) figures: Vec<usize>,
    /// The columns of [`Transaction::texts`].
    pub(super) texts: Vec<usize>,
    pub(super) order: DayOrder,
    pub(super) sides: Sides,
    pub(super) rows: Vec<Transaction>,
}

/// The way in which a list distinguishes money spent from money received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sides {
    Signs,
    /// Most amounts are above zero. They may be payments, because the list of a card prints
    /// payments without a minus.
    UnclearSigns,
    ColumnsOrTexts,
    Unsaid,
}

#[derive(Debug)]
pub(super) struct Transaction {
    pub(super) row: usize,
    /// The date, read with the day first and with the month first. Both are equal if the list shows
    /// which it is.
    pub(super) days: [Date; 2],
    /// The texts that can have the name that a question asks for.
    pub(super) texts: Vec<TransactionText>,
    pub(super) currency: Option<String>,
    /// True if the money came in, false if it went out; `None` if the list does not say.
    pub(super) came_in: Option<bool>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct TransactionText {
    pub(super) printed: String,
    pub(super) words: Vec<String>,
}

impl TransactionText {
    fn read(cell: &str) -> Self {
        let words = name_words(cell).into_iter();
        let words = words.map(|word| word.to_lowercase());
        Self {
            printed: cell.trim().to_owned(),
            words: words.filter(|word| !lists(LINKS, word)).collect(),
        }
    }
}

/// The words of a name. Words joined by a hyphen count as one word: "Rent-a-car" is not "rent". `&`
/// and apostrophes are parts of a word too, but a possessive `'s` is not.
pub(super) fn name_words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !"&-'\u{2019}".contains(c));
    let words = words.map(|word| {
        let owner = ["'s", "'S", "\u{2019}s", "\u{2019}S"];
        let owner = owner.iter().find_map(|end| word.strip_suffix(end));
        owner
            .unwrap_or(word)
            .trim_matches(|c: char| !c.is_alphanumeric())
    });
    words.filter(|word| !word.is_empty()).collect()
}

pub(super) fn is_link(word: &str) -> bool {
    lists(LINKS, word)
}

pub(super) fn is_one_of(list: &str, text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric());
    words.any(|word| lists(list, word))
}

/// The day of a cell that is a date and nothing else.
fn day(cell: &Cell, order: DayOrder) -> Option<Date> {
    let (period, rest) = Times::heading_in(&cell.raw, order);
    let end = period?.end;
    let whole = end.day.is_some() && end.month.is_some() && end.year.is_some();
    (whole && plain_stems(&rest).is_empty()).then_some(end)
}

/// The column of amounts, or those of money out and money in; `None` if several could be meant.
fn amounts(headings: &[String], figures: &[usize]) -> Option<Vec<usize>> {
    let named = |c: &usize, list: &str| headings.get(*c).is_some_and(|name| is_one_of(list, name));
    let of = |list: &str| -> Vec<usize> {
        let columns = figures.iter().copied();
        let columns = columns.filter(|c| !named(c, NO_AMOUNTS) && !named(c, COUNTS));
        columns.filter(|c| named(c, list)).collect()
    };
    let plain = of("amount value total");
    let others = figures.iter().any(|c| {
        let skipped = named(c, NO_AMOUNTS) || named(c, COUNTS);
        !skipped && !named(c, AMOUNTS)
    });
    match (plain.as_slice(), of(OUT).as_slice(), of(IN).as_slice()) {
        ([only], ..) => Some(vec![*only]),
        ([], [out, ..], [into, ..]) if out != into => Some(vec![*out, *into]),
        ([], ..) => match of(AMOUNTS).as_slice() {
            [only] if !others => Some(vec![*only]),
            _ => None,
        },
        _ => None,
    }
}

impl TransactionList {
    /// True if the amounts of a column can be added up, unlike balances or prices.
    pub(super) fn adds_up(&self, column: usize) -> bool {
        let heading = self.headings.get(column).map_or("", String::as_str);
        !is_one_of(NO_AMOUNTS, heading)
    }

    /// True if a heading says that the list is of money earned: "Client", "Invoice".
    pub(super) fn is_of_income(&self) -> bool {
        let mut headings = self.headings.iter();
        headings.any(|heading| is_one_of(OF_INCOME, heading))
    }

    /// Reads a table as a list; `None` if it is anything else.
    pub(super) fn read(at: usize, table: &Table) -> Option<Self> {
        let (header, body) = table.cells().split_first()?;
        let headings: Vec<String> = header.iter().map(|cell| cell.raw.to_lowercase()).collect();
        let column = |c: usize| body.iter().filter_map(move |row| row.get(c));
        let order = |c: usize| DayOrder::of(column(c).map(|cell| &*cell.raw));
        let is_day = |cell: &&Cell| day(cell, DayOrder::DayFirst).is_some();
        let is_date = |cell: &&Cell| is_day(cell) || day(cell, DayOrder::MonthFirst).is_some();
        let all = 0..headings.len();
        let days = all
            .clone()
            .find(|c| 2 * column(*c).filter(is_date).count() > body.len())?;
        let order = order(days);
        let filled = |c: usize| column(c).filter(|cell| !cell.raw.trim().is_empty());
        let is_figures = |c: &usize| {
            let figure = |cell: &Cell| cell.number.is_some() || cell.unread().is_some();
            filled(*c).count() > 0 && filled(*c).all(figure)
        };
        let figures: Vec<usize> = all
            .clone()
            .filter(|c| *c != days && is_figures(c))
            .collect();
        let amounts = amounts(&headings, &figures)?;
        let letters = |c: &usize| filled(*c).any(|cell| cell.raw.contains(char::is_alphabetic));
        let texts: Vec<usize> = all
            .filter(|c| *c != days && !figures.contains(c) && letters(c))
            .collect();
        let comes = |text: &str| lists(IN, text) || lists(SOLD, text);
        let says = |c: usize, is_of: &dyn Fn(&str) -> bool| {
            filled(c).any(|cell| is_of(&cell.raw.trim().to_lowercase()))
        };
        let number = |cells: &[Cell], c: usize| Some(cells.get(c)?.number.as_ref()?.value);
        let signed = |below: bool| {
            let only = amounts.first().copied().unwrap_or_default();
            let numbers = body.iter().filter_map(|cells| number(cells, only));
            numbers.filter(|x| (*x < 0.0) == below).count()
        };
        let side = texts.iter().copied().find(|c| says(*c, &comes));
        let sides = match (amounts.len(), signed(true)) {
            (2, _) => Sides::ColumnsOrTexts,
            (_, 0) if side.is_some() => Sides::ColumnsOrTexts,
            (_, 0) => Sides::Unsaid,
            (_, below) if below > signed(false) => Sides::Signs,
            _ => Sides::UnclearSigns,
        };
        let came_in = |cells: &[Cell]| match (sides, amounts.as_slice(), side) {
            (Sides::Signs | Sides::UnclearSigns, [only], _) => {
                number(cells, *only).map(|x| x > 0.0)
            }
            (_, [out, into], _) => {
                let has = |c: usize| number(cells, c).is_some_and(|x| x.abs() > 0.0);
                (has(*out) != has(*into)).then(|| has(*into))
            }
            (Sides::ColumnsOrTexts, _, Some(c)) => {
                let text = cells.get(c)?.raw.trim().to_lowercase();
                let goes = |text: &str| lists(OUT, text);
                (comes(&text) || goes(&text) || !says(c, &goes)).then_some(comes(&text))
            }
            _ => None,
        };
        let currencies = texts.iter().copied();
        let currencies = currencies.filter(|c| filled(*c).all(|cell| is_currency(cell.raw.trim())));
        let currencies: Vec<usize> = amounts.iter().copied().chain(currencies).collect();
        let mut rows = Vec::new();
        for (row, cells) in body.iter().enumerate() {
            let text = |c: &usize| cells.get(*c).map_or("", |cell| &*cell.raw);
            let read = |order| day(cells.get(days)?, order);
            let both = match order {
                DayOrder::Unknown => [DayOrder::DayFirst, DayOrder::MonthFirst],
                known => [known, known],
            };
            let (Some(first), Some(second)) = (read(both[0]), read(both[1])) else {
                let mut said = texts.iter().chain([&days]);
                let repeats = said.any(|c| is_one_of(REPEATS, &text(c).to_lowercase()));
                // A row without a day is skipped if it is blank or repeats other rows, as a total
                // does. With any other row without a day, the table is not a list of transactions.
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
            let heading = |c: &usize| currency_in(headings.get(*c)?);
            let own = currencies.iter().find_map(|c| currency_in(text(c)));
            rows.push(Transaction {
                row: row + 1,
                days: [first, second],
                texts: texts
                    .iter()
                    .map(|c| TransactionText::read(text(c)))
                    .collect(),
                currency: own.or_else(|| amounts.iter().find_map(heading)),
                came_in: came_in(cells),
            });
        }
        (!texts.is_empty() && rows.len() > 1).then_some(Self {
            table: at,
            headings,
            amounts,
            figures,
            texts,
            order,
            sides,
            rows,
        })
    }
}
