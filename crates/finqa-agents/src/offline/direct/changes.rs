//! Changes over time, differences between rows, compound growth, and comparisons.

use super::DirectAnswer;
use super::calendar::CalendarSpan;
use super::periods::PagePeriod;
use super::phrase::NamedOperand;
use super::values::{DirectReader, NoReading, Reading, TableAmount};
use crate::offline::expr::Expr;
use crate::offline::question::operations::{CHANGE, COMPOUND};
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// Words of a change that `CHANGE` has not.
const MOVED: [&str; 14] = [
    "growth rate",
    "rate of growth",
    "rate of change",
    "grown",
    "risen",
    "fallen",
    "fell",
    "rise",
    "went",
    "go",
    "compared with",
    "compared to",
    "relative",
    "rate",
];
/// Words of a change that has fallen.
pub(super) const FALLEN: [&str; 12] = [
    "decrease",
    "decreased",
    "decreases",
    "decline",
    "declined",
    "fall",
    "fell",
    "fallen",
    "drop",
    "dropped",
    "reduction",
    "reduced",
];
/// Words of a change in a count.
const JOINED: [&str; 8] = [
    "added", "add", "gained", "gain", "opened", "hired", "lost", "lose",
];
const MORE: [&str; 14] = [
    "more", "higher", "greater", "larger", "bigger", "exceed", "exceeds", "exceeded", "above",
    "better", "less", "lower", "fewer", "smaller",
];

