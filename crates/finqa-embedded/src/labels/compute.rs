//! The operations that questions ask for, over the figures that their operands name.

use std::collections::BTreeSet;

use super::asked::{Asked, Operand, Operation, Which};
use super::find::FitCell;
use super::table::{Amount, AmountKind, LabelledTable, Place};
use super::words::lists;
use super::{DirectAnswer, NoReading, Reading, missing};
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind;
use finqa_core::page::period::CalendarSpan;

/// Quantities that have no sum.
const RATES: &str = "rate ratio margin per average price yield score percent index age rank";

/// Quantities that a sign tells something about.
const SIGNED: &str = "profit income earning result ebit ebitda flow return";

/// Words of a corner that say nothing of what the rows are.
const GENERIC: &str = "item line name description category million thousand billion usd eur tsd";

impl LabelledTable<'_> {
    pub(super) fn answer(&self, asked: &Asked) -> Reading<DirectAnswer> {
        let operands = asked.operands.as_slice();
        let of = operands.first().ok_or(NoReading::Open)?;
        match &asked.operation {
            Operation::Figure => self.look_up(of),
            Operation::Compare => greater(self.pair(operands)?, of.falls),
            Operation::Difference => change(self.pair(operands)?, of.falls, asked.relative),
            Operation::Ratio => self.ratio(operands, asked.relative),
            Operation::Sum => {
                let sum = self.sum(&self.listed(operands)?)?;
                Ok(answer("sum", sum.expr, UnitKind::Number))
            }
            Operation::Average => average(&self.listed(operands)?),
            Operation::Extreme { largest, which } => self.extreme(of, *largest, which.as_ref()),
        }
    }

    fn look_up(&self, of: &Operand) -> Reading<DirectAnswer> {
        if of.words.is_empty() && !of.total {
            return Err(NoReading::Open);
        }
        // A total without a row of its own is the sum of all.
        let found = self.figure(of, None, None).or_else(|why| {
            let parts = of.total.then(|| self.in_labels(of, None));
            self.sum(&parts.and_then(Result::ok).ok_or(why)?)
        })?;
        match of.percent && found.kind == AmountKind::Plain {
            true => missing("the question asks for a percentage"),
            false => Ok(answer("look-up", found.expr, unit(found.kind))),
        }
    }

    /// The figures of a series, or of listed operands: those in the row or the column of one of
    /// them, as in "sales and staff of the North".
    fn listed(&self, operands: &[Operand]) -> Reading<Vec<Amount>> {
        if let [of] = operands {
            return self.series(of, None);
        }
        let common = operands.iter().find_map(|of| of.spans.first()).copied();
        let figures = |near: Option<Place>| -> Vec<Reading<Amount>> {
            let figure = |one: &Operand| self.figure(one, common, near);
            operands.iter().map(figure).collect()
        };
        let places = |all: &[Reading<Amount>]| -> Vec<Place> {
            all.iter().flatten().filter_map(|one| one.place).collect()
        };
        let apart = |a: Place, b: Place| a.0 != b.0 && a.1 != b.1;
        let same_time = |of: &Operand| of.spans.is_empty() || of.spans.first() == common.as_ref();
        let mut found = figures(None);
        if operands.iter().all(same_time) {
            let alone = places(&found);
            let near = alone.iter().find_map(|near| {
                let all = figures(Some(*near));
                let far = places(&all).iter().any(|one| apart(*one, *near));
                (all.iter().all(Result::is_ok) && !far).then_some(all)
            });
            found = near.unwrap_or(found);
        }
        let all = places(&found);
        if all.iter().collect::<BTreeSet<_>>().len() < all.len() {
            return Err(NoReading::Open);
        }
        let amounts = found.into_iter().collect::<Reading<Vec<Amount>>>()?;
        in_one_scale(&amounts)?;
        Ok(amounts)
    }

    /// Two figures, or the later and the earlier one of a change.
    fn pair(&self, operands: &[Operand]) -> Reading<[Amount; 2]> {
        let amounts = match operands {
            [of] => self.ends(of)?,
            operands => self.listed(operands)?,
        };
        self.check(&amounts)?;
        amounts.try_into().map_err(|_| NoReading::Open)
    }

    /// Figures that are compared have one scale, and no sign that their names do not explain.
    fn check(&self, amounts: &[Amount]) -> Reading<()> {
        let signed = |place: Place| self.labels_of(place).any(|label| label.is_one_of(SIGNED));
        let below = |place: &Place| !signed(*place) && self.is_below_zero(*place, |_| true);
        let mut unturned = amounts.iter().filter(|one| !one.turned);
        let odd = unturned.find_map(|one| one.place.filter(below));
        match odd.map(|place| self.name_of(place)) {
            Some(name) => missing(format!("all figures of {name} are below zero")),
            None => in_one_scale(amounts),
        }
    }

    /// The later and the earlier figure of a change.
    fn ends(&self, of: &Operand) -> Reading<Vec<Amount>> {
        if of.words.is_empty() {
            return Err(NoReading::Open);
        }
        let named = of.spans.iter().map(|span| self.period(*span));
        let spans = named.collect::<Reading<Vec<CalendarSpan>>>()?;
        let (early, late) = match (spans.as_slice(), self.periods.as_slice()) {
            ([], [early, late]) => (*early, *late),
            ([late], _) => match self.before(*late) {
                Some(early) => (early, *late),
                None => return missing(format!("the page has no period before {late}")),
            },
            ([early, late], _) if early.order() <= late.order() => (*early, *late),
            _ => return Err(NoReading::Open),
        };
        let of = of.of_spans(Vec::new());
        let ends = [late, early].map(|span| self.figure(&of, Some(span), None));
        ends.into_iter().collect()
    }

    fn ratio(&self, operands: &[Operand], percent: bool) -> Reading<DirectAnswer> {
        let [a, b] = match (self.listed(operands), operands) {
            // A whole without a row of its own is the sum of all.
            (Err(_), [part, whole]) if whole.total => {
                let all = self.in_labels(whole, None)?;
                let near = all.first().and_then(|one| one.place);
                let span = near.and_then(|place| self.span_of(place));
                [self.figure(part, span, near)?, self.sum(&all)?]
            }
            (found, _) => found?.try_into().map_err(|_| NoReading::Open)?,
        };
        self.check(&[a.clone(), b.clone()])?;
        if a.kind != b.kind || a.kind == AmountKind::Share {
            return Err(NoReading::Open);
        }
        if a.number() < 0.0 || b.number() <= 0.0 {
            return missing("a part of it is zero or below");
        }
        if percent && a.number() > b.number() && operands.iter().any(|of| of.total) {
            return missing("the part is larger than the whole");
        }
        let expr = operations::ratio(a.expr, b.expr);
        Ok(match percent {
            true => answer("share", expr, UnitKind::Percent),
            false => answer("ratio", expr, UnitKind::Ratio),
        })
    }

    /// The sum of amounts that have one.
    fn sum(&self, parts: &[Amount]) -> Reading<Amount> {
        let first = parts.first().ok_or(NoReading::Open)?;
        let places = parts.iter().filter_map(|part| part.place);
        let mut labels = places.flat_map(|place| self.labels_of(place));
        if let Some(label) = labels.find(|label| label.is_one_of(RATES)) {
            return missing(format!("{} does not add up", label.name));
        }
        if parts.iter().any(|part| part.kind != AmountKind::Plain) {
            return Err(NoReading::Open);
        }
        if parts.iter().any(|part| part.turned != first.turned) {
            return missing("some of the figures are costs that the page prints below zero");
        }
        let sum = operations::sum(parts.iter().map(|part| part.expr.clone()));
        Ok(Amount {
            expr: sum.ok_or(NoReading::Open)?,
            ..first.clone()
        })
    }

    fn extreme(&self, of: &Operand, largest: bool, which: Option<&Which>) -> Reading<DirectAnswer> {
        let series = self.series(of, which)?;
        let numbers: Vec<f64> = series.iter().map(Amount::number).collect();
        let places = operations::extremes(&numbers, largest);
        let found: Vec<&Amount> = places.iter().filter_map(|at| series.get(*at)).collect();
        let amount = found.first().ok_or(NoReading::Open)?;
        if series.len() < 2 || series.iter().any(|one| one.kind != amount.kind) {
            return Err(NoReading::Open);
        }
        if which.is_some() && found.len() > 1 {
            let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
            return missing(format!("{} are equal", names.join(" and ")));
        }
        let extreme = answer("extreme", amount.expr.clone(), unit(amount.kind));
        let label = which.map(|_| amount.name.clone());
        Ok(DirectAnswer { label, ..extreme })
    }

    /// The figures of an operand in several periods, or in all rows or columns.
    fn series(&self, of: &Operand, which: Option<&Which>) -> Reading<Vec<Amount>> {
        let all_times = of.spans.is_empty() && self.periods.len() > 1;
        let length = match which {
            Some(Which::Period(length)) => *length,
            None if of.spans.len() > 1 || all_times => None,
            _ => return self.in_labels(of, which),
        };
        if of.words.is_empty() && !of.total {
            return Err(NoReading::Open);
        }
        let undated = of.of_spans(Vec::new());
        let mut out = Vec::new();
        for span in self.series_of(of, length)? {
            let amount = self.figure(&undated, Some(span), None)?;
            let mut labels = amount.place.into_iter().flat_map(|at| self.labels_of(at));
            let only = labels.find(|label| label.span.is_some() && label.words.is_empty());
            let name = only.map_or_else(|| span.to_string(), |label| label.name.clone());
            out.push(Amount { name, ..amount });
        }
        if out.len() < 2 {
            return missing("the page has only one period of it");
        }
        self.check(&out)?;
        Ok(out)
    }

    /// The figures that differ in their row alone, or in their column alone, totals left out.
    fn in_labels(&self, of: &Operand, which: Option<&Which>) -> Reading<Vec<Amount>> {
        if of.spans.len() > 1 {
            return Err(NoReading::Open);
        }
        let known = self.known(of)?;
        let asked = of.spans.first().map(|span| self.period(*span));
        let period = asked.transpose()?;
        let mut cells = self.cells_of(&known, period);
        let spans: Vec<_> = cells.iter().map(|one| self.span_of(one.place)).collect();
        if period.is_none() && spans.windows(2).any(|two| two.first() != two.last()) {
            return missing("the question names no period");
        }
        let by_rows = one_line(&mut cells)?;
        let is_total = |column: usize| self.columns.get(column).is_some_and(|label| label.total);
        cells.retain(|one| self.is_part(one.place.0) && (by_rows || !is_total(one.place.1)));
        let mut out: Vec<Amount> = Vec::new();
        for one in &cells {
            let label = self.labels_of(one.place).nth(usize::from(!by_rows));
            let name = label.map_or_else(String::new, |label| label.name.clone());
            if out.iter().any(|other| other.name == name) {
                return missing(format!("several rows are of {name}"));
            }
            let amount = self.amount(one.place).ok_or(NoReading::Open)?;
            out.push(Amount { name, ..amount });
        }
        if let Some(more) = cells.iter().find(|one| one.says_more()) {
            return self.is_unclear(more.place);
        }
        if let Some(Which::Label(noun)) = which
            && !self.corner.iter().all(|word| lists(GENERIC, word))
            && !noun.iter().any(|word| self.is_heading(word))
        {
            let noun = noun.join(" ");
            return missing(format!("the table does not say what a {noun} is"));
        }
        self.check(&out)?;
        Ok(out)
    }
}

