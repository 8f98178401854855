//! Follow-ups that only calculate: "that times 100", "in millions", "divided by 2".

use super::conversation::EarlierTurn;
use super::mention::span;
use super::plan::{Pairing, ProgramPlan};
use super::reference::{Operand, join, resolve};
use super::templates::PlanQuestion;
use super::wording::Wording;
use crate::expr::Expr;
use crate::reading::text::TokenKind;
use finqa_core::number::{Scale, UnitKind};
use finqa_core::program::Op;

/// "What is that times 100?": an earlier value, an operation, a number.
pub(crate) fn constant_step(q: &PlanQuestion<'_>, _: &EarlierTurn) -> Option<ProgramPlan> {
    let connectors = [
        ("times", Op::Multiply),
        ("time", Op::Multiply),
        ("multiplied by", Op::Multiply),
        ("divided by", Op::Divide),
        ("over", Op::Divide),
        ("plus", Op::Add),
        ("minus", Op::Subtract),
        ("less", Op::Subtract),
        ("less an initial", Op::Subtract),
        ("less the initial", Op::Subtract),
        ("less an assumed initial", Op::Subtract),
        ("and", Op::Subtract),
        ("by", Op::Multiply),
    ];
    connectors.iter().find_map(|(connector, op)| {
        let (left, right) = q.asked.split(connector)?;
        let number = leading_number(&right)?;
        match (*connector, *op) {
            ("by", _) if !(left.contains(" multipl") || q.refers) => return None,
            ("and", _) if !left.contains(" difference ") => return None,
            _ => {}
        }
        let named = span(&left).says_anything() && !q.refers;
        let operand = if named {
            resolve(q, &left)
        } else {
            resolve_value(q, &left)
        };
        let kind = if *op == Op::Divide && number <= 100 {
            UnitKind::Ratio
        } else {
            UnitKind::Number
        };
        join(
            "constant",
            *op,
            operand,
            Operand::Known(Expr::constant(number)),
            Pairing::Free,
            kind,
        )
    })
}

fn resolve_value(q: &PlanQuestion<'_>, left: &str) -> Operand {
    match q.state.last() {
        Some(last)
            if !span(left).says_anything()
                && !left.contains(" change ")
                && !left.contains(" difference ")
                && !left.contains(" sum ") =>
        {
            Operand::Known(last.expr.clone())
        }
        _ => resolve(q, left),
    }
}

/// A plain number (not a year) at the start of the text; number words too.
pub(crate) fn leading_number(text: &str) -> Option<u32> {
    let first = text
        .split_whitespace()
        .find(|w| !matches!(*w, "the" | "number" | "a" | "an" | "$" | "initial"))?;
    let mut after = text.split_whitespace().skip_while(|w| *w != first).skip(1);
    if after.next().is_some_and(|w| {
        matches!(
            w,
            "year" | "years" | "month" | "months" | "percent" | "quarters"
        )
    }) {
        return None;
    }
    let digits = first.trim_start_matches('$').replace(',', "");
    if let Ok(n) = digits.parse::<u32>() {
        let year = crate::reading::text::year_of(&digits).is_some();
        return (!year).then_some(n).filter(|n| *n > 0);
    }
    let words = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let tens = [("hundred", 100), ("thousand", 1000), ("million", 1_000_000)];
    let rest: Vec<&str> = text.split_whitespace().collect();
    if let Some(n) = words.iter().position(|w| *w == first) {
        let next = rest
            .iter()
            .skip_while(|w| **w != first)
            .nth(1)
            .copied()
            .unwrap_or_default();
        let factor = tens.iter().find(|(w, _)| *w == next).map_or(1, |(_, x)| *x);
        let alone = matches!(next, "" | "hundred" | "thousand" | "million");
        return alone.then(|| u32::try_from(n + 1).unwrap_or(1) * factor);
    }
    tens.iter().find(|(w, _)| *w == first).map(|(_, x)| *x)
}