impl DirectReader<'_> {
    pub(super) fn says_change(&self) -> bool {
        let wording = &self.asked.wording;
        wording.change()
            || wording.says(&["fell", "risen", "fallen", "grown"])
            || wording.says(&["minus", "less"])
            || self.says_joined()
            || wording.says(&MORE)
                && wording.says(&["than", "exceed", "exceeds", "exceeded", "above"])
    }

    /// "How many people were added in A?", unless a row counts those.
    fn says_joined(&self) -> bool {
        (self.asked.spans_through() || self.asked.spans().len() == 1)
            && self.asked.wording.says(&JOINED)
            && !JOINED.iter().any(|word| self.table.writes(word))
    }

    /// The page's period that a question names.
    pub(super) fn only_period(&self, asked: CalendarSpan) -> Reading<CalendarSpan> {
        match self.table.period(asked) {
            PagePeriod::One(period) => Ok(period),
            PagePeriod::Missing => Err(self.table.lacks(asked)),
            _ => Err(NoReading::Open),
        }
    }

    /// The earlier and the later period of a change.
    fn ends(&self) -> Reading<(CalendarSpan, CalendarSpan)> {
        let before = |span: CalendarSpan| {
            let alike = self
                .table
                .periods
                .iter()
                .filter(|other| other.length() == span.length());
            let mut earlier = alike.filter(|other| other.order() < span.order());
            // A quarter is compared with the one a year before, if the page has it.
            let year_ago = span.year.map(|year| span.in_year(year.saturating_sub(1)));
            // Of quarters that end on a weekday, the days differ.
            let of_year_ago = |other: &&CalendarSpan| {
                year_ago.is_some_and(|ago| ago.year == other.year && ago.range() == other.range())
            };
            let known = self.table.periods.iter().find(of_year_ago).copied();
            let known = known.filter(|_| !self.says_joined());
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
                if !matches!(self.table.period(*a), PagePeriod::Composed(..)) {
                    self.only_period(*a)?;
                }
                if !matches!(self.table.period(*b), PagePeriod::Composed(..)) {
                    self.only_period(*b)?;
                }
                Ok(if a.order() <= b.order() {
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
        let grows = self.asked.wording.says(&[
            "increase",
            "increased",
            "grow",
            "grew",
            "rise",
            "rose",
            "growth",
        ]);
        if (grows || falls) && a.number < 0.0 && b.number < 0.0 && !relative {
            self.turn(&mut a);
            self.turn(&mut b);
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
        let kind = if relative {
            UnitKind::Percent
        } else {
            UnitKind::Number
        };
        let name = if relative {
            "relative change"
        } else {
            "change"
        };
        Ok(DirectAnswer::new(name, expr, kind))
    }

    /// The page's percentage of an operand.
    fn percentage(&mut self, operand: &NamedOperand, period: CalendarSpan) -> Reading<TableAmount> {
        let query = super::labels::LabelQuery {
            words: operand.words.clone(),
            context: operand.context.clone(),
            span: Some(self.only_period(period)?),
            percent: Some(true),
            parts: false,
        };
        match self.cells(&query)?.as_slice() {
            [(fact, row, column)] => self.of_fact(*fact, (*row, *column)).ok_or(NoReading::Open),
            _ => Err(NoReading::Open),
        }
    }

    /// "The difference between A and B", "how much higher is A than B", "A less B".
    fn difference_of_two(&mut self, relative: bool) -> Reading<Option<DirectAnswer>> {
        let text = self.asked.text().to_owned();
        let connectors: &[&str] = if text.contains(" between ") || text.contains(" difference of ")
        {
            &["and"]
        } else {
            &[
                "minus",
                "less",
                "than",
                "exceed",
                "exceeds",
                "exceeded",
                "compared to",
                "compared with",
                "versus",
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
            let difference = Expr::step(Op::Subtract, a.expr, b.expr.clone());
            return Ok(Some(if relative {
                if b.number <= 0.0 {
                    return Err(NoReading::Open);
                }
                let expr = Expr::step(Op::Divide, difference, b.expr);
                DirectAnswer::new("relative difference", expr, UnitKind::Percent)
            } else {
                DirectAnswer::new("difference", difference, UnitKind::Number)
            }));
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
                "compound annual growth rate",
                "compound annual rate of growth",
                "compound growth rate",
                "annual growth rate",
                "average annual growth rate",
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
        Ok(DirectAnswer::new(
            "compound growth",
            expr,
            UnitKind::Percent,
        ))
    }

    /// "Did the company make a profit in 2021?": whether its last line is above zero.
    fn is_profit(&mut self, gain: bool) -> Reading<DirectAnswer> {
        let span = self.asked.spans().first().copied();
        let lines: [&[&str]; 5] = [
            &["net", "income"],
            &["net", "earning"],
            &["net", "profit"],
            &["net", "loss"],
            &["profit", "tax"],
        ];
        let rows = &self.table.rows;
        let has = |words: &&&[&str]| {
            rows.iter()
                .skip(1)
                .any(|row| words.iter().all(|word| row.says(word)))
        };
        let words = lines.iter().find(has).ok_or(NoReading::Open)?;
        let operand = NamedOperand {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            ..NamedOperand::default()
        };
        let line = self.amount(&operand, span)?;
        // A "net loss" of 5 may be printed without a sign.
        let (row, _) = line.place;
        let named = self.table.rows.get(row);
        if named
            .is_some_and(|row| row.words.iter().any(|word| word == "loss") && row.words.len() < 3)
        {
            return Err(NoReading::Open);
        }
        let zero = Expr::constant(0);
        let (a, b) = if gain {
            (line.expr, zero)
        } else {
            (zero, line.expr)
        };
        Ok(DirectAnswer::new(
            "profit",
            Expr::step(Op::Greater, a, b),
            UnitKind::YesNo,
        ))
    }

    /// "Did sales rise in 2021?", "were costs higher in 2021 than in 2020?", "did A exceed B?"
    pub(super) fn comparison(&mut self) -> Reading<DirectAnswer> {
        let wording = &self.asked.wording;
        let (gain, loss) = (
            wording.says(&["profit", "profitable"]),
            wording.says(&["loss", "lose"]),
        );
        if gain != loss && !wording.says(&MORE) && !wording.change() {
            return self.is_profit(gain);
        }
        let lists: [&[&str]; 5] = [
            &CHANGE,
            &MORE,
            &MOVED,
            &FALLEN,
            &["than", "did", "does", "was", "were", "is", "are"],
        ];
        let less = wording.says(&["lower", "less", "fewer", "smaller"]) || wording.says(&FALLEN);
        let more = wording.says(&[
            "more", "higher", "greater", "larger", "bigger", "exceed", "exceeds", "above", "better",
        ]) || wording.says(&[
            "rise",
            "rose",
            "risen",
            "increase",
            "increased",
            "grow",
            "grew",
            "grown",
            "gain",
            "improve",
            "improved",
            "up",
        ]);
        if less == more
            || wording.percent()
            || wording.says(&["by", "at least", "or", "all", "every", "each"])
        {
            return Err(NoReading::Open);
        }
        let split = ["than", "exceed", "exceeds", "above"]
            .into_iter()
            .find_map(|word| wording.split(word));
        let two = split.and_then(|(left, right)| {
            let a = self.asked.operand(&self.table, &left, &lists);
            let b = self.asked.operand(&self.table, &right, &lists);
            (!a.words.is_empty() && !b.words.is_empty()).then_some((a, b))
        });
        let (a, b) = if let Some((mut a, mut b)) = two {
            a.context.extend(b.words.iter().cloned());
            b.context.extend(a.words.iter().cloned());
            let common = self.asked.spans().first().copied();
            (self.amount(&a, common)?, self.amount(&b, common)?)
        } else {
            let named = self.asked.spans().to_vec();
            let (early, late) = self.ends()?;
            let mut operand = self.whole(&lists);
            operand.spans.clear();
            let (late, early) = (
                self.amount(&operand, Some(late))?,
                self.amount(&operand, Some(early))?,
            );
            // "Higher in 2020 than in 2021" asks for the first of the two.
            let reversed = matches!(named.as_slice(), [a, b] if a.order() < b.order())
                && self.asked.wording.says(&["than"]);
            if reversed {
                (early, late)
            } else {
                (late, early)
            }
        };
        if a.place == b.place {
            return Err(NoReading::Open);
        }
        let mut amounts = [a, b];
        self.magnitudes(&mut amounts);
        let [a, b] = amounts;
        let (a, b) = if less { (b, a) } else { (a, b) };
        let expr = Expr::step(Op::Greater, a.expr, b.expr);
        Ok(DirectAnswer::new("comparison", expr, UnitKind::YesNo))
    }
}
