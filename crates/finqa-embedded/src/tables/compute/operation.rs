//! Computes the operation that a question asks for, from the figures that its operands name.

use finqa_core::number::UnitKind;
use finqa_core::page::period::Period;

use super::direct_answer::DirectAnswer;
use super::series::in_order;
use crate::expr::turn_sign;
use crate::operations;
use crate::reading::outflow::names_cost;
use crate::reading::text::stem;
use crate::tables::find::{Amount, AmountKind, FigureExpr, places};
use crate::tables::page::table::Place;
use crate::tables::page::{Doubt, TableResult, Tables, missing, missing_if, open_if};
use crate::tables::question::operand::Operand;
use crate::tables::question::request::{Asked, Operation};
use crate::tables::words::Stems;

/// Words of rows whose figures may be negative by their meaning, such as a result.
static SIGNED: Stems = Stems::new("profit income earning result ebit ebitda flow return");

impl Tables {
    /// A figure in its periods, and then what else a question asks for.
    fn figure_and(&self, figure: &Operand, asked: &Asked) -> TableResult<DirectAnswer> {
        let spans = figure.spans.iter().map(|span| vec![*span]);
        let latest = figure.spans.is_empty().then(Vec::new);
        let alone = |spans| Asked::new(Operation::Figure, vec![figure.of_spans(spans)]);
        let figures = spans.chain(latest).map(|spans| self.compute(&alone(spans)));
        let figures: Vec<DirectAnswer> = figures.collect::<TableResult<_>>()?;
        let is_percent = |at: Place| self.cell(at).is_some_and(|cell| cell.percent);
        let mut shares = figures.iter();
        // The change would be in points, and a list shows no unit of a single value.
        let share = shares.any(|one| one.kind != UnitKind::Number || one.places().any(is_percent));
        missing_if(share, "the question asks for a percentage and its change")?;
        let change = self.compute(&Asked {
            figure: None,
            ..asked.clone()
        })?;
        in_order("series", figures.into_iter().chain([change]))
    }

    /// Computes what a question asks for. The answer has the first doubt about any of its figures.
    pub(crate) fn compute(&self, asked: &Asked) -> TableResult<DirectAnswer> {
        if let Some(figure) = &asked.figure {
            return self.figure_and(figure, asked);
        }
        let names = matches!(
            asked.operation,
            Operation::Extreme { .. } | Operation::Ranked(_)
        );
        if let Some(unread) = self.unread(asked, &[]).filter(|_| names) {
            return Err(unread);
        }
        let operands: Vec<Operand> = asked.operands.iter().map(|of| self.with_each(of)).collect();
        let operands = operands.as_slice();
        let of = operands.first().ok_or(Doubt::Open)?;
        let lacks = |of: &Operand| of.each.is_some() && of.spans.is_empty();
        let lacking = operands.iter().any(lacks);
        missing_if(lacking, "the page does not have all of these periods")?;
        let (answer, amounts) = match &asked.operation {
            Operation::Figure if of.spans.len() > 1 && !of.through => return self.each(asked, of),
            Operation::Figure => {
                let found = self.one(of)?;
                (self.look_up(found.clone(), of), vec![found])
            }
            Operation::Compare => {
                let pair = self.as_losses(operands, self.pair(asked)?)?;
                let falls = self.falls(operands, &pair);
                (greater(pair.clone(), falls)?, pair.into())
            }
            Operation::Difference => self.difference(asked, operands)?,
            Operation::Ratio => return self.ratio_in_each(asked, operands),
            Operation::Exists => self.exists(of)?,
            Operation::Compound => {
                let pair = self.pair(asked)?;
                (compound(pair.clone(), of)?, pair.into())
            }
            Operation::Sum => self.sum_of_all(operands)?,
            Operation::Average => {
                self.check_totals(of)?;
                let parts = self.all_of(operands)?;
                self.in_one_unit(&parts)?;
                (average(&parts)?.or_doubt(self.shares_time(&parts)), parts)
            }
            Operation::Extreme { largest, which } => {
                let found = self.extreme(of, *largest, which.as_ref());
                return found.map(|one| one.with_figure(asked.with_figure));
            }
            Operation::Ranked(ranking) => {
                return match self.ranked(of, ranking, &asked.left_out) {
                    Err(Doubt::Open) => missing("the page does not say what the parts are"),
                    found => found,
                };
            }
            Operation::Larger { largest } => {
                let pair = self.as_losses(operands, self.pair_together(operands)?)?;
                (self.larger(&pair, *largest)?, pair.into())
            }
        };
        Ok(self.doubted(answer, asked, &amounts))
    }