fn in_one_scale(amounts: &[Amount]) -> Reading<()> {
    let plain = amounts.iter().filter(|one| one.kind == AmountKind::Plain);
    let scales: Vec<_> = plain.map(|one| one.scale).collect();
    match scales.windows(2).any(|two| two.first() != two.last()) {
        true => missing("the figures may be in different units"),
        false => Ok(()),
    }
}

/// A change, a difference, or either as a percentage of the earlier or smaller figure.
fn change([late, early]: [Amount; 2], falls: bool, relative: bool) -> Reading<DirectAnswer> {
    // A growth of a percentage: in points or in percent?
    let unclear = late.kind == AmountKind::Share || relative && late.kind != AmountKind::Plain;
    let same = late.place.is_some() && late.place == early.place;
    if late.kind != early.kind || same || unclear {
        return Err(NoReading::Open);
    }
    let base = early.clone();
    let fallen = falls && late.number() < early.number();
    let (a, b) = if fallen { (early, late) } else { (late, early) };
    let change = operations::difference(a.expr, b.expr);
    if !relative {
        return Ok(answer("change", change, UnitKind::Number));
    }
    if base.number() <= 0.0 {
        return missing("growth needs a value above zero");
    }
    let change = operations::ratio(change, base.expr);
    Ok(answer("relative change", change, UnitKind::Percent))
}

