//! Figures that go by a name, and sales of a price times a count.

use super::DirectAnswer;
use super::calendar::CalendarSpan;
use super::labels::{AxisLabel, label_words, same_word};
use super::phrase::NamedOperand;
use super::shares::SALES;
use super::values::{DirectReader, NoReading, Reading};
use crate::offline::expr::Expr;
use crate::offline::reading::text::stem;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// A figure by its name: the words of its rows, the first that the table has, and what joins
/// them.
struct Term {
    names: &'static [&'static str],
    first: &'static [&'static [&'static str]],
    op: Op,
    second: &'static [&'static [&'static str]],
    kind: UnitKind,
}

const CURRENT_ASSETS: &[&[&str]] = &[&["current", "asset"]];
const CURRENT_LIABILITIES: &[&[&str]] = &[&["current", "liability"]];
const NET_INCOME: &[&[&str]] = &[&["net", "income"], &["net", "profit"], &["net", "earning"]];
const ASSETS: &[&[&str]] = &[&["asset"]];
const EQUITY: &[&[&str]] = &[&["equity"]];

const TERMS: [Term; 8] = [
    Term {
        names: &["current ratio"],
        first: CURRENT_ASSETS,
        op: Op::Divide,
        second: CURRENT_LIABILITIES,
        kind: UnitKind::Ratio,
    },
    Term {
        names: &["debt ratio"],
        first: &[&["liability"]],
        op: Op::Divide,
        second: ASSETS,
        kind: UnitKind::Ratio,
    },
    Term {
        names: &["equity ratio"],
        first: EQUITY,
        op: Op::Divide,
        second: ASSETS,
        kind: UnitKind::Ratio,
    },
    Term {
        names: &["return on assets", "return on total assets"],
        first: NET_INCOME,
        op: Op::Divide,
        second: ASSETS,
        kind: UnitKind::Percent,
    },
    Term {
        names: &["return on equity"],
        first: NET_INCOME,
        op: Op::Divide,
        second: EQUITY,
        kind: UnitKind::Percent,
    },
    Term {
        names: &["working capital"],
        first: CURRENT_ASSETS,
        op: Op::Subtract,
        second: CURRENT_LIABILITIES,
        kind: UnitKind::Number,
    },
    Term {
        names: &["free cash flow"],
        first: &[&["operating", "cash"], &["operating", "activity"]],
        op: Op::Subtract,
        second: &[&["capital", "expenditure"], &["capex"]],
        kind: UnitKind::Number,
    },
    Term {
        names: &["gross profit"],
        first: &[
            &["total", "revenue"],
            &["net", "sale"],
            &["revenue"],
            &["sale"],
        ],
        op: Op::Subtract,
        second: &[&["cost", "revenue"], &["cost", "sale"]],
        kind: UnitKind::Number,
    },
];

/// Words that the rows of these figures have in addition.
const OF_TERMS: [&str; 18] = [
    "total",
    "net",
    "overall",
    "operating",
    "cash",
    "flow",
    "provided",
    "generated",
    "activity",
    "shareholder",
    "stockholder",
    "owner",
    "good",
    "sold",
    "sale",
    "year",
    "period",
    "expenditure",
];

/// Words of the prices that units are sold at.
const PRICES: [&str; 6] = ["price", "unit", "average", "selling", "sale", "net"];

/// Words of counts that prices are multiplied with.
const COUNTS: [&str; 8] = [
    "unit", "quantity", "qty", "volume", "share", "number", "sold", "total",
];

impl DirectReader<'_> {
    /// A figure that goes by a name and that no row has; a change or share of it is not read.
    pub(super) fn term(&mut self) -> Reading<Option<DirectAnswer>> {
        let wording = &self.asked.wording;
        let said = |term: &&Term| wording.says(term.names);
        let Some(term) = TERMS.iter().find(said) else {
            return Ok(None);
        };
        let name = term.names.iter().find(|name| wording.says(&[name]));
        let rest = self.whole(&[&[name.copied().unwrap_or_default()], &["much", "have"]]);
        let name = name.copied().unwrap_or_default();
        let labels = || self.table.rows.iter().chain(&self.table.columns).skip(1);
        let stems = |words: &[&str]| -> Vec<String> {
            words.iter().map(|word| stem(word).into_owned()).collect()
        };
        let lacks = || NoReading::Missing(format!("the page has no {name}"));
        if !rest.words.is_empty() || wording.change() || self.asked.spans().len() > 1 {
            let words = label_words(name);
            let in_row = labels().any(|label| words.iter().all(|word| label.says(word)));
            return if in_row { Ok(None) } else { Err(lacks()) };
        }
        let known =
            |words: &Vec<String>| labels().any(|label| words.iter().all(|word| label.says(word)));
        let operand = |of: &[&[&str]]| {
            let mut rows = of.iter().map(|words| stems(words));
            let words = rows.find(known).ok_or_else(lacks)?;
            Ok(NamedOperand {
                words,
                context: vec!["total".to_owned()],
                ..NamedOperand::default()
            })
        };
        let (first, second) = (operand(term.first)?, operand(term.second)?);
        let span = self.asked.spans().first().copied();
        for operand in [&first, &second] {
            let place = self.amount(operand, span)?.place;
            self.doubt_other_name(operand, place, name);
        }
        if term.op == Op::Divide {
            return self.divided(first, second, term.kind).map(Some);
        }
        let whole = NamedOperand {
            terms: vec![(Op::Subtract, second)],
            ..first
        };
        let amount = self.amount(&whole, span)?;
        Ok(Some(DirectAnswer::new(
            "difference",
            amount.expr,
            term.kind,
        )))
    }

    /// "Total liabilities and equity" are not the equity of a ratio.
    fn doubt_other_name(&mut self, operand: &NamedOperand, place: (usize, usize), of: &str) {
        let asked = |word: &String| {
            let mut known = operand.words.iter().map(String::as_str);
            known.any(|other| same_word(other, word))
                || OF_TERMS.iter().any(|other| stem(other) == *word)
        };
        let is_other = |label: &&AxisLabel| {
            let named = operand.words.iter().any(|word| label.says(word));
            named && !label.words.iter().all(asked)
        };
        if let Some(name) = self.table.label_of(place, is_other) {
            self.doubt(format!("{name} may not be a part of the {of}"));
        }
    }

    /// "A times B"; of a percentage, its share.
    pub(super) fn product(&mut self) -> Reading<Option<DirectAnswer>> {
        let joined = ["times", "multiplied by"];
        let wording = &self.asked.wording;
        if wording.says(&["how many times"]) {
            let why = "it asks how many times one figure is another";
            return Err(NoReading::Missing(why.to_owned()));
        }
        let Some((left, right)) = joined.iter().find_map(|word| wording.split(word)) else {
            return Ok(None);
        };
        let span = self.asked.spans().first().copied();
        let mut factor = |text: &str| {
            let operand = self.asked.operand(&self.table, text, &[]);
            let known = operand.words.iter().any(|word| self.table.means(word));
            let amount = match known {
                true => self.amount(&operand, span)?,
                false => return Err(NoReading::Open),
            };
            let rate = ["margin", "rate", "yield", "percent", "percentage", "pct"];
            let is_rate = |label: &&AxisLabel| {
                label.name.contains('%') || rate.iter().any(|word| label.writes(word))
            };
            let label = self.table.label_of(amount.place, is_rate);
            if let Some(name) = label.filter(|_| !amount.percent) {
                self.doubt(format!("{name} may be a percentage"));
            }
            let expr = match amount.percent {
                true => Expr::step(Op::Divide, amount.expr, Expr::constant(100)),
                false => amount.expr,
            };
            Ok((expr, amount.place))
        };
        let ((left, a), (right, b)) = (factor(&left)?, factor(&right)?);
        self.doubt_other_rows(a, b);
        let product = Expr::step(Op::Multiply, left, right);
        Ok(Some(DirectAnswer::new(
            "product",
            product,
            UnitKind::Number,
        )))
    }

    /// Sales where the table has prices and counts in their place: "the revenue from A".
    pub(super) fn sales_of_units(&mut self) -> Reading<Option<DirectAnswer>> {
        let money = |word: &String| {
            let mut nouns = SALES.iter().chain(&["proceeds", "value"]);
            nouns.any(|noun| stem(noun) == *word)
        };
        let operand = self.whole(&[]);
        let of_money: Vec<&String> = operand.words.iter().filter(|word| money(word)).collect();
        if of_money.is_empty() || of_money.iter().any(|word| self.table.knows(word)) {
            return Ok(None);
        }
        // "Price per kg" and "Ticket price" may not be of a unit sold.
        let price = |label: &&AxisLabel| label.names("price", &PRICES);
        let sold = |label: &&AxisLabel| label.writes("sold");
        let count = |label: &&AxisLabel| {
            let mut counts = COUNTS
                .iter()
                .filter(|word| !["number", "total"].contains(*word));
            counts.any(|word| label.names(word, &COUNTS))
        };
        let only = |labels: &[AxisLabel], said: &dyn Fn(&&AxisLabel) -> bool| {
            let mut found = labels.iter().skip(1).filter(said);
            let only = found.next().map(|label| label.words.clone())?;
            // "Units sold 2031" and "Units sold 2032" are one quantity.
            found.all(|label| label.words == only).then_some(only)
        };
        let axes = [&self.table.columns, &self.table.rows];
        let pair = axes.into_iter().find_map(|labels| {
            only(labels, &price).zip(only(labels, &sold).or_else(|| only(labels, &count)))
        });
        let Some((price, count)) = pair else {
            let counted = |label: &&AxisLabel| ["units", "sold"].iter().any(|w| label.writes(w));
            let mut labels = axes.iter().flat_map(|labels| labels.iter().skip(1));
            let name = labels.find(counted).map(|label| label.name.clone());
            drop(labels);
            if let Some(name) = name {
                self.doubt(format!("{name} may be a count and not an amount"));
            }
            return Ok(None);
        };
        let named = operand.words.iter().filter(|word| !money(word));
        let named: Vec<String> = named.cloned().collect();
        let span = self.asked.spans().first().copied();
        let dated = |label: &[String]| {
            self.table.cells.keys().any(|(row, column)| {
                let labels = [self.table.rows.get(*row), self.table.columns.get(*column)];
                let named = labels.iter().flatten().any(|other| other.words == label);
                named && self.table.span_of(*row, *column).is_some()
            })
        };
        let undated = span.filter(|_| !dated(&price) && dated(&count));
        if let Some(span) = undated {
            self.doubt(format!("the page has no price of {span} alone"));
        }
        let mut factor = |label: Vec<String>, span: Option<CalendarSpan>| {
            let words = named.iter().cloned().chain(label).collect();
            self.amount(
                &NamedOperand {
                    words,
                    ..NamedOperand::default()
                },
                span,
            )
        };
        let of_price = span.filter(|_| undated.is_none());
        let (count, price) = (factor(count, span)?, factor(price, of_price)?);
        self.doubt_other_rows(count.place, price.place);
        for place in [count.place, price.place] {
            let in_unit = |label: &&AxisLabel| !label.aside.is_empty() || label.writes("per");
            if let Some(name) = self.table.label_of(place, in_unit) {
                self.doubt(format!("{name} may be in another unit"));
            }
        }
        let product = Expr::step(Op::Multiply, count.expr, price.expr);
        Ok(Some(DirectAnswer::new(
            "count times price",
            product,
            UnitKind::Number,
        )))
    }
}
