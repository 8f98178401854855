//! Writes an answer as a person does: with currency, separators and unit, as in `$5,134 million`,
//! `$1.23 per share` or `2031`.

use finqa_agents::pair::Answer;
use finqa_core::number::{self, Unit, UnitKind, Value, print, year_of};
use finqa_core::page::position;
use finqa_core::program::{Argument, Op, Program};
use finqa_core::question::Question;

use super::cited::{FigureUnit, cited_table};

/// A copied figure with more decimals than this is rounded like a computed one. Set by hand.
const MOST_DECIMALS: u32 = 6;

/// The unit of all cited figures. If their units differ, the default, which prints a bare number.
/// Figures that are not on the page, such as earlier answers, do not count.
pub(super) fn common_unit(question: &Question, answer: &Answer) -> FigureUnit {
    let cited = answer.evidence.iter();
    let mut units = cited.filter_map(|cited| FigureUnit::of(question, cited));
    let Some(first) = units.next() else {
        return FigureUnit::default();
    };
    let differs = |other: &FigureUnit| *other != first;
    if units.any(|other| differs(&other)) {
        FigureUnit::default()
    } else {
        first
    }
}

/// Writes the answer's values with their unit, and adds the scale of its figures if the answer
/// states none.
pub(super) fn write(question: &Question, answer: &mut Answer) {
    let unit = common_unit(question, answer);
    if !answer.values.is_empty() {
        let percent = answer.unit.kind == UnitKind::Percent;
        // A percentage or a ratio of amounts has neither currency nor scale.
        let unit = match answer.unit.kind {
            UnitKind::Number => unit,
            _ => FigureUnit::default(),
        };
        let values = answer
            .values
            .iter()
            .map(|value| match number::answer(value) {
                Ok(reading) if !reading.percent && !percent => {
                    let digits = with_decimals(reading.value.abs(), reading.decimals);
                    amount(reading.value < 0.0, &digits, answer.unit, &unit)
                }
                // Percentages and texts stay as they are.
                _ => value.clone(),
            });
        answer.values = values.collect();
        answer.printed = answer.values.join("; ");
        return;
    }
    let Some(Value::Number(value)) = answer.value else {
        return;
    };
    let is_amount = is_amount(answer);
    if answer.unit.kind == UnitKind::Percent && is_difference(answer, unit.percent) {
        let digits = answer.printed.trim_end_matches(['%', ' ']);
        let lower = question.text.to_lowercase();
        let basis = ["basis point", "bps"].iter().any(|it| lower.contains(it));
        // The difference of two quotients is a fraction, but that of two printed percentages is in
        // points.
        answer.printed = if basis && !unit.percent {
            format!("{:.0} basis points", value * 10_000.0)
        } else {
            format!("{digits} percentage points")
        };
    }
    if !value.is_finite() || answer.unit.kind == UnitKind::Percent || !is_figure(answer, value) {
        return;
    }
    // A quotient or a product of two amounts does not have their unit.
    let unit = if is_amount {
        unit
    } else {
        FigureUnit::default()
    };
    answer.unit.scale = answer.unit.scale.or(unit.scale);
    if let Some(as_printed) = year_of_cell(question, answer, &unit) {
        answer.printed = as_printed;
        return;
    }
    let digits = digits(answer, value);
    answer.printed = amount(value < 0.0, &digits, answer.unit, &unit);
}

/// True if the value is computed by a program or copied from a cited cell. False for a label, such
/// as the year of a column that answers "which year".
fn is_figure(answer: &Answer, value: f64) -> bool {
    let is = |literal: &str| number::read(literal).is_some_and(|one| same_size(one.value, value));
    let mut cited = answer.evidence.iter();
    let bare = number::whole(&answer.printed).is_ok_and(|one| one.scale.is_none());
    answer.program.is_some() && answer.program_error.is_none()
        || bare && cited.any(|cited| is(&cited.literal))
}

/// True if the value is the difference of two percentages, which are cited figures or quotients.
fn is_difference(answer: &Answer, percent: bool) -> bool {
    let program = answer.program.as_deref().map(Program::parse);
    let Some(Ok(program)) = program else {
        return false;
    };
    match program.steps() {
        [step] => percent && answer.evidence.len() == 2 && step.op == Op::Subtract,
        [a, b, last] => [a.op, b.op, last.op] == [Op::Divide, Op::Divide, Op::Subtract],
        _ => false,
    }
}

/// True if two values are equal apart from their sign.
fn same_size(a: f64, b: f64) -> bool {
    // Equal: `==` on floats would need an exception from clippy.
    (a.abs() - b.abs()).abs() <= 0.0
}

