//! Printing an answer.

use super::{Unit, UnitKind, Value};

/// Prints a value as an answer: a percent as fraction × 100 with one decimal
/// and `%`, anything else with at most 3 decimals, trailing zeros dropped, no
/// separators; words as they are.
///
/// `ends_with_times_100` says that the program's last step already multiplied
/// by `const_100`, so that the value is in percent and not a fraction.
///
/// ```
/// use convfinqa::number::{print, Unit, UnitKind, Value};
/// let percent = Unit { kind: UnitKind::Percent, scale: None };
/// assert_eq!(print(&Value::Number(0.14136), percent, false), "14.1%");
/// assert_eq!(print(&Value::Number(14.136), percent, true), "14.1%");
/// assert_eq!(print(&Value::Number(25587.5), Unit::default(), false), "25587.5");
/// ```
#[must_use]
pub fn print(value: &Value, unit: Unit, ends_with_times_100: bool) -> String {
    let number = match value {
        Value::Number(number) if number.is_finite() => *number,
        Value::Number(_) => return "n/a".to_owned(),
        Value::Text(word) => return word.clone(),
    };
    if unit.kind == UnitKind::Percent {
        let percent = if ends_with_times_100 {
            number
        } else {
            number * 100.0
        };
        return if percent.is_finite() {
            format!("{}%", unsigned_zero(format!("{percent:.1}")))
        } else {
            "n/a".to_owned()
        };
    }
    let printed = format!("{number:.3}");
    unsigned_zero(
        printed
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned(),
    )
}

/// `-0` and `-0.0` lose their sign: nobody writes minus nothing.
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
