//! Changes over time, differences between rows, compound growth, and comparisons.

use super::DirectAnswer;
use super::lines::LabelQuery;
use super::periods::PagePeriod;
use super::phrase::NamedOperand;
use super::values::{DirectReader, NoReading, Reading, TableAmount};
use crate::expr::Expr;
use crate::question::operations::{CHANGE, COMPOUND};
use finqa_core::page::period::CalendarSpan;
use finqa_core::program::Op;

/// Words of a change that `CHANGE` has not.
pub(super) const MOVED: [&str; 16] = [
    "fast", "growth rate", "rate of growth", "rate of change", "grown", "risen", "fallen", "fell",
    "rise", "went", "go", "compared with", "compared to", "relative", "rate", "down",
];
/// Words of a change from the period just before.
pub(super) const SEQUENTIAL: [&str; 11] = [
    "quarter-on-quarter", "quarter on quarter", "quarter-over-quarter", "quarter over quarter",
    "qoq", "month-on-month", "month on month", "month-over-month", "month over month",
    "sequential", "sequentially",
];

/// Words of a change that has fallen.
pub(super) const FALLEN: [&str; 19] = [
    "shrink", "shrank", "shrunk", "go down", "went down", "gone down", "come down", "decrease",
    "decreased", "decreases", "decline", "declined", "fall", "fell", "fallen", "drop", "dropped",
    "reduction", "reduced",
];
/// Words of a change that has risen, or is not said to have fallen.
pub(super) const RISEN: [&str; 9] = [
    "risen", "grown", "go up", "went up", "gone up", "come up", "improve", "improved", "swing",
];
const GROWN: [&str; 7] = [
    "increase", "increased", "grow", "grew", "rise", "rose", "growth",
];
/// Words of a change in a count.
const JOINED: [&str; 8] = [
    "added", "add", "gained", "gain", "opened", "hired", "lost", "lose",
];
pub(super) const MORE: [&str; 14] = [
    "more", "higher", "greater", "larger", "bigger", "exceed", "exceeds", "exceeded", "above",
    "better", "less", "lower", "fewer", "smaller",
];

