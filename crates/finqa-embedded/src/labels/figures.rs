//! Figures that go by a name and that a table has no row or column for: they are computed as
//! further ones, so that questions ask for them as for any other.

use std::sync::LazyLock;

use super::axis::{AxisLabel, label_words};
use super::figure_list::{FIGURES, Figure, PROFITS, margin_names, revenue};
use super::lines::LabelledTable;
use super::values::{DirectReader, NoReading, Reading, TableAmount};
use crate::expr::Expr;
use crate::question::operations::CHANGE;
use crate::reading::outflow::names_cost;
use crate::reading::text::stem;
use finqa_core::number::UnitKind;
use finqa_core::page::period::CalendarSpan;
use finqa_core::program::Op;

/// Words that the line of a figure may have in addition.
const QUALIFIERS: [&str; 13] = [
    "total", "overall", "consolidated", "group", "company", "shareholder", "stockholder", "owner",
    "year", "period", "fiscal", "attributable", "actual",
];

fn is_qualifier(word: &str) -> bool {
    static STEMS: LazyLock<Vec<String>> =
        LazyLock::new(|| QUALIFIERS.map(|word| stem(word).into_owned()).to_vec());
    STEMS.iter().any(|known| known == word)
}

/// Words of payments that pages print below zero.
const PAID: [&str; 5] = ["tax", "dividend", "interest", "depreciation", "expenditure"];

/// Words of the prices that units are sold at.
const PRICES: [&str; 7] = ["price", "unit", "average", "selling", "sale", "net", "list"];

/// Words of counts that prices are multiplied with.
const COUNTS: [&str; 8] = [
    "unit", "quantity", "qty", "volume", "share", "number", "sold", "total",
];

/// What makes sales less than the price times the count.
const REBATES: [&str; 6] = ["discount", "rebate", "vat", "tax", "refund", "commission"];

/// Stems of currencies in brackets.
const CURRENCIES: [&str; 9] = [
    "usd", "eur", "gbp", "chf", "sek", "dollar", "euro", "pound", "us",
];

/// How questions name the sales of a price times a count.
const SALES_OF_UNITS: [&str; 6] = [
    "revenue", "revenues", "sales", "turnover", "proceeds", "sales revenue",
];

/// The lines that figures are computed from, on one axis.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    Rows,
    Columns,
}

impl Axis {
    fn other(self) -> Self {
        match self {
            Self::Rows => Self::Columns,
            Self::Columns => Self::Rows,
        }
    }
}