    /// The sum of the figures of operands, and these.
    fn sum_of_all(&self, operands: &[Operand]) -> TableResult<(DirectAnswer, Vec<Amount>)> {
        let parts = self.all_of(operands)?;
        let sum = self.sum(&parts)?;
        let found = answer("sum", sum.expr, UnitKind::Number);
        Ok((found.or_doubt(sum.doubt), parts))
    }

    /// Whether there is an amount, as in "did we pay any rent in May?", and that amount. A dash
    /// says that there is none, an empty cell says nothing. Results are left out: "any profit" may
    /// be below zero.
    fn exists(&self, of: &Operand) -> TableResult<(DirectAnswer, Vec<Amount>)> {
        let found = self.figure(of, None);
        let found = found.or_else(|why| self.dash(of).ok_or(why))?;
        let result = found.place().is_some_and(|at| self.is_signed(at)) || of.says("loss");
        open_if(result || found.number() < 0.0)?;
        let expr = operations::greater(found.expr.clone(), FigureExpr::constant(0));
        Ok((answer("comparison", expr, UnitKind::YesNo), vec![found]))
    }

    /// The change of a figure or the difference of two, and these two.
    fn difference(
        &self,
        asked: &Asked,
        operands: &[Operand],
    ) -> TableResult<(DirectAnswer, Vec<Amount>)> {
        let pair = self.as_losses(operands, self.pair(asked)?)?;
        let falls = self.falls(operands, &pair);
        let change = change(pair.clone(), falls, asked.relative)?;
        let [late, early] = &pair;
        // "By how much did sales fall?" has no answer if they rose.
        let rose = falls && late.number() > early.number();
        let rose = rose.then(|| match operands {
            [_] => Doubt::missing("the figure did not fall, but rose"),
            _ => Doubt::missing("the first figure is not lower, but higher"),
        });
        // The row of a single operand can be the change itself.
        let row = late.at.filter(|_| operands.len() == 1 && !asked.relative);
        let own = row.and_then(|at| self.may_be_own_change(&at));
        Ok((change.or_doubt(rose).or_doubt(own), pair.into()))
    }

    /// An answer with the first doubt about it or about the amounts that it is computed from.
    fn doubted(&self, answer: DirectAnswer, asked: &Asked, amounts: &[Amount]) -> DirectAnswer {
        let doubt = answer
            .doubt
            .or_else(|| amounts.iter().find_map(|one| one.doubt.clone()))
            .or_else(|| self.unmet(amounts, asked));
        DirectAnswer { doubt, ..answer }
    }

    /// One figure divided by another, in each of the periods that the question lists: "R&D as a
    /// percentage of sales in 2030 and 2031".
    fn ratio_in_each(&self, asked: &Asked, operands: &[Operand]) -> TableResult<DirectAnswer> {
        let of_operands = operands.iter().map(|of| of.spans.as_slice());
        let spans = of_operands.max_by_key(|spans| spans.len());
        let spans = spans.unwrap_or_default();
        let listed = |of: &Operand| !of.through && (of.spans.is_empty() || of.spans == spans);
        if spans.len() < 2 || !operands.iter().all(listed) {
            return self.ratio(asked, operands);
        }
        let one = |span: &Period| {
            let of = |of: &Operand| of.of_spans(vec![*span]);
            let operands: Vec<Operand> = operands.iter().map(of).collect();
            let asked = Asked {
                operands: operands.clone(),
                ..asked.clone()
            };
            self.ratio(&asked, &operands)
        };
        let found: Vec<DirectAnswer> = spans.iter().map(one).collect::<TableResult<_>>()?;
        in_order("series", found.into_iter())
    }

