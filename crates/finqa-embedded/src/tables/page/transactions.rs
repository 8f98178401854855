//! Reads lists of transactions, as banks and apps export them: each row has a day, an amount, and
//! with whom or for what.

use finqa_core::number::{currency_in, is_currency};
use finqa_core::page::period::{Date, DayOrder, Times};
use finqa_core::page::{Cell, Table};

use crate::tables::words::{has_one_of, lists, plain_stems};

/// Words for money that goes out and money that comes in, in headings, texts and questions.
pub(crate) const OUT: &str = "spent spend spending spends pay paid pays cost costs bought buy expense expenses expenditure \
    purchase purchases debit dr withdrawal withdrawals out payment payments";
pub(crate) const IN: &str =
    "received receive earned income credit cr deposit deposits in paid-in refund refunds refunded";

/// Words for money that comes in without being income.
const SOLD: &str = "sell sold return returned";

/// Headings of columns of money that can be added up, and of columns that cannot.
const AMOUNTS: &str = "amount amounts value total sum spent spending paid cost costs expense expenses debit credit \
    sales revenue turnover income betrag";
const NO_AMOUNTS: &str = "balance running cumulative price rate no id ref year month day";
/// Headings of numbers of things, which are not money but can be added up.
const COUNTS: &str = "quantity qty unit units number points hours shares";

/// Headings that mark a list of earnings.
const OF_INCOME: &str = "client customer invoice sales revenue income buyer donor";

/// Words that mark a row as a total or a balance, which repeats other rows.
const REPEATS: &str = "total subtotal balance";
/// A text with only these words, among them "balance", states a balance.
const BALANCE: &str =
    "balance opening closing brought carried forward starting ending previous old new on at of";

/// Words that do not distinguish one name from another.
const LINKS: &str = "the of and a an to from by at in on for with";

/// A list of transactions.
#[derive(Debug)]
pub(crate) struct TransactionList {
    pub(crate) headings: Vec<String>,
    /// One column of amounts, or what went out and what came in.
    pub(crate) amounts: Vec<usize>,
    /// All columns of figures.
    pub(crate) figures: Vec<usize>,
    /// The columns of [`Transaction::texts`].
    pub(crate) texts: Vec<usize>,
    pub(crate) order: DayOrder,
    pub(crate) sides: Sides,
    pub(crate) rows: Vec<Transaction>,
}

/// The way in which a list distinguishes money spent from money received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sides {
    /// More amounts are below zero than above it.
    Signs,
    /// Most amounts are above zero. They may be payments, because the list of a card prints
    /// payments without a minus.
    UnclearSigns,
    /// Two columns of amounts, or a column of texts such as "debit".
    ColumnsOrTexts,
    /// Nothing distinguishes them.
    Unsaid,
}

/// A row of a list of transactions.
#[derive(Debug)]
pub(crate) struct Transaction {
    pub(crate) row: usize,
    /// The date, read with the day first and with the month first. Both are equal if the list shows
    /// which it is.
    pub(crate) days: [Date; 2],
    /// The texts that can have the name that a question asks for.
    pub(crate) texts: Vec<TransactionText>,
    pub(crate) currency: Option<String>,
    /// True if the money came in, false if it went out; `None` if the list does not say.
    pub(crate) came_in: Option<bool>,
}

/// A text of a transaction, such as a payee, and its words.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TransactionText {
    pub(crate) printed: String,
    pub(crate) words: Vec<String>,
}

impl TransactionText {
    /// Reads the words of a cell in lower case, without those that only link names.
    fn read(cell: &str) -> Self {
        let words = name_words(cell).into_iter();
        let words = words.map(|word| word.to_lowercase());
        Self {
            printed: cell.trim().to_owned(),
            words: words.filter(|word| !is_link(word)).collect(),
        }
    }
}

/// The words of a name. Words joined by a hyphen count as one word: "Rent-a-car" is not "rent". `&`
/// and apostrophes are parts of a word too, but a possessive `'s` is not.
pub(crate) fn name_words(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !"&-'\u{2019}".contains(c));
    let words = words.map(|word| {
        let owner = ["'s", "'S", "\u{2019}s", "\u{2019}S"];
        let owner = owner.iter().find_map(|end| word.strip_suffix(end));
        let word = owner.unwrap_or(word);
        word.trim_matches(|c: char| !c.is_alphanumeric())
    });
    words.filter(|word| !word.is_empty()).collect()
}

pub(crate) fn is_link(word: &str) -> bool {
    lists(LINKS, word)
}

