//! The deterministic checks. Each is one function.

use std::collections::BTreeSet;

use finqa_core::number::{self, PercentReading, UnitKind, Value};
use finqa_core::program::{Argument, Op, Program};

use super::places::LiteralPlaces;
use super::question::QuestionCues;
use super::{Answer, Finding, FindingKind};

/// A share above this is suspect, because a part is rarely more than half as large again as its
/// whole. Set by hand.
const LARGEST_SHARE: f64 = 1.5;
/// A percentage above this is suspect. It is a fraction, so 10.0 means 1,000 %. Set by hand.
const LARGEST_PERCENT: f64 = 10.0;

pub(super) fn finding(kind: FindingKind, place: &str, problem: String, fix: &str) -> Finding {
    Finding {
        kind,
        place: place.to_owned(),
        problem,
        fix: fix.to_owned(),
    }
}

/// Objects to an answer without a value.
pub(super) fn missing_value(answer: &Answer) -> Option<Finding> {
    answer.value.is_none().then(|| {
        finding(
            FindingKind::NoValue,
            "answer",
            format!("`{}` holds no number, yes or no.", answer.printed),
            "give the best supported answer, with low confidence if need be.",
        )
    })
}

/// Objects to an answer that its analyst calls a guess, and quotes the reason.
pub(super) fn doubt(answer: &Answer) -> Option<Finding> {
    let why = answer.doubt.as_deref()?;
    Some(finding(
        FindingKind::Doubt,
        "answer",
        format!("it is a guess: {why}."),
        "check it against the page, or ask for figures that the page has.",
    ))
}

/// Objects to a program that cannot be executed. `error` says why.
pub(super) fn invalid_program(error: &str) -> Finding {
    finding(
        FindingKind::InvalidProgram,
        "program",
        format!("it cannot be executed: {error}."),
        "write steps such as subtract(a, b), divide(#0, b) with literals from the page.",
    )
}

/// Objects to each literal that is not on the page, in the question or in the earlier answers, and
/// to each that is there only as a dash of the table. Constants are exempt in every notation.
pub(super) fn literals(program: &Program, places: &LiteralPlaces) -> Vec<Finding> {
    let mut seen = BTreeSet::new();
    let literals = program.literals().filter(|literal| {
        !literal.starts_with("const_") && !is_constant(literal) && seen.insert(*literal)
    });
    let findings = literals.filter_map(|literal| {
        let found = places.find(literal);
        if found.is_empty() {
            Some(finding(
                FindingKind::UnsupportedLiteral,
                literal,
                format!("{literal} is not in the page, the question or the earlier answers."),
                "copy the number from a cell or sentence and cite it.",
            ))
        } else if found.iter().all(|place| place.dash) {
            Some(finding(
                FindingKind::DashLiteral,
                literal,
                format!("{literal} is a dash in the table: there is no value."),
                "use the row or column that holds the number asked for.",
            ))
        } else {
            None
        }
    });
    findings.collect()
}

/// True for a number that a calculation may use without a source: a whole number up to 12, such as
/// a number of months or of years (set by hand), or a power of ten that FinQA's constants
/// (`constant_list.txt`) include. They lack 1e8.
pub(in crate::pair) fn is_constant(literal: &str) -> bool {
    number::python_float(literal).is_some_and(|x| {
        let x = x.abs();
        x.fract() == 0.0 && (x <= 12.0 || [100.0, 1e3, 1e4, 1e5, 1e6, 1e7, 1e9].contains(&x))
    })
}

/// The finding that the page does not name a year of the question. Such a year is an objection,
/// because a figure of another year cannot be the answer. `unknown_year` in `verify` finds it.
pub(super) fn missing_year(missing: u16) -> Finding {
    finding(
        FindingKind::PeriodMissing,
        "evidence",
        format!("the question names {missing}, but the page does not."),
        "check which period is meant; where the page has no figure of it, give the best evidence with a low confidence.",
    )
}

