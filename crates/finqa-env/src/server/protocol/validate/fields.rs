//! Reads the fields of an object by a table, as pydantic does in its lax mode: `"7"` and `7.0` are
//! integers, but `1.5` is not. Reading stops at the first fault.

use finqa_core::text::head;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::issue::RequestIssue;
use crate::python;

/// The name, the type and the presence of a field.
pub(super) type Field = (&'static str, FieldType, Presence);

/// The values that a field may have.
#[derive(Clone, Copy)]
pub(super) enum FieldType {
    Any,
    Text,
    /// A text of at most 255 characters, as the API description states. An empty text counts as
    /// absent.
    ShortText,
    /// Exactly this text.
    Literal(&'static str),
    Object,
    /// An object, or the JSON text of an object, because some models write arguments as text.
    ObjectOrJson,
    /// An integer. One that does not fit into 64 bits becomes the nearest that does: no list is
    /// that long.
    Integer,
    /// An integer of at least 0. An integer that does not fit into 64 bits counts as `u64::MAX`.
    Natural,
    /// Any value, for a seed. An integer is used without its sign, and any other value counts as
    /// absent.
    LaxSeed,
    /// A number above 0.
    Positive,
    /// A text or an integer, which is not converted.
    JsonRpcId,
}

/// Whether a field must be present.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Presence {
    Required,
    /// The field must be present if the other field has a value.
    RequiredWith(&'static str),
    /// The field may be absent or null.
    Optional,
    /// The field may be absent, but not null.
    NotNull,
}

/// The treatment of fields that a table does not list, and the form of a fault's location.
#[derive(PartialEq)]
pub(super) enum UnlistedFields {
    /// The body of an HTTP route: unlisted fields are ignored, and the location of a fault begins
    /// with `body`.
    Body,
    /// Unlisted fields are ignored.
    Open,
    /// Unlisted fields are faults.
    Closed,
}

/// The fields of a request, in the order in which they are read.
pub(crate) struct RequestShape(pub(super) UnlistedFields, pub(super) &'static [Field]);

/// Reads the fields of a request.
///
/// # Errors
/// The first fault.
pub(crate) fn read<T: DeserializeOwned>(
    data: &Map<String, Value>,
    RequestShape(place, fields): &RequestShape,
) -> Result<T, RequestIssue> {
    let located = |mut issue: RequestIssue| {
        if *place == UnlistedFields::Body {
            issue.loc.insert(0, "body".to_owned());
        }
        issue
    };
    let mut values = Map::new();
    for (name, kind, presence) in *fields {
        let (is_required, may_be_null) = match presence {
            Presence::Required => (true, false),
            Presence::RequiredWith(other) => (data.get(*other).is_some_and(|v| !v.is_null()), true),
            Presence::Optional => (false, true),
            Presence::NotNull => (false, false),
        };
        match data.get(*name) {
            Some(Value::Null) if may_be_null => {}
            Some(value) => {
                let value = convert(name, *kind, value).map_err(located)?;
                values.insert((*name).to_owned(), value);
            }
            None if is_required => return Err(located(RequestIssue::new("missing", name))),
            None => {}
        }
    }
    if *place == UnlistedFields::Closed {
        let is_other = |key: &&String| fields.iter().all(|(name, ..)| key != name);
        if let Some(key) = data.keys().find(is_other) {
            // Cut to a length set by hand, so that the answer does not repeat a long name.
            return Err(located(RequestIssue::new(
                "extra_forbidden",
                head(key, 200),
            )));
        }
    }
    // This fails only if a table does not match its structure, which is a bug.
    serde_json::from_value(values.into())
        .map_err(|bug| RequestIssue::new("value_error", "body").because(&bug.to_string()))
}

/// The value in the form of the field's type. A null result counts as an absent field.
fn convert(name: &str, kind: FieldType, value: &Value) -> Result<Value, RequestIssue> {
    let fault = |kind| RequestIssue::new(kind, name);
    match (kind, value) {
        (FieldType::ShortText, Value::String(text)) if text.chars().nth(255).is_some() => {
            Err(fault("string_too_long"))
        }
        (FieldType::ShortText, Value::String(text)) if text.is_empty() => Ok(Value::Null),
        (FieldType::Any, _)
        | (FieldType::Text | FieldType::ShortText | FieldType::JsonRpcId, Value::String(_))
        | (FieldType::Object | FieldType::ObjectOrJson, Value::Object(_)) => Ok(value.clone()),
        (FieldType::Text | FieldType::ShortText, _) => Err(fault("string_type")),
        (FieldType::Literal(wanted), _) if value == wanted => Ok(value.clone()),
        (FieldType::Literal(wanted), _) => {
            Err(fault("literal_error").because(&format!("'{wanted}'")))
        }
        (FieldType::ObjectOrJson, Value::String(text)) => match serde_json::from_str(text) {
            Ok(read) => convert(name, FieldType::Object, &read),
            Err(wrong) => Err(fault("json_invalid").because(&wrong.to_string())),
        },
        (FieldType::Object | FieldType::ObjectOrJson, _) => Err(fault("dict_type")),
        (FieldType::Integer, _) => {
            let number = integer(value).map_err(fault)?;
            let most = if number < 0 { i64::MIN } else { i64::MAX };
            Ok(i64::try_from(number).unwrap_or(most).into())
        }
        (FieldType::Natural, _) => match integer(value).map_err(fault)? {
            0.. => Ok(seed(value)),
            _ => Err(fault("greater_than_equal")),
        },
        (FieldType::LaxSeed, _) => Ok(seed(value)),
        (FieldType::Positive, _) => match number(value).map_err(fault)? {
            number if number > 0.0 => Ok(number.into()),
            _ => Err(fault("greater_than")),
        },
        (FieldType::JsonRpcId, _) if value.is_i64() || value.is_u64() => Ok(value.clone()),
        (FieldType::JsonRpcId, _) => Err(fault("string_type")),
    }
}

/// An integer without its sign, limited to `u64::MAX`; null for any other value. The sign of a seed
/// has no effect in Python's `random` either.
fn seed(value: &Value) -> Value {
    let size = integer(value).ok().map(i128::unsigned_abs);
    json!(size.map(|size| u64::try_from(size).unwrap_or(u64::MAX)))
}

/// The value as an integer. The error is the name of the fault.
fn integer(value: &Value) -> Result<i128, &'static str> {
    match value {
        Value::Bool(flag) => Ok(i128::from(*flag)),
        Value::Number(n) => match (n.as_i128(), n.as_f64().unwrap_or(f64::NAN)) {
            (Some(whole), _) => Ok(whole),
            (None, float) if float.fract() != 0.0 => Err("int_from_float"),
            #[allow(
                clippy::cast_possible_truncation,
                reason = "a whole double, as JSON has no other; it saturates beyond 128 bits"
            )]
            (None, float) => Ok(float as i128),
        },
        Value::String(text) => {
            let (whole, zeros) = text.trim().split_once('.').unwrap_or((text, ""));
            let is_whole = zeros.bytes().all(|b| b == b'0');
            let number = python::int(whole).filter(|_| is_whole);
            number.map(i128::from).ok_or("int_parsing")
        }
        _ => Err("int_type"),
    }
}

/// The value as a number. The error is the name of the fault.
fn number(value: &Value) -> Result<f64, &'static str> {
    match value {
        Value::Bool(flag) => Ok(f64::from(u8::from(*flag))),
        Value::Number(n) => n.as_f64().ok_or("float_type"),
        Value::String(text) => text.trim().parse().map_err(|_| "float_parsing"),
        _ => Err("float_type"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

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
        assert_eq!(integer(&value), wanted, "{value}");
    }
}
