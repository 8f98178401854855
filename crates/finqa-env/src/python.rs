//! Reads numbers and prints values as Python does. OpenEnv's `finqa_env` is a Python program whose
//! grader and tables call `int()`, `float()`, `Fraction()` and `repr()`. Rewards, column types and
//! error texts therefore depend on the texts that these functions accept and print.

pub(crate) use finqa_core::number::python::{digit, float, int, is_space, strip};

use finqa_core::text::with_nulls;
use serde_json::Value;

/// Python's `repr(x)` of a float: the fewest digits that read back as the same float, written like
/// `1e+16` from 10^16 on and like `1e-05` below 10^-4.
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

/// Python's `repr` of a text. Beyond Latin-1, characters that Python would escape are kept.
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

/// Python's `repr` of a list of strings.
pub(crate) fn repr_list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.into_iter().map(repr).collect();
    format!("[{}]", items.join(", "))
}

/// Python's `repr` of the object that `json.loads` returns for this value.
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

/// Reads a JSON file that Python may have written: `NaN` is null, and a byte order mark is
/// skipped. An infinity is an error, because JSON has no number for it.
pub(crate) fn read_json(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).or_else(|error| {
        // Report the error of the unchanged text, because its position is the position in the file.
        match std::str::from_utf8(bytes) {
            Ok(text) => serde_json::from_str(&with_nulls(text, &["NaN"])).map_err(|_| error),
            Err(_) => Err(error),
        }
    })
}

/// Python's `str` of a JSON value: a text unchanged, any other value as its `repr`.
pub(crate) fn display(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => repr_json(other),
    }
}

/// The name of the Python type that `json.loads` returns for this value.
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

/// A JSON string literal in which all characters beyond ASCII are escaped, as `json.dumps` writes
/// it.
pub(crate) fn json_string(text: &str) -> String {
    let mut out = String::new();
    push_escaped(&mut out, text, false);
    out
}

/// Like [`json_string`], but writes `/` as `\/`, as pandas does.
pub(crate) fn push_pandas_string(out: &mut String, text: &str) {
    push_escaped(out, text, true);
}

/// Appends `text` as a JSON string in ASCII. `/` is escaped only if `escape_slash`.
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
            // Neither pandas nor `json.dumps` escapes DEL.
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
    fn literals_print_as_python_prints_them() {
        assert_eq!(repr("it's"), "\"it's\"");
        assert_eq!(repr("a'b\"c\n"), "'a\\'b\"c\\n'");
        assert_eq!(repr_list(["acme", "globex"]), "['acme', 'globex']");
        let value = serde_json::json!({"a": [1, null, true], "b": 1.5});
        assert_eq!(repr_json(&value), "{'a': [1, None, True], 'b': 1.5}");
    }

    #[test]
    fn values_look_as_in_python() {
        let value = serde_json::json!({"a": [1, 2.5, null, true], "b'": "it's \"x\"\n"});
        assert_eq!(
            display(&value),
            "{'a': [1, 2.5, None, True], \"b'\": 'it\\'s \"x\"\\n'}"
        );
        assert_eq!(display(&serde_json::json!("plain")), "plain");
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