/// Objects if the question names a year that the table has, but no number of the program is of it.
/// Not checked if a number comes from elsewhere, if the program uses a whole row, or if the
/// question names more than two years, a limit set by hand.
pub(super) fn periods_named(
    program: &Program,
    places: &LiteralPlaces,
    asked: &QuestionCues,
) -> Option<Finding> {
    let used: Vec<_> = program
        .literals()
        .flat_map(|literal| places.find(literal))
        .collect();
    let from_table = !used.is_empty() && used.iter().all(|place| place.source.is_cell());
    if !from_table || program.rows().next().is_some() || asked.years.len() > 2 {
        return None;
    }
    let missing = asked.years.iter().find(|year| {
        places.has_year(**year) && !used.iter().any(|place| place.years.contains(year))
    })?;
    Some(finding(
        FindingKind::PeriodMissing,
        "evidence",
        format!("the question names {missing}, but no number used is from {missing}."),
        "take the number from the column or row of that year.",
    ))
}

/// Convention 1 of `prompts/conventions.j2`: a change is the later value minus the earlier one, and
/// a percent change is divided by the earlier value. Checks the first subtraction, and the division
/// of its result. Not checked if the question does not ask for a change, or if a number is in cells
/// of several years or of none.
pub(super) fn period_order(
    program: &Program,
    places: &LiteralPlaces,
    asked: &QuestionCues,
) -> Option<Finding> {
    if !asked.change {
        return None;
    }
    let (at, first) = program
        .steps()
        .iter()
        .enumerate()
        .find(|(_, step)| step.op == Op::Subtract)?;
    let [a, b] = &first.arguments;
    let (later, earlier) = (only_year(a, places)?, only_year(b, places)?);
    if later < earlier {
        return Some(finding(
            FindingKind::PeriodOrder,
            "program",
            format!(
                "it subtracts the value of {earlier} from that of {later}; a change is later minus earlier."
            ),
            "swap the two numbers; keep the sign that results, also for a decline.",
        ));
    }
    let base = program.steps().iter().find(|step| {
        step.op == Op::Divide && step.arguments.first() == Some(&Argument::Reference(at))
    })?;
    let base = only_year(base.arguments.get(1)?, places)?;
    (later > earlier && base == later).then(|| {
        finding(
            FindingKind::PeriodOrder,
            "program",
            format!("it divides the change by the value of {later}."),
            "divide by the value of the earlier year.",
        )
    })
}

/// Objects to a negative result if the question asks about an increase, because the operands of the
/// first subtraction are probably swapped. Not if the columns prove that it is later minus earlier.
pub(super) fn direction(
    program: &Program,
    places: &LiteralPlaces,
    asked: &QuestionCues,
    answer: &Answer,
) -> Option<Finding> {
    let negative = answer.value.as_ref()?.number()? < 0.0;
    if !negative || !asked.increase {
        return None;
    }
    let first = program
        .steps()
        .iter()
        .find(|step| step.op == Op::Subtract)?;
    let [a, b] = &first.arguments;
    let proven =
        matches!((only_year(a, places), only_year(b, places)), (Some(a), Some(b)) if a > b);
    (!proven).then(|| {
        finding(
            FindingKind::PeriodOrder,
            "program",
            format!(
                "the question speaks of an increase, the answer is {}.",
                answer.printed
            ),
            "check which of the two values is the later one.",
        )
    })
}

/// The year of a literal, if all cells with this number have the same year. Otherwise `None`.
fn only_year(argument: &Argument, places: &LiteralPlaces) -> Option<u16> {
    let Argument::Literal { text, .. } = argument else {
        return None;
    };
    let years: BTreeSet<u16> = places
        .find(text)
        .iter()
        .filter(|place| place.source.is_cell())
        .flat_map(|place| place.years.iter().copied())
        .collect();
    match (years.first(), years.len()) {
        (Some(year), 1) => Some(*year),
        _ => None,
    }
}

