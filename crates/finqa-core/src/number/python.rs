//! Reads numbers as Python does. The official evaluator and OpenEnv's `finqa_env` are Python
//! programs that call `float()` and `int()`, and their results depend on corner cases of these
//! functions.

/// The zero of each run of ten decimal digits (Unicode 15, category Nd), in ascending order.
const DIGIT_ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script; `None` for any other character.
pub fn digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let code = c as u32;
    let run = DIGIT_ZEROS.partition_point(|zero| *zero <= code);
    let zero = DIGIT_ZEROS.get(run.checked_sub(1)?)?;
    (code - zero < 10).then(|| code - zero)
}

/// True for a character for which Python's `str.isspace` is true: Unicode's white space and the
/// four separators `\x1c` to `\x1f`.
pub fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Python's `str.strip()`.
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Rewrites a number with ASCII digits and without underscores. `None` if an underscore is not
/// between two digits, or if a character is neither ASCII nor a digit.
fn ascii_number(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut after_digit = false;
    let mut open_underscore = false;
    for c in strip(text).chars() {
        if let Some(value) = digit(c) {
            out.push(char::from_digit(value, 10)?);
            (after_digit, open_underscore) = (true, false);
        } else if c == '_' && after_digit {
            (after_digit, open_underscore) = (false, true);
        } else if c.is_ascii() && c != '_' && !open_underscore {
            out.push(c);
            after_digit = false;
        } else {
            return None;
        }
    }
    (!open_underscore).then_some(out)
}

/// Python's `float(text)`: `1e3`, `.5`, `1_000`, `nan`, `-inf`; `None` where Python raises a
/// `ValueError`.
pub fn float(text: &str) -> Option<f64> {
    let stripped = strip(text);
    if stripped.is_ascii() && !stripped.contains('_') {
        return stripped.parse().ok();
    }
    ascii_number(text)?.parse().ok()
}

/// Python's `int(text)`; `None` where Python raises a `ValueError`, and for numbers that do not fit
/// into 64 bits.
pub fn int(text: &str) -> Option<i64> {
    ascii_number(text)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_read_as_python_reads_them() {
        for (text, value) in [
            ("1e3", 1000.0),
            (" .5 ", 0.5),
            ("1.", 1.0),
            ("+5", 5.0),
            ("1_000.5_0", 1000.5),
            ("\u{661}\u{662}", 12.0),
            ("\u{a0}2\u{3000}", 2.0),
            (" 5 ", 5.0),
            ("1_000", 1000.0),
            ("1e999", f64::INFINITY),
            ("Infinity", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(float(text), Some(value), "{text}");
        }
        assert!(float("NaN").unwrap().is_nan());
        for text in [
            "0x10", "5 million", "\u{2212} 5", "", "_1", "1_", "1__0", "1_.0", "1_.5", ".", "1,0",
            "--5", "\u{b2}",
        ] {
            assert_eq!(float(text), None, "{text}");
        }
    }

    #[test]
    fn integers_read_as_python_reads_them() {
        assert_eq!(int(" +007 "), Some(7));
        assert_eq!(int("1_000"), Some(1000));
        assert_eq!(int("1.0"), None);
        assert_eq!(int("9223372036854775808"), None);
    }
}
