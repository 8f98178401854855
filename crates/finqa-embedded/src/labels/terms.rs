//! Products of two figures, and figures given for others: counts for amounts of money, a month's
//! fee for a year's.

use super::DirectAnswer;
use super::axis::AxisLabel;
use super::values::{DirectReader, NoReading, Reading};
use crate::expr::Expr;
use crate::reading::text::stem;
use finqa_core::program::Op;

/// Words of money that sales bring.
const MONEY: [&str; 6] = ["revenue", "sale", "turnover", "umsatz", "proceeds", "value"];

/// The words of one length of time.
const LENGTHS: [&[&str]; 6] = [
    &["year", "annum", "annual", "annually", "yearly"],
    &["quarter", "quarterly"],
    &["month", "monthly"],
    &["week", "weekly"],
    &["day", "daily"],
    &["hour", "hourly"],
];

impl DirectReader<'_> {
    /// "The fee per year" where the page has a monthly one.
    pub(super) fn doubt_length(&mut self, answer: &DirectAnswer) {
        let says = |word: &str| {
            let forms = ["per", "a", "each", "every"].map(|each| format!("{each} {word}"));
            forms.iter().any(|form| self.asked.wording.says(&[form]))
        };
        let mut lengths = LENGTHS.iter();
        let lengths = lengths.find(|words| words.iter().any(|word| says(word)));
        let Some((asked, length)) = lengths.and_then(|words| Some((words, words.first()?))) else {
            return;
        };
        let leaves = answer.expr.leaves().into_iter();
        let mut places = leaves.filter_map(|leaf| self.table.fact(leaf.source?)?.cell());
        let other = |label: &&AxisLabel| {
            let writes = |words: &&[&str]| words.iter().any(|word| label.writes(word));
            !label.words.is_empty() && LENGTHS.iter().any(&writes) && !writes(asked)
        };
        if let Some(name) = places.find_map(|place| self.table.label_of(place, other)) {
            self.doubt(format!("{name} is not per {length}"));
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
        Ok(Some(DirectAnswer::number("product", product)))
    }

    /// "Revenue of A" where the page only counts what it sold.
    pub(super) fn doubt_count(&mut self) {
        if self.asked.wording.says(&["how many"]) {
            return;
        }
        let money = |word: &String| MONEY.iter().any(|noun| stem(noun) == *word);
        let operand = self.whole(&[]);
        let known = |word: &&String| self.table.knows(word);
        let mut of_money = operand.words.iter().filter(|word| money(word)).peekable();
        if of_money.peek().is_none() || of_money.any(|word| known(&word)) {
            return;
        }
        let counted = |label: &&AxisLabel| ["units", "sold"].iter().any(|word| label.writes(word));
        let label = self.table.labels().find(counted);
        if let Some(name) = label.map(|label| label.name.clone()) {
            self.doubt(format!("{name} may be a count and not an amount"));
        }
    }
}
