//! Plans for questions that calculate with given numbers: "that times 100", "in millions", "what is
//! 45 times 4?".

use std::cmp::Ordering;

use super::conversation::{EarlierTurn, is_bare};
use super::mention::{names_quantity, says_anything};
use super::plan::Pairing::Free;
use super::plan::{HIGH, ProgramPlan, slot};
use super::plan_question::PlanQuestion;
use super::wording::Wording;
use crate::distinct;
use crate::expr::Expr;
use crate::reading::facts::Facts;
use crate::reading::text::TokenKind;
use finqa_core::number::Scale;
use finqa_core::number::UnitKind::{self, Number, Percent, Ratio};
use finqa_core::page::year_in_text;
use finqa_core::program::Op;

/// Words between two operands, with the operation that they ask for. The first in the list that
/// leads to a plan decides.
const CONNECTORS: [(&str, Op); 11] = [
    ("times", Op::Multiply),
    ("multiplied by", Op::Multiply),
    ("divided by", Op::Divide),
    ("plus", Op::Add),
    ("minus", Op::Subtract),
    ("less", Op::Subtract),
    // "Time 1000" is a spelling of the dataset for "times 1000".
    ("time", Op::Multiply),
    ("over", Op::Divide),
    ("less an assumed initial", Op::Subtract),
    ("and", Op::Subtract),
    ("by", Op::Multiply),
];
/// The connectors from this index on, some of which are ordinary words such as "and" and "by", are
/// read only in a conversation.
const IN_CONTEXT: usize = 6;

/// "What is that times 100?": an operation on an earlier value and a number. The value is that of
/// the last turn if the question names nothing ("that"), or only a change, a difference or a sum
/// ("that sum") and the last turn calculated.
pub(crate) fn constant_step(q: &PlanQuestion<'_>, last: &EarlierTurn) -> Option<ProgramPlan> {
    CONNECTORS.iter().find_map(|(connector, op)| {
        let (left, right) = q.asked.split(connector)?;
        let number = leading_number(&right)?;
        match *connector {
            "by" if !(left.contains(" multipl") || q.names_nothing_new) => return None,
            "and" if !left.contains(" difference ") => return None,
            _ => {}
        }
        let calculates = [" change ", " difference ", " sum "];
        let calculates = calculates.iter().any(|it| left.contains(it));
        let points = !says_anything(&left) && (!calculates || !last.is_look_up());
        let (operand, slots) = if points {
            (last.expr.clone(), Vec::new())
        } else {
            (slot(0), vec![q.query(&left)])
        };
        let kind = match op {
            // Division by a larger number, such as 1000, counts as a conversion of the scale.
            Op::Divide if number <= 100 => Ratio,
            _ => Number,
        };
        let expr = Expr::step(*op, operand, Expr::constant(number));
        Some(ProgramPlan::new("constant", expr, slots).paired(Free, HIGH, kind))
    })
}

/// The numbers with which a question can ask to calculate, each once: whole numbers in digits or
/// words, and the number of periods that it names. It leaves out years and the word "one", which
/// mostly stands for a name ("the 2012 one"). For "two thousand", 1000 is returned too.
pub(crate) fn numbers_said(asked: &Wording) -> Vec<u32> {
    let starts = asked.phrase.match_indices(' ');
    let rests = starts.filter_map(|(at, _)| asked.phrase.get(at + 1..));
    let rests = rests.filter(|rest| !rest.starts_with("one "));
    let periods = asked.periods_named().and_then(|n| u32::try_from(n).ok());
    distinct(rests.filter_map(leading_number).chain(periods))
}

/// The whole number at the start of a text, in digits or words ("two thousand"). `None` for a year,
/// for zero, and before a unit such as "years" or "percent".
fn leading_number(text: &str) -> Option<u32> {
    let article = |w: &&str| matches!(*w, "the" | "number" | "a" | "an" | "$" | "initial");
    let mut words = text.split_whitespace().skip_while(article);
    let (first, second) = (words.next()?, words.next());
    let units = ["year", "years", "month", "months", "percent", "quarters"];
    if second.is_some_and(|word| units.contains(&word)) {
        return None;
    }
    let digits = first.trim_start_matches('$').replace(',', "");
    if let Ok(n) = digits.parse::<u32>() {
        return (n > 0 && year_in_text(&digits).is_none()).then_some(n);
    }
    let ones = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    ];
    let tens = [("hundred", 100), ("thousand", 1000), ("million", 1_000_000)];
    let ten = |word: &str| tens.iter().find(|(w, _)| *w == word).map(|(_, x)| *x);
    match ones.iter().position(|word| *word == first) {
        Some(n) => Some(u32::try_from(n + 1).ok()? * second.map_or(Some(1), ten)?),
        None => ten(first),
    }
}

