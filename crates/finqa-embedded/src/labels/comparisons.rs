//! Questions for yes or no, and the two sides of a comparison.

use super::DirectAnswer;
use super::axis::AxisLabel;
use super::changes::{FALLEN, MORE, MOVED};
use super::phrase::NamedOperand;
use super::values::{DirectReader, NoReading, Reading};
use crate::expr::Expr;
use crate::question::operations::CHANGE;
use crate::reading::text::stem;
use finqa_core::number::UnitKind;
use finqa_core::program::Op;

/// Words between a figure and what was planned of it, and those of them that say "less".
const AGAINST: [&str; 13] = [
    "against", "versus", "vs", "beat", "over", "above", "exceed", "exceeded", "miss", "missed",
    "under", "below", "behind",
];
const SHORT: [&str; 5] = ["miss", "missed", "under", "below", "behind"];

/// Words of columns with what has happened.
pub(super) const ACTUAL: [&str; 4] = ["actual", "actuals", "ist", "outturn"];

/// Words of columns with what was meant to happen.
pub(super) const PLANNED: [&str; 6] = ["plan", "budget", "target", "forecast", "soll", "budgeted"];

impl DirectReader<'_> {
    /// The sides of "revenue against budget", and whether the first is said to be the smaller.
    pub(super) fn against(&self) -> Option<(NamedOperand, NamedOperand, bool)> {
        let wording = &self.asked.wording;
        AGAINST.iter().find_map(|word| {
            let (left, right) = wording.split(word)?;
            let lists: [&[&str]; 4] = [&CHANGE, &MORE, &MOVED, &["far", "percent", "%", "it"]];
            let a = self.asked.operand(&self.table, &left, &lists);
            let b = self.asked.operand(&self.table, &right, &lists);
            let (a, b) = self.with_both_names(a, b)?;
            Some((a, b, SHORT.contains(word)))
        })
    }

    /// "Revenue" and "budget" as the row in two columns: a side that names a column alone is of
    /// the other's row, which is then of what has happened.
    pub(super) fn with_both_names(
        &self,
        mut a: NamedOperand,
        mut b: NamedOperand,
    ) -> Option<(NamedOperand, NamedOperand)> {
        let columns = || self.table.columns.iter().skip(1);
        let of_column = |word: &String| columns().any(|label| label.says(word));
        let of_row = |word: &String| self.table.rows.iter().skip(1).any(|label| label.says(word));
        let names_column = !b.words.is_empty() && b.words.iter().all(of_column);
        if !names_column || b.words.iter().any(of_row) {
            return None;
        }
        // "Rent plan" and "rent actual" are both of the rent.
        let planned = |label: &AxisLabel| b.words.iter().all(|word| label.says(word));
        let shared = |word: &String| columns().any(|label| planned(label) && label.says(word));
        let own: Vec<String> = a
            .words
            .iter()
            .filter(|w| of_row(w) || shared(w))
            .cloned()
            .collect();
        if own.is_empty() {
            return None;
        }
        let is_actual = |word: &&String| ACTUAL.iter().any(|name| stem(name) == **word);
        let said = a.words.iter().find(is_actual).is_some();
        let other = a
            .words
            .iter()
            .any(|word| of_column(word) && !own.contains(word));
        if !said && !other {
            let actual = ACTUAL
                .iter()
                .find(|word| columns().any(|label| label.writes(word)))?;
            a.words.push((*actual).to_owned());
        }
        b.words.extend(own);
        Some((a, b))
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
        let expr = Expr::step(Op::Greater, a, b);
        Ok(DirectAnswer::new("profit", expr, UnitKind::YesNo))
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
        if let Some((a, b, short)) = self.against() {
            let common = self.asked.spans().first().copied();
            let (a, b) = (self.amount(&a, common)?, self.amount(&b, common)?);
            let (a, b) = if short { (b, a) } else { (a, b) };
            let expr = Expr::step(Op::Greater, a.expr, b.expr);
            return Ok(DirectAnswer::new("comparison", expr, UnitKind::YesNo));
        }
        let lists: [&[&str]; 5] = [
            &CHANGE,
            &MORE,
            &MOVED,
            &FALLEN,
            &[
                "than", "did", "does", "was", "were", "is", "are", "improve", "improved", "up",
            ],
        ];
        let less = wording.says(&["lower", "less", "fewer", "smaller"]) || wording.says(&FALLEN);
        let more = wording.says(&[
            "more", "higher", "greater", "larger", "bigger", "exceed", "exceeds", "above", "better",
        ]) || wording.says(&[
            "rise", "rose", "risen", "increase", "increased", "grow", "grew", "grown", "gain",
            "improve", "improved", "up",
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
