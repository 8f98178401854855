//! Python's reading of numbers, and its printing of the literals in
//! error texts. OpenEnv's `finqa_env` is a Python program whose graders and tables call
//! `int()`, `float()`, `Fraction()` and `repr()`; answers depend on their corners.

mod json;

pub(crate) use json::{JsonFault, display, fault, fault_page, parse_json, short_repr};

use serde_json::Value;

/// The zero of every run of ten decimal digits (Unicode 15, category Nd).
const DIGIT_ZEROS: [u32; 66] = [
    0x30, 0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66,
    0xde6, 0xe50, 0xed0, 0xf20, 0x1040, 0x1090, 0x17e0, 0x1810, 0x1946, 0x19d0, 0x1a80, 0x1a90,
    0x1b50, 0x1bb0, 0x1c40, 0x1c50, 0xa620, 0xa8d0, 0xa900, 0xa9d0, 0xa9f0, 0xaa50, 0xabf0, 0xff10,
    0x104a0, 0x10d30, 0x11066, 0x110f0, 0x11136, 0x111d0, 0x112f0, 0x11450, 0x114d0, 0x11650,
    0x116c0, 0x11730, 0x118e0, 0x11950, 0x11c50, 0x11d50, 0x11da0, 0x16a60, 0x16ac0, 0x16b50,
    0x1d7ce, 0x1d7d8, 0x1d7e2, 0x1d7ec, 0x1d7f6, 0x1e140, 0x1e2f0, 0x1e950, 0x1fbf0,
];

/// The value of a decimal digit of any script.
pub(crate) fn digit(c: char) -> Option<u32> {
    if c.is_ascii() {
        return c.to_digit(10);
    }
    let code = c as u32;
    let run = DIGIT_ZEROS.partition_point(|zero| *zero <= code);
    let zero = DIGIT_ZEROS.get(run.checked_sub(1)?)?;
    (code - zero < 10).then(|| code - zero)
}

/// `str.isspace`: Unicode's white space and the four separators `\x1c`..`\x1f`.
pub(crate) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// `str.strip()`.
pub(crate) fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// The number with ASCII digits and without its underscores; `None` if an
/// underscore is not between two digits, or a character is foreign to
/// numbers anyway.
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

/// `float(text)`: `1e3`, `.5`, `1_000`, `nan`, `-inf`; `None` for a `ValueError`.
pub(crate) fn float(text: &str) -> Option<f64> {
    ascii_number(text)?.parse().ok()
}

/// `int(text)` if it fits 64 bits.
pub(crate) fn int(text: &str) -> Option<i64> {
    ascii_number(text)?.parse().ok()
}

/// `repr(x)` of a float: the shortest digits that read back, as `1e+16` from
/// 10^16 on and as `1e-05` below 10^-4.
pub(crate) fn repr_float(x: f64) -> String {
    if x.is_nan() {
        return "nan".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    if x == 0.0 || (1e-4..1e16).contains(&x.abs()) {
        return format!("{x:?}");
    }
    let text = format!("{x:e}");
    match text.split_once('e') {
        Some((digits, exponent)) => match exponent.strip_prefix('-') {
            Some(exponent) => format!("{digits}e-{exponent:0>2}"),
            None => format!("{digits}e+{exponent:0>2}"),
        },
        None => text,
    }
}

/// `repr(text)`.
pub(crate) fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(text.len() + 2);
    out.push(quote);
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_ascii_control() || ('\u{7f}'..='\u{a0}').contains(&c) || c == '\u{ad}' => {
                out.push_str(&format!("\\x{:02x}", c as u32));
            }
            c => out.push(c),
        }
    }
    out.push(quote);
    out
}

/// `repr` of a list of strings.
pub(crate) fn repr_list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.into_iter().map(repr).collect();
    format!("[{}]", items.join(", "))
}

/// `repr` of what `json.loads` makes of a value.
pub(crate) fn repr_json(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(n) => match n.as_f64() {
            Some(x) if n.is_f64() => repr_float(x),
            _ => n.to_string(),
        },
        Value::String(text) => repr(text),
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(repr_json).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(map) => {
            let items: Vec<String> = map
                .iter()
                .map(|(k, v)| format!("{}: {}", repr(k), repr_json(v)))
                .collect();
            format!("{{{}}}", items.join(", "))
        }
    }
}

/// Python's name of a JSON value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "NoneType",
        Value::Bool(_) => "bool",
        Value::Number(n) if n.is_f64() => "float",
        Value::Number(_) => "int",
        Value::String(_) => "str",
        Value::Array(_) => "list",
        Value::Object(_) => "dict",
    }
}

/// A JSON string literal with everything beyond ASCII escaped, as `json.dumps`
/// writes it.
pub(crate) fn push_json_string(out: &mut String, text: &str) {
    push_escaped(out, text, false);
}

/// Like [`push_json_string`], with `/` written `\/`, as pandas does.
pub(crate) fn push_pandas_string(out: &mut String, text: &str) {
    push_escaped(out, text, true);
}

fn push_escaped(out: &mut String, text: &str, escape_slash: bool) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' if escape_slash => out.push_str("\\/"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(c),
            // pandas leaves DEL as it is; json.dumps does too.
            '\u{7f}' => out.push(c),
            c => {
                let mut units = [0_u16; 2];
                for unit in c.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    out.push('"');
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
            ("-Infinity", f64::NEG_INFINITY),
        ] {
            assert_eq!(float(text), Some(value), "{text}");
        }
        assert!(float("NaN").unwrap().is_nan());
        for text in [
            "0x10", "5 million", "\u{2212} 5", "", "_1", "1_", "1__0", "1_.0", ".", "1,0",
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

    #[test]
    fn literals_print_as_python_prints_them() {
        assert_eq!(repr("it's"), "\"it's\"");
        assert_eq!(repr("a'b\"c\n"), "'a\\'b\"c\\n'");
        assert_eq!(repr_list(["acme", "globex"]), "['acme', 'globex']");
        let value = serde_json::json!({"a": [1, null, true], "b": 1.5});
        assert_eq!(repr_json(&value), "{'a': [1, None, True], 'b': 1.5}");
    }

    #[test]
    fn floats_print_as_python_prints_them() {
        for (x, text) in [
            (2024.0, "2024.0"),
            (1e16, "1e+16"),
            (1.5e-7, "1.5e-07"),
            (0.0001, "0.0001"),
            (1e300, "1e+300"),
            (-0.0, "-0.0"),
            (9_007_199_254_740_993.0, "9007199254740992.0"),
        ] {
            assert_eq!(repr_float(x), text);
        }
    }

    #[test]
    fn json_text_is_ascii() {
        let mut out = String::new();
        push_pandas_string(&mut out, "a/b \u{e9}\u{1f600}\u{1}\"");
        assert_eq!(out, r#""a\/b \u00e9\ud83d\ude00\u0001\"""#);
    }
}