/// "And in millions?", "how much is that in percentage?": the last value in another scale, or the
/// last quotient as a percentage. `None` unless the question points back and names nothing new.
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
    let bare = is_bare(asked) || asked.says(&["converted", "convert"]);
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
        ProgramPlan::fixed("conversion", expr, kind)
    };
    if asked.says(&[
        "in percent", "to a percent", "to percent", "as a percent", "in percents", "percent form",
        "percent terms",
    ]) {
        let divided = last.ends_in(Op::Divide);
        return divided.then(|| by(Op::Multiply, 100, Percent));
    }
    let (from, to) = (scale_of(q.facts, last), target(asked)?);
    // Between billions and thousands, nothing is converted.
    if from.max(to) == 1_000_000_000 && from.min(to) == 1000 {
        return None;
    }
    match from.cmp(&to) {
        Ordering::Greater => Some(by(Op::Multiply, from / to, Number)),
        Ordering::Less => Some(by(Op::Divide, to / from, Number)),
        Ordering::Equal => None,
    }
}

/// The number of units in the scale that a question names: 1000 for "thousands", 1 for "dollars".
fn target(asked: &Wording) -> Option<u32> {
    let scales: [(&[&str], u32); 4] = [
        (&["billions", "billion"], 1_000_000_000),
        (&["millions", "million"], 1_000_000),
        (&["thousands", "thousand"], 1000),
        (&["dollars", "dollar"], 1),
    ];
    let named = scales.iter().find(|(words, _)| asked.says(words));
    named.map(|(_, units)| *units)
}

/// The number of units in the scale of the last value. The scale is that of its last fact, else of
/// a column header if the fact is a cell, else of the last question, else of a sentence with "in".
/// 1 if none of them names a scale. Of several scales in a text, the largest counts.
fn scale_of(facts: &Facts, last: &EarlierTurn) -> u32 {
    let named = |text: &str| {
        let mut scales = Scale::ALL.into_iter().rev();
        scales.find(|scale| text.contains(scale.word()))
    };
    let fact = last.facts.last().and_then(|i| facts.all.get(*i));
    let is_cell = fact.is_some_and(|fact| fact.cell().is_some());
    let mut headers = facts.columns.iter().filter(|_| is_cell);
    let mut captions = facts.sentences.iter().filter(|s| s.text.contains("in "));
    let scale = fact
        .and_then(|fact| fact.scale)
        .or_else(|| headers.find_map(|column| named(&column.name)))
        .or_else(|| named(&last.asked.phrase))
        .or_else(|| captions.find_map(|sentence| named(&sentence.text)));
    scale.map_or(1, Scale::units)
}

/// "What is the rent in 2008 times 1000?", "what is 45 times 4?": an operation on a fact and a
/// number, or on two numbers.
pub(crate) fn constant(q: &PlanQuestion<'_>) -> Option<ProgramPlan> {
    let mut connectors = CONNECTORS.iter().take(IN_CONTEXT);
    connectors.find_map(|(connector, op)| {
        let (left, right) = q.asked.split(connector)?;
        let first = left.split_whitespace().last().and_then(leading_number);
        let first = first.filter(|_| !says_anything(&left));
        let number = Expr::constant;
        let (a, b, slots) = match (first, leading_number(&right)) {
            (Some(first), Some(second)) => (number(first), number(second), Vec::new()),
            (Some(first), None) => (number(first), slot(0), vec![q.query(&right)]),
            (None, Some(second)) if names_quantity(&left) => {
                (slot(0), number(second), vec![q.query(&left)])
            }
            _ => return None,
        };
        Some(ProgramPlan::new("constant", Expr::step(*op, a, b), slots).paired(Free, HIGH, Number))
    })
}

/// [`constant`] in a conversation, if the question has two numbers and names nothing else.
pub(crate) fn numbers_only(q: &PlanQuestion<'_>, _: &EarlierTurn) -> Option<ProgramPlan> {
    let numbers = q.asked.tokens.iter();
    let numbers = numbers.filter(|t| t.kind == TokenKind::Number).count();
    let pure = numbers == 2 && !names_quantity(&q.asked.phrase);
    pure.then(|| constant(q)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::plan_question::Inherited;
    use finqa_core::question::{HistoryEntry, HistorySource};

    #[test]
    fn the_numbers_of_a_question_are_those_to_calculate_with() {
        for (question, expected) in [
            ("what is that divided by 1,000?", vec![1000]),
            ("and the average of the last three years?", vec![3]),
            ("what is 7 plus 9?", vec![7, 9]),
            ("what was the 2012 one in 12 months?", vec![]),
        ] {
            assert_eq!(
                numbers_said(&Wording::read(question)),
                expected,
                "{question}"
            );
        }
    }

    #[test]
    fn a_sum_is_the_last_one_after_a_calculation_only() {
        let facts = Facts::default();
        let planned = |program: &str| {
            let history = [HistoryEntry {
                question: String::new(),
                value: None,
                program: Some(program.into()),
                label: None,
                source: HistorySource::Gold,
            }];
            let inherited = Inherited::after(&facts, &history);
            let asked = Wording::read("what is that sum divided by 7?");
            let q = PlanQuestion::new(&facts, &asked, &inherited);
            let plan = constant_step(&q, q.earlier.last().unwrap()).unwrap();
            plan.expr.program()
        };
        let divided = "add(1, 2), divide(#0, const_7)";
        assert_eq!(planned("add(1, 2)"), divided);
        assert_eq!(planned("3"), "divide(slot_0, const_7)");
    }
}