/// Objects if the stated answer differs from the executed value by more than rounding and the
/// percent sign. Small models compute badly but write good programs, so a difference within an
/// order of magnitude is only a slip, which does not send the answer back.
pub(super) fn mismatch(answer: &Answer) -> Option<Finding> {
    let executed = answer.value.as_ref()?;
    if answer.stated.is_empty() || answer.stated == answer.printed {
        return None;
    }
    let kind = match (executed, executed.yes_no()) {
        (_, Some(truth)) => {
            let differs = number::yes_or_no(&answer.stated).is_some_and(|word| word != truth);
            differs.then_some(FindingKind::AnswerMismatch)
        }
        (Value::Number(x), None) => number::answer(&answer.stated)
            .ok()
            .and_then(|reading| numbers_differ(&reading, &forms(&reading, answer, *x))),
        _ => None,
    }?;
    Some(finding(
        kind,
        "answer",
        format!(
            "it says {}, but the program yields {}.",
            answer.stated, answer.printed
        ),
        "check which of the two is meant and make them agree.",
    ))
}

/// The numbers by which an executed value may be stated. A factor of 100 is allowed only with a
/// percent sign, basis points or the unit percent.
fn forms(stated: &number::NumberReading, answer: &Answer, executed: f64) -> Vec<f64> {
    let is_percent = answer.unit.kind == UnitKind::Percent;
    let PercentReading { percent, fraction } = PercentReading::of(executed, answer.in_percent);
    if stated.basis_points {
        return vec![percent * 100.0, executed];
    }
    match (is_percent, stated.percent) {
        (true, true) => vec![percent],
        (true, false) => vec![percent, fraction],
        // `14.1%` may state the fraction 0.141, or the value 14.1 that was printed without its
        // sign.
        (false, true) => vec![executed * 100.0, executed],
        (false, false) => vec![executed],
    }
}

/// Compares a stated number, with and without its scale word, with all forms of the executed value.
/// `None` if one of them agrees. Signs are ignored, because they follow conventions (1 and 3 in
/// `prompts/conventions.j2`). A number ten times as large or as small as each form is not a slip.
fn numbers_differ(stated: &number::NumberReading, forms: &[f64]) -> Option<FindingKind> {
    let readings = [(stated.value, stated.decimals), (stated.scaled(), 0)];
    let agrees = |form: &f64| {
        readings
            .iter()
            .any(|(value, decimals)| close(value.abs(), form.abs(), *decimals))
    };
    if forms.iter().any(agrees) {
        return None;
    }
    let size = stated.value.abs();
    let same_order = |form: &f64| size * 10.0 > form.abs() && form.abs() * 10.0 > size;
    Some(if forms.iter().any(same_order) {
        FindingKind::ArithmeticSlip
    } else {
        FindingKind::AnswerMismatch
    })
}

/// True if the two are equal at the stated decimals, or differ by at most half a percent.
fn close(stated: f64, executed: f64, decimals: u32) -> bool {
    let unit = number::last_digit(decimals);
    (stated - executed).abs() <= unit || number::within(stated, executed, number::NEAR)
}

/// Convention 2 of `prompts/conventions.j2`: if the question asks for a percent, the answer is
/// printed as a percent.
pub(super) fn missing_percent(answer: &Answer, asked: &QuestionCues) -> Option<Finding> {
    let is_percent = answer.unit.kind == UnitKind::Percent || answer.printed.contains('%');
    (asked.percent && !asked.yes_no && !is_percent && answer.value.is_some()).then(|| {
        finding(
            FindingKind::Unit,
            "unit",
            "the question asks for a percent, the answer is not one.".to_owned(),
            "let the program yield the fraction and set the unit to percent.",
        )
    })
}

/// Convention 6 of `prompts/conventions.j2`: a yes/no question is answered with yes or no, and a
/// question for a percentage, a change or a share is not.
pub(super) fn wrong_answer_type(answer: &Answer, asked: &QuestionCues) -> Option<Finding> {
    let value = answer.value.as_ref()?;
    match (asked.yes_no, value.yes_no().is_some()) {
        (true, false) => Some(finding(
            FindingKind::YesNo,
            "answer",
            "the question asks for yes or no, the answer is a number.".to_owned(),
            "compare the two numbers with greater(a, b).",
        )),
        (false, true) if asked.percent || asked.change || asked.share => Some(finding(
            FindingKind::YesNo,
            "answer",
            "the question asks for a number, the answer is yes or no.".to_owned(),
            "compute the number asked for.",
        )),
        _ => None,
    }
}