fn greater([a, b]: [Amount; 2], reversed: bool) -> Reading<DirectAnswer> {
    if a.kind != b.kind {
        return Err(NoReading::Open);
    }
    let (a, b) = if reversed { (b, a) } else { (a, b) };
    let expr = operations::greater(a.expr, b.expr);
    Ok(answer("comparison", expr, UnitKind::YesNo))
}

fn average(parts: &[Amount]) -> Reading<DirectAnswer> {
    let first = parts.first().ok_or(NoReading::Open)?;
    if parts.len() < 2 || parts.iter().any(|one| one.kind != first.kind) {
        return Err(NoReading::Open);
    }
    let average = operations::average(parts.iter().map(|one| one.expr.clone()).collect());
    let average = average.ok_or(NoReading::Open)?;
    Ok(answer("average", average, unit(first.kind)))
}

fn unit(kind: AmountKind) -> UnitKind {
    match kind {
        AmountKind::Share => UnitKind::Percent,
        AmountKind::Plain | AmountKind::Percent => UnitKind::Number,
    }
}

fn answer(name: &'static str, expr: Expr, kind: UnitKind) -> DirectAnswer {
    DirectAnswer {
        name,
        expr,
        kind,
        label: None,
    }
}

/// Leaves the cells of the only column that fits best, or of the only row; whether these are
/// of several rows.
fn one_line(cells: &mut Vec<FitCell>) -> Reading<bool> {
    let of_best = |fit: fn(&FitCell) -> (bool, usize), line: fn(&FitCell) -> usize| {
        let least = cells.iter().map(fit).map(|(_, cost)| cost).min()?;
        let best = cells.iter().filter(|one| fit(one) == (true, least));
        let best: Vec<FitCell> = best.copied().collect();
        let first = best.first().map(line);
        let only = best.len() > 1 && best.iter().all(|one| Some(line(one)) == first);
        only.then_some(best)
    };
    let column = of_best(|one| (one.column.named, one.column.cost), |one| one.place.1);
    let row = of_best(|one| (one.row.named, one.row.cost), |one| one.place.0);
    let by_rows = column.is_some();
    *cells = match (column, row) {
        (Some(line), None) | (None, Some(line)) => line,
        _ => return Err(NoReading::Open),
    };
    Ok(by_rows)
}