impl DirectReader<'_> {
    pub(super) fn says_change(&self) -> bool {
        let wording = &self.asked.wording;
        wording.change()
            || wording.says(&FALLEN)
            || wording.says(&RISEN)
            || wording.says(&["minus", "less"])
            || self.says_joined()
            || self.against().is_some()
            || wording.says(&MORE)
                && wording.says(&["than", "exceed", "exceeds", "exceeded", "above"])
    }

    /// "How many people were added in A?", unless a row counts those.
    fn says_joined(&self) -> bool {
        (self.asked.spans_through() || self.asked.spans().len() == 1)
            && self.asked.wording.says(&JOINED)
            && !JOINED.iter().any(|word| self.table.writes(word))
            && !self.table.writes("new")
    }

    /// The earlier and the later period of a change.
    pub(super) fn ends(&self) -> Reading<(CalendarSpan, CalendarSpan)> {
        let before = |span: CalendarSpan| {
            let alike = self
                .table
                .periods
                .iter()
                .filter(|other| other.length() == span.length() && other.kind == span.kind);
            let mut earlier = alike.filter(|other| other.order() < span.order());
            // A quarter is compared with the one a year before, if the page has it.
            let year_ago = span.year.map(|year| span.in_year(year.saturating_sub(1)));
            // Of quarters that end on a weekday, the days differ.
            let of_year_ago = |other: &&CalendarSpan| {
                year_ago.is_some_and(|ago| ago.year == other.year && ago.range() == other.range())
            };
            let known = self.table.periods.iter().find(of_year_ago).copied();
            let next = self.says_joined() || self.asked.wording.says(&SEQUENTIAL);
            let known = known.filter(|_| !next);
            known.or_else(|| earlier.next_back().copied())
        };
        match self.asked.spans() {
            [] => match self.table.periods.as_slice() {
                [early, late] => Ok((*early, *late)),
                _ => Err(NoReading::Open),
            },
            [span] if self.asked.wording.says(&["since"]) => {
                let early = self.only_period(*span)?;
                let mut alike = self.table.periods.iter().rev();
                let late = alike.find(|other| other.length() == early.length());
                Ok((early, *late.ok_or(NoReading::Open)?))
            }
            [span] => {
                let late = self.only_period(*span)?;
                let missing =
                    || NoReading::Missing(format!("the page has no period before {span}"));
                Ok((before(late).ok_or_else(missing)?, late))
            }
            [a, b] => {
                // Both are checked, so that the one that is missing is named.
                for span in [a, b] {
                    if !matches!(self.table.period(*span), PagePeriod::Composed(..)) {
                        self.only_period(*span)?;
                    }
                }
                // "From 2023 to 2021" and "more in 2023 than in 2021" are as they are asked.
                let wording = &self.asked.wording;
                let compared =
                    wording.says(&MORE) && wording.says(&["than in zqspan1", "than zqspan1"]);
                let asked_so = wording.says(&["from zqspan0 to zqspan1"]);
                Ok(if !compared && (asked_so || a.order() <= b.order()) {
                    (*a, *b)
                } else {
                    (*b, *a)
                })
            }
            _ => Err(NoReading::Open),
        }
    }

    pub(super) fn change(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        let points = wording.says(&["percent points", "points", "percent point"]);
        let relative = wording.relative_change()
            || wording.says(&["growth in", "growth of", "how fast"])
            || wording.says(&["%"]) && !points
            || wording.percent() && !points;
        let falls = wording.says(&FALLEN)
            || self.says_joined() && wording.says(&["lost", "lose"])
            || wording.says(&["lower", "fewer", "smaller"]);
        let share = wording.says(&["share", "portion", "percent of"]) && points;
        if let Some(answer) = self.difference_of_two(relative)? {
            return Ok(answer);
        }
        let (early, late) = self.ends()?;
        let mut operand = self.whole(&[
            &SEQUENTIAL,
            &FALLEN,
            &RISEN,
            &MOVED,
            &CHANGE,
            &MORE,
            &JOINED,
            &[
                "than", "points", "point", "share", "portion", "percent", "%",
            ],
        ]);
        operand.spans.clear();
        if self.says_joined()
            && self.asked.spans().len() == 1
            && !self.asked.wording.says(&["added", "add", "gained", "gain"])
        {
            // As many may have left.
            self.doubt(format!("this is the net change from {early} to {late}"));
        }
        // "The Consumer share": a percentage of the page.
        let mut amounts = if share {
            [
                self.percentage(&operand, late)?,
                self.percentage(&operand, early)?,
            ]
        } else {
            [
                self.amount(&operand, Some(late))?,
                self.amount(&operand, Some(early))?,
            ]
        };
        if relative && amounts.iter().all(|amount| amount.percent) {
            // A growth of a percentage: in points or in percent?
            return Err(NoReading::Open);
        }
        self.magnitudes(&mut amounts);
        let [mut a, mut b] = amounts;
        let wording = &self.asked.wording;
        let grows = wording.says(&GROWN) || wording.says(&MORE);
        if a.number < 0.0 && b.number < 0.0 && (grows || falls || relative) {
            let costs = !relative || self.is_cost_below_zero(&a);
            if costs {
                a.turn();
                b.turn();
            }
        }
        let mut expr = Expr::step(Op::Subtract, a.expr.clone(), b.expr.clone());
        if relative {
            if b.number <= 0.0 {
                let number = b.number;
                return Err(NoReading::Undefined(format!(
                    "growth needs a value above zero; {early} has {number}"
                )));
            }
            expr = Expr::step(Op::Divide, expr, b.expr);
        }
        if falls && a.number < b.number {
            let minus = Expr::literal("const_m1").ok_or(NoReading::Open)?;
            expr = Expr::step(Op::Multiply, expr, minus);
        }
        Ok(match relative {
            true => DirectAnswer::percent("relative change", expr),
            false => DirectAnswer::number("change", expr),
        })
    }

    /// The page's percentage of an operand.
    fn percentage(&mut self, operand: &NamedOperand, period: CalendarSpan) -> Reading<TableAmount> {
        let query = LabelQuery {
            percent: Some(true),
            ..operand.query(Some(self.only_period(period)?))
        };
        match self.cells(&query)?.as_slice() {
            [place] => self.table.amount_at(*place).ok_or(NoReading::Open),
            _ => Err(NoReading::Open),
        }
    }

    /// "The difference between A and B", "how much higher is A than B", "A less B".
    fn difference_of_two(&mut self, relative: bool) -> Reading<Option<DirectAnswer>> {
        let text = self.asked.text().to_owned();
        if let Some((a, b, short)) = self.against() {
            let common = self.asked.spans().first().copied();
            let (a, b) = (self.amount(&a, common)?, self.amount(&b, common)?);
            let (a, b, whole) = if short {
                (b.clone(), a, b)
            } else {
                (a, b.clone(), b)
            };
            return difference(a, b, relative.then_some(whole)).map(Some);
        }
        let connectors: &[&str] = if text.contains(" between ") || text.contains(" difference of ")
        {
            &["and"]
        } else {
            &[
                "minus", "less", "than", "exceed", "exceeds", "exceeded", "compared to",
                "compared with", "versus",
            ]
        };
        for connector in connectors {
            let Some((left, right)) = self.asked.wording.split(connector) else {
                continue;
            };
            let lists: [&[&str]; 4] =
                [&CHANGE, &MORE, &MOVED, &["between", "than", "percent", "%"]];
            let mut a = self.asked.operand(&self.table, &left, &lists);
            let mut b = self.asked.operand(&self.table, &right, &lists);
            if a.words.is_empty() || b.words.is_empty() {
                continue;
            }
            let common = self.asked.spans().first().copied();
            a.context.extend(b.words.iter().cloned());
            b.context.extend(a.words.iter().cloned());
            let mut amounts = [self.amount(&a, common)?, self.amount(&b, common)?];
            if amounts.first().map(|x| x.place) == amounts.last().map(|x| x.place) {
                return Err(NoReading::Open);
            }
            for amount in &mut amounts {
                self.magnitudes(std::slice::from_mut(amount));
            }
            let [a, mut b] = amounts;
            if matches!(*connector, "minus" | "less") {
                self.subtracted(&mut b);
            }
            let lower = self.asked.wording.says(&["lower", "fewer", "smaller"])
                || text.contains(" less ") && *connector == "than";
            let (a, b) = if lower { (b, a) } else { (a, b) };
            let whole = relative.then(|| b.clone());
            return difference(a, b, whole).map(Some);
        }
        Ok(None)
    }

    /// `(later / earlier) ^ (1 / years) - 1`
    pub(super) fn compound(&mut self) -> Reading<DirectAnswer> {
        let (early, late) = match self.asked.spans() {
            [_, _] => self.ends()?,
            [] => {
                let series = self.series()?;
                (
                    *series.first().ok_or(NoReading::Open)?,
                    *series.last().ok_or(NoReading::Open)?,
                )
            }
            _ => return Err(NoReading::Open),
        };
        let mut operand = self.whole(&[
            &[
                "compound annual growth rate", "compound annual rate of growth",
                "compound growth rate", "annual growth rate", "average annual growth rate",
            ],
            &COMPOUND,
            &CHANGE,
            &["annual", "rate", "average", "over", "years", "year"],
        ]);
        operand.spans.clear();
        let amounts = [
            self.amount(&operand, Some(late))?,
            self.amount(&operand, Some(early))?,
        ];
        let [a, b] = amounts;
        let years = late
            .year
            .zip(early.year)
            .and_then(|(late, early)| late.checked_sub(early))
            .filter(|years| *years > 0);
        let years = years.ok_or(NoReading::Open)?;
        for (amount, period) in [(&b, early), (&a, late)] {
            if amount.number <= 0.0 {
                let number = amount.number;
                return Err(NoReading::Undefined(format!(
                    "compound growth needs values above zero; {period} has {number}"
                )));
            }
        }
        let ratio = Expr::step(Op::Divide, a.expr, b.expr);
        let root = Expr::step(Op::Divide, Expr::constant(1), Expr::constant(years.into()));
        let growth = Expr::step(Op::Exp, ratio, root);
        let expr = Expr::step(Op::Subtract, growth, Expr::constant(1));
        Ok(DirectAnswer::percent("compound growth", expr))
    }
}

/// What one amount has more than another, as a share of a whole if there is one.
fn difference(a: TableAmount, b: TableAmount, whole: Option<TableAmount>) -> Reading<DirectAnswer> {
    let more = Expr::step(Op::Subtract, a.expr, b.expr);
    match whole {
        None => Ok(DirectAnswer::number("difference", more)),
        Some(whole) if whole.number <= 0.0 => Err(NoReading::Open),
        Some(whole) => {
            let expr = Expr::step(Op::Divide, more, whole.expr);
            Ok(DirectAnswer::percent("relative difference", expr))
        }
    }
}
