//! What an operation makes of figures that were found.

use super::answer::{DirectAnswer, NoReading, Reading};
use super::table::{Amount, AmountKind};
use crate::expr::Expr;
use crate::operations;
use finqa_core::number::UnitKind;

/// A change, a difference, or either as a percentage of the earlier or smaller figure.
pub(super) fn change(
    late: Amount,
    early: Amount,
    falls: bool,
    relative: bool,
) -> Reading<DirectAnswer> {
    if late.kind != early.kind || late.place.is_some() && late.place == early.place {
        return Err(NoReading::Open);
    }
    let fallen = falls && late.number < early.number;
    if !relative {
        let (a, b) = if fallen { (early, late) } else { (late, early) };
        let points = a.kind == AmountKind::Share;
        let expr = operations::difference(a.expr, b.expr);
        let expr = match points {
            true => operations::product(expr, Expr::constant(100)),
            false => expr,
        };
        return Ok(answer("change", expr, UnitKind::Number));
    }
    // A growth of a percentage: in points or in percent?
    if late.kind != AmountKind::Plain {
        return Err(NoReading::Open);
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

pub(super) fn greater([a, b]: [Amount; 2]) -> Reading<DirectAnswer> {
    if a.kind != b.kind {
        return Err(NoReading::Open);
    }
    let expr = operations::greater(a.expr, b.expr);
    Ok(answer("comparison", expr, UnitKind::YesNo))
}

pub(super) fn unit(kind: AmountKind) -> UnitKind {
    match kind {
        AmountKind::Share => UnitKind::Percent,
        AmountKind::Plain | AmountKind::Percent => UnitKind::Number,
    }
}

pub(super) fn answer(name: &'static str, expr: Expr, kind: UnitKind) -> DirectAnswer {
    DirectAnswer {
        name,
        expr,
        kind,
        label: None,
        doubt: None,
    }
}