impl LabelledTable<'_> {
    /// Adds the figures that the table's lines make up.
    pub(super) fn add_figures(&mut self) {
        for axis in [Axis::Rows, Axis::Columns] {
            self.add_sales_of_units(axis);
            for figure in FIGURES.iter() {
                self.add_figure(axis, figure);
            }
            self.add_margins(axis);
        }
    }

    fn line(&self, axis: Axis) -> &Vec<AxisLabel> {
        match axis {
            Axis::Rows => &self.rows,
            Axis::Columns => &self.columns,
        }
    }

    /// The periods that the labels of an axis have, "none" among them.
    fn spans_of(&self, axis: Axis) -> Vec<Option<CalendarSpan>> {
        let mut spans = Vec::new();
        for label in self
            .line(axis)
            .iter()
            .skip(1)
            .filter(|label| !label.derived)
        {
            if !spans.contains(&label.span) {
                spans.push(label.span);
            }
        }
        spans
    }

    fn lines_where(&self, axis: Axis, is: impl Fn(&AxisLabel) -> bool) -> Vec<usize> {
        let lines = self.line(axis).iter().enumerate().skip(1);
        lines
            .filter(|(_, label)| is(label))
            .map(|(at, _)| at)
            .collect()
    }

    /// The only one of these lines whose period fits.
    fn only_of(
        &self,
        axis: Axis,
        lines: &[usize],
        fits: impl Fn(Option<CalendarSpan>) -> bool,
    ) -> Option<usize> {
        let mut found = lines.iter().filter(|at| {
            let label = self.line(axis).get(**at);
            label.is_some_and(|label| fits(label.span))
        });
        let (first, second) = (found.next(), found.next());
        first.filter(|_| second.is_none()).copied()
    }

    /// For each of these names the lines that have it, of percentages only if they may be.
    fn named_lines(&self, axis: Axis, names: &[&str], rates: bool) -> Vec<Vec<usize>> {
        let lines = names.iter().map(|name| {
            let words = label_words(name);
            let mut lines = self.lines_where(axis, |label| match label.derived {
                true => label_words(&label.name) == words,
                false => {
                    let own =
                        |word: &String| label.words.contains(word) || label.aside.contains(word);
                    let mut others = label.words.iter().filter(|word| !words.contains(word));
                    words.iter().all(own)
                        && label.words.iter().any(|word| words.contains(word))
                        && others.all(|word| is_qualifier(word))
                }
            });
            lines.retain(|at| rates || self.is_amounts(axis, *at));
            lines
        });
        lines.filter(|lines| !lines.is_empty()).collect()
    }

    /// The line of a period that has one of the names, and no other with as good a one.
    fn line_of(
        &self,
        axis: Axis,
        named: &[Vec<usize>],
        span: Option<CalendarSpan>,
    ) -> Option<usize> {
        let mut lines = named.iter();
        lines.find_map(|lines| self.only_of(axis, lines, |of| of == span))
    }

    fn amounts(&self, axis: Axis, line: usize) -> impl Iterator<Item = TableAmount> {
        self.places(axis, line)
            .filter_map(|place| self.amount_at(place))
    }

    /// Whether a line has cells that are not percentages.
    fn is_amounts(&self, axis: Axis, line: usize) -> bool {
        self.amounts(axis, line).any(|cell| !cell.percent)
    }

    /// Whether a cell of a line could be a percentage without its sign.
    fn is_small(&self, axis: Axis, line: usize) -> bool {
        self.amounts(axis, line)
            .any(|cell| cell.number.abs() <= 100.0)
    }

    fn places(&self, axis: Axis, line: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let count = self.line(axis.other()).len();
        (1..count).map(move |at| match axis {
            Axis::Rows => (line, at),
            Axis::Columns => (at, line),
        })
    }

    fn add_figure(&mut self, axis: Axis, figure: &Figure) {
        let named = self.named_as(&figure.names);
        let words = named.unwrap_or_else(|| vec![format!("zqfigure{}", self.aliases.len())]);
        let known = self.labels().any(|label| label.words == words);
        let said = |name: &&str| {
            let words = label_words(name);
            self.labels()
                .any(|label| !label.derived && words.iter().all(|word| label.says(word)))
        };
        if !known && figure.names.iter().any(said) {
            return;
        }
        let names = figure.names.iter().map(|name| (*name).to_owned());
        if known {
            self.add_aliases(names.collect(), &words);
            return;
        }
        let firsts = self.named_lines(axis, &figure.first, false);
        let seconds = self.named_lines(axis, &figure.second, figure.op == Op::Multiply);
        if firsts.is_empty() || seconds.is_empty() {
            return;
        }
        for span in self.spans_of(axis) {
            let first = self.line_of(axis, &firsts, span);
            // A rate need not have a period.
            let rate = || {
                self.line_of(axis, &seconds, None)
                    .filter(|_| figure.op == Op::Multiply)
            };
            let second = self.line_of(axis, &seconds, span).or_else(rate);
            if let Some((first, second)) = first.zip(second).filter(|(a, b)| a != b) {
                let figure = (figure.op, figure.kind);
                let names: Vec<String> = names.clone().collect();
                let signs = self
                    .amounts(axis, second)
                    .fold((false, false), |found, amount| {
                        (
                            found.0 || amount.number < 0.0,
                            found.1 || amount.number > 0.0,
                        )
                    });
                let label = AxisLabel {
                    aside: self.words_of_both(axis, (first, second), figure.0),
                    doubt: (figure.0 == Op::Add && signs == (true, true))
                        .then(|| "some of its parts are below zero".to_owned()),
                    ..AxisLabel::computed(&names, &words, span)
                };
                self.add_line(axis, (first, second), figure, label, &names);
            }
        }
    }

    /// The share of sales of every line that is named as a profit.
    fn add_margins(&mut self, axis: Axis) {
        let revenues = self.named_lines(axis, &revenue(), false);
        if revenues.is_empty() {
            return;
        }
        let of_page = self.aliases.len();
        for span in self.spans_of(axis) {
            let mut of_span: Vec<String> = Vec::new();
            let Some(revenue) = self.line_of(axis, &revenues, span) else {
                continue;
            };
            for at in 1..self.line(axis).len() {
                let label = self.line(axis).get(at).filter(|label| {
                    let of_page = !label.derived && label.span == span;
                    of_page && PROFITS.iter().any(|word| label.writes(word))
                });
                let Some(name) = label
                    .map(AxisLabel::plain_name)
                    .filter(|_| self.is_amounts(axis, at))
                else {
                    continue;
                };
                let names = margin_names(&name);
                let alias =
                    |name: &String| self.aliases.iter().position(|(other, _)| other == name);
                let aliases: Vec<usize> = names.iter().filter_map(alias).collect();
                let known = aliases.iter().any(|alias| *alias < of_page)
                    || names.iter().any(|name| of_span.contains(name));
                if at != revenue && !known {
                    // The margin of another period goes by the same name.
                    let other = aliases.first().and_then(|alias| self.aliases.get(*alias));
                    let words = other.map_or_else(
                        || vec![format!("zqfigure{}", self.aliases.len())],
                        |(_, words)| words.clone(),
                    );
                    let figure = (Op::Divide, UnitKind::Percent);
                    let label = AxisLabel {
                        doubt: (self.is_small(axis, at) && name.ends_with(" margin"))
                            .then(|| format!("{name} may be a percentage")),
                        ..AxisLabel::computed(&names, &words, span)
                    };
                    self.add_line(axis, (at, revenue), figure, label, &names);
                    of_span.extend(names);
                }
            }
        }
    }

    /// The words of two lines whose product a question may ask for by their names: "interest on
    /// the balance".
    fn words_of_both(&self, axis: Axis, (first, second): (usize, usize), op: Op) -> Vec<String> {
        let lines = [first, second].map(|at| self.line(axis).get(at));
        let lines = lines.into_iter().flatten().filter(|_| op == Op::Multiply);
        lines.flat_map(|label| label.words.clone()).collect()
    }

    /// The words of the label that goes by one of these names.
    fn named_as(&self, names: &[&str]) -> Option<Vec<String>> {
        let named = names.iter().find_map(|name| {
            let words = label_words(name);
            self.labels().find(|label| {
                let own = label.words.iter().filter(|word| !is_qualifier(word));
                label.derived && label.name == *name || own.eq(&words)
            })
        });
        named.map(|label| label.words.clone())
    }

    fn add_aliases(&mut self, names: Vec<String>, words: &[String]) {
        for name in names {
            if !self.aliases.iter().any(|(other, _)| *other == name) {
                self.aliases.push((name, words.to_vec()));
            }
        }
    }

    /// A line of results over two others.
    fn add_line(
        &mut self,
        axis: Axis,
        (first, second): (usize, usize),
        (op, kind): (Op, UnitKind),
        label: AxisLabel,
        names: &[String],
    ) {
        let is_cost = |at: usize| {
            let label = self.line(axis).get(at);
            let paid = |label: &AxisLabel| PAID.iter().any(|word| label.says(word));
            // A page prints what is owed below zero, or not.
            let owed = |label: &AxisLabel| label.says_noun("liability") && op == Op::Divide;
            label.is_some_and(|label| names_cost(&label.name) || paid(label) || owed(label))
        };
        let (paid, cost) = (is_cost(first), is_cost(second));
        let percent = kind == UnitKind::Percent;
        let at = self.line(axis).len();
        let mut cells = Vec::new();
        let (a, b) = (self.places(axis, first), self.places(axis, second));
        for ((a, b), place) in a.zip(b).zip(self.places(axis, at)) {
            let (Some(mut a), Some(mut b)) = (self.amount_at(a), self.amount_at(b)) else {
                continue;
            };
            let (row, column) = place;
            let across = match axis {
                Axis::Rows => self.columns.get(column),
                Axis::Columns => self.rows.get(row),
            };
            let difference = |label: &AxisLabel| CHANGE.iter().any(|word| label.writes(word));
            // A total of prices times a total of counts is not the total of sales.
            let product = |label: &AxisLabel| op == Op::Multiply && label.total;
            let other = across.is_some_and(|label| difference(label) || product(label));
            for (amount, cost) in [(&mut a, paid && op == Op::Divide), (&mut b, cost)] {
                if cost && amount.number < 0.0 {
                    amount.turn();
                }
            }
            let rate = b.percent && op == Op::Multiply;
            if a.percent || b.percent && !rate || other || op == Op::Divide && b.number <= 0.0 {
                continue;
            }
            let number = match op {
                Op::Add => a.number + b.number,
                Op::Subtract => a.number - b.number,
                Op::Multiply => a.number * b.number,
                _ => a.number / b.number,
            };
            let expr = Expr::step(op, a.expr, b.expr);
            let hundred = Expr::constant(100);
            let (expr, number) = match (percent, rate) {
                (true, _) => (Expr::step(Op::Multiply, expr, hundred), 100.0 * number),
                (false, true) => (Expr::step(Op::Divide, expr, hundred), number / 100.0),
                (false, false) => (expr, number),
            };
            cells.push(TableAmount {
                expr,
                number,
                percent,
                place,
            });
        }
        if cells.is_empty() {
            return;
        }
        for cell in cells {
            let index = self.facts.all.len() + self.derived.len();
            self.cells.insert(cell.place, index);
            self.derived.push(cell);
        }
        self.add_aliases(names.to_vec(), &label.words);
        match axis {
            Axis::Rows => self.rows.push(label),
            Axis::Columns => self.columns.push(label),
        }
    }

    /// Sales of a price and a count, where no line has them.
    fn add_sales_of_units(&mut self, axis: Axis) {
        let writes =
            |label: &AxisLabel, words: &[&str]| words.iter().any(|word| label.writes(word));
        if self.labels().any(|label| writes(label, &SALES_OF_UNITS)) {
            return;
        }
        let rebate = self.labels().find(|label| writes(label, &REBATES));
        let rebate = rebate.map(|label| label.name.clone());
        let prices = self.lines_where(axis, |label| label.names("price", &PRICES));
        if prices.is_empty() {
            return;
        }
        let counts = COUNTS
            .iter()
            .filter(|word| !["number", "total"].contains(*word))
            .map(|word| self.lines_where(axis, |label| label.names(word, &COUNTS)));
        let sold = self.lines_where(axis, |label| label.writes("sold"));
        let counts: Vec<Vec<usize>> = std::iter::once(sold).chain(counts).collect();
        let words = vec!["zqsales".to_owned()];
        let names = SALES_OF_UNITS.map(str::to_owned);
        for span in self.spans_of(axis) {
            let price = self.only_of(axis, &prices, |of| of.is_none() || of == span);
            let count = self.line_of(axis, &counts, span);
            let Some((price, count)) = price.zip(count) else {
                continue;
            };
            let lines = [count, price].map(|at| self.line(axis).get(at));
            let across = self.line(axis.other());
            let money = |word: &String| {
                CURRENCIES.contains(&word.as_str()) || !word.chars().any(char::is_alphabetic)
            };
            let in_unit =
                |label: &&AxisLabel| label.writes("per") || !label.aside.iter().all(money);
            let in_unit = lines.into_iter().flatten().chain(across).find(in_unit);
            let dated = |at: usize| {
                self.line(axis)
                    .get(at)
                    .is_some_and(|label| label.span.is_some())
            };
            let undated = span.filter(|_| !dated(price) && dated(count));
            let doubts = [
                undated.map(|span| format!("the page has no price of {span} alone")),
                in_unit.map(|label| format!("{} may be in another unit", label.name)),
                rebate
                    .clone()
                    .map(|name| format!("{name} may not be in the sales")),
            ];
            let label = AxisLabel {
                aside: self.words_of_both(axis, (count, price), Op::Multiply),
                doubt: doubts.into_iter().flatten().next(),
                ..AxisLabel::computed(&names, &words, span)
            };
            let figure = (Op::Multiply, UnitKind::Number);
            self.add_line(axis, (count, price), figure, label, &names);
        }
    }
}

impl DirectReader<'_> {
    /// An error if the question asks for a figure that the table has not and does not make up.
    pub(super) fn lacks_figure(&self) -> Reading<()> {
        let wording = &self.asked.wording;
        let said = |figure: &&Figure| wording.says(&figure.names);
        for figure in FIGURES.iter().filter(said) {
            let name = figure.names.iter().find(|name| wording.says(&[name]));
            let name = name.copied().unwrap_or_default();
            let words = label_words(name);
            let says_all = |label: &AxisLabel| words.iter().all(|word| label.says(word));
            if !self.table.labels().any(says_all) {
                return Err(NoReading::Missing(format!("the page has no {name}")));
            }
        }
        Ok(())
    }
}
