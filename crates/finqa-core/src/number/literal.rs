//! Reads literals as the official evaluator does.

use super::python;

/// Python's `float(text)`, except that digits of other scripts are refused (docs/scoring.md).
pub fn python_float(text: &str) -> Option<f64> {
    let is_ascii = python::strip(text).is_ascii();
    is_ascii.then(|| python::float(text)).flatten()
}

/// The value of a literal in a program, as the official evaluator's `str_to_num` reads it. It drops
/// commas and tries `float`. If that fails, it reads a text with `%` without the sign and divides
/// it by 100, and it reads `const_<float>` as the float and `const_m1` as -1.
///
/// ```
/// use finqa_core::number::literal;
/// assert_eq!(literal("1,234"), Some(1234.0));
/// assert_eq!(literal("4%"), Some(0.04));
/// assert_eq!(literal("const_m1"), Some(-1.0));
/// assert_eq!(literal("revenue"), None);
/// ```
pub fn literal(text: &str) -> Option<f64> {
    let without_commas;
    let text = if text.contains(',') {
        without_commas = text.replace(',', "");
        without_commas.as_str()
    } else {
        text
    };
    if let Some(number) = python_float(text) {
        return Some(number);
    }
    if text.contains('%') {
        return python_float(&text.replace('%', "")).map(|percent| percent / 100.0);
    }
    if text.contains("const") {
        return match text.replace("const_", "").as_str() {
            "m1" => Some(-1.0),
            rest => python_float(rest),
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn python_float_accepts_and_refuses_what_python_does() {
        for (text, expected) in [
            (" 5 ", Some(5.0)),
            ("1_000", Some(1000.0)),
            ("1__0", None),
            ("_1", None),
            ("1_", None),
            ("1_.5", None),
            ("5.", Some(5.0)),
            (".5", Some(0.5)),
            (".", None),
            ("+3", Some(3.0)),
            ("1e3", Some(1000.0)),
            ("1e999", Some(f64::INFINITY)),
            ("Infinity", Some(f64::INFINITY)),
            ("--5", None),
            ("", None),
            ("0x10", None),
            ("\u{665}", None),
        ] {
            assert_eq!(python_float(text), expected, "{text:?}");
        }
        assert!(python_float("nan").unwrap().is_nan());
    }

    #[test]
    fn literals_of_the_official_evaluator() {
        for (text, expected) in [
            ("1,234", Some(1234.0)),
            ("1,2,3", Some(123.0)),
            ("4.02%", Some(4.02 / 100.0)),
            ("const_100", Some(100.0)),
            ("const_m1", Some(-1.0)),
            ("const_3.5", Some(3.5)),
            ("const_x", None),
            ("$5", None),
            ("yes", None),
            ("%", None),
        ] {
            assert_eq!(literal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_megabyte_of_digits_is_read_not_feared() {
        assert_eq!(literal(&"9".repeat(1 << 20)), Some(f64::INFINITY));
    }
}