/// Doubts a share above 1.5 or a percentage above 1,000 %, because it is more often the result of a
/// swapped division than a fact.
pub(super) fn magnitude(answer: &Answer, asked: &QuestionCues) -> Option<Finding> {
    let value = answer.value.as_ref()?.number()?.abs();
    let fraction = PercentReading::of(value, answer.in_percent).fraction;
    let percent = asked.percent || answer.unit.kind == UnitKind::Percent;
    if asked.share && percent && fraction > LARGEST_SHARE {
        return Some(finding(
            FindingKind::Magnitude,
            "answer",
            format!("a share of {} is more than the whole.", answer.printed),
            "divide the part by the whole, not the whole by the part.",
        ));
    }
    if !percent || fraction <= LARGEST_PERCENT {
        return None;
    }
    let printed = &answer.printed;
    let found = |problem, fix| finding(FindingKind::Magnitude, "answer", problem, fix);
    // Above 100 times the limit, the value is too large even if it is a percentage already.
    if printed.contains('%') || fraction > 100.0 * LARGEST_PERCENT {
        let fix = "check the base, and that both numbers are in one unit.";
        return Some(found(format!("{printed} is beyond 1,000 %."), fix));
    }
    // Without a percent sign, the value was probably a percentage already.
    let percent = 100.0 * answer.value.as_ref()?.number()?;
    let problem = format!("{printed} without a % sign means {percent:.0} %.");
    let fix = format!("write {printed}%, or let the program yield the fraction.");
    Some(found(problem, &fix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_core::number::{Unit, answer as read};

    fn differ(stated: &str, executed: f64, kind: UnitKind) -> Option<FindingKind> {
        let reading = read(stated).unwrap();
        let answer = Answer {
            unit: Unit { kind, scale: None },
            ..Answer::default()
        };
        numbers_differ(&reading, &forms(&reading, &answer, executed))
    }

    #[test]
    fn rounding_percent_and_scale_agree_and_a_factor_of_100_needs_a_percent() {
        let mismatch = Some(FindingKind::AnswerMismatch);
        for (stated, executed, kind, found) in [
            ("14.1%", 0.14136, UnitKind::Percent, None),
            ("14.1%", 0.14136, UnitKind::Ratio, None),
            ("0.14", 0.14136, UnitKind::Percent, None),
            ("14.1", 0.14136, UnitKind::Percent, None),
            ("$1.2 billion", 1.2, UnitKind::Number, None),
            ("-5", 5.0, UnitKind::Number, None),
            ("1250", 12.5, UnitKind::Number, mismatch),
            ("14.1", 0.14136, UnitKind::Ratio, mismatch),
            ("5.6%", 5.6, UnitKind::Percent, mismatch),
        ] {
            assert_eq!(differ(stated, executed, kind), found, "{stated} {executed}");
        }
    }

    #[test]
    fn a_slip_is_within_an_order_of_magnitude() {
        let percent = |stated, executed| differ(stated, executed, UnitKind::Percent);
        assert_eq!(percent("20%", 0.14136), Some(FindingKind::ArithmeticSlip));
        assert_eq!(percent("9%", 0.01269), Some(FindingKind::ArithmeticSlip));
        assert_eq!(percent("41%", 4.91), Some(FindingKind::AnswerMismatch));
        let number = |stated, executed| differ(stated, executed, UnitKind::Number);
        assert_eq!(number("3", 36.0), Some(FindingKind::AnswerMismatch));
        assert!(!FindingKind::ArithmeticSlip.sends_back());
        assert!(FindingKind::AnswerMismatch.sends_back());
    }
}
