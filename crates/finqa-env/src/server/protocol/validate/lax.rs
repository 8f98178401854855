//! Integers and numbers in pydantic's lax mode.

use serde_json::Value;

pub(super) type Misread = (&'static str, &'static str);

const INT_PARSING: Misread = (
    "int_parsing",
    "Input should be a valid integer, unable to parse string as an integer",
);

/// An integer in pydantic's lax mode.
pub(super) fn integer(value: &Value) -> Result<i128, Misread> {
    match value {
        Value::Bool(flag) => Ok(i128::from(*flag)),
        Value::Number(n) => {
            if let Some(whole) = n.as_i128() {
                return Ok(whole);
            }
            let float = n.as_f64().unwrap_or(f64::NAN);
            if !float.is_finite() {
                return Err(("finite_number", "Input should be a finite number"));
            }
            if float.fract() != 0.0 {
                return Err((
                    "int_from_float",
                    "Input should be a valid integer, got a number with a fractional part",
                ));
            }
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a finite whole double; the cast saturates beyond 128 bits"
            )]
            Ok(float as i128)
        }
        Value::String(text) => {
            let trimmed = text.trim();
            let whole = match trimmed.split_once('.') {
                Some((whole, zeros)) if !whole.is_empty() && zeros.bytes().all(|b| b == b'0') => {
                    whole
                }
                Some(_) => return Err(INT_PARSING),
                None => trimmed,
            };
            let lone = !whole.starts_with('_') && !whole.ends_with('_') && !whole.contains("__");
            if !lone {
                return Err(INT_PARSING);
            }
            whole.replace('_', "").parse().map_err(|_| INT_PARSING)
        }
        _ => Err(("int_type", "Input should be a valid integer")),
    }
}

/// A number in pydantic's lax mode.
pub(super) fn number(value: &Value) -> Result<f64, Misread> {
    match value {
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(n) => n
            .as_f64()
            .ok_or(("float_type", "Input should be a valid number")),
        Value::String(text) => text.trim().parse().map_err(|_| {
            (
                "float_parsing",
                "Input should be a valid number, unable to parse string as a number",
            )
        }),
        _ => Err(("float_type", "Input should be a valid number")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use serde_json::json;

    #[rstest]
    #[case(json!("7"), Ok(7))]
    #[case(json!(" 7.00 "), Ok(7))]
    #[case(json!(7.0), Ok(7))]
    #[case(json!(true), Ok(1))]
    #[case(json!("1_000"), Ok(1000))]
    #[case(json!(1.5), Err("int_from_float"))]
    #[case(json!("x"), Err("int_parsing"))]
    #[case(json!("1__0"), Err("int_parsing"))]
    #[case(json!([]), Err("int_type"))]
    fn integers_are_read_in_lax_mode(#[case] value: Value, #[case] wanted: Result<i128, &str>) {
        assert_eq!(integer(&value).map_err(|(kind, _)| kind), wanted, "{value}");
    }
}
