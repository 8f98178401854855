//! Decides whether an executed value is already in percent. If it is, printing must not multiply it
//! by 100.
//!
//! A page prints `5.6%`. A program that copies the figure as `5.6` has the value 5.6, not the
//! fraction 0.056. Sums, differences and averages of such figures are in percent too, but a
//! quotient of two of them is a fraction.

use std::cell::OnceCell;

use crate::parse::Analysis;
use finqa_core::number::{self, PercentReading, Unit, UnitKind, Value};
use finqa_core::page::{NumberSource, is_percent_label};
use finqa_core::program::{Argument, Op, Program, ProgramStep};
use finqa_core::question::{CitedEvidence, Question};

use super::verify::{LiteralPlaces, is_constant, is_number};

/// A number copied from the page counts as a fraction up to this size, unless something else shows
/// that it is in percent. Set by hand: above it, a page prints `150%` rather than 1.5.
const LARGEST_FRACTION: f64 = 1.5;
/// Maximum number of decimals that a printed percentage takes over from the page. Set by hand.
const MOST_DECIMALS: usize = 3;

/// Whether a value is in percent, judged by the figures from which it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PercentForm {
    /// In percent, as the page prints it.
    Percent,
    /// A fraction, or a number that is not a share.
    Fraction,
    /// Unknown: the page does not mark the figures as percentages.
    Unmarked,
}

/// Prints a program's value. A percentage copied from the page, or a sum or difference of such
/// percentages, has the decimals of the page.
pub(super) fn print(program: &Program, value: &Value, unit: Unit, in_percent: bool) -> String {
    let copies = program.steps().iter().all(|step| {
        let mut arguments = step.arguments.iter();
        matches!(step.op, Op::Add | Op::Subtract)
            && arguments.all(|argument| match argument {
                Argument::Literal { text, .. } => !text.starts_with("const_"),
                Argument::Reference(_) => true,
                Argument::Row(_) | Argument::Unused(_) => false,
            })
    });
    match value {
        Value::Number(number) if copies && unit.kind == UnitKind::Percent => {
            let percent = PercentReading::of(*number, in_percent).percent;
            let decimals = |text: &str| {
                let (_, decimals) = text.trim_end_matches('%').split_once('.')?;
                Some(decimals.len())
            };
            let decimals = program.literals().filter_map(decimals).max();
            // Like every percentage, it has at least one decimal.
            number::print_percent(percent, decimals.unwrap_or(1).min(MOST_DECIMALS))
        }
        _ => number::print(value, unit, in_percent),
    }
}

/// True if `value`, the result of `program`, is already in percent. Called only if the unit of the
/// answer is percent.
pub(super) fn is_in_percent(
    program: &Program,
    value: &Value,
    analysis: &Analysis,
    question: &Question,
) -> bool {
    if program.ends_with_times_100() {
        return true;
    }
    let Some(value) = value.number() else {
        return false;
    };
    let figures = ProgramFigures {
        evidence: &analysis.evidence,
        question,
        places: OnceCell::new(),
    };
    // A program without steps is a single number.
    let form = figures.steps(program.steps()).unwrap_or_else(|| {
        let number = program.literals().next();
        number.map_or(PercentForm::Fraction, |literal| figures.literal(literal))
    });
    match form {
        PercentForm::Percent => true,
        PercentForm::Fraction => false,
        PercentForm::Unmarked => stated_in_percent(&analysis.answer, value)
            .unwrap_or_else(|| program.is_number() && value.abs() > LARGEST_FRACTION),
    }
}