/// True if the value has the unit of the cited figures: a sum, but not a quotient or a product of
/// two of them.
fn is_amount(answer: &Answer) -> bool {
    if answer.unit.kind != UnitKind::Number {
        return false;
    }
    let program = answer.program.as_deref().map(Program::parse);
    let Some(Ok(program)) = program else {
        return true;
    };
    let figures: Vec<f64> = answer
        .evidence
        .iter()
        .filter_map(|cited| Some(number::read(&cited.literal)?.value))
        .collect();
    // For each step, the power of the figures' unit that its result has: 1 for a sum of amounts, 0
    // for a quotient of two, a power or a comparison, 2 for a product of two.
    let mut powers: Vec<i32> = Vec::new();
    for step in program.steps() {
        let power = |argument: &Argument| match argument {
            Argument::Literal { text, value } => {
                // Without cited figures, every literal but a constant counts as a figure.
                let counts = figures.is_empty() && !text.starts_with("const_");
                i32::from(counts || figures.iter().any(|one| same_size(*one, *value)))
            }
            // A program refers only to earlier steps, so the default is never used.
            Argument::Reference(at) => powers.get(*at).copied().unwrap_or(0),
            Argument::Row(_) | Argument::Unused(_) => 1,
        };
        let [a, b] = &step.arguments;
        powers.push(match step.op {
            Op::Add | Op::Subtract => power(a).max(power(b)),
            Op::Multiply => power(a) + power(b),
            Op::Divide => power(a) - power(b),
            Op::Exp | Op::Greater => 0,
            Op::TableMax | Op::TableMin | Op::TableSum | Op::TableAverage => 1,
        });
    }
    powers.last().is_none_or(|power| *power == 1)
}

/// A copied number that may be a year, as it is printed: "2031", not "2,031". `None` for all other
/// answers.
fn year_of_cell(question: &Question, answer: &Answer, unit: &FigureUnit) -> Option<String> {
    let [cited] = answer.evidence.as_slice() else {
        return None;
    };
    let place = position(&cited.id)?;
    let (table, row) = cited_table(question, place)?;
    let raw = table.cell(row, place.1)?.raw.trim();
    let bare = answer.unit.scale.is_none() && unit.currency.is_none();
    (bare && year_of(raw).is_some()).then(|| raw.to_owned())
}

/// The digits of a value without its sign. A copied figure keeps the decimals of the page.
fn digits(answer: &Answer, value: f64) -> String {
    let copied = answer.evidence.iter().find_map(|cited| {
        let reading = number::read(&cited.literal)?;
        same_size(reading.value, value).then_some(reading.decimals)
    });
    match copied.filter(|decimals| *decimals <= MOST_DECIMALS) {
        Some(decimals) => with_decimals(value.abs(), decimals),
        None => print(&Value::Number(value.abs()), Unit::default(), false),
    }
}

fn with_decimals(size: f64, decimals: u32) -> String {
    let decimals = usize::try_from(decimals).unwrap_or_default();
    format!("{size:.decimals$}")
}

/// Joins sign, currency, digits, scale and what is counted: `-$5,134 million`, `12 million shares`.
fn amount(below_zero: bool, digits: &str, unit: Unit, of: &FigureUnit) -> String {
    let zero = digits.chars().all(|c| matches!(c, '0' | '.'));
    // A value that is rounded to zero has no minus.
    let sign = if below_zero && !zero { "-" } else { "" };
    let currency = of.currency.as_deref().unwrap_or_default();
    // "CHF 12", but "$12".
    let apart = if currency.ends_with(char::is_alphabetic) {
        " "
    } else {
        ""
    };
    let mut digits = with_separators(digits);
    // An amount of money with one decimal and no scale gets a second decimal: "$1.50", not "$1.5".
    let tenths = digits
        .split_once('.')
        .is_some_and(|(_, after)| after.len() == 1);
    if !currency.is_empty() && unit.scale.is_none() && tenths {
        digits.push('0');
    }
    let scale = unit.scale.map(|scale| scale.word());
    let things = match () {
        () if of.per_share => Some("per share"),
        () if of.shares => Some("shares"),
        () if of.percent => Some("percentage points"),
        () => None,
    };
    let amount = format!("{sign}{currency}{apart}{digits}");
    let parts = [Some(amount.as_str()), scale, things];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" ")
}

/// Puts a comma between groups of three digits: `25,587.5`.
fn with_separators(digits: &str) -> String {
    let (whole, rest) = match digits.find('.') {
        Some(at) => digits.split_at(at),
        None => (digits, ""),
    };
    let mut out = String::new();
    for (at, digit) in whole.chars().enumerate() {
        if at > 0 && (whole.len() - at) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use finqa_core::number::Scale;

    #[test]
    fn an_amount_has_its_sign_currency_separators_and_unit() {
        let of = |currency: &str| FigureUnit {
            currency: Some(currency.to_owned()).filter(|one| !one.is_empty()),
            ..FigureUnit::default()
        };
        let per_share = FigureUnit {
            per_share: true,
            ..of("$")
        };
        let shares = FigureUnit {
            shares: true,
            ..of("")
        };
        let millions = Some(Scale::Million);
        for (below_zero, digits, scale, of, written) in [
            (false, "5134", millions, of("$"), "$5,134 million"),
            (true, "12.5", millions, of("€"), "-€12.5 million"),
            (false, "1250.4", None, of("CHF"), "CHF 1,250.40"),
            (false, "5134", millions, of(""), "5,134 million"),
            (false, "1.5", None, per_share, "$1.50 per share"),
            (false, "1234567", None, shares, "1,234,567 shares"),
            (true, "0.0", None, of("$"), "$0.00"),
            (false, "999", None, of(""), "999"),
        ] {
            let unit = Unit {
                kind: UnitKind::Number,
                scale,
            };
            assert_eq!(amount(below_zero, digits, unit, &of), written);
        }
    }
}
