//! The operations that questions ask for, over the figures that their operands name.

use std::collections::BTreeSet;

use super::answer::{DirectAnswer, NoReading, Reading, missing};
use super::asked::{Asked, Operand, Operation, Which};
use super::find::{Candidate, Finder};
use super::label::Label;
use super::periods::is_rate;
use super::table::{Amount, AmountKind, Place};
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind;
use finqa_core::page::period::CalendarSpan;

/// An amount of a series, and what tells it from the others.
type OfSeries = (Amount, String);

/// Quantities that a sign tells something about.
const SIGNED: &str = "profit income earning result ebit ebitda flow return";

/// Words of a corner that say nothing of what the rows are.
const GENERIC: &str = "item line name description category million thousand billion usd eur tsd";

impl Finder<'_> {
    pub(super) fn answer(&mut self, asked: &Asked) -> Reading<DirectAnswer> {
        let operands = asked.operands.as_slice();
        let of = operands.first().ok_or(NoReading::Open)?;
        match &asked.operation {
            Operation::Figure => self.look_up(of),
            Operation::Change => change(self.ends(of)?, of.falls, asked.relative),
            Operation::Risen => greater(self.ends(of)?),
            Operation::Fallen => self
                .ends(of)
                .and_then(|[late, early]| greater([early, late])),
            Operation::Compare => greater(self.pair(operands)?),
            Operation::Difference => change(self.pair(operands)?, false, asked.relative),
            Operation::Ratio => self.ratio(operands, asked.relative),
            Operation::Sum => {
                let parts = self.several(operands)?;
                let sum = self.sum(&parts)?;
                Ok(answer("sum", sum.expr, UnitKind::Number))
            }
            Operation::Average => {
                let parts = self.several(operands)?;
                average(&parts)
            }
            Operation::Extreme { largest, which } => self.extreme(of, *largest, which.as_ref()),
        }
    }

    fn look_up(&mut self, of: &Operand) -> Reading<DirectAnswer> {
        if of.words.is_empty() && !of.total {
            return Err(NoReading::Open);
        }
        let doubts = self.doubts.len();
        let found = match self.figure(of, None, None) {
            // A total without a row of its own.
            Err(why) if of.total => {
                self.doubts.truncate(doubts);
                let parts = self.in_labels(of, None).map_err(|_| why)?;
                self.sum(&amounts_of(&parts))?
            }
            found => found?,
        };
        if of.percent && found.kind == AmountKind::Plain {
            self.doubt("the question asks for a percentage");
        }
        Ok(answer("look-up", found.expr, unit(found.kind)))
    }

    /// The figures of listed operands, or those of a series.
    fn several(&mut self, operands: &[Operand]) -> Reading<Vec<Amount>> {
        let amounts = match operands {
            [of] => amounts_of(&self.series(of, None)?),
            operands => self.listed(operands)?,
        };
        in_one_scale(&amounts)?;
        Ok(amounts)
    }

    /// The figures of listed operands. One that names a row alone is of the column of another,
    /// and the other way round.
    fn listed(&mut self, operands: &[Operand]) -> Reading<Vec<Amount>> {
        let common = operands.iter().find_map(|of| of.spans.first()).copied();
        let doubts = self.doubts.len();
        let mut near = None;
        for of in operands {
            let found = self.figure(of, common, None).ok();
            near = near.or(found.and_then(|one| one.place));
            self.doubts.truncate(doubts);
        }
        let same_time = |of: &Operand| of.spans.is_empty() || of.spans.first() == common.as_ref();
        let near = near.filter(|_| operands.iter().all(same_time));
        let apart = |a: Place, b: Place| a.0 != b.0 && a.1 != b.1;
        let mut out: Vec<Amount> = Vec::new();
        for of in operands {
            let mut one = self.figure(of, common, None);
            let place = one.as_ref().ok().and_then(|one| one.place);
            if one.is_err() || place.zip(near).is_some_and(|(a, b)| apart(a, b)) {
                self.doubts.truncate(doubts);
                one = self.figure(of, common, near);
            }
            out.push(one?);
        }
        // "Sales and staff of the North": the first is of the row of the second.
        if let ([first, _], [a, b]) = (operands, out.as_mut_slice())
            && let (Some(x), Some(y), Some(_)) = (a.place, b.place, near)
            && apart(x, y)
        {
            match self.figure(first, common, Some(y)) {
                Ok(other) if other.place.is_some_and(|place| !apart(place, y)) => *a = other,
                _ => self.doubt("its figures are of different rows and columns"),
            }
        }
        let places: Vec<Place> = out.iter().filter_map(|one| one.place).collect();
        let distinct: BTreeSet<&Place> = places.iter().collect();
        if distinct.len() < places.len() {
            return Err(NoReading::Open);
        }
        Ok(out)
    }

    fn pair(&mut self, operands: &[Operand]) -> Reading<[Amount; 2]> {
        let amounts = self.listed(operands)?;
        self.check(&amounts)?;
        amounts.try_into().map_err(|_| NoReading::Open)
    }

    /// Figures that are compared have one scale; a sign that their names do not explain is a doubt.
    fn check(&mut self, amounts: &[Amount]) -> Reading<()> {
        let table = &self.table;
        let signed = |place: Place| table.labels_of(place).any(|label| label.is_one_of(SIGNED));
        let below = |place: &Place| !signed(*place) && table.is_below_zero(*place, |_| true);
        let mut unturned = amounts.iter().filter(|one| !one.turned);
        let odd = unturned.find_map(|one| one.place.filter(below));
        if let Some(name) = odd.map(|place| table.name_of(place)) {
            self.doubt(format!("all figures of {name} are below zero"));
        }
        in_one_scale(amounts)
    }

    /// The later and the earlier figure of a change.
    fn ends(&mut self, of: &Operand) -> Reading<[Amount; 2]> {
        if of.last.is_some() || of.words.is_empty() {
            return Err(NoReading::Open);
        }
        let mut spans: Vec<CalendarSpan> = Vec::new();
        for span in &of.spans {
            spans.push(self.period(*span)?);
        }
        let (early, late) = match (spans.as_slice(), self.table.periods.as_slice()) {
            ([], [early, late]) => (*early, *late),
            ([late], _) => match self.table.before(*late) {
                Some(early) => (early, *late),
                None => return missing(format!("the page has no period before {late}")),
            },
            ([a, b], _) if of.ordered || a.order() <= b.order() => (*a, *b),
            ([b, a], _) => (*a, *b),
            _ => return Err(NoReading::Open),
        };
        let of = of.of_spans(Vec::new());
        let late = self.figure(&of, Some(late), None)?;
        let ends = [late, self.figure(&of, Some(early), None)?];
        self.check(&ends)?;
        Ok(ends)
    }

    fn ratio(&mut self, operands: &[Operand], percent: bool) -> Reading<DirectAnswer> {
        let doubts = self.doubts.len();
        let listed = self.listed(operands);
        let [a, b] = match (listed, operands) {
            // A whole without a row of its own is the sum of all.
            (Err(_), [part, whole]) if whole.total => {
                self.doubts.truncate(doubts);
                let all = amounts_of(&self.in_labels(whole, None)?);
                let near = all.first().and_then(|one| one.place);
                let span = near.and_then(|place| self.table.span_of(place));
                [self.figure(part, span, near)?, self.sum(&all)?]
            }
            (found, _) => found?.try_into().map_err(|_| NoReading::Open)?,
        };
        self.check(&[a.clone(), b.clone()])?;
        if a.kind != b.kind || a.kind == AmountKind::Share {
            return Err(NoReading::Open);
        }
        if b.number.abs() <= 0.0 {
            return Err(NoReading::Undefined("the whole is zero".to_owned(), None));
        }
        if a.number < 0.0 || b.number < 0.0 {
            self.doubt("a part of it is below zero");
        }
        if percent && a.number > b.number && operands.iter().any(|of| of.total) {
            self.doubt("the part is larger than the whole");
        }
        let expr = operations::ratio(a.expr, b.expr);
        Ok(match percent {
            true => answer("share", expr, UnitKind::Percent),
            false => answer("ratio", expr, UnitKind::Ratio),
        })
    }

    /// The sum of amounts that have one.
    fn sum(&mut self, parts: &[Amount]) -> Reading<Amount> {
        let first = parts.first().ok_or(NoReading::Open)?;
        let labels_of = |part: &Amount| part.place.map(|place| self.table.labels_of(place));
        let mut labels = parts.iter().filter_map(labels_of).flatten();
        let rate = labels
            .find(|label| is_rate(label))
            .map(|label| label.name.clone());
        drop(labels);
        if let Some(name) = rate {
            return missing(format!("{name} does not add up"));
        }
        if parts.iter().any(|part| part.kind != AmountKind::Plain) {
            return Err(NoReading::Open);
        }
        if parts.iter().any(|part| part.turned != first.turned) {
            self.doubt("some of the figures are costs that the page prints below zero");
        }
        let sum = operations::sum(parts.iter().map(|part| part.expr.clone()));
        Ok(Amount {
            expr: sum.ok_or(NoReading::Open)?,
            number: parts.iter().map(|part| part.number).sum(),
            ..first.clone()
        })
    }

    fn extreme(
        &mut self,
        of: &Operand,
        largest: bool,
        which: Option<&Which>,
    ) -> Reading<DirectAnswer> {
        let series = self.series(of, which)?;
        let numbers: Vec<f64> = series.iter().map(|(one, _)| one.number).collect();
        let places = operations::extremes(&numbers, largest);
        let found: Vec<&OfSeries> = places.iter().filter_map(|at| series.get(*at)).collect();
        let (amount, label) = found.first().ok_or(NoReading::Open)?;
        if series.len() < 2 || series.iter().any(|(one, _)| one.kind != amount.kind) {
            return Err(NoReading::Open);
        }
        let (expr, kind) = (amount.expr.clone(), unit(amount.kind));
        if which.is_none() {
            return Ok(answer("extreme", expr, kind));
        }
        if found.len() > 1 {
            let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
            self.doubt(format!("{} are equal", names.join(" and ")));
        }
        let label = Some(label.clone());
        let extreme = answer("label of the extreme", expr, kind);
        Ok(DirectAnswer { label, ..extreme })
    }

    /// The figures of an operand in several periods, or in all rows or columns.
    fn series(&mut self, of: &Operand, which: Option<&Which>) -> Reading<Vec<OfSeries>> {
        let timely = of.spans.len() > 1 || of.last.is_some();
        let all_times = of.spans.is_empty() && self.table.periods.len() > 1;
        let length = match which {
            Some(Which::Period(length)) => *length,
            None if timely || all_times => None,
            _ => return self.in_labels(of, which),
        };
        if of.words.is_empty() && !of.total {
            return Err(NoReading::Open);
        }
        let undated = of.of_spans(Vec::new());
        let mut out = Vec::new();
        for span in self.table.series(of, length)? {
            let amount = self.figure(&undated, Some(span), None)?;
            let labels = amount.place.map(|place| self.table.labels_of(place));
            let mut labels = labels.into_iter().flatten();
            let only = labels.find(|label| label.span.is_some() && label.words.is_empty());
            let name = only.map_or_else(|| span.to_string(), |label| label.name.clone());
            out.push((amount, name));
        }
        if out.len() < 2 {
            return missing("the page has only one period of it");
        }
        self.check(&amounts_of(&out))?;
        Ok(out)
    }

    /// The figures that differ in their row alone, or in their column alone, totals left out.
    fn in_labels(&mut self, of: &Operand, which: Option<&Which>) -> Reading<Vec<OfSeries>> {
        if of.spans.len() > 1 {
            return Err(NoReading::Open);
        }
        let known = self.known(of)?;
        let span = of.spans.first();
        let period = span.map(|span| self.period(*span)).transpose()?;
        let mut cells = self.candidates(&known, period);
        let span_of = |one: &Candidate| self.table.span_of(one.place);
        let latest = cells
            .iter()
            .filter_map(span_of)
            .max_by_key(|span| span.order());
        if period.is_none() && cells.iter().any(|one| span_of(one) != latest) {
            cells.retain(|one| span_of(one) == latest);
            let latest = latest.map_or_else(String::new, |span| span.to_string());
            self.doubt(format!("the question names no period; this is {latest}"));
        }
        let by_rows = one_line(&mut cells)?;
        let (labels, columns) = match by_rows {
            true => (&self.table.rows, &self.table.columns),
            false => (&self.table.columns, &self.table.columns),
        };
        cells.retain(|one| {
            let total = columns.get(one.place.1).is_some_and(|label| label.total);
            self.table.is_part(one.place.0) && (by_rows || !total)
        });
        let mut out: Vec<OfSeries> = Vec::new();
        for one in &cells {
            let at = if by_rows { one.place.0 } else { one.place.1 };
            let amount = self.table.amount(one.place).ok_or(NoReading::Open)?;
            let name = labels.get(at).map(|label: &Label| label.name.clone());
            let name = name.unwrap_or_default();
            if out.iter().any(|(_, other)| *other == name) {
                return missing(format!("several rows are of {name}"));
            }
            out.push((amount, name));
        }
        let mut more = cells.iter().filter(|one| one.says_more());
        if let Some(name) = more.next().map(|one| self.table.full_name(one.place)) {
            self.doubt(format!("{name} may not be what is meant"));
        }
        let generic = |word: &String| super::words::lists(GENERIC, word);
        if let Some(Which::Label(noun)) = which
            && !self.table.corner.iter().all(generic)
            && !noun.iter().any(|word| self.table.is_heading(word))
        {
            let noun = noun.join(" ");
            self.doubt(format!("the table does not say what a {noun} is"));
        }
        self.check(&amounts_of(&out))?;
        Ok(out)
    }
}

