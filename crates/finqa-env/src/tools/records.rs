//! Writes the rows of a result like pandas' `to_json(orient="records")`.

use std::fmt::Write as _;

use rusqlite::types::Value;

use crate::python;

/// A result as JSON text. If a column has a float, or has integers and nulls, all of its numbers
/// are written as floats, because pandas stores such a column as float64.
pub(super) fn records(names: &[String], rows: &[Vec<Value>]) -> String {
    let floats: Vec<bool> = (0..names.len())
        .map(|at| is_float_column(rows.iter().filter_map(|row| row.get(at))))
        .collect();
    let keys: Vec<String> = names
        .iter()
        .map(|name| {
            let mut key = String::new();
            python::push_pandas_string(&mut key, name);
            key
        })
        .collect();
    let mut out = String::from("[");
    for (i, row) in rows.iter().enumerate() {
        out.push_str(if i == 0 { "{" } else { ",{" });
        for (j, ((field, key), float)) in row.iter().zip(&keys).zip(&floats).enumerate() {
            if j > 0 {
                out.push(',');
            }
            out.push_str(key);
            out.push(':');
            push_field(&mut out, field, *float);
        }
        out.push('}');
    }
    out.push(']');
    out
}

/// True if pandas reads a column of these fields as floats: it has a float, or integers and nulls,
/// and no text.
fn is_float_column<'a>(fields: impl Iterator<Item = &'a Value>) -> bool {
    let (mut integer, mut null, mut real) = (false, false, false);
    for field in fields {
        match field {
            Value::Null => null = true,
            Value::Integer(_) => integer = true,
            Value::Real(_) => real = true,
            Value::Text(_) | Value::Blob(_) => return false,
        }
    }
    real || (integer && null)
}

/// Adds a field to the JSON. In a column of floats, `float` is true.
fn push_field(out: &mut String, field: &Value, float: bool) {
    match field {
        Value::Null => out.push_str("null"),
        // 1 is written as 1.0.
        Value::Integer(i) if float => push_float(out, *i as f64),
        Value::Integer(i) => {
            // Writing to a `String` cannot fail.
            let _ = write!(out, "{i}");
        }
        Value::Real(x) => push_float(out, *x),
        Value::Text(text) => python::push_pandas_string(out, text),
        // Blobs do not occur, because `database` reads them as texts.
        Value::Blob(_) => {}
    }
}

/// Writes a double with at most ten decimals, the default of pandas. The arithmetic is that of
/// pandas' own writer, because its rounding is visible in the text (compared on 300,000 values).
fn push_float(out: &mut String, x: f64) {
    const DECIMALS: f64 = 1e10;
    const LARGEST: f64 = 1e16;
    const SMALLEST: f64 = 1e-15;
    if !x.is_finite() {
        out.push_str("null");
        return;
    }
    let magnitude = x.abs();
    if magnitude > LARGEST || (magnitude > 0.0 && magnitude < SMALLEST) {
        push_general(out, x);
        return;
    }
    if x < 0.0 {
        out.push('-');
    }
    let mut whole = magnitude.trunc();
    let scaled = (magnitude - whole) * DECIMALS;
    let mut fraction = scaled.trunc();
    let rest = scaled - fraction;
    // As in pandas, a tie is rounded to the even digit, except that it is rounded up from 0.
    #[allow(clippy::float_cmp, reason = "only an exact tie is a tie")]
    let tie_up = rest == 0.5 && (fraction == 0.0 || fraction % 2.0 == 1.0);
    if rest > 0.5 || tie_up {
        fraction += 1.0;
    }
    if fraction >= DECIMALS {
        whole += 1.0;
        fraction = 0.0;
    }
    let digits = format!("{fraction:010.0}");
    let digits = digits.trim_end_matches('0');
    let digits = if digits.is_empty() { "0" } else { digits };
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{whole:.0}.{digits}");
}

/// Writes a very large or very small number like C's `%.10g`.
fn push_general(out: &mut String, x: f64) {
    let text = format!("{x:.9e}");
    let Some((digits, exponent)) = text.split_once('e') else {
        out.push_str(&text);
        return;
    };
    let digits = digits.trim_end_matches('0').trim_end_matches('.');
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    // Writing to a `String` cannot fail.
    let _ = write!(out, "{digits}e{sign}{exponent:0>2}");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn float(x: f64) -> String {
        let mut out = String::new();
        push_float(&mut out, x);
        out
    }

    #[test]
    fn floats_are_written_as_measured() {
        for (x, text) in [
            (1.0 / 3.0, "0.3333333333"),
            (6_666_666_666.666_666, "6666666666.6666660309"),
            (1.5e17, "1.5e+17"),
            (-1e-12, "-0.0"),
            (-0.0, "0.0"),
            (0.0, "0.0"),
            (1.0, "1.0"),
            (-2.5, "-2.5"),
            (0.999_999_999_99, "1.0"),
            (1e16, "10000000000000000.0"),
            (1e-16, "1e-16"),
            (1e-15, "0.0"),
            // A tie at the last digit is rounded to the even digit, except that it is rounded up
            // from 0.
            (0.000_488_281_25, "0.0004882812"),
            (0.001_464_843_75, "0.0014648438"),
            (5e-11, "0.0000000001"),
            (f64::INFINITY, "null"),
            (f64::NAN, "null"),
        ] {
            assert_eq!(float(x), text, "{x}");
        }
    }

    #[test]
    fn columns_decide_how_integers_are_written() {
        let names = ["i", "f", "n", "m"].map(str::to_owned);
        let rows = [
            vec![
                Value::Integer(1),
                Value::Integer(1),
                Value::Null,
                Value::Integer(1),
            ],
            vec![
                Value::Integer(2),
                Value::Real(0.5),
                Value::Integer(3),
                Value::Text("a/b".into()),
            ],
        ];
        assert_eq!(
            records(&names, &rows),
            r#"[{"i":1,"f":1.0,"n":null,"m":1},{"i":2,"f":0.5,"n":3.0,"m":"a\/b"}]"#
        );
        assert_eq!(records(&names, &[]), "[]");
    }
}