    /// One figure divided by another. If both operands find one cell, it is the answer if it is a
    /// printed ratio (a percentage, or a row such as "Debt to EBITDA"), and there is none
    /// otherwise. In "sales outside Chile to sales" they find one row too, but the first excludes a
    /// part of it.
    fn ratio(&self, asked: &Asked, operands: &[Operand]) -> TableResult<DirectAnswer> {
        let pair = self.share_operands(operands, asked.relative)?;
        let [a, b] = &pair;
        let excludes_nothing = operands.iter().all(|of| of.except.is_empty());
        let only = a
            .place()
            .filter(|at| excludes_nothing && b.place() == Some(*at));
        if let (Some(at), [above, below]) = (only, operands) {
            let percent = self.cell(at).is_some_and(|cell| cell.percent);
            let name = self.name_of(at).to_lowercase();
            let divides = !asked.relative && (name.contains(" to ") || name.contains('/'));
            return if !above.is_same_figure(below) && (percent || divides) {
                Ok(self.look_up(a.clone(), above))
            } else {
                Err(self.doubt_about(at, "would be both figures of the ratio"))
            };
        }
        let answer = ratio(pair.clone(), asked.relative);
        Ok(self.doubted(answer, asked, &pair))
    }

    /// The figure of an operand; a total without a row of its own is the sum of all rows.
    fn one(&self, of: &Operand) -> TableResult<Amount> {
        open_if(!of.is_named() && !of.total)?;
        self.figure(of, None).or_else(|why| {
            if let Some(sum) = self.of_category(of) {
                return Ok(sum);
            }
            let parts = (of.total && self.is_single_table())
                .then(|| self.in_labels(of, None).or_else(|_| self.in_groups(of)));
            self.sum(&parts.and_then(Result::ok).ok_or(why)?)
        })
    }

    /// The answer to a question for one figure, with a doubt if the figure is of another kind than
    /// the question asks for.
    pub(crate) fn look_up(&self, found: Amount, of: &Operand) -> DirectAnswer {
        let plain = found.kind == AmountKind::Number;
        let money = |at: Place| self.table(at).is_some_and(|table| table.is_money(at.row));
        let margin = |at: Place| self.name_of(at).to_lowercase().contains("margin");
        let share = found.kind == AmountKind::Percent && found.place().is_some_and(margin);
        let why = match () {
            () if share && !of.wants_percent() && !of.says("margin") => {
                Some("the page has it as a percentage only")
            }
            () if of.wants_percent() && plain => Some("the question asks for a percentage"),
            () if of.counts && self.is_report() && found.place().is_some_and(money) => {
                Some("the question asks for a number of things")
            }
            () => None,
        };
        let name = match (found.at, found.kind) {
            (None, AmountKind::Share) => "share",
            (None, _) => "measure",
            _ if !matches!(found.expr, FigureExpr::Leaf(_)) => "sum",
            _ => "look-up",
        };
        answer(name, found.expr, unit(found.kind)).or_doubt(why.map(Doubt::missing))
    }

    /// The figures of one operand's series, or of several operands.
    fn all_of(&self, operands: &[Operand]) -> TableResult<Vec<Amount>> {
        match operands {
            [of] => self.series(of, None),
            _ => self.found_together(operands),
        }
    }

    /// The two figures of a comparison; for one operand, the later and the earlier figure.
    fn pair(&self, asked: &Asked) -> TableResult<[Amount; 2]> {
        let pair = match asked.operands.as_slice() {
            [of] => self.change_operands(of, asked.since)?,
            operands => self.pair_together(operands)?,
        };
        self.check_comparable(&pair)?;
        Ok(pair)
    }