/// The day of a cell that is a date and nothing else. `None` without a year, a month or a day.
fn day(cell: &Cell, order: DayOrder) -> Option<Date> {
    let (period, rest) = Times::heading_in(&cell.raw, order);
    let end = period?.end;
    let whole = end.day.is_some() && end.month.is_some() && end.year.is_some();
    (whole && plain_stems(&rest).is_empty()).then_some(end)
}

/// The column of amounts, or those of money out and money in; `None` if no heading names one, or if
/// several could be meant.
fn amounts(headings: &[String], figures: &[usize]) -> Option<Vec<usize>> {
    let named = |c: &usize, list: &str| headings.get(*c).is_some_and(|name| has_one_of(list, name));
    let is_money = |c: &usize| !named(c, NO_AMOUNTS) && !named(c, COUNTS);
    let money: Vec<usize> = figures.iter().copied().filter(is_money).collect();
    let of = |list: &str| -> Vec<usize> {
        let columns = money.iter().copied();
        columns.filter(|c| named(c, list)).collect()
    };
    let (plain, out, into) = (of("amount value total"), of(OUT), of(IN));
    match (&*plain, &*out, &*into, &*money) {
        ([only], ..) => Some(vec![*only]),
        ([], [out, ..], [into, ..], _) if out != into => Some(vec![*out, *into]),
        ([], .., [only]) if named(only, AMOUNTS) => Some(vec![*only]),
        _ => None,
    }
}

impl TransactionList {
    /// True if the amounts of a column can be added up, unlike balances or prices.
    pub(crate) fn adds_up(&self, column: usize) -> bool {
        let heading = self.headings.get(column).map_or("", String::as_str);
        !has_one_of(NO_AMOUNTS, heading)
    }

    /// True if a heading says that the list is of money earned: "Client", "Invoice".
    pub(crate) fn is_of_income(&self) -> bool {
        let mut headings = self.headings.iter();
        headings.any(|heading| has_one_of(OF_INCOME, heading))
    }

    /// Reads a table as a list; `None` if it is anything else, lacks a column of texts, or has
    /// fewer than two transactions.
    pub(crate) fn read(table: &Table) -> Option<Self> {
        let (header, body) = table.cells().split_first()?;
        let headings: Vec<String> = header.iter().map(|cell| cell.raw.to_lowercase()).collect();
        let body = ListBody(body);
        let all = 0..headings.len();
        // Of several columns of days, the first counts.
        let days = all.clone().find(|c| body.has_days(*c))?;
        let order = DayOrder::of(body.column(days).map(|cell| &*cell.raw));
        let rest = all.filter(|c| *c != days);
        let (figures, rest): (Vec<usize>, Vec<usize>) = rest.partition(|c| body.has_figures(*c));
        let amounts = amounts(&headings, &figures)?;
        let texts = rest.into_iter().filter(|c| body.has_letters(*c));
        let texts: Vec<usize> = texts.collect();
        // The column of texts such as "debit" and "credit".
        let side = texts.iter().copied().find(|c| body.says(*c, comes));
        let of_text = texts.iter().filter(|c| body.has_currencies(**c));
        let currencies: Vec<usize> = amounts.iter().chain(of_text).copied().collect();
        let mut names = amounts.iter().filter_map(|c| headings.get(*c));
        let of_headings = names.find_map(|name| currency_in(name));
        let mut list = Self {
            sides: sides(&body, &amounts, side.is_some()),
            amounts,
            figures,
            order,
            rows: Vec::new(),
            headings,
            texts,
        };
        for (row, cells) in body.0.iter().enumerate() {
            match list.days_of(cells, days) {
                Some(_) if list.is_balance(cells) => {}
                Some(days) => {
                    let of_row = currencies.iter().find_map(|c| currency_in(text(cells, *c)));
                    let read = |c: &usize| TransactionText::read(text(cells, *c));
                    list.rows.push(Transaction {
                        row: row + 1,
                        days,
                        texts: list.texts.iter().map(read).collect(),
                        currency: of_row.or_else(|| of_headings.clone()),
                        came_in: list.came_in(&body, cells, side),
                    });
                }
                // A row without a day is skipped if it is blank or repeats other rows, as a total
                // does. With any other row without a day, the table is not a list of transactions.
                None if list.repeats(cells, days) => {}
                None if cells.iter().all(|cell| cell.raw.trim().is_empty()) => {}
                None => return None,
            }
        }
        (!list.texts.is_empty() && list.rows.len() > 1).then_some(list)
    }