fn amounts_of(series: &[OfSeries]) -> Vec<Amount> {
    series.iter().map(|(amount, _)| amount.clone()).collect()
}

fn in_one_scale(amounts: &[Amount]) -> Reading<()> {
    let mut scales = amounts.iter().filter(|one| one.kind == AmountKind::Plain);
    let first = scales.next().map(|one| one.scale);
    match scales.any(|one| Some(one.scale) != first) {
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
    let fallen = falls && late.number < early.number;
    if !relative {
        let (a, b) = if fallen { (early, late) } else { (late, early) };
        let expr = operations::difference(a.expr, b.expr);
        return Ok(answer("change", expr, UnitKind::Number));
    }
    if early.number <= 0.0 {
        let from = early.expr.number().unwrap_or_default();
        let why = format!("growth needs a value above zero; it starts from {from}");
        return Err(NoReading::Undefined(why, None));
    }
    let mut expr = operations::relative_change(late.expr, early.expr);
    if fallen {
        expr = operations::product(expr, Expr::literal("const_m1").ok_or(NoReading::Open)?);
    }
    Ok(answer("relative change", expr, UnitKind::Percent))
}

fn greater([a, b]: [Amount; 2]) -> Reading<DirectAnswer> {
    if a.kind != b.kind {
        return Err(NoReading::Open);
    }
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
        doubt: None,
    }
}

/// Leaves the cells of the only column that fits best, or of the only row; whether these are
/// of several rows.
fn one_line(cells: &mut Vec<Candidate>) -> Reading<bool> {
    let of_best = |fit: fn(&Candidate) -> (bool, usize), line: fn(&Candidate) -> usize| {
        let least = cells.iter().map(fit).map(|(_, cost)| cost).min()?;
        let best = cells.iter().filter(|one| fit(one) == (true, least));
        let best: Vec<Candidate> = best.copied().collect();
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
