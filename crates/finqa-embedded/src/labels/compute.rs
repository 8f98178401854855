//! The operations that questions ask for, over the figures that their operands name.

use std::collections::BTreeSet;

use super::answer::{DirectAnswer, NoReading, Reading, missing};
use super::asked::{Asked, Operand, Operation, Which};
use super::find::{Candidate, Finder};
use super::label::Label;
use super::operation::{answer, change, greater, unit};
use super::periods::{adds_up, is_rate};
use super::table::{Amount, AmountKind, Place};
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
            Operation::Change { falls } => {
                let [late, early] = self.ends(of)?;
                change(late, early, *falls, asked.relative)
            }
            Operation::Moved { falls } => {
                let [late, early] = self.ends(of)?;
                greater(if *falls { [early, late] } else { [late, early] })
            }
            Operation::Compare => greater(self.pair(operands)?),
            Operation::Difference => {
                let [more, less] = self.pair(operands)?;
                change(more, less, false, asked.relative)
            }
            Operation::Ratio => self.ratio(operands, asked.relative),
            Operation::Sum => {
                let parts = self.several(operands)?;
                if operands.len() == 1 {
                    self.doubt_sum_over_time(&parts);
                }
                let sum = self.sum(&parts)?;
                Ok(answer("sum", sum.expr, UnitKind::Number))
            }
            Operation::Average => {
                let parts = self.several(operands)?;
                self.average(&parts)
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
        let kind = unit(found.kind);
        Ok(answer("look-up", found.expr, kind))
    }

    /// The figures of listed operands, or those of a series.
    fn several(&mut self, operands: &[Operand]) -> Reading<Vec<Amount>> {
        match operands {
            [of] => self.series(of, None).map(|series| amounts_of(&series)),
            operands => {
                let amounts = self.listed(operands)?;
                self.check_scales(&amounts);
                Ok(amounts)
            }
        }
    }

    /// The figures of listed operands. One that names a row alone is of the column of another,
    /// and the other way round.
    fn listed(&mut self, operands: &[Operand]) -> Reading<Vec<Amount>> {
        let common = operands.iter().find_map(|of| of.spans.first()).copied();
        let doubts = self.doubts.len();
        let mut near = None;
        for of in operands {
            near = near.or(self.figure(of, common, None).ok().and_then(|one| one.place));
            self.doubts.truncate(doubts);
        }
        let apart = |a: Place, b: Place| a.0 != b.0 && a.1 != b.1;
        let same_time = operands
            .iter()
            .all(|of| of.spans.is_empty() || of.spans.first() == common.as_ref());
        let mut out: Vec<Amount> = Vec::new();
        for of in operands {
            let mut one = self.figure(of, common, None);
            let place = one.as_ref().ok().and_then(|one| one.place);
            if one.is_err() || same_time && place.zip(near).is_some_and(|(a, b)| apart(a, b)) {
                self.doubts.truncate(doubts);
                one = self.figure(of, common, near);
            }
            out.push(one?);
        }
        // "Sales and staff of the North": the first is of the row of the second.
        if let ([first, _], [a, b]) = (operands, out.as_mut_slice())
            && let (Some(x), Some(y)) = (a.place, b.place)
            && same_time
            && apart(x, y)
        {
            match self.figure(first, common, Some(y)) {
                Ok(other) if other.place.is_some_and(|place| !apart(place, y)) => *a = other,
                _ => self.doubt("its figures are of different rows and columns"),
            }
        }
        let places: Vec<Place> = out.iter().filter_map(|one| one.place).collect();
        let distinct: BTreeSet<&Place> = places.iter().collect();
        match distinct.len() < places.len() {
            true => Err(NoReading::Open),
            false => Ok(out),
        }
    }

    fn pair(&mut self, operands: &[Operand]) -> Reading<[Amount; 2]> {
        let amounts = self.listed(operands)?;
        self.check(&amounts);
        amounts.try_into().map_err(|_| NoReading::Open)
    }

    fn has_scale(&self, amount: &Amount) -> bool {
        let facts = self.table.facts;
        let leaves = amount.expr.leaves();
        let mut of_leaves = leaves.iter().filter_map(|leaf| facts.all.get(leaf.source?));
        of_leaves.any(|fact| fact.scale.or(facts.scale).is_some())
    }

    /// Doubts in figures that are compared: scales and signs that may not be alike.
    fn check(&mut self, amounts: &[Amount]) {
        self.check_scales(amounts);
        let plain = || amounts.iter().filter(|one| one.kind == AmountKind::Plain);
        let table = &self.table;
        let signed = |place: Place| table.labels_of(place).any(|label| label.is_one_of(SIGNED));
        let below = |place: &Place| !signed(*place) && table.is_below_zero(*place, |_| true);
        let unturned = plain()
            .filter(|one| !one.turned)
            .filter_map(|one| one.place);
        let odd = unturned
            .clone()
            .find(below)
            .map(|place| table.name_of(place));
        let turned = plain().any(|one| one.turned) && plain().any(|one| one.number < 0.0);
        self.doubts
            .extend(odd.map(|name| format!("all figures of {name} are below zero")));
        if turned {
            self.doubt("some of the figures are costs that the page prints below zero");
        }
    }

    fn check_scales(&mut self, amounts: &[Amount]) {
        let plain = amounts.iter().filter(|one| one.kind == AmountKind::Plain);
        let scaled: Vec<bool> = plain.map(|one| self.has_scale(one)).collect();
        if scaled.contains(&true) && scaled.contains(&false) {
            self.doubt("some of the figures may be in another unit");
        }
    }

    /// The later and the earlier figure of a change.
    fn ends(&mut self, of: &Operand) -> Reading<[Amount; 2]> {
        if of.last.is_some() || of.words.is_empty() {
            return Err(NoReading::Open);
        }
        let spans = of.spans.iter().map(|span| {
            let found = self.table.period(*span)?;
            Ok((found, self.table.unclear(*span, found)))
        });
        let spans: Vec<(CalendarSpan, Option<String>)> = spans.collect::<Reading<_>>()?;
        self.doubts
            .extend(spans.iter().filter_map(|(_, unclear)| unclear.clone()));
        let spans: Vec<CalendarSpan> = spans.into_iter().map(|(span, _)| span).collect();
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
        let ends = [
            self.figure(&of, Some(late), None)?,
            self.figure(&of, Some(early), None)?,
        ];
        self.check(&ends);
        Ok(ends)
    }

    fn ratio(&mut self, operands: &[Operand], percent: bool) -> Reading<DirectAnswer> {
        let doubts = self.doubts.len();
        let listed = self.listed(operands);
        let [a, b] = match (listed, operands) {
            // A whole without a row of its own is the sum of all.
            (Err(_), [part, whole]) if whole.total => {
                self.doubts.truncate(doubts);
                let spans = [part.spans.as_slice(), &whole.spans].concat();
                let spans = spans.into_iter().take(1).collect();
                let all = amounts_of(&self.in_labels(&whole.of_spans(spans), None)?);
                let whole = self.sum(&all)?;
                let near = all.first().and_then(|one| one.place);
                let span = near.and_then(|place| self.table.span_of(place));
                [self.figure(part, span, near)?, whole]
            }
            (found, _) => found?.try_into().map_err(|_| NoReading::Open)?,
        };
        // Of money per thing only the money has a scale.
        if percent || self.has_scale(&b) {
            self.check(&[a.clone(), b.clone()]);
        }
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

    /// The sum of amounts of one kind that have one.
    fn sum(&mut self, parts: &[Amount]) -> Reading<Amount> {
        let first = parts.first().ok_or(NoReading::Open)?;
        if let Some(rate) = self.rate_of(parts) {
            return missing(format!("{rate} does not add up"));
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

    fn rate_of(&self, parts: &[Amount]) -> Option<String> {
        let places = parts.iter().filter_map(|part| part.place);
        let mut labels = places.flat_map(|place| self.table.labels_of(place));
        labels
            .find(|label| is_rate(label))
            .map(|label| label.name.clone())
    }

    /// A quantity may not add up over time.
    fn doubt_sum_over_time(&mut self, parts: &[Amount]) {
        let places: Vec<Place> = parts.iter().filter_map(|part| part.place).collect();
        let over_time = self.is_over_time(&places);
        if let Some(place) = places.first().filter(|_| over_time)
            && !self.table.labels_of(*place).any(adds_up)
        {
            let name = self.table.name_of(*place);
            self.doubt(format!("{name} may not add up over time"));
        }
    }

    fn is_over_time(&self, places: &[Place]) -> bool {
        let mut spans = places.iter().map(|place| self.table.span_of(*place));
        let first = spans.next();
        spans.any(|span| Some(span) != first)
    }

    fn average(&mut self, parts: &[Amount]) -> Reading<DirectAnswer> {
        let first = parts.first().ok_or(NoReading::Open)?;
        if parts.len() < 2 || parts.iter().any(|one| one.kind != first.kind) {
            return Err(NoReading::Open);
        }
        let places: Vec<Place> = parts.iter().filter_map(|part| part.place).collect();
        let rates = self.rate_of(parts).is_some() || first.kind != AmountKind::Plain;
        if rates && !places.is_empty() && !self.is_over_time(&places) {
            self.doubt("an average of rates may need weights");
        }
        let average = operations::average(parts.iter().map(|one| one.expr.clone()).collect());
        Ok(answer(
            "average",
            average.ok_or(NoReading::Open)?,
            unit(first.kind),
        ))
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
        let label = which.is_some().then(|| label.clone());
        if label.is_some() && found.len() > 1 {
            let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
            self.doubt(format!("{} are equal", names.join(" and ")));
        }
        let name = if label.is_some() {
            "label of the extreme"
        } else {
            "extreme"
        };
        let extreme = answer(name, amount.expr.clone(), unit(amount.kind));
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
            let mut labels = amount
                .place
                .into_iter()
                .flat_map(|place| self.table.labels_of(place));
            let only = labels.find(|label| label.span.is_some() && label.words.is_empty());
            let name = only.map_or_else(|| span.to_string(), |label| label.name.clone());
            out.push((amount, name));
        }
        if out.len() < 2 {
            return missing("the page has only one period of it");
        }
        self.check(&amounts_of(&out));
        Ok(out)
    }

    /// The figures that differ in their row alone, or in their column alone, totals left out.
    fn in_labels(&mut self, of: &Operand, which: Option<&Which>) -> Reading<Vec<OfSeries>> {
        let [span, none] = [of.spans.first(), of.spans.get(1)];
        if none.is_some() {
            return Err(NoReading::Open);
        }
        let known = self.known(of)?;
        let period = span.map(|span| self.table.period(*span)).transpose()?;
        let mut cells = self.candidates(&known, period);
        let spans = cells.iter().filter_map(|one| self.table.span_of(one.place));
        let latest = spans.max_by_key(|span| span.order());
        let other = |one: &Candidate| self.table.span_of(one.place) != latest;
        if period.is_none() && cells.iter().any(other) {
            cells.retain(|one| self.table.span_of(one.place) == latest);
            let latest = latest.map_or_else(String::new, |span| span.to_string());
            self.doubt(format!("the question names no period; this is {latest}"));
        }
        self.doubts.extend(
            span.zip(period)
                .and_then(|(span, found)| self.table.unclear(*span, found)),
        );
        let by_rows = one_line(&mut cells)?;
        let columns = &self.table.columns;
        cells.retain(|one| {
            let total = columns.get(one.place.1).is_some_and(|label| label.total);
            self.table.is_part(one.place.0) && (by_rows || !total)
        });
        let labels = if by_rows {
            &self.table.rows
        } else {
            &self.table.columns
        };
        let mut out: Vec<OfSeries> = Vec::new();
        for one in &cells {
            let at = if by_rows { one.place.0 } else { one.place.1 };
            let amount = self.table.amount(one.place).ok_or(NoReading::Open)?;
            let name = labels
                .get(at)
                .map_or_else(String::new, |label: &Label| label.name.clone());
            if out.iter().any(|(_, other)| *other == name) {
                return missing(format!("several rows are of {name}"));
            }
            out.push((amount, name));
        }
        if let Some(one) = cells
            .iter()
            .find(|one| one.row.says_more() || one.column.says_more())
        {
            let name = self.table.full_name(one.place);
            self.doubt(format!("{name} may not be what is meant"));
        }
        let columns = 1..self.table.columns.len();
        let named = columns.filter(|at| !self.table.cells.keys().any(|place| place.1 == *at));
        if by_rows && which.is_some() && named.count() > 0 {
            self.doubt("several columns name the rows");
        }
        let generic = |word: &String| super::words::lists(GENERIC, word);
        if let Some(Which::Label(noun)) = which
            && !self.table.corner.iter().all(generic)
            && !noun.iter().any(|word| self.table.is_heading(word))
        {
            self.doubt(format!(
                "the table does not say what a {} is",
                noun.join(" ")
            ));
        }
        self.check(&amounts_of(&out));
        Ok(out)
    }
}

fn amounts_of(series: &[OfSeries]) -> Vec<Amount> {
    series.iter().map(|(amount, _)| amount.clone()).collect()
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
    match (column, row) {
        (Some(column), None) => *cells = column,
        (None, Some(row)) => {
            *cells = row;
            return Ok(false);
        }
        _ => return Err(NoReading::Open),
    }
    Ok(true)
}