    /// The day of a row, read with the day first and with the month first; both are equal if the
    /// order is known. `None` if the cell is not a date in both orders.
    fn days_of(&self, cells: &[Cell], column: usize) -> Option<[Date; 2]> {
        let [first, second] = match self.order {
            DayOrder::Unknown => [DayOrder::DayFirst, DayOrder::MonthFirst],
            known => [known, known],
        };
        let cell = cells.get(column)?;
        Some([day(cell, first)?, day(cell, second)?])
    }

    /// True if a row repeats other rows, as a total does.
    fn repeats(&self, cells: &[Cell], days: usize) -> bool {
        let mut said = self.texts.iter().chain([&days]);
        said.any(|c| has_one_of(REPEATS, &text(cells, *c).to_lowercase()))
    }

    /// True if a row has a balance and not a transaction. A shop may be called "Opening".
    fn is_balance(&self, cells: &[Cell]) -> bool {
        self.texts.iter().any(|c| {
            let lower = text(cells, *c).to_lowercase();
            let mut words = lower.split_whitespace();
            lower.contains("balance") && words.all(|word| lists(BALANCE, word))
        })
    }

    /// True if the money of a row came in, false if it went out; `None` if the list does not say.
    fn came_in(&self, body: &ListBody<'_>, cells: &[Cell], side: Option<usize>) -> Option<bool> {
        match (self.sides, self.amounts.as_slice(), side) {
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
                // If the column marks only money that came in, all other rows went out.
                (comes(&text) || goes(&text) || !body.says(c, goes)).then_some(comes(&text))
            }
            _ => None,
        }
    }
}

/// The rows of a table below its header.
struct ListBody<'t>(&'t [Vec<Cell>]);

impl ListBody<'_> {
    fn column(&self, c: usize) -> impl Iterator<Item = &Cell> {
        self.0.iter().filter_map(move |row| row.get(c))
    }

    /// The cells of a column that are not blank.
    fn filled(&self, c: usize) -> impl Iterator<Item = &Cell> {
        self.column(c).filter(|cell| !cell.raw.trim().is_empty())
    }

    /// True if most cells of a column are days.
    fn has_days(&self, c: usize) -> bool {
        let orders = [DayOrder::DayFirst, DayOrder::MonthFirst];
        let is_date = |cell: &&Cell| orders.iter().any(|order| day(cell, *order).is_some());
        2 * self.column(c).filter(is_date).count() > self.0.len()
    }

    /// True if a column has figures and nothing else.
    fn has_figures(&self, c: usize) -> bool {
        // A figure that cannot be read does not make it a column of texts; no sum uses it.
        let figure = |cell: &Cell| cell.number.is_some() || cell.unread().is_some();
        self.filled(c).count() > 0 && self.filled(c).all(figure)
    }

    fn has_letters(&self, c: usize) -> bool {
        let mut cells = self.filled(c);
        cells.any(|cell| cell.raw.contains(char::is_alphabetic))
    }

    /// True if a column has currencies and nothing else.
    fn has_currencies(&self, c: usize) -> bool {
        self.filled(c).all(|cell| is_currency(cell.raw.trim()))
    }

    /// True if `is_of` is true for a text of the column in lower case.
    fn says(&self, c: usize, is_of: fn(&str) -> bool) -> bool {
        self.filled(c)
            .any(|cell| is_of(&cell.raw.trim().to_lowercase()))
    }
}

/// Two columns of amounts decide first, then signs, then a column of texts such as "debit".
fn sides(body: &ListBody<'_>, amounts: &[usize], has_texts: bool) -> Sides {
    let [only] = amounts else {
        return Sides::ColumnsOrTexts;
    };
    let numbers = body.0.iter().filter_map(|cells| number(cells, *only));
    let (below, above): (Vec<f64>, Vec<f64>) = numbers.partition(|x| *x < 0.0);
    match below.len() {
        0 if has_texts => Sides::ColumnsOrTexts,
        0 => Sides::Unsaid,
        below if below > above.len() => Sides::Signs,
        _ => Sides::UnclearSigns,
    }
}

/// True for a word for money that comes in.
fn comes(text: &str) -> bool {
    lists(IN, text) || lists(SOLD, text)
}

fn number(cells: &[Cell], c: usize) -> Option<f64> {
    Some(cells.get(c)?.number.as_ref()?.value)
}

fn text(cells: &[Cell], c: usize) -> &str {
    cells.get(c).map_or("", |cell| &*cell.raw)
}

#[cfg(test)]
pub(crate) mod tests {
    use finqa_core::question::Document;