/// "And in millions?", "how much is that in percentage?"
pub(crate) fn convert(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    let asked = q.asked;
    if asked.change() && !asked.says(&["that", "this", "converted"])
        || !asked.years.is_empty()
        || asked.sum()
    {
        return None;
    }
    let pointing = asked.says(&[
        "that", "this", "it", "converted", "convert", "about", "value", "expressed",
    ]);
    let bare = super::conversation::is_bare(asked) || asked.says(&["converted", "convert"]);
    if !pointing
        || !bare
        || asked.says(&[
            "represent", "including", "as a percent of", "divided", "over",
        ])
    {
        return None;
    }
    let by = |op: Op, n: u32, kind: UnitKind| {
        let expr = Expr::step(op, last.expr.clone(), Expr::constant(n));
        Some(ProgramPlan::fixed("conversion", expr, kind))
    };
    if asked.says(&[
        "in percent", "to a percent", "to percent", "as a percent", "in percents", "percent form",
        "percent terms",
    ]) {
        return last
            .ends_in(Op::Divide)
            .then(|| by(Op::Multiply, 100, UnitKind::Percent))
            .flatten();
    }
    let to = target(asked)?;
    let from = scale_of(q);
    match (from, to) {
        (1_000_000, 1) => by(Op::Multiply, 1_000_000, UnitKind::Number),
        (1_000_000, 1000) | (1000, 1) | (1_000_000_000, 1_000_000) => {
            by(Op::Multiply, 1000, UnitKind::Number)
        }
        (1000, 1_000_000) | (1_000_000, 1_000_000_000) | (1, 1000) => {
            by(Op::Divide, 1000, UnitKind::Number)
        }
        (1, 1_000_000) => by(Op::Divide, 1_000_000, UnitKind::Number),
        (1_000_000_000, 1) => by(Op::Multiply, 1_000_000_000, UnitKind::Number),
        _ => None,
    }
}

fn target(asked: &Wording) -> Option<u32> {
    if asked.says(&["billions", "billion"]) {
        Some(1_000_000_000)
    } else if asked.says(&["millions", "million"]) {
        Some(1_000_000)
    } else if asked.says(&["thousands", "thousand"]) {
        Some(1000)
    } else if asked.says(&["dollars", "full dollars", "dollar"]) {
        Some(1)
    } else {
        None
    }
}

/// The scale of the last value, from its fact, its question or the table.
fn scale_of(q: &PlanQuestion<'_>) -> u32 {
    let words = |phrase: &str| {
        let mut scales = Scale::ALL.into_iter().rev();
        let found = scales.find(|scale| phrase.contains(scale.word()));
        found.map(Scale::units)
    };
    let of_fact = q
        .state
        .last()
        .and_then(|t| t.facts.last())
        .and_then(|i| q.facts.all.get(*i));
    let of_text = of_fact.and_then(|x| x.scale).map(Scale::units);
    let header = || {
        q.facts
            .columns
            .iter()
            .find_map(|c| words(&c.name))
            .filter(|_| of_fact.is_some_and(|x| x.cell().is_some()))
    };
    let question = || q.state.last().and_then(|t| words(&t.asked.phrase));
    let caption = || {
        let mut texts = q.facts.sentences.iter().map(|s| s.text.as_str());
        texts.find_map(|text| words(text).filter(|_| text.contains("in ")))
    };
    of_text
        .or_else(header)
        .or_else(question)
        .or_else(caption)
        .unwrap_or(1)
}

/// "What is the value of X in 2008 times 1000?", "what is 45 times 4?"
pub(crate) fn constant(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let connectors = [
        ("times", Op::Multiply),
        ("multiplied by", Op::Multiply),
        ("divided by", Op::Divide),
        ("plus", Op::Add),
        ("minus", Op::Subtract),
        ("less", Op::Subtract),
    ];
    connectors.iter().find_map(|(connector, op)| {
        let (left, right) = q.asked.split(connector)?;
        let first = left.split_whitespace().last().and_then(leading_number);
        if !span(&left).says_anything()
            && let Some(first) = first
        {
            let second = match leading_number(&right) {
                Some(n) => Operand::Known(Expr::constant(n)),
                None => Operand::Open(Box::new(q.query(&right))),
            };
            return join(
                "constant",
                *op,
                Operand::Known(Expr::constant(first)),
                second,
                Pairing::Free,
                UnitKind::Number,
            );
        }
        let number = leading_number(&right)?;
        let named = Operand::Open(Box::new(q.query(&left)));
        span(&left)
            .names()
            .then(|| {
                join(
                    "constant",
                    *op,
                    named,
                    Operand::Known(Expr::constant(number)),
                    Pairing::Free,
                    UnitKind::Number,
                )
            })
            .flatten()
    })
}

/// The same in a conversation: two numbers are named and no earlier turn is meant.
pub(crate) fn numbers_only(q: &PlanQuestion<'_>, _: &EarlierTurn) -> Option<ProgramPlan> {
    let pure = q
        .asked
        .tokens
        .iter()
        .filter(|t| t.kind == TokenKind::Number)
        .count()
        == 2
        && !span(&q.asked.phrase).names();
    pure.then(|| constant(q)).flatten()
}