    /// Checks that figures to be compared have one unit. In a single table, it also refuses a row
    /// that is always below zero although its name does not say so.
    pub(crate) fn check_comparable(&self, amounts: &[Amount]) -> TableResult<()> {
        let below = |place: &Place| !self.is_signed(*place) && self.is_below_zero(*place, |_| true);
        let single = self.is_single_table();
        let mut unturned = amounts.iter().filter(|one| single && !one.turned);
        if let Some(odd) = unturned.find_map(|one| one.place().filter(below)) {
            let name = self.name_of(odd);
            return missing(format!("all figures of {name} are below zero"));
        }
        self.in_one_unit(amounts)
    }

    /// Turns the signs of losses that the page prints below zero, so that the larger loss is the
    /// larger figure. Other figures are returned unchanged.
    pub(crate) fn as_losses<T: AsMut<[Amount]>>(
        &self,
        operands: &[Operand],
        mut amounts: T,
    ) -> TableResult<T> {
        let all = amounts.as_mut();
        let below = all.iter().filter(|one| one.number() < 0.0).count();
        // A question for "net income (loss)" names both, so it does not ask for losses only.
        let gains = ["income", "earnings", "profit", "gain"].map(stem);
        let gain = |of: &&Operand| gains.iter().any(|word| of.says(word));
        let named = operands.iter().any(|of| of.says("loss") && !gain(&of));
        if below == 0 || !named {
            return Ok(amounts);
        }
        missing_if(below < all.len(), "only some of the figures are losses")?;
        for one in all {
            one.expr.change_leaves(&mut turn_sign);
        }
        Ok(amounts)
    }

    /// True if the question asks for a fall. "Improved" asks for one if the figure is a cost or a
    /// loss.
    fn falls(&self, operands: &[Operand], pair: &[Amount]) -> bool {
        let costs = |at: Place| {
            let name = self.name_of(at).to_lowercase();
            let others = ["loss", "npl", "non-performing", "debt"];
            names_cost(&name) || others.iter().any(|word| name.contains(word))
        };
        let mut places = pair.iter().filter_map(Amount::place);
        let first = operands.first();
        first.is_some_and(|of| of.falls || of.improves && places.any(costs))
    }

    /// True if the label of the cell's row or column says that its figures may be below zero.
    pub(crate) fn is_signed(&self, place: Place) -> bool {
        self.labels_of(place).any(|label| label.is_one_of(&SIGNED))
    }

    /// The later and the earlier figure of a change, in this order. A single period of the question
    /// is the later one, or the earlier one if `since` is true.
    fn change_operands(&self, of: &Operand, since: bool) -> TableResult<[Amount; 2]> {
        let single = self.is_single_table();
        open_if(!(of.is_named() || single && of.total))?;
        let mut spans = of.spans.clone();
        if !single || since {
            spans.sort_by_key(|span| span.order());
        }
        spans.iter().try_for_each(|span| self.check_period(*span))?;
        let all = self.periods_of(0);
        let (early, late) = match (spans.as_slice(), all.as_slice()) {
            ([only], _) if since => (Some(*only), None),
            // Without "since", a single period is the later one.
            ([late], _) => (None, Some(*late)),
            ([early, late], _) if early.order() <= late.order() => (Some(*early), Some(*late)),
            ([], [early, late]) if single => (Some(*early), Some(*late)),
            _ if single => return Err(Doubt::Open),
            ([early, .., late], _) => (Some(*early), Some(*late)),
            ([], _) => (None, None),
        };
        let of = of.of_spans(Vec::new());
        let ago = late.map(Period::year_before);
        let late = self.figure(&of, late)?;
        let period = places(&late.expr).find_map(|at| self.period_at(at));
        let before = early.or(period.map(Period::year_before)).or(ago);
        // The earlier period has the length of the later one.
        let before = before.map(|before| Period {
            months: before.months.or(period.and_then(|period| period.months)),
            ..before
        });
        let early = self.figure_near(&of, before, late.place())?;
        let same = early.at.is_some() && early.place() == late.place();
        missing_if(same, "the page has no period before it")?;
        Ok([late, early])
    }
}

