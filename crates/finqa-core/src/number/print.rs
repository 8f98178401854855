//! Prints the value of an answer.

use super::{PercentReading, Unit, UnitKind, Value};

/// Prints a value as an answer. A percentage is the fraction × 100 with one decimal and `%`. Any
/// other number has at most 3 decimals, without trailing zeros and separators. A word is printed
/// unchanged.
///
/// The decimals are for readers: execution accuracy and FE use the unrounded value of an answer
/// that has one.
///
/// `in_percent` means that the value is a percentage and not a fraction, because its program
/// multiplied by `const_100` or used percentages as the page prints them.
///
/// ```
/// use finqa_core::number::{print, Unit, UnitKind, Value};
/// let percent = Unit { kind: UnitKind::Percent, scale: None };
/// assert_eq!(print(&Value::Number(0.14136), percent, false), "14.1%");
/// assert_eq!(print(&Value::Number(14.136), percent, true), "14.1%");
/// assert_eq!(print(&Value::Number(25587.5), Unit::default(), false), "25587.5");
/// ```
pub fn print(value: &Value, unit: Unit, in_percent: bool) -> String {
    let number = match value {
        Value::Number(number) if number.is_finite() => *number,
        Value::Number(_) => return "n/a".to_owned(),
        Value::Text(word) => return word.clone(),
    };
    if unit.kind == UnitKind::Percent {
        return print_percent(PercentReading::of(number, in_percent).percent, 1);
    }
    let printed = format!("{number:.3}");
    unsigned_zero(
        printed
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
    )
}

/// Prints a number that is in percent, with one to `decimals` decimals and without trailing zeros.
///
/// ```
/// use finqa_core::number::print_percent;
/// assert_eq!(print_percent(3.95, 2), "3.95%");
/// assert_eq!(print_percent(4.30, 2), "4.3%");
/// assert_eq!(print_percent(14.136, 1), "14.1%");
/// ```
pub fn print_percent(percent: f64, decimals: usize) -> String {
    if !percent.is_finite() {
        return "n/a".to_owned();
    }
    let decimals = decimals.max(1);
    let printed = format!("{percent:.decimals$}");
    // The length with one decimal.
    let shortest = printed.len() - (decimals - 1);
    let (kept, extra) = printed.split_at_checked(shortest).unwrap_or((&printed, ""));
    let extra = extra.trim_end_matches('0');
    format!("{}%", unsigned_zero(format!("{kept}{extra}")))
}

/// Removes the minus sign of a printed zero.
fn unsigned_zero(printed: String) -> String {
    match printed.strip_prefix('-') {
        Some(rest) if rest.bytes().all(|b| b == b'0' || b == b'.') => rest.to_owned(),
        _ => printed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(x: f64) -> String {
        print(&Value::Number(x), Unit::default(), false)
    }

    #[test]
    fn numbers_keep_at_most_three_decimals() {
        assert_eq!(printed(206_588.0), "206588");
        assert_eq!(printed(1.5), "1.5");
        assert_eq!(printed(0.141_36), "0.141");
        assert_eq!(printed(100.0), "100");
        assert_eq!(printed(-0.000_1), "0");
        assert_eq!(printed(-12.5), "-12.5");
        assert_eq!(printed(f64::NAN), "n/a");
    }

    #[test]
    fn percents_have_one_decimal_and_a_sign() {
        let percent = Unit {
            kind: UnitKind::Percent,
            scale: None,
        };
        assert_eq!(print(&Value::Number(-0.328_2), percent, false), "-32.8%");
        assert_eq!(print(&Value::Number(-0.000_2), percent, false), "0.0%");
        assert_eq!(print(&Value::Text("yes".into()), percent, false), "yes");
        assert_eq!(print(&Value::Number(f64::MAX), percent, false), "n/a");
    }
}