/// Whether the stated answer implies that `value` is in percent. With the stated answer `5.6%`, 5.6
/// is in percent and 0.056 is a fraction. They may differ by one unit in the last stated decimal.
/// `None` if the stated answer fits neither reading, or both, as `0%` does.
fn stated_in_percent(stated: &str, value: f64) -> Option<bool> {
    let stated = number::answer(stated).ok()?;
    let stated = Some(stated).filter(|reading| reading.percent)?;
    let unit = number::last_digit(stated.decimals);
    let is = |value: f64| (stated.value.abs() - value.abs()).abs() <= unit;
    match (is(value), is(PercentReading::of(value, false).percent)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

/// Looks up the figures of a program.
struct ProgramFigures<'a> {
    evidence: &'a [CitedEvidence],
    question: &'a Question,
    /// The places of numbers, collected only when a figure is looked up.
    places: OnceCell<LiteralPlaces>,
}

impl ProgramFigures<'_> {
    /// The form of the last step's result; `None` if there are no steps. The forms of earlier steps
    /// are stored, because a step that uses an earlier step twice would otherwise double the work
    /// each time.
    fn steps(&self, steps: &[ProgramStep]) -> Option<PercentForm> {
        let mut known = Vec::with_capacity(steps.len());
        for step in steps {
            known.push(self.form_of_step(&known, step));
        }
        known.last().copied()
    }

    /// Whether the result of a step is in percent, given the same for the results of the earlier
    /// steps.
    fn form_of_step(&self, earlier: &[PercentForm], step: &ProgramStep) -> PercentForm {
        let [first, second] = &step.arguments;
        let measure = |argument: &Argument| self.argument(earlier, argument);
        match step.op {
            Op::Add | Op::Subtract => match (measure(first), measure(second)) {
                (PercentForm::Fraction, _) | (_, PercentForm::Fraction) => PercentForm::Fraction,
                (PercentForm::Percent, PercentForm::Percent) => PercentForm::Percent,
                _ => PercentForm::Unmarked,
            },
            Op::Multiply | Op::Divide => {
                match (self.scaling_constant(first), self.scaling_constant(second)) {
                    // Dividing by 100 turns a percentage into a fraction.
                    (_, Some(100.0)) if step.op == Op::Divide => PercentForm::Fraction,
                    (_, Some(100.0)) | (Some(100.0), _) if step.op == Op::Multiply => {
                        PercentForm::Percent
                    }
                    (None, Some(_)) => measure(first),
                    (Some(_), None) if step.op == Op::Multiply => measure(second),
                    _ => PercentForm::Fraction,
                }
            }
            Op::Exp | Op::Greater => PercentForm::Fraction,
            Op::TableMax | Op::TableMin | Op::TableSum | Op::TableAverage => self.row(first),
        }
    }

    /// The form of an argument, given the forms of the earlier steps' results.
    fn argument(&self, earlier: &[PercentForm], argument: &Argument) -> PercentForm {
        match argument {
            Argument::Literal { text, .. } => self.literal(text),
            // A program can refer only to earlier steps, so the default is never used.
            Argument::Reference(at) => earlier.get(*at).copied().unwrap_or(PercentForm::Fraction),
            Argument::Row(_) | Argument::Unused(_) => PercentForm::Fraction,
        }
    }

    /// The form of a figure. A percent sign in the evidence cited for it decides. Otherwise, all of
    /// its places must be percentages. Its places are the cited ones, or all places on the page if
    /// no cited place has the figure.
    fn literal(&self, literal: &str) -> PercentForm {
        if literal.contains('%') {
            return PercentForm::Fraction;
        }
        let places = self.places();
        let cited = self.evidence.iter().filter(|cited| {
            let reading = number::answer(&cited.literal);
            reading.is_ok_and(|reading| is_number(literal, reading.value))
        });
        let mut ids = Vec::new();
        for cited in cited {
            if cited.literal.contains('%') {
                return PercentForm::Percent;
            }
            ids.extend(NumberSource::named(&cited.id));
        }
        let mut found = places.find(literal);
        if found.iter().any(|place| ids.contains(&place.source)) {
            found.retain(|place| ids.contains(&place.source));
        }
        if !found.is_empty() && found.iter().all(|place| place.percent) {
            PercentForm::Percent
        } else {
            PercentForm::Unmarked
        }
    }

    fn places(&self) -> &LiteralPlaces {
        self.places.get_or_init(|| LiteralPlaces::of(self.question))
    }

    /// The value of an argument that only counts or scales. This is a constant, or a small whole
    /// number or power of ten that is not a figure of the page. `None` for every other argument.
    fn scaling_constant(&self, argument: &Argument) -> Option<f64> {
        match argument {
            Argument::Literal { text, value }
                if text.starts_with("const_")
                    || is_constant(text) && self.places().find(text).is_empty() =>
            {
                Some(*value)
            }
            _ => None,
        }
    }

    /// The form of the values in a row. The executor reads cells with percent signs as fractions.
    fn row(&self, argument: &Argument) -> PercentForm {
        let Argument::Row(label) = argument else {
            return PercentForm::Fraction;
        };
        // If several rows have the label, the executor reads the last.
        let rows = self.question.document.table.iter().rev();
        let mut rows = rows.filter(|row| row.first() == Some(label));
        match rows.next() {
            Some(row) if row.iter().skip(1).any(|cell| cell.contains('%')) => PercentForm::Fraction,
            _ if is_percent_label(label) => PercentForm::Percent,
            _ => PercentForm::Unmarked,
        }
    }
}