/// The first figure divided by the second; with a doubt if the second is not above zero.
fn ratio(pair: [Amount; 2], relative: bool) -> DirectAnswer {
    let [a, b] = pair;
    let zero = b.number() <= 0.0;
    let expr = operations::ratio(a.expr, b.expr);
    let doubt = zero.then(|| Doubt::missing("the whole is not above zero"));
    let (name, kind) = if relative {
        ("share", UnitKind::Percent)
    } else {
        ("ratio", UnitKind::Ratio)
    };
    answer(name, expr, kind).or_doubt(doubt)
}

/// The yearly growth rate that leads from the earlier to the later figure, as for "CAGR from 2019
/// to 2023".
fn compound([late, early]: [Amount; 2], of: &Operand) -> TableResult<DirectAnswer> {
    let mut years = of.spans.iter().filter_map(|span| span.end.year);
    let plain = late.kind == AmountKind::Number && early.kind == AmountKind::Number;
    let (Some(a), Some(b), None) = (years.next(), years.next(), years.next()) else {
        return missing("compound growth needs two years");
    };
    let months = |span: &Period| span.length() == 12;
    open_if(!plain || a == b || !of.spans.iter().all(months))?;
    let below = late.number() <= 0.0 || early.number() <= 0.0;
    missing_if(below, "growth needs values above zero")?;
    let growth = operations::compound_growth(late.expr, early.expr, u32::from(a.abs_diff(b)));
    Ok(answer("compound growth", growth, UnitKind::Percent))
}

/// The difference of two figures. If `relative`, divided by the earlier one. If a fall is asked for
/// and there is one, the result is positive.
fn change([late, early]: [Amount; 2], falls: bool, relative: bool) -> TableResult<DirectAnswer> {
    // The growth of a percentage may be in points or in percent, so it is left open.
    let unclear = relative && late.kind != AmountKind::Number;
    let same = late.at.is_some() && late.place() == early.place();
    open_if(late.kind != early.kind || same || unclear)?;
    let base = early.clone();
    let fallen = falls && late.number() < early.number();
    let (a, b) = if fallen { (early, late) } else { (late, early) };
    let change = operations::difference(a.expr, b.expr);
    if !relative {
        // The change of a share is in percentage points.
        return Ok(answer("change", change, unit(base.kind)));
    }
    let doubt = (base.number() <= 0.0).then(|| Doubt::missing("growth needs a value above zero"));
    let change = operations::ratio(change, base.expr);
    Ok(answer("relative change", change, UnitKind::Percent).or_doubt(doubt))
}

/// Yes if the first figure is larger than the second; the other way round if `reversed`.
fn greater([a, b]: [Amount; 2], reversed: bool) -> TableResult<DirectAnswer> {
    open_if(a.kind != b.kind)?;
    let (a, b) = if reversed { (b, a) } else { (a, b) };
    let expr = operations::greater(a.expr, b.expr);
    Ok(answer("comparison", expr, UnitKind::YesNo))
}

/// The average of at least two figures of one kind.
fn average(parts: &[Amount]) -> TableResult<DirectAnswer> {
    let first = parts.first().ok_or(Doubt::Open)?;
    open_if(parts.len() < 2 || parts.iter().any(|one| one.kind != first.kind))?;
    let average = operations::average(parts.iter().map(|one| one.expr.clone()).collect());
    let average = average.ok_or(Doubt::Open)?;
    Ok(answer("average", average, unit(first.kind)))
}

pub(crate) fn unit(kind: AmountKind) -> UnitKind {
    match kind {
        AmountKind::Share => UnitKind::Percent,
        AmountKind::Ratio => UnitKind::Ratio,
        AmountKind::Number | AmountKind::Percent => UnitKind::Number,
    }
}

/// An answer by an operation with this name, without a label, further values or a doubt.
pub(crate) fn answer(name: &'static str, expr: FigureExpr, kind: UnitKind) -> DirectAnswer {
    DirectAnswer {
        name,
        expr,
        kind,
        label: None,
        others: Vec::new(),
        values: Vec::new(),
        doubt: None,
        confidence: 0.0, // `weighed` computes it.
    }
}