    use super::*;

    /// Reads a page with these rows, whose cells are separated by `|`.
    pub(crate) fn read(rows: &[&str]) -> Option<TransactionList> {
        let row = |row: &&str| row.split('|').map(str::to_owned).collect::<Vec<_>>();
        let document = Document {
            table: rows.iter().map(row).collect(),
            own: true,
            ..Document::default()
        };
        TransactionList::read(&document.page().table)
    }

    /// The side of the first row of a list with this header.
    fn side(header: &str, rows: &[&str]) -> Option<bool> {
        let list = read(&[&[header][..], rows].concat());
        list.unwrap_or_else(|| panic!("{header} {rows:?}")).rows[0].came_in
    }

    #[test]
    fn a_heading_says_whether_a_column_has_amounts_and_whether_they_add_up() {
        let words = "amount amounts value total sum spent spending paid cost costs expense expenses \
            debit credit sales revenue turnover income betrag";
        let with = |header: &str| read(&[header, "2031-01-05|Rewe|12", "2031-01-09|Halden|20"]);
        for word in words.split(' ') {
            let list = with(&format!("Date|Shop|{word}"));
            assert_eq!(list.map(|list| list.amounts), Some(vec![2]), "{word}");
        }
        let balances = "balance running cumulative price rate no id ref year month day";
        let counts = "quantity qty unit units number points hours shares";
        for (words, adds_up) in [(balances, false), (counts, true)] {
            for word in words.split(' ') {
                let header = format!("Date|Shop|{word} amount|Amount");
                let list = read(&[&*header, "2031-01-05|Rewe|5|12", "2031-01-09|Halden|6|20"]);
                let list = list.unwrap_or_else(|| panic!("{word}"));
                assert_eq!(list.amounts, [3], "{word}");
                assert_eq!([2, 3].map(|c| list.adds_up(c)), [adds_up, true], "{word}");
            }
        }
        for word in "client customer invoice sales revenue income buyer donor".split(' ') {
            let list = with(&format!("Date|{word}|Amount"));
            assert!(list.is_some_and(|list| list.is_of_income()), "{word}");
        }
    }

    #[test]
    fn a_text_or_a_heading_says_whether_money_went_out_or_came_in() {
        let out = "spent spend spending spends pay paid pays cost costs bought buy expense expenses \
            expenditure purchase purchases debit dr withdrawal withdrawals out payment payments";
        let into = "received receive earned income credit cr deposit deposits in paid-in refund \
            refunds refunded";
        let sold = "sell sold return returned";
        for (words, came_in) in [(out, false), (into, true), (sold, true)] {
            for word in words.split(' ') {
                let row = format!("2031-01-05|Rewe|{word}|12");
                // The other rows have marks for both sides, because without one for payments every
                // row without a mark is a payment.
                let others = ["2031-01-09|Fern|debit|20", "2031-01-10|Fern|expense|21"];
                let others = others.into_iter().chain(["2031-01-11|Boss|income|22"]);
                let rows: Vec<&str> = std::iter::once(row.as_str()).chain(others).collect();
                let found = side("Date|Shop|Type|Amount", &rows);
                assert_eq!(found, Some(came_in), "{word}");
            }
        }
        let rows = ["2031-01-05|Rewe|12|", "2031-01-09|Halden||20"];
        for word in out.split(' ') {
            let header = format!("Date|Shop|{word}|Credit");
            assert_eq!(side(&header, &rows), Some(false), "{word}");
        }
        for word in into.split(' ') {
            let header = format!("Date|Shop|Debit|{word}");
            assert_eq!(side(&header, &rows), Some(false), "{word}");
        }
    }

    #[test]
    fn a_total_or_a_balance_is_not_a_transaction() {
        let rows = |word: &str| {
            let last = format!("{word}|32");
            let list = read(&[
                "Date|Shop|Amount", "2031-01-05|Rewe|12", "2031-01-09|Halden|20", &last,
            ]);
            list.map(|list| list.rows.len())
        };
        for word in ["total", "subtotal", "balance"] {
            assert_eq!(rows(&format!("|{word}")), Some(2), "{word}");
        }
        let words =
            "opening closing brought carried forward starting ending previous old new on at of";
        for word in words.split(' ') {
            let text = format!("2031-01-31|{word} balance");
            assert_eq!(rows(&text), Some(2), "{word}");
        }
        assert_eq!(rows("2031-01-31|Fern"), Some(3));
        assert_eq!(rows("|Fern"), None);
    }
}
